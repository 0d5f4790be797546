"""Codes of errors and warnings: each is met by a program, and shown with its page."""

import json
import pickle
import re
import subprocess
import sys
import traceback
import warnings

import numpy as np
import programs_of_errors
import pytest

import chainrules as cr
from chainrules import testing
from chainrules.config import errors
from chainrules.rules.refusals.table import REFUSALS, refusal

CLASSES = {
    x.code: x
    for x in [*vars(errors).values(), *vars(testing.errors).values()]
    if isinstance(x, type) and issubclass(x, Exception) and getattr(x, "code", "")
}
# The others are run by tests/documents/test_error_pages.py.
TOGETHER = {
    code: program
    for code, program in programs_of_errors.PROGRAMS.items()
    if code not in programs_of_errors.ALONE
}
RUN = """
import json, linecache, sys, types, warnings
import numpy as np
import chainrules as cr

met = {}
for code, program in json.load(sys.stdin).items():
    module = sys.modules["program"] = types.ModuleType("program")
    vars(module).update(np=np, cr=cr)
    linecache.cache["program.py"] = len(program), None, program.splitlines(True), "program.py"
    with warnings.catch_warnings():
        warnings.simplefilter("error", cr.CompileWarning.__base__)
        try:
            exec(compile(program, "program.py", "exec"), vars(module))
            met[code] = None
        except Exception as error:
            met[code] = error.code, type(error).__name__, str(error)
print(json.dumps(met))
"""


@pytest.fixture(scope="module")
def met():
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN], input=json.dumps(TOGETHER),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("code", TOGETHER)
def test_a_program_meets_its_code(code, met):
    assert [code, CLASSES[code].__name__] == met[code][:2]


def test_each_code_has_a_program():
    assert sorted(CLASSES) == sorted(programs_of_errors.PROGRAMS)


def test_no_two_have_one_code():
    codes = [*CLASSES, *(row.code for row in REFUSALS.values())]
    assert sorted(set(codes)) == sorted(codes)
    assert all(re.fullmatch(r"CR\d{3}", code) for code in codes)


def test_each_public_class_of_errors_has_a_code_of_its_own():
    for name in cr.__all__:
        x = getattr(cr, name)
        if name.endswith(("Error", "Warning")) and x is not cr.ChainRulesError:
            assert CLASSES[x.code] is x, name


@pytest.mark.parametrize("code", CLASSES)
def test_a_class_says_its_cause_and_its_remedy(code):
    cause, remedy = CLASSES[code].__doc__.split("\n\n")
    assert cause.endswith(".")
    assert remedy.strip().endswith(".")


def shown(error):
    return "".join(traceback.format_exception_only(error)).splitlines()


def test_an_error_shows_its_code_below_its_message():
    error = cr.TangentError("it does not fit")
    assert "it does not fit" == str(error)
    assert [f"[CR002] {errors.PAGES}/CR002.html"] == shown(error)[1:]


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_shows_the_code_of_its_row_alone(name):
    row = REFUSALS[name]
    fields = re.findall(r"\{(\w+)", row.cause + row.remedy)
    error = refusal(name, **dict.fromkeys(fields, "this"))
    assert row.code == error.code
    assert [errors.page_of(row.code)] == error.__notes__


def test_a_code_survives_pickling():
    with pytest.raises(cr.LostDerivativeError) as caught:
        cr.grad(lambda x: float(x))(1.0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert shown(caught.value) == shown(again)
    assert "CR101" == again.code


def test_a_warning_says_its_code():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cr.grad(lambda x: 1.0)(np.ones(2))
    assert str(caught[0].message).endswith(errors.page_of("CR022"))


def test_errors_that_reach_no_user_show_none():
    assert not hasattr(cr.ChainRulesError("?"), "__notes__")
