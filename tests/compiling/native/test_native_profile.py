"""The profile function in machine code: which functions it tells of, and errors."""

import sys

import pytest

pytest.importorskip("llvmlite")

from chainrules.compiling.native.profiling import KnownCode, native_profile


@pytest.fixture(autouse=True)
def given_back():
    before = sys.getprofile()
    yield
    sys.setprofile(before)


def first():
    return second() + len([1])


def second():
    return 1


def named(told):
    return [name for name in told if name in ("first", "second")]


def test_each_function_is_told_of_until_it_is_known():
    told, known = [], KnownCode()

    def tell(frame):
        told.append(frame.f_code.co_name)
        if frame.f_code is first.__code__:
            known.add(frame.f_code)

    given = native_profile(known, tell)
    assert sys.getprofile() is given
    assert [first(), first()] == [2, 2]
    sys.setprofile(None)
    assert named(told) == ["first", "second", "second"]
    told.clear()
    known.clear()
    native_profile(known, tell)
    first()
    sys.setprofile(None)
    assert named(told) == ["first", "second"]


def test_of_two_that_share_an_entry_of_the_table_none_is_lost():
    told, known = [], KnownCode()
    native_profile(known, lambda frame: told.append(frame.f_code not in known))
    for k in range(200):
        namespace = {}
        exec(f"def f{k}(): pass", namespace)
        known.add(namespace[f"f{k}"].__code__)
        told.clear()
        namespace[f"f{k}"]()
        assert not any(told)
    sys.setprofile(None)


def test_an_error_in_what_is_told_ends_the_call():
    class Ended(BaseException):
        pass

    def tell(frame):
        if frame.f_code is second.__code__:
            raise Ended

    native_profile(KnownCode(), tell)
    with pytest.raises(Ended):
        first()
    sys.setprofile(None)
    assert first() == 2
