"""Rules for scipy.sparse.csgraph: graphs are constant, and so is what is found in them."""

from typing import Any

from scipy.sparse import csgraph

from .... import non_differentiable
from .array import constant

REFUSED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("shortest_path", "floyd_warshall", "dijkstra", "bellman_ford", "johnson", "yen",
         "construct_dist_matrix"),
        ("no rule yet for lengths of paths",
         "graph.to_scipy() for the path, and then the sum of the weights along it"),
    ),
    **dict.fromkeys(
        ("minimum_spanning_tree", "breadth_first_tree", "depth_first_tree"),
        ("no rule yet for trees with weights",
         "graph.to_scipy() for the tree, and then the weights at its places"),
    ),
    "maximum_flow": ("capacities are integers", "graph.to_scipy()"),
    "laplacian": ("no rule yet", "D - A, by sums over the rows of A"),
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
