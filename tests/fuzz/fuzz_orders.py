"""The order of memory and the dtype of what functions return, as writes through views show them."""

from fuzz_settings import table
from fuzz_values import Scope, inputs
from hypothesis import strategies as st

CALLS = """
np.quantile({x}, [0.2, 0.71], axis={k})|np.percentile({x}, [20.0, 70.0], axis={k})
np.quantile({x}[..., None], [0.2, 0.71], axis={k})|np.median({x}, axis={k}, keepdims=True)
np.take({x}, [0, -1], axis={k})|np.apply_along_axis(lambda t: t * 2.0, {k}, {x})
np.cumsum({x}, axis={k})|np.cumprod({x}, axis={k})|np.sort({x}, axis={k})|np.sum({x}, axis={k})
np.mean({x}, axis={k}, keepdims=True)|np.stack([{x}, {x}], axis={k})|np.flip({x}, {k})
np.concatenate([{x}, {y}], axis={k})|np.einsum("...ij->...ji", {x})|np.tensordot({x}, {x}, 0)
np.gradient({x}, axis={k})|np.diff({x}, axis={k})|np.roll({x}, 1, axis={k})|np.pad({x}, 1)
np.repeat({x}, 2, axis={k})|np.tile({x}, 2)|np.kron({x}, {x})|np.where({x} > 0.9, {x}.T, {y})
np.moveaxis({x}, 0, {k})|np.swapaxes({x}, 0, {k}) * 1.0|np.insert({x}, 0, 0.5, axis={k})
np.delete({x}, 0, axis={k})|np.fft.fft({x}, axis={k}).real|np.linalg.inv({x})|{x} @ {y}
np.multiply({x}.T, {y})|{x}.T + {y}|np.maximum({x}.T, {y})|np.sin({x}.T)|-{x}.T|{x}.T * 2.0
np.real_if_close({x} * (1 + 0j))|np.real_if_close({x} - 1j * {x})|np.nan_to_num({x}.T)
np.clip({x}.T, 0.0, 1.0)|{x}.T.copy()|{x}.copy("K")|np.copy({x}.T)|np.asfortranarray({x})
np.ascontiguousarray({x}.T)|np.array({x}.T, order="C")|np.broadcast_to({x}, (2, *{x}.shape)) * 1.0
np.select([{x} > 0.9], [{x}.T], {y})|np.choose(0, [{x}.T, {y}])|np.linalg.solve({x}, {y})
np.linalg.qr({x})[0]|np.outer({x}, {y})|np.trapezoid({x}, axis={k})|np.std({x}, axis={k})
np.nanmax({x}, axis={k}, keepdims=True)|np.ptp({x}, axis={k})|np.average({x}, axis={k})
np.partition({x}, 1, axis={k})|np.unwrap({x}, axis={k})|np.cross({x}, {y})|np.rot90({x})
np.zeros_like({x}.T) + {x}.T|np.full_like({x}.T, 0.3) * {y}|np.linalg.norm({x}, axis={k})
np.lib.stride_tricks.sliding_window_view({x}, 2, axis={k}) * 1.0|np.vander({x}.ravel()[:3])
"""
# What is given two dtypes. (Not np.sum, np.cumsum and their like of a list, of which NumPy
# makes an object array: its entries are computed with in their own precisions, as README says.)
MIXED = """
np.max([{c}, {x}])|np.min([{c}, {x}], axis=0)|np.mean([{c}, {x}], axis=0)
np.stack([{c}, {x}])|np.concatenate([{c}, {x}])|np.median([{c}, {x}])|np.prod([{c}, {x}], axis=0)
np.std([{c}, {x}])|np.ptp([{c}, {x}])|np.sort([{c}, {x}], axis=0)
np.where({x} > 0.9, {c}, {x})|np.dot({c}, {x})|np.quantile([{c}, {x}], 0.3)|np.var([{c}, {x}])
np.maximum({c}, {x})|np.clip({c}, 0.0, {x})|np.average([{c}, {x}], axis=0)|{c} * {x}|{c} + {x}
np.amax([{c}, {c}])|np.vstack([{c}, {x}])|np.append({c}, {x})
np.nanmax([{x}, {c}])|np.min([{x}, {c}])
"""
WRITES = """
{v}.ravel()[0] = {s}|{v}.reshape(-1)[-1] = {s}|{v}.T.ravel()[1] = {s}|np.ravel({v})[0] *= {s}
np.ravel({v}.T)[0] = {s}|np.add.at(np.asarray({v}), 0, {s})|{v}.reshape(-1, order="F")[1] += {s}
np.add.at(np.asarray({v}), ([0, 0],), {s})|np.multiply({v}, {s}, out={v}, where=np.array(True))
np.subtract({v}, {s}, out={v}, where={v} > 0.5)|np.multiply.at(np.asanyarray({v}), 0, {s})
np.asarray({v})[0] = {s}|np.copyto(np.asarray({v}), {s})|{v}.ravel("F")[0] = {s}
np.put({v}.T, 1, {s})|np.reshape({v}, -1)[0] -= {s}|np.ravel({v}, "A")[1] = {s}
"""
LAYOUTS = ["C", "C", "F", "F", "strided"]


@st.composite
def programs(draw):
    square = st.sampled_from([(2, 2), (3, 3), (2, 2, 2), (2, 3), (3,), (1, 3)])
    given = [("x", draw(inputs([draw(square)], LAYOUTS)))]
    scope = Scope(given)
    scope.add("y = np.cos(x) + 0.3", "y")
    scope.add("z = np.sum(x) * 0.2", "z")
    if draw(st.integers(0, 3)) == 0:
        scope.add("single = x.astype(np.float32)", "single")
    names = ["x", "y"]
    for _ in range(draw(st.integers(1, 2))):
        mixed = "single" in scope.names and draw(st.booleans())
        call = draw(st.sampled_from(table(MIXED if mixed else CALLS)))
        k = draw(st.sampled_from(["0", "1", "-1", "-2"]))
        name = scope.fresh()
        call = call.format(x=draw(st.sampled_from(names)), y="y", c="single", k=k)
        if scope.add(f"{name} = {call}", name):
            names.append(name)
    last = names[-1]
    if draw(st.booleans()):
        scope.add(f"{last} = {last} * 1.0", last)
    for _ in range(draw(st.integers(0, 2))):
        scope.add(draw(st.sampled_from(table(WRITES))).format(v=last, s="z"))
    seen = draw(st.sampled_from(["np.sum({} ** 2) + np.sum(y)", "{}", "np.sum(np.abs({}))"]))
    return scope.program(seen.format(last))
