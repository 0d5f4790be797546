"""Numbers with a name stand in the room of thresholds, or are facts that no measurement changes."""

import ast
import re
from pathlib import Path

from chainrules.config import thresholds

TOP = Path(__file__).parents[2]
ROOMS = ("config/thresholds.py", "src/chainrules/compiling/native/limits.py")
FACTS = """
forms of entries and flags, as other code reads them
    reverse/entries.py: INPUT NODE OF_NUMBER OF_ARRAY OF_NUMBERS OF_ARRAYS READ BROADCAST
    rules/tracing/funnel.py: _DEFINED_IN_PYTHON
    rules/tracing/classes/own_numbers.py: _DEFINED_IN_PYTHON PRIORITY_OF_NUMBERS
    src/chainrules/_adopted/held.py: _HEAP _IMMUTABLE
    src/chainrules/compiling/explaining/line_clock.py: ELSEWHERE
    src/chainrules/compiling/loops/item_run.py: _NO_WAY _NESTED
    src/chainrules/compiling/loops/loop_run.py: _STOPPED
    src/chainrules/compiling/native/disk_cache.py: _DIGEST
    src/chainrules/compiling/native/entry.py: _WORD FASTCALL
    src/chainrules/compiling/native/guard.py: WORD PART BEYOND BYTES ENTRY OTHER ITEMS
    src/chainrules/compiling/native/profiling.py: _BITS _SPREAD
    src/chainrules/compiling/native/steps/kronrod.py: EVALUATED_ARRAYS
    src/chainrules/compiling/quick.py: _C_ORDER _ALIGNED _WRITEABLE
    src/chainrules/compiling/record/state/known_types.py: _HEAP _IMMUTABLE _WORD
    src/chainrules/compiling/record/state/watch.py: _TOOLS
    src/chainrules/interop/pandas/__init__.py: OLDEST
integers that are exact in a float64, or fit into one of 64 bits
    rules/rulesets/functions/math_batches.py: LARGEST
    rules/tracing/funnel.py: _EXACT
    src/chainrules/batching/pythons_numbers.py: _LARGE _EXACT
    src/chainrules/compiling/loops/layout.py: EXACT
    src/chainrules/compiling/passes/scalar/scalar_steps.py: _EXACT LARGEST
    src/chainrules/compiling/record/cache_key.py: LARGEST_COUNTED
mathematics, and what decides how exact a result is
    rules/rulesets/functions/equations.py: FAR FAR_FROM_ZERO BENT NO_STEP
    rules/rulesets/linalg/systems.py: LIMIT
    rules/rulesets/scipy/integrate/bdf.py: MOST
    rules/rulesets/scipy/integrate/collocation.py: TRIES
    rules/rulesets/scipy/integrate/controlled.py: SAFETY LEAST MOST NEAR TINY
    rules/rulesets/scipy/integrate/cubature.py: HALVINGS
    rules/rulesets/scipy/integrate/double_exponential.py: BASE
    rules/rulesets/scipy/integrate/elementwise.py: FINEST SAME FINER
    rules/rulesets/scipy/integrate/events.py: ORDERS
    rules/rulesets/scipy/integrate/initial_values.py: FAR
    rules/rulesets/scipy/integrate/meshes.py: PART MOTION RESOLVED TIGHTEST
    rules/rulesets/scipy/integrate/refined.py: ROUNDING
    rules/rulesets/scipy/integrate/march.py: SAME
    rules/rulesets/scipy/integrate/series.py: TERMS FIRST_LEVEL LAST_LEVEL
    rules/rulesets/scipy/linalg/equations.py: DIRECT_BELOW
    rules/rulesets/scipy/linalg/exponential.py: UNSQUARED MOST_SQUARED
    rules/rulesets/scipy/ndimage/interpolation.py: SHORT
    rules/rulesets/scipy/optimize/root_loops.py: GOES_ON NEAR LOST
    rules/rulesets/scipy/optimize/stationary.py: NEAR NOISE IN_SPAN ROUNDING
    rules/rulesets/scipy/spatial/quaternions.py: TERMS
    rules/rulesets/special/gamma.py: FAR_LEFT
    rules/rulesets/special/tools.py: STEP
    rules/table/asked_again.py: TIMES
    rules/tracing/captured.py: WORDS
    rules/tracing/level.py: ONE
    src/chainrules/compiling/agreement.py: DIGITS
    src/chainrules/compiling/ir/complexes.py: _MUCH
    src/chainrules/compiling/loops/quadratures.py: TOLERANCE
    src/chainrules/compiling/native/assembly/compositions.py: _LN2 _LN2_REST _CBRT
    src/chainrules/compiling/native/assembly/compositions.py: _ASIN_P _ASIN_Q _LARGE
    src/chainrules/compiling/native/assembly/mathematics.py: _LOG2_E _EXP_TAIL _TANH_P _TANH_Q _LOG
    src/chainrules/compiling/native/assembly/mathematics.py: _HALF_PI_REST _HALF_PI _LARGEST_ANGLE
    src/chainrules/compiling/native/assembly/mathematics.py: _SIN _COS _ATAN_P _ATAN_Q
    src/chainrules/compiling/native/assembly/mathematics.py: _TWO_THIRDS _TWO_THIRDS_REST
    src/chainrules/compiling/passes/scalar/small_matrices.py: SMALLEST_SHARE SMALLEST_PIVOT
    src/chainrules/interop/units/quantity.py: LAST_DIGITS
    src/chainrules/interop/pandas/windows.py: OF_PAIRS
    src/chainrules/testing/complex_step.py: STEP
    src/chainrules/testing/diagnosis.py: NEAR FAR
    src/chainrules/testing/finite_differences.py: SHRINKS
how much of something a text shows
    rules/engines/inputs.py: _MOST_KEYS
    rules/tangents/structural.py: _MOST_DEPTH
    src/chainrules/compiling/explaining/explained_call.py: TIMES_SHOWN CUTS_SHOWN
    src/chainrules/compiling/explaining/page.py: HOT STEPS_SHOWN DRAWN_STEPS _ROW _LEFT
    src/chainrules/compiling/explaining/report.py: LINES_SHOWN RECORDINGS_SHOWN
    src/chainrules/compiling/explaining/terminal.py: TABLE_ROWS STEPS_SHOWN
    src/chainrules/compiling/explaining/times.py: EMPTY_PARTS
    src/chainrules/compiling/ir/printing.py: WIDE
"""


def is_number(x):
    """Say whether an expression is a number, computed of numbers, or a tuple of these."""
    if isinstance(x, ast.Constant):
        return type(x.value) in (int, float)
    if isinstance(x, ast.Tuple):
        return x.elts != [] and all(map(is_number, x.elts))
    parts = {ast.UnaryOp: ("operand",), ast.BinOp: ("left", "right")}.get(type(x), ())
    return bool(parts) and all(is_number(getattr(x, part)) for part in parts)


def numbers_of(path):
    """Yield the names that a module gives to numbers."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and is_number(node.value):
            names = [x.id for target in node.targets for x in ast.walk(target) if hasattr(x, "id")]
            yield from (name for name in names if name.isupper())


def test_numbers_that_tune_stand_in_one_room():
    folders = ("config", "rules", "forward", "reverse", "src/chainrules")
    files = [path for folder in folders for path in (TOP / folder).rglob("*.py")]
    places = {path.relative_to(TOP).as_posix(): path for path in files}
    found = {
        (place, name) for place in places.keys() - {*ROOMS} for name in numbers_of(places[place])
    }
    rows = [row.strip().split(": ") for row in FACTS.splitlines() if row.startswith(" ")]
    assert found == {(place, name) for place, names in rows for name in names.split()}


def test_what_tunes_them_is_there():
    """A group names rows of benchmarks, in quotes, and files."""
    programs = "".join(path.read_text("utf-8") for path in (TOP / "benchmarks").glob("*.py"))
    for room in ROOMS:
        text = (TOP / room).read_text("utf-8")
        for head in re.findall(r"^# ---- .*?: (.+) ----$", text, re.MULTILINE):
            rows = [row.removeprefix("calls: ") for row in re.findall("'(.+?)'", head)]
            assert [] == [row for row in rows if row not in programs]
            named = re.findall(r"[\w/]+\.py", head)
            assert [] == [path for path in named if not (TOP / path).is_file()]


def test_thresholds_are_read():
    """A threshold that nobody reads tunes nothing."""
    text = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("config", "rules", "forward", "reverse", "src/chainrules")
        for path in (TOP / folder).rglob("*.py")
        if path.name != "thresholds.py"
    )
    assert [] == [name for name in vars(thresholds) if name.isupper() and name not in text]
