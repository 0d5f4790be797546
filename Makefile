# Everything here works in a fresh clone, with nothing but Python and make: the environment is
# built on first use, and each target installs only the extras it needs.
#   make test PYTHON=python3.12   another Python
#   make test ARGS='-k sin -x'    more words for pytest: whatever is named is run in full
#   make fuzz SECONDS=60 SEED=7   other random programs, and for how long

PYTHON ?= python3
JOBS := 2
ARGS :=
SECONDS := 600
SEED := 1
# Not ?=: a VENV from the surroundings is somebody else's, and not ours to clear.
VENV := .venv

python := $(VENV)/bin/python
# -P: the checkout's top is not on sys.path, where `import config` would work by accident.
pytest := $(python) -P -m pytest

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help test test-all test-oldest oldest mutants fuzz demo lint format types imports doctest docs notebooks pair bench price ci release clean stale

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# As many processes as there are cores: with threads of BLAS in each they wait for one another.
test test-all oldest mutants fuzz doctest notebooks: export OPENBLAS_NUM_THREADS = 1

# Of what a process has imported the next one has the bytecode: else each compiles NumPy and SciPy anew,
# which takes it two seconds, where the surroundings ask for none.
unexport PYTHONDONTWRITEBYTECODE

# Each process begins with files of its own: what a file starts, or compiles, it does once.
# The classic style leaves out pytest's dots and percents, in whose place tests/tools/tiers.py writes
# a line now and then.
run := $(pytest) -n $(JOBS) --dist worksteal -o console_output_style=classic
test: $(VENV)/with-test  ## run the quick tier of the tests: 3 minutes on two cores
	$(run) $(ARGS)

test-all: $(VENV)/with-test  ## run all tests: 9 minutes
	$(run) --all $(ARGS)

# Each package at the lower bound that pyproject.toml has for it.
test-oldest:  ## run tests of rules and programs on the oldest versions
	$(MAKE) oldest VENV=$(VENV)-oldest

oldest: $(VENV)/with-oldest
	$(run) $(or $(ARGS),--quick tests/core tests/programs tests/interop tests/rulesets/test_every_rule.py)

mutants: $(VENV)/with-test  ## see which broken copies of the package the tests find
	$(python) -P tests/tools/mutants.py $(ARGS)

fuzz: $(VENV)/with-test  ## look for wrong answers with random programs
	$(python) -P tests/fuzz/run.py --seconds $(SECONDS) --seed $(SEED) $(ARGS)

demo: $(VENV)/with-demo  ## run the demo
	$(python) -P -m chainrules

lint: $(VENV)/with-lint  ## check style and formatting
	$(python) -m ruff check
	$(python) -m ruff format --check

format: $(VENV)/with-lint  ## mend what ruff can mend
	$(python) -m ruff check --fix
	$(python) -m ruff format

types: $(VENV)/with-test $(VENV)/with-lint  ## check the types
	$(python) -m mypy

imports: $(VENV)/with-lint  ## check that imports go one way
	$(python) -P $(VENV)/bin/lint-imports

doctest: $(VENV)/with-test  ## run the examples in docstrings
	$(pytest) tests/test_docstrings.py $(ARGS)

# Nothing stays of a page that has gone.
docs: $(VENV)/with-test $(VENV)/with-docs  ## build the site, into docs/_build/html, and check it
	rm -rf docs/_build
	$(python) -P -m sphinx -W --keep-going -q -j $(JOBS) -b html -c docs . docs/_build/html
	$(pytest) -q tests/documents/test_site.py tests/documents/test_site_in_browser.py

notebooks: $(VENV)/with-test $(VENV)/with-notebooks  ## run the notebooks
	$(pytest) -m notebooks tests/test_notebooks.py -n $(JOBS) $(ARGS)

pair: $(VENV)/with-notebooks  ## make notebooks/*.ipynb anew from notebooks/*.py
	$(python) -P -m jupytext --to ipynb --update notebooks/*.py
	$(python) -P $(VENV)/bin/jupyter-execute --inplace notebooks/*.ipynb

bench: $(VENV)/with-benchmarks  ## measure against the peers, eager and compiled
	$(python) benchmarks/run.py $(ARGS)

price: $(VENV)/with-benchmarks  ## measure what derivatives cost beside differences, and write docs/cost.md
	$(python) benchmarks/price.py --peers $(ARGS)

ci:  ## all that CI does, in an environment of its own
	.ci/run

release: $(VENV)/with-release test-oldest  ## build sdist and wheel into dist/, check them, and install each anew
	$(python) -P .ci/release.py

clean:  ## remove the environments and what checks and builds leave behind
	rm -rf .venv .venv-oldest .venv-ci .venv-ci-newest rules/accelerated/*.so build dist docs/_build docs/generated .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the environment --------------------------------------------------------------------------

# An environment holds its own address in many places. After the checkout has moved, or when the
# Python it was made from is gone, it is made anew.
ifneq ($(shell test -x $(python) && cat $(VENV)/made-in 2>/dev/null),$(CURDIR))
$(VENV)/made-in: stale
endif

$(VENV)/made-in:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo 'chainrules needs Python 3.11 or newer, and "$(PYTHON)" is none.'; \
	    echo '  install one (Debian, Ubuntu: sudo apt install python3 python3-venv),'; \
	    echo '  or name one: make PYTHON=python3.12'; \
	    exit 1; } >&2
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo '$(PYTHON) cannot make a virtual environment: its venv or ensurepip module is missing.'; \
	    echo '  Debian, Ubuntu: sudo apt install python3-venv'; \
	    exit 1; } >&2
	$(PYTHON) -m venv --clear $(VENV)
	@echo '$(CURDIR)' > $@

$(VENV)/with-oldest: $(VENV)/made-in pyproject.toml building/build_hook.py $(wildcard rules/accelerated/*.[ch])
	$(python) .ci/oldest.py test > $(VENV)/oldest.txt
	$(python) -m pip install --quiet --disable-pip-version-check --constraint $(VENV)/oldest.txt --editable '.[test]'
	@touch $@

# One mark for each extra. pyproject.toml may have changed what an extra needs, and the accelerator is
# compiled anew with each.
$(VENV)/with-%: $(VENV)/made-in pyproject.toml building/build_hook.py $(wildcard rules/accelerated/*.[ch])
	$(python) -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
