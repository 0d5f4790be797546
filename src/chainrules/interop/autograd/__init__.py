"""autograd"""
from .adopted import adopt, adopt_module
from .exported import export
