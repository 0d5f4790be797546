"""autograd"""
from .exported import export
