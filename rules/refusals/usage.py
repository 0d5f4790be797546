"""Rows of the table of refusals for calls of transforms whose arguments do not fit."""

from .rows import Refusal

USAGE = {
    "no function": Refusal(
        "CR201",
        TypeError,
        "{name} takes a function, not {x}.",
        "write cr.{name}(f)(x): {name} returns a function, which takes the point",
    ),
    "no scalar output": Refusal(
        "CR202",
        TypeError,
        "{name} needs a scalar output, and {f} returned {y}.",
        "{instead}",
    ),
    "no pair": Refusal(
        "CR203",
        TypeError,
        "with has_aux=True, {f} must return (y, aux).",
        "return a pair: what is differentiated, and what is handed on",
    ),
    "nothing to differentiate": Refusal(
        "CR204",
        TypeError,
        "argument {i} of {f} is of type {x} and holds no number that {name} could differentiate.",
        "choose another argument with argnums{more}",
    ),
    "no such argument": Refusal(
        "CR205",
        TypeError,
        "{name}({f}, argnums={argnums}) was called with {count}, so there is no argument {argnum}.",
        "positions count from 0; write argnums='name' for one that is given by its name",
    ),
    "argument named twice": Refusal(
        "CR206",
        TypeError,
        "argnums={argnums} names an argument twice.",
        "name each once: its gradient is one",
    ),
    "unknown name of an argument": Refusal(
        "CR207",
        TypeError,
        "{f} has no argument {argnum} that {name} could differentiate{near}",
        "its positional arguments: {known}",
    ),
    "argnums of another type": Refusal(
        "CR208",
        TypeError,
        "argnums of {name} is an int, a name, or a tuple of these, not {argnum}.",
        "write {name}({f}, argnums=0)",
    ),
    "argnum": Refusal(
        "CR209",
        TypeError,
        "{name} has no argument 'argnum'; did you mean 'argnums'?",
        "write {name}(f, argnums={argnum})",
    ),
    "point in place of argnums": Refusal(
        "CR210",
        TypeError,
        "argnums of {name} is an int, a name, or a tuple of these, not {x}; {name} returns a "
        "function, which takes the point.",
        "write cr.{name}({f})(x)",
    ),
    "no tuples": Refusal(
        "CR211",
        TypeError,
        "primals and tangents of {name} are tuples, with one entry per argument.",
        "write cr.{name}(f, (x,), ({tangent},))",
    ),
    "number of tangents": Refusal(
        "CR212",
        TypeError,
        "{name} got {primals} and {tangents}.",
        "give one tangent for each argument",
    ),
    "real argument": Refusal(
        "CR213",
        TypeError,
        "wirtinger needs a complex argument, and argument {i} is real.",
        "use jacobian",
    ),
    "axis of one value": Refusal(
        "CR214",
        ValueError,
        "{place} is one {x}, and its axis is given as {axes}.",
        "give an int, or None where all items share it",
    ),
    "axes of other parts": Refusal(
        "CR215",
        ValueError,
        "{place} has the parts {parts}, and its axes {axes} have {named}.",
        "give an int, None, or a container of these with the same parts",
    ),
    "unknown names of axes": Refusal(
        "CR216",
        ValueError,
        "in_axes names {unknown}, and {f} is called with {given}.",
        "name arguments of the call; those that are not named are shared",
    ),
    "number of axes": Refusal(
        "CR217",
        ValueError,
        "in_axes has {count} entries, and {f} is called with {given} arguments by position.",
        "give one for each, or a dict of names",
    ),
    "no axis of items": Refusal(
        "CR218",
        ValueError,
        "{place} is {x}, and has no axis {axis} to take items from.",
        "{instead}",
    ),
    "axes of another type": Refusal(
        "CR219",
        TypeError,
        "{name} is an int, None, or a container of these, and not {axes}.",
        "write vmap(f, in_axes=0)(x): the arguments of f are given to the result",
    ),
    "number of ways": Refusal(
        "CR220",
        TypeError,
        "ways is a number of ways through f, at least 1, and not {ways}.",
        "write ways=1 where the items are to go one way",
    ),
    "no pair of a step": Refusal(
        "CR221",
        TypeError,
        "scan needs f(carry, x) to return (carry, y), and it returned {step}.",
        "return a pair: (carry, None) where there is nothing to collect",
    ),
    "negative number of steps": Refusal(
        "CR222",
        ValueError,
        "loop needs a number of steps that is not negative, and got {count}.",
        "give the number of steps: 0 returns the carry as it is",
    ),
    "no such option": Refusal(
        "CR223",
        TypeError,
        "{name} has no argument {option}{near}",
        "{instead}",
    ),
    "value of an option": Refusal(
        "CR224",
        ValueError,
        "{name}={x} is none of {known}.",
        "give one of these",
    ),
    "not holomorphic": Refusal(
        "CR225",
        TypeError,
        "the function is not holomorphic, so it has no complex Jacobian.",
        "differentiate its real and imaginary parts: jacobian of np.real(f(z)), np.imag(f(z))",
    ),
    "sparse and complex": Refusal(
        "CR226",
        TypeError,
        "a sparse derivative is of real functions.",
        "differentiate the real and the imaginary part",
    ),
    "sparse and differentiated": Refusal(
        "CR227",
        TypeError,
        "a sparse derivative holds plain numbers and cannot be differentiated again.",
        "use sparse=False inside another transform",
    ),
}
