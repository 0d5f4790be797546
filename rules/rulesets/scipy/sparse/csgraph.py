"""Rules for scipy.sparse.csgraph: the Laplacian has a derivative, orders and matchings do not."""

from typing import Any

import numpy as np
from scipy.sparse import csgraph

from .....config import MissingRuleError, user_line
from .... import composed, non_differentiable, value
from .array import SparseArray, constant, issparse, lifted
from .construction import diags
from .seeing import returns_ours as answers  # noqa: F401 - asked by the mirror

REFUSED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("shortest_path", "floyd_warshall", "dijkstra", "bellman_ford", "johnson", "yen",
         "construct_dist_matrix"),
        ("no rule yet for lengths of paths",
         "cr.value(graph) for the path, and then the sum of the weights along it"),
    ),
    **dict.fromkeys(
        ("minimum_spanning_tree", "breadth_first_tree", "depth_first_tree"),
        ("no rule yet for trees with weights",
         "cr.value(graph) for the tree, and then the weights at its places"),
    ),
    "maximum_flow": ("capacities are integers", "cr.value(graph)"),
    **dict.fromkeys(
        ("csgraph_from_dense", "csgraph_from_masked", "csgraph_masked_from_dense",
         "csgraph_to_dense", "csgraph_to_masked"),
        ("the pattern is read from the numbers", "csr_array((data, (row, col)), shape)"),
    ),
}  # fmt: skip
CONSTANT = (
    "connected_components", "breadth_first_order", "depth_first_order", "reverse_cuthill_mckee",
    "maximum_bipartite_matching", "min_weight_full_bipartite_matching", "structural_rank",
    "reconstruct_path",
)  # fmt: skip

INSTEAD: dict[str, Any] = {name: constant(getattr(csgraph, name)) for name in CONSTANT}
for _name in CONSTANT:
    non_differentiable(getattr(csgraph, _name))


@composed(csgraph.laplacian)
def laplacian(csgraph, normed=False, return_diag=False, use_out_degree=False, *, copy=True,
              form="array", dtype=None, symmetrized=False):  # fmt: skip
    """Degrees on the diagonal, and minus the weights off it; or this over roots of degrees."""
    if form != "array":
        raise MissingRuleError(
            f"scipy.sparse.csgraph.laplacian with form={form!r} has no rule, in {user_line()}.\n"
            '  write form="array"'
        )
    a = lifted(csgraph).summed() if issparse(csgraph) else csgraph
    a = a + a.T.conj() if symmetrized else a
    degrees = np.ravel(a.sum(axis=1 if use_out_degree else 0)) - a.diagonal()
    if normed:
        isolated = value(degrees) == 0
        roots = np.sqrt(np.where(isolated, 1, degrees))
        y = _with_diagonal(_divided(a, roots), (1 - isolated).astype(value(roots).dtype))
        return (y, roots) if return_diag else y
    y = _with_diagonal(a, degrees)
    return (y, degrees) if return_diag else y


def _divided(a, roots):
    if type(a) is not SparseArray:
        return a / roots / roots[:, None]
    rows, columns = a.places.coords
    return a.with_entries(a.entries / roots[rows] / roots[columns])


def _with_diagonal(a, diagonal):
    if type(a) is not SparseArray:
        return np.where(np.eye(len(a), dtype=bool), diagonal, -a)
    rows, columns = a.places.coords
    off = a.with_entries(-a.entries * (rows != columns))
    return (off + diags([diagonal], [0])).tocoo()
