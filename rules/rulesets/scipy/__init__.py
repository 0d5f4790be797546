"""Rules for SciPy's functions of arrays, a file or a folder for each of its modules.

Each is loaded with the module of ``chainrules.scipy`` that shows it, and says besides its rules
what else there is to know: ``INSTEAD``, stand-ins for classes and objects by their names;
``REFUSED``, by name why there is no derivative and what to write instead.
"""
