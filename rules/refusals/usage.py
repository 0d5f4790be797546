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
}
