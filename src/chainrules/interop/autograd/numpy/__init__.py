from chainrules.numpy import *
def __getattr__(n):
    import chainrules.numpy as m; return getattr(m,n)
