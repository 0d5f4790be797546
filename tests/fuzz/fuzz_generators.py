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
    "views": 25,
    "aliasing": 35,
    "indices": 25,
    "calls": 30,
    "compiled": 20,
    "dead": 15,
    "ties": 10,
    "losses": 20,
    "nesting": 6,
    "loops": 5,
    "sparse": 10,
    "batches": 20,
    "items": 2,
    "containers": 20,
    "adopted": 20,
    "integrals": 2,
    "scipy": 15,
    "quick scripts": 3,
    "orders": 13,
    "modules": 10,
    "mirrors": 150,
    "pairs": 2,
    "dask": 4,
    "xarray": 3,
    "dtypes of scipy": 20,
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
