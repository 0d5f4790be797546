"""``build``: a request in, a function that Python can call out."""

import weakref
from collections.abc import Callable
from typing import TypeAlias

from .assembly.assembler import Module
from .entry import entry_text, layout, make_callable
from .limits import CAREFUL_LINES, KNOWN_OPERATIONS
from .locks import making
from .machine import Code, host_width, llvm
from .request import NativeProgram, Request, checked

#: Takes one argument for each input, then one for each output: arrays and Python floats.
Kernel: TypeAlias = Callable[..., None]

# Kernels in use by what they were asked for: a recurrent network asks for hundreds of equal ones.
_known: weakref.WeakValueDictionary[str, Kernel] = weakref.WeakValueDictionary()


def available() -> bool:
    """Say whether native code can be made here: with llvmlite, and objects of the known layout."""
    if layout() is None:
        return False
    try:
        llvm()
    except ImportError:
        return False
    return True


def build(request: Request, threads: int = 1) -> Kernel:
    """Return machine code for a request.

    Parameters
    ----------
    threads
        On how many threads a large loop is done. Then an output that is reduced over the outermost
        axis fills its array, and is put together of pieces: the same on two threads and on more.

    Returns
    -------
    A builtin function, or one that calls it in pieces, of one argument for each input and then each
    output without ``of``. Arrays are taken as they are: neither shape nor dtype is checked.

    Examples
    --------
    >>> import numpy as np
    >>> from chainrules.compiling.native import Input, Operation, Output, Request
    >>> ops = [Operation("add", (0, 0))]
    >>> double = build(Request((3,), [Input("f8", (1,))], ops, [Output(1, (1,))]))
    >>> y = np.empty(3)
    >>> double(np.arange(3.0), y)
    >>> y
    array([0., 2., 4.])
    """
    if len(request.ops) > KNOWN_OPERATIONS:
        return _made(checked(request))
    key = f"{request.key()} {threads}"
    with making:
        kernel = _known.get(key)
        if kernel is None:
            kernel = _known[key] = _made(checked(request), threads)
        return kernel


def _made(program: NativeProgram, threads: int = 1) -> Kernel:
    module = Module()
    if not program.shape:
        return _of_numbers(program, module)
    from .arrays.axes import PIECE, pieces_of
    from .arrays.nest_functions import write_nest

    width, kinds = program.lanes(host_width()), program.arguments()
    pieces = pieces_of(program, width) if threads > 1 else None
    write_nest(program, module, width, pieces)
    if pieces is None:
        return make_callable(code_of(module, kinds))
    from .threads import InPieces

    kernel = make_callable(code_of(module, [*kinds, *PIECE], free=True))
    return InPieces(kernel, program, pieces, threads)


def _of_numbers(program: NativeProgram, module: Module) -> Kernel:
    from .scalars.numbers import Numbers

    numbers = Numbers(program, module)
    code = code_of(module, program.arguments(), numbers.effort)
    numbers.fill(code)
    return make_callable(code)


def text_of(request: Request) -> str:
    """Return the LLVM text of what :func:`build` takes, without its entry; nothing is compiled."""
    program, module = checked(request), Module()
    if program.shape:
        from .arrays.nest_functions import write_nest

        write_nest(program, module, program.lanes(host_width()), None)
    else:
        from .scalars.numbers import Numbers

        Numbers(program, module)
    return module.text()


def code_of(module: Module, kinds: list[str], effort: int = 2, *, free: bool = False) -> Code:
    """The machine code of a module, with an entry that takes arguments of these kinds.

    LLVM's code generator takes its time, but for a long text of few operations: 9000 lines that
    read and write memory take it nine seconds, or, without effort, one twentieth of a second.
    """
    message = "this kernel takes " + (", ".join(kinds) or "no arguments")
    module.globals.append(entry_text(module, kinds, message, free=free))
    text = module.text()
    code = Code(text, 0 if effort == 2 and text.count("\n") > CAREFUL_LINES else effort)
    code.connect(module.addresses.values())
    return code
