"""Both rules of a function, or both engines where it is composed of other functions."""

import chainrules as cr
from chainrules.testing import test_frule, test_rrule


def both(f, *args, **options):
    composed = cr.rrule(f, *args, **options) is None
    via_forward = {"frule_f": cr.frule_via_ad} if composed else {}
    via_reverse = {"rrule_f": cr.rrule_via_ad} if composed else {}
    test_frule(f, *args, **via_forward, fkwargs=options)
    test_rrule(f, *args, **via_reverse, fkwargs=options)
