"""Machine code that is kept on disk: found again, never half of it, and never in the way."""

import hashlib
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("platformdirs")

from native_interpreter import build, op

import chainrules as cr
from chainrules.compiling.native import Input, Output, available, disk_cache

pytestmark = pytest.mark.skipif(not available(), reason="no native code here")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINRULES_CACHE", str(tmp_path / "codes"))
    disk_cache._tidy_once.cache_clear()
    return tmp_path / "codes"


def result(factor=3.0):
    """Return the result of a kernel that is built anew."""
    y = np.empty(4)
    ops = [op("multiply", 0, factor), op("sin", 1), op("fmod", 2, 0)]
    build((4,), [Input("f8", (1,))], ops, [Output(3, (1,))])(np.arange(1.0, 5.0), y)
    return y


EXPECTED = np.fmod(np.sin(3.0 * np.arange(1.0, 5.0)), np.arange(1.0, 5.0))


def number(x=0.3, y=1.7):
    """Return the result of a program on numbers, with constants and functions of C's."""
    found = np.empty(2)
    ops = [op("sin", 0), op("power", 0, 1), *[op("add", k, 0.1 * k) for k in range(2, 120)]]
    inputs = [Input("f8", None), Input("f8", None)]
    outputs = [Output(3, (), None, "f8", 0), Output(121, (), None, "f8", 1, 0)]
    build((), inputs, ops, outputs)(x, y, found)
    return found


def files(folder):
    return sorted(folder.iterdir())


def test_the_next_one_is_found(folder, monkeypatch):
    first, of_numbers = result(), number()
    np.testing.assert_allclose(first, EXPECTED, rtol=1e-15)
    assert len(files(folder)) == 2
    monkeypatch.setattr(disk_cache, "keep", lambda *args: pytest.fail("compiled again"))
    np.testing.assert_array_equal(first, result())
    np.testing.assert_array_equal(of_numbers, number())


def test_other_text_other_code(folder):
    result(), result(2.0)
    assert len(files(folder)) == 2


CUTS = {
    "empty": lambda data: b"",
    "short": lambda data: data[:20],
    "cut off": lambda data: data[:-7],
    "a bit": lambda data: data[:90] + bytes([data[90] ^ 4]) + data[91:],
    "foreign": lambda data: b"\x7fELF" * 500,
    "of another name": lambda data: hashlib.sha256(b"0" * 64 + data[32:]).digest() + data[32:],
}


@pytest.mark.parametrize("cut", CUTS)
def test_what_is_not_whole_is_written_anew(cut, folder):
    result()
    (file,) = files(folder)
    whole = file.read_bytes()
    file.write_bytes(CUTS[cut](whole))
    np.testing.assert_allclose(result(), EXPECTED, rtol=1e-15)
    assert whole == file.read_bytes()


def test_of_another_version_nothing_is_taken(folder, monkeypatch):
    result()
    monkeypatch.setattr(cr, "__version__", "another")
    result()
    assert len(files(folder)) == 2


@pytest.mark.parametrize("switch", ["off", "0", ""])
def test_switched_off(switch, folder, monkeypatch):
    monkeypatch.setenv("CHAINRULES_CACHE", switch)
    monkeypatch.chdir(folder.parent)
    np.testing.assert_allclose(result(), EXPECTED, rtol=1e-15)
    assert [] == files(folder.parent)


def test_without_platformdirs_nothing_is_kept(monkeypatch):
    monkeypatch.delenv("CHAINRULES_CACHE")
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    disk_cache._users_folder.cache_clear()
    try:
        assert disk_cache._folder() is None
        np.testing.assert_allclose(result(), EXPECTED, rtol=1e-15)
    finally:
        disk_cache._users_folder.cache_clear()


def test_a_folder_of_the_users_own(monkeypatch):
    monkeypatch.delenv("CHAINRULES_CACHE")
    disk_cache._users_folder.cache_clear()
    assert "chainrules" in disk_cache._folder()


def test_a_folder_that_cannot_be_made(folder, monkeypatch):
    folder.write_text("a file")
    np.testing.assert_allclose(result(), EXPECTED, rtol=1e-15)
    assert "a file" == folder.read_text()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_cannot_be_written_to(folder):
    folder.mkdir(mode=0o500)
    np.testing.assert_allclose(result(), EXPECTED, rtol=1e-15)
    assert [] == files(folder)


def is_found(folder, monkeypatch):
    """Say whether the code of a result is found, and whether it is written."""
    written = []
    with monkeypatch.context() as patch:
        keep = disk_cache.keep
        patch.setattr(disk_cache, "keep", lambda *args: (written.append(1), keep(*args)))
        np.testing.assert_allclose(result(), EXPECTED, rtol=1e-15)
    return not written


of_posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners and modes")


@of_posix
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o500, 0o720, 0o702, 0o777, 0o1777, 0o770])
def test_a_folder_that_others_may_write_to(mode, folder, monkeypatch):
    folder.mkdir()
    folder.chmod(mode)
    safe = not mode & 0o022
    assert bool(disk_cache.unsafe_folder()) is not safe
    assert not is_found(folder, monkeypatch)
    assert is_found(folder, monkeypatch) == bool(files(folder))
    assert safe or not files(folder)
    folder.chmod(0o700)
    if not files(folder):
        is_found(folder, monkeypatch)
    folder.chmod(mode)
    assert is_found(folder, monkeypatch) == safe  # what is there is not loaded either


@of_posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400, 0o660, 0o602, 0o666])
def test_a_file_that_others_may_write_to(mode, folder, monkeypatch):
    result()
    (file,) = files(folder)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(mode)
    assert is_found(folder, monkeypatch) == (not mode & 0o022)
    assert is_found(folder, monkeypatch)  # it was written anew
    assert len(files(folder)) == 1


@of_posix
def test_a_folder_and_a_file_of_another_owner(folder, monkeypatch):
    result()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert "belongs to another user" in disk_cache.unsafe_folder()
    assert not is_found(folder, monkeypatch)
    found = os.stat
    monkeypatch.setattr(os, "stat", lambda x: Owned(found(x), owner + 1))
    assert not disk_cache.unsafe_folder()
    assert not is_found(folder, monkeypatch)  # its file is the other's


class Owned:
    """Status of a file or folder, with another owner."""

    def __init__(self, found, owner):
        self.st_mode, self.st_uid = found.st_mode, owner


@of_posix
def test_links(folder, tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir(0o700)
    folder.symlink_to(own)
    assert not is_found(folder, monkeypatch)
    assert is_found(folder, monkeypatch)  # a link to a folder of one's own
    (file,) = files(own)
    elsewhere = tmp_path / "elsewhere.code"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert is_found(folder, monkeypatch)
    elsewhere.chmod(0o666)
    assert not is_found(folder, monkeypatch)  # and it is no link any more
    assert not file.is_symlink()
    own.chmod(0o777)
    assert not is_found(folder, monkeypatch)


def test_a_system_without_owners(folder, monkeypatch):
    result()
    monkeypatch.delattr(os, "geteuid", raising=False)
    assert "does not tell" in disk_cache.unsafe_folder()
    assert not is_found(folder, monkeypatch)


@of_posix
def test_why_nothing_is_kept_is_said_once(folder):
    folder.mkdir()
    folder.chmod(0o777)
    for warns in (True, False):
        c = cr.compile(lambda x: x * 2.0 + 1.0)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert [c(1.0), c(2.0), c(3.0)] == [3.0, 5.0, 7.0]
        assert [f"{folder} may be written to by other users" in str(w.message) for w in said] == [
            True
        ] * warns


def test_the_oldest_go(folder, monkeypatch):
    folder.mkdir()
    for k in range(4):
        (folder / f"{k}.code").write_bytes(b"x" * 1000)
        os.utime(folder / f"{k}.code", (k, k))
    (folder / "letter.txt").write_bytes(b"x" * 10_000)
    monkeypatch.setattr(disk_cache, "CACHE_BYTES", 4000)
    disk_cache.keep("new", b"x" * 1500)
    assert ["2.code", "3.code", "letter.txt", "new.code"] == [file.name for file in files(folder)]


PROGRAM = """
import sys
import numpy as np
import chainrules as cr
from chainrules.compiling.native import disk_cache

made = []
keep = disk_cache.keep
disk_cache.keep = lambda key, code: (made.append(key), keep(key, code))
print("ready", flush=True)
sys.stdin.readline()
x = np.linspace(0.1, 1.0, 40)
for k in range(1, 6):
    f = cr.compile(cr.value_and_grad(lambda x: np.sum(np.sin(k * x) ** k)), fallback="error")
    g = cr.compile(lambda a: a ** k + np.exp(a * k), fallback="error")
    y, slope = f(x)
    assert np.isclose(y, np.sum(np.sin(k * x) ** k), rtol=1e-14), k
    assert np.isclose(g(0.5), 0.5 ** k + np.exp(0.5 * k), rtol=1e-14), k
print(len(made))
"""


@pytest.mark.slow
def test_two_processes_at_once(folder):
    def start():
        command, pipe = [sys.executable, "-c", PROGRAM], subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert "ready\n" == process.stdout.readline()
        return process

    def made(process):
        out, _ = process.communicate("\n")
        assert 0 == process.returncode
        return int(out)

    both = [start(), start()]
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    assert sum(made(process) for process in both) > 0  # the slower one may find all of it made
    names = [file.name for file in files(folder)]
    assert names
    assert all(name.endswith(".code") and len(name) == 69 for name in names)
    assert 0 == made(start())  # also with other seeds of hash()
