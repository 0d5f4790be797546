"""All generators by name."""

import fuzz_adopted
import fuzz_aliasing
import fuzz_batches
import fuzz_calls
import fuzz_compiled
import fuzz_containers
import fuzz_dead
import fuzz_dtypes
import fuzz_indices
import fuzz_integrals
import fuzz_items
import fuzz_labels
import fuzz_lazy
import fuzz_loops
import fuzz_losses
import fuzz_mirrors
import fuzz_modules
import fuzz_nesting
import fuzz_orders
import fuzz_pairs
import fuzz_scipy
import fuzz_scripts
import fuzz_sparse
import fuzz_ties
import fuzz_views

GENERATORS = {
    "views": fuzz_views.programs,
    "aliasing": fuzz_aliasing.programs,
    "indices": fuzz_indices.programs,
    "calls": fuzz_calls.programs,
    "compiled": fuzz_compiled.programs,
    "dead": fuzz_dead.programs,
    "ties": fuzz_ties.programs,
    "losses": fuzz_losses.programs,
    "nesting": fuzz_nesting.programs,
    "loops": fuzz_loops.programs,
    "sparse": fuzz_sparse.programs,
    "batches": fuzz_batches.programs,
    "items": fuzz_items.programs,
    "containers": fuzz_containers.programs,
    "adopted": fuzz_adopted.programs,
    "integrals": fuzz_integrals.programs,
    "scipy": fuzz_scipy.programs,
    "orders": fuzz_orders.programs,
    "modules": fuzz_modules.programs,
    "mirrors": fuzz_mirrors.programs,
    "pairs": fuzz_pairs.programs,
    "dask": fuzz_lazy.programs,
    "xarray": fuzz_labels.programs,
    "dtypes of scipy": fuzz_dtypes.programs,
    "scripts": fuzz_scripts.programs,
    "quick scripts": fuzz_scripts.quick,
}

# How many programs of each the tests run.
QUICK = {
    "views": 15,
    "aliasing": 21,
    "indices": 15,
    "calls": 18,
    "compiled": 12,
    "dead": 9,
    "ties": 6,
    "losses": 12,
    "nesting": 4,
    "loops": 3,
    "sparse": 6,
    "batches": 12,
    "items": 2,
    "containers": 12,
    "adopted": 12,
    "integrals": 2,
    "scipy": 9,
    "quick scripts": 2,
    "orders": 8,
    "modules": 6,
    "mirrors": 90,
    "dask": 2,
    "xarray": 2,
    "dtypes of scipy": 12,
}

# How many programs make a batch of `make fuzz`, where these take longer than others.
SIZES = {
    "scripts": 8,
    "quick scripts": 0,
    "mirrors": 1000,
    "items": 15,
    "dask": 20,
    "xarray": 15,
    "pairs": 15,
    "dtypes of scipy": 150,
}
