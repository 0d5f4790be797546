"""Captured state: where it lives, how it is read, and what code stands between.

A state is what makes it, an expression that reads it, and lines that change it, with a number in
the place of ``#`` and a value in that of ``VALUE``.
"""

MODULE = "m# = types.ModuleType('conf'); sys.modules['conf'] = m#; m#.rate = VALUE"
HOLDS = "@dataclasses.dataclass\nclass A#:\n    inner: list\na# = A#([VALUE])"
STATES = [
    # names
    ("rate# = VALUE", "rate#", "rate# = VALUE", "rate# = VALUE"),
    ("__RATE#__ = VALUE", "__RATE#__", "__RATE#__ = VALUE"),
    ("rate# = VALUE", "globals()['rate' + str(#)]", "rate# = VALUE"),
    ("rate# = VALUE", "globals()['rate#']", "rate# = VALUE"),
    ("rate# = VALUE", "eval('rate#')", "rate# = VALUE"),
    ("", "(late# if 'late#' in globals() else 1.0)", "late# = VALUE", "del late#"),
    ("builtins.of_fuzz# = VALUE", "of_fuzz#", "builtins.of_fuzz# = VALUE"),
    ("", "abs(-2.0)", "abs = lambda x: VALUE", "del abs"),
    # modules
    (MODULE, "m#.rate", "m#.rate = VALUE", "del m#.rate; m#.rate = VALUE"),
    (MODULE, "getattr(m#, 'ra' + 'te'[:2])", "m#.rate = VALUE"),
    (MODULE, "getattr(m#, 'late', 2.0)", "m#.late = VALUE", "del m#.late"),
    (MODULE, "getattr(m#, ''.join(['la', 'te']), 2.0)", "m#.late = VALUE"),
    (MODULE, "sum(v for v in vars(m#).values() if isinstance(v, float))", "m#.other = VALUE"),
    (MODULE, "sum(v for v in m#.__dict__.values() if isinstance(v, float))", "m#.other = VALUE"),
    (MODULE, "importlib.import_module('conf').rate", "m#.rate = VALUE"),
    (MODULE, "sys.modules['conf'].rate", "m#.rate = VALUE"),
    (MODULE + "\nheld# = [m#]", "held#[0].rate", "m#.rate = VALUE"),
    (MODULE + "\nattribute# = operator.attrgetter('rate')", "attribute#(m#)", "m#.rate = VALUE"),
    (MODULE + "\nd# = {'more': VALUE}; m#.__getattr__ = lambda n: d#[n]", "m#.more",
     "d#['more'] = VALUE", "m#.more = VALUE"),
    ("class Mod#(types.ModuleType):\n    rate = property(lambda s: d#[0])\nd# = [VALUE]\n"
     "m# = Mod#('conf')", "m#.rate", "d#[0] = VALUE"),
    (MODULE + "\ndef imports#():\n    import conf\n    return conf.rate", "imports#()",
     "m#.rate = VALUE"),
    (MODULE + "\ndef imports#():\n    from conf import rate as r\n    return r", "imports#()",
     "m#.rate = VALUE"),
    (MODULE + "\nm#.inner = types.ModuleType('conf.inner'); m#.inner.rate = VALUE",
     "m#.inner.rate", "m#.inner.rate = VALUE", "m#.inner = types.SimpleNamespace(rate=VALUE)"),
    # functions
    ("def make#():\n    rate = VALUE\n    def get(): return rate\n    def put(v):\n"
     "        nonlocal rate\n        rate = v\n    return get, put\nget#, put# = make#()",
     "get#()", "put#(VALUE)"),
    ("def h#(r=VALUE): return r", "h#()", "h#.__defaults__ = (VALUE,)"),
    ("def h#(*, r=VALUE): return r", "h#()", "h#.__kwdefaults__ = {'r': VALUE}",
     "h#.__kwdefaults__['r'] = VALUE"),
    ("def h#(r=[VALUE]): return r[0]", "h#()", "h#.__defaults__[0][0] = VALUE"),
    ("def h#(): return h#.rate\nh#.rate = VALUE", "h#()", "h#.rate = VALUE"),
    ("def h#(): pass\nh#.rate = VALUE", "h#.rate", "h#.rate = VALUE"),
    ("def h#(): return VALUE", "h#()", "h#.__code__ = (lambda: VALUE).__code__"),
    ("p# = functools.partial(lambda r: r[0], [VALUE])", "p#()", "p#.args[0][0] = VALUE"),
    ("p# = functools.partial(dict, a=VALUE)", "p#()['a']", "p#.keywords['a'] = VALUE"),
    ("r# = [VALUE]\n@functools.lru_cache\ndef k#(n): return r#[0] * n", "k#(2)",
     "r#[0] = VALUE", "k#.cache_clear()", "r#[0] = VALUE; k#.cache_clear(); k#(2)"),
    ("k# = functools.lru_cache(maxsize=None)(lambda n: [VALUE])", "k#(2)[0]", "k#(2)[0] = VALUE"),
    ("@functools.singledispatch\ndef s#(x): return 2.0", "s#(1)",
     "s#.register(int, lambda x: VALUE)"),
    ("r# = [VALUE]; u# = np.frompyfunc(lambda t: r#[0] * t, 1, 1)", "float(u#(1.0))",
     "r#[0] = VALUE"),
    ("r# = [VALUE]; u# = np.vectorize(lambda t: r#[0] * t)", "float(u#(1.0))", "r#[0] = VALUE"),
    ("r# = [VALUE]", "sorted([1.0, 4.0], key=lambda t: abs(t - r#[0]))[0]", "r#[0] = VALUE"),
    ("r# = [VALUE]; l# = [lambda: r#[0]]", "l#[0]()", "r#[0] = VALUE", "l#[0] = lambda: VALUE"),
    ("r# = [VALUE]\ndef key#(t): return -t * r#[0]", "max([1.0, 3.0], key=key#)", "r#[0] = -VALUE"),
    # containers
    ("d# = {'rate': VALUE}", "d#['rate']", "d#['rate'] = VALUE", "d#.clear(); d#['rate'] = VALUE"),
    ("d# = {'rate': VALUE}", "list(d#.values())[0]", "d# = {'more': VALUE, **d#}"),
    ("d# = {'a': VALUE, 'b': 3.0}", "next(iter(d#.values()))", "d#['a'] = d#.pop('a')"),
    ("l# = [VALUE, 1.0]", "l#[0]", "l#[0] = VALUE", "l#.insert(0, VALUE)", "l#.reverse()"),
    ("l# = [[{'a': (1.0, [VALUE])}]]", "l#[0][0]['a'][1][0]", "l#[0][0]['a'][1][0] = VALUE"),
    ("c# = collections.deque([VALUE])", "c#[0]", "c#.appendleft(VALUE)"),
    ("c# = collections.OrderedDict(a=VALUE, b=1.0)", "next(iter(c#.values()))",
     "c#.move_to_end('a')"),
    ("c# = collections.ChainMap({}, {'a': VALUE})", "c#['a']", "c#['a'] = VALUE"),
    ("c# = collections.UserDict(a=VALUE)", "c#['a']", "c#['a'] = VALUE"),
    ("s# = {VALUE}", "sum(s#)", "s#.add(VALUE)"),
    ("r# = [VALUE]; d# = collections.defaultdict(lambda: r#[0])", "d#.default_factory()",
     "r#[0] = VALUE", "d#.default_factory = lambda: VALUE"),
    ("d# = {'rate': VALUE}; v# = d#.values()", "sum(v#)", "d#['rate'] = VALUE"),
    ("d# = {2.0: 1}; v# = d#.keys()", "sum(v#)", "d#[VALUE] = 1"),
    ("d# = {'rate': VALUE}; v# = types.MappingProxyType(d#)", "v#['rate']", "d#['rate'] = VALUE"),
    # objects
    ("n# = types.SimpleNamespace(rate=VALUE)", "n#.rate", "n#.rate = VALUE",
     "n#.__dict__.update(rate=VALUE)"),
    ("class A#: pass\na# = A#(); a#.rate = VALUE", "a#.rate", "a#.rate = VALUE",
     "a#.__dict__ = {'rate': VALUE}"),
    ("class A#: rate = VALUE\na# = A#()", "a#.rate", "A#.rate = VALUE", "a#.rate = VALUE"),
    ("class A#: rate = VALUE\nclass B#: rate = 7.0\na# = A#()", "a#.rate", "a#.__class__ = B#"),
    ("class P#: rate = VALUE\nclass Q#: rate = 7.0\nclass A#(P#): pass\na# = A#()", "a#.rate",
     "A#.__bases__ = (Q#,)", "Q#.rate = VALUE"),
    ("class M#(type): rate = VALUE\nclass A#(metaclass=M#): pass", "A#.rate", "M#.rate = VALUE"),
    ("class A#:\n    __slots__ = ('rate',)\na# = A#(); a#.rate = VALUE", "a#.rate",
     "a#.rate = VALUE"),
    ("class A#:\n    __slots__ = ('__rate',)\n    def __init__(s): s.__rate = VALUE\n"
     "    def put(s, r): s.__rate = r\n    def get(s): return s.__rate\na# = A#()", "a#.get()",
     "a#.put(VALUE)"),
    ("class A#:\n    def __init__(s): s.__rate = VALUE\n    def put(s, r): s.__rate = r\n"
     "    def get(s): return s.__rate\na# = A#()", "a#.get()", "a#.put(VALUE)"),
    ("class A#:\n    rate = property(lambda s: s.table['r'])\n    table = {'r': VALUE}\na# = A#()",
     "a#.rate", "A#.table['r'] = VALUE", "A#.rate = property(lambda s: VALUE)"),
    ("class A#:\n    def __len__(s): return int(VALUE)\na# = A#()", "len(a#)",
     "A#.__len__ = lambda s: int(VALUE)"),
    ("class A#:\n    def __getattr__(s, n): return d#[n]\nd# = {'rate': VALUE}\na# = A#()",
     "a#.rate", "d#['rate'] = VALUE", "a#.rate = VALUE"),
    ("class A#:\n    def get(s): return VALUE\na# = A#()", "a#.get()", "a#.get = lambda: VALUE",
     "del a#.get; A#.get = lambda s: VALUE"),
    ("class A#:\n    rate = VALUE\n    @classmethod\n    def get(c): return c.rate", "A#.get()",
     "A#.rate = VALUE", "A#.get = staticmethod(lambda: VALUE)"),
    ("@dataclasses.dataclass\nclass A#:\n    rate: float = VALUE\na# = A#()", "a#.rate",
     "a#.rate = VALUE"),
    ("class A#(enum.Enum): RATE = VALUE", "A#.RATE.value", "A#.RATE._value_ = VALUE"),
    ("class P#(abc.ABC): pass\nclass A#: pass\na# = A#()", "(5.0 if isinstance(a#, P#) else 2.0)",
     "P#.register(A#)"),
    ("class A#:\n    @functools.cached_property\n    def rate(s): return VALUE\na# = A#()",
     "a#.rate", "a#.__dict__['rate'] = VALUE"),
    (HOLDS, "sum(map(sum, vars(a#).values()))", "a#.inner[0] = VALUE"),
    (HOLDS, "sum(map(sum, a#.__dict__.values()))", "a#.inner[0] = VALUE"),
    (HOLDS, "getattr(a#, 'in' + 'ner'[:3])[0]", "a#.inner[0] = VALUE"),
    (HOLDS, "list(vars(copy.deepcopy(a#)).values())[0][0]", "a#.inner[0] = VALUE"),
    (HOLDS, "dataclasses.astuple(a#)[0][0]", "a#.inner[0] = VALUE"),
    (HOLDS, "next(iter(dataclasses.asdict(a#).values()))[0]", "a#.inner[0] = VALUE"),
    (HOLDS, "float('{0.inner[0]}'.format(a#))", "a#.inner[0] = VALUE"),
    (HOLDS, "float(repr(a#).split('[')[1].split(']')[0])", "a#.inner[0] = VALUE"),
    (HOLDS, "(9.0 if a# == type(a#)([2.0]) else 1.0)", "a#.inner[0] = VALUE"),
    (HOLDS + "\nget# = operator.attrgetter('inner')", "get#(a#)[0]", "a#.inner[0] = VALUE"),
    (HOLDS + "\ndef put#(): return a#.inner", "put#()[0]", "put#()[0] = VALUE"),
    (HOLDS + "\nm# = [lambda o: o.inner[0]]", "sum(map(m#[0], [a#]))", "a#.inner[0] = VALUE"),
    ("class F#(float): pass\nk# = F#(2.0); k#.scale = VALUE", "k#.scale", "k#.scale = VALUE"),
    ("class F#(str): pass\nk# = F#('a'); k#.scale = VALUE", "k#.scale", "k#.scale = VALUE"),
    ("class F#(tuple): pass\nk# = F#((1,)); k#.scale = VALUE", "k#.scale", "k#.scale = VALUE"),
    ("class F#(dict): pass\nk# = F#(); k#.scale = VALUE", "k#.scale", "k#.scale = VALUE"),
    ("e# = ValueError(VALUE)", "e#.args[0]", "e#.args = (VALUE,)"),
    ("class A#: rate = VALUE\na# = A#(); w# = weakref.ref(a#)", "w#().rate", "a#.rate = VALUE"),
    ("class A#: rate = VALUE", "sum(c.rate for c in A#.__subclasses__()) + 1.0",
     "class B#(A#): rate = VALUE"),
    ("class It#:\n    n = VALUE\n    def __iter__(s): return iter([s.n])\ni# = It#()", "sum(i#)",
     "i#.n = VALUE"),
    # memory
    ("c# = ctypes.c_double(VALUE)", "c#.value", "c#.value = VALUE"),
    ("c# = (ctypes.c_double * 2)(VALUE, 1.0)", "c#[0]", "c#[0] = VALUE"),
    ("class S#(ctypes.Structure): _fields_ = [('rate', ctypes.c_double)]\nc# = S#(VALUE)",
     "c#.rate", "c#.rate = VALUE"),
    ("t# = ctypes.c_double(VALUE); c# = ctypes.pointer(t#)", "c#[0]", "t#.value = VALUE"),
    ("t# = array.array('d', [VALUE])", "t#[0]", "t#[0] = VALUE"),
    ("t# = bytearray(b'ab')", "t#[0]", "t#[0] = 7"),
    ("b# = bytearray(b'ab'); t# = memoryview(b#)", "t#[0]", "b#[0] = 9"),
    ("y# = np.array([VALUE, 1.0])", "y#[0]", "y#[0] = VALUE"),
    ("y# = np.array([VALUE, 1.0]); z# = y#[:1]; z#.flags.writeable = False", "z#[0]",
     "y#[0] = VALUE"),
    ("y# = np.full(20000, VALUE)", "y#[777]", "y#[777] = VALUE"),
    ("y# = np.array([[VALUE], None], object)", "y#[0][0]", "y#[0][0] = VALUE"),
    ("y# = np.array([(VALUE, 1)], [('a', float), ('b', int)])", "float(y#['a'][0])",
     "y#['a'] = VALUE"),
    ("y# = np.array([(VALUE, 1)], [('a', float), ('b', int)])[0]", "float(y#['a'])",
     "y#['a'] = VALUE"),
    ("class Y#(np.ndarray): pass\ny# = np.ones(2).view(Y#); y#.rate = VALUE", "y#.rate",
     "y#.rate = VALUE"),
    ("y# = np.ma.masked_array([VALUE, 1.0], [0, 1])", "float(y#.sum())", "y#[0] = VALUE",
     "y#.mask[1] = False"),
    ("y# = np.ones(4)", "y#.shape[0]", "y#.shape = (2, 2)"),
    # the process
    ("v# = contextvars.ContextVar('v', default=VALUE)", "v#.get()", "v#.set(VALUE)"),
    ("v# = threading.local(); v#.rate = VALUE", "v#.rate", "v#.rate = VALUE"),
    ("os.environ['OF_FUZZ#'] = 'VALUE'", "float(os.environ['OF_FUZZ#'])",
     "os.environ['OF_FUZZ#'] = 'VALUE'"),
    ("", "float(os.getenv('OF_FUZZ#', '2.0'))", "os.environ['OF_FUZZ#'] = 'VALUE'"),
    ("b# = io.StringIO('VALUE')", "(b#.seek(0), float(b#.read()))[1]",
     "b#.seek(0); b#.write('VALUE')"),
    ("", "float(decimal.Decimal(1) / decimal.Decimal(3))", "decimal.getcontext().prec = 3"),
    ("third# = decimal.Decimal(3)", "float(1 / third#)", "decimal.getcontext().prec = 2"),
    ("", "len(sys.argv)", "sys.argv.append('more')"),
    ("i# = itertools.count(VALUE)", "next(i#)", "next(i#)"),
    ("i# = iter([2.0, 3.0, 4.0] * 20)", "next(i#)", "next(i#)"),
]  # fmt: skip


# How a read stands in the function: lines that come before, and the expression there.
def directly(read, name):
    return "", f"({read})"


def by_function(read, name):
    return f"def {name}(): return {read}", f"{name}()"


def by_two(read, name):
    return f"def {name}_(): return {read}\ndef {name}(): return {name}_()", f"{name}()"


def by_lambda_in_list(read, name):
    return f"{name} = [lambda: {read}]", f"{name}[0]()"


def by_method(read, name):
    return f"class C{name}:\n    def get(self): return {read}\n{name} = C{name}()", f"{name}.get()"


def by_call(read, name):
    return f"class C{name}:\n    def __call__(s): return {read}\n{name} = C{name}()", f"{name}()"


def by_key(read, name):
    return f"def {name}(t): return {read}", f"{name}(max([1], key={name}))"


def by_map(read, name):
    return f"def {name}(t): return {read}", f"sum(map({name}, [0]))"


def by_partial(read, name):
    return f"{name} = functools.partial(lambda t: {read}, 0)", f"{name}()"


def by_closure(read, name):
    return f"def m{name}():\n    def get(): return {read}\n    return get\n{name} = m{name}()", (
        f"{name}()"
    )


def by_decorator(read, name):
    made = f"@functools.wraps(repr)\ndef {name}_(): return {read}\n{name} = functools.wraps(abs)"
    return f"{made}(lambda: {name}_())", f"{name}()"


def by_comprehension(read, name):
    return "", f"sum([{read} for _ in range(1)])"


def by_generator(read, name):
    return f"def {name}(): yield {read}", f"sum({name}())"


def by_property(read, name):
    return f"class C{name}: r = property(lambda s: {read})\n{name} = C{name}()", f"{name}.r"


def by_compiled(read, name):
    return f"{name} = wrap(lambda t: t * ({read}))", f"{name}(1.0)"


def by_default(read, name):
    return f"def {name}(get=lambda: {read}): return get()", f"{name}()"


def by_reduce(read, name):
    return "", f"functools.reduce(lambda a, b: a * ({read}), [1.0, 1.0])"


READERS = [
    directly, directly, by_function, by_two, by_lambda_in_list, by_method, by_call, by_key, by_map,
    by_partial, by_closure, by_decorator, by_comprehension, by_generator, by_property, by_compiled,
    by_default, by_reduce,
]  # fmt: skip
# What the function does with it and with its argument.
USES = [
    "x * ({})", "np.sin(x) + ({})", "(x * ({})) ** 2", "np.sum(x * ({}))",
    "np.exp(-x * 0.1) * ({})",
    "x * ({}) if np.sum(x) > 3.0 else x - ({})",
    "x * (({}) if getattr(x, 'flags', None) is None or x.flags.writeable else 0.5)",
]  # fmt: skip
