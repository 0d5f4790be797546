"""Random programs until the time is over: ``python tests/fuzz/run.py --seconds 600 --seed 1``.

Each batch of programs runs in a process of its own, so that a crash, a hang or what one leaves
behind is seen and ends nothing. Every failure is struck down to a few lines and printed as a
program; failures of one cause, as far as the lines that are left tell, are printed once. The exit
code is 1 if there was any.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import fuzz_oracle
from fuzz_generators import GENERATORS, SIZES
from hypothesis import HealthCheck, Phase, given, seed, settings

BATCH = 40  # programs
LONGEST = 150  # seconds that a batch may take

# ---- one batch ----------------------------------------------------------------------------------


def examples(one, name, number, size):
    """Call ``one`` with ``size`` programs of a generator."""

    @seed(number)
    @settings(
        max_examples=size,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(GENERATORS[name]())
    def run(program):
        one(program)

    run()


def failing_with(program, label):
    """Say whether the program still fails so; all that goes wrong while it is asked is a no."""
    try:
        return any(failure.label == label for failure in fuzz_oracle.all_failures(program))
    except Exception:
        return False


def struck_down(program, label, seconds=8.0):
    """Leave out lines while the program fails in the same way."""
    end = time.monotonic() + seconds
    going = True
    while going:
        going = False
        for smaller in program.smaller():
            if time.monotonic() > end:
                return program
            if failing_with(smaller, label):
                program, going = smaller, True
                break
    return program


def cause(program, label):
    """Return the rest of the program without its names and numbers."""
    if not program.inputs:
        return label  # a script says itself what went wrong
    text = "\n".join((*program.setup, *program.body, program.result))
    words = re.findall(r"[a-zA-Z_]{2,}|[@*+=/\[\]-]+|None|\.\.\.", text)
    return " ".join([label.split(",")[0], "|", *sorted(set(words))])


def failures_of(program):
    try:
        return fuzz_oracle.all_failures(program)
    except Exception as error:
        return [fuzz_oracle.Failure(f"the check raises {type(error).__name__}", str(error))]


def batch(name, number, size, seconds, note, known):
    """Print a line of JSON for each failure; ``note`` holds the program that is being run."""
    end, seen = time.monotonic() + seconds, dict(known)

    def one(program):
        if time.monotonic() > end:
            return
        note.write_text(program.source())
        failures = failures_of(program)
        for failure in sorted(failures, key=lambda failure: seen.get(failure.label, 0))[:1]:
            # One label may have many causes: a few programs of each are struck down.
            seen[failure.label] = seen.get(failure.label, 0) + 1
            if seen[failure.label] > 12 and number % 4:
                continue
            small = struck_down(program, failure.label)
            found = {"label": failure.label, "said": str(failure), "source": small.source()}
            print(json.dumps({**found, "cause": cause(small, failure.label)}), flush=True)

    examples(one, name, number, size)
    print(json.dumps({"over": True}))


# ---- all batches --------------------------------------------------------------------------------


def run_batch(name, number, size, seconds, known):
    """The failures that a batch in a process of its own tells of, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder, "note")
        words = [str(number), str(size), str(seconds), str(note), json.dumps(known)]
        command = [sys.executable, __file__, "--batch", name, *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 300)
            ending, text = f"ended with {done.returncode}", done.stdout
            said = done.stderr.strip().splitlines()[-1:]
        except subprocess.TimeoutExpired as error:
            ending, said = "hangs", []
            text = (error.stdout or b"").decode()
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        found = [line for line in lines if "over" not in line]
        if len(found) == len(lines):
            source = note.read_text() if note.exists() else ""
            label = f"the process {ending}"
            found.append(
                {
                    "label": label,
                    "said": " ".join(said),
                    "source": source,
                    "cause": f"{label} {said}",
                }
            )
        return found


def search(names, seconds, first, size):
    """Print each cause once; give back how many there were."""
    start, number, causes, known = time.monotonic(), first * 1000, set(), {}
    while (left := seconds - (time.monotonic() - start)) > 0:
        name = names[number % len(names)]
        for failure in run_batch(name, number, SIZES.get(name, size), min(left, LONGEST), known):
            known[failure["label"]] = known.get(failure["label"], 0) + 1
            if failure["cause"] not in causes:
                causes.add(failure["cause"])
                passed = time.monotonic() - start
                print(f"# {failure['said'] or failure['label']}")
                print(f"# {name}, seed {number}, after {passed:.0f} s")
                print(failure["source"], flush=True)
        number += 1
    print(f"# {number - first * 1000} batches, {len(causes)} failures")
    return len(causes)


def main():
    if sys.argv[1:2] == ["--batch"]:
        name, number, size, seconds, note, known = sys.argv[2:]
        batch(name, int(number), int(size), float(seconds), Path(note), json.loads(known))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    names = [name for name in GENERATORS if SIZES.get(name, BATCH)]
    parser.add_argument("--only", nargs="*", choices=names, default=names)
    parser.add_argument("--size", type=int, default=BATCH, help="programs in a batch")
    options = parser.parse_args()
    return 1 if search(options.only, options.seconds, options.seed, options.size) else 0


if __name__ == "__main__":
    sys.exit(main())
