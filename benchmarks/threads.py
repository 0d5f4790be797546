"""Threads of the libraries: a limit for all, sleep for those that wait, a core for one."""

import os

# Before NumPy is imported: its linear algebra reads them then.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def set_threads(count: int) -> None:
    for name in THREADS:
        os.environ[name] = str(count)
    # Threads that have nothing to do sleep. By default they spin, and slow whose turn is next.
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    os.environ["OPENBLAS_THREAD_TIMEOUT"] = "4"
    os.environ["JAX_PLATFORMS"] = "cpu"
    # JAX's own pool of threads reads NPROC, and its linear algebra the flag.
    os.environ["NPROC"] = str(count)
    if count == 1:
        os.environ["XLA_FLAGS"] = (
            "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        )
        # Waking the threads of JAX's pool on other cores would be counted as its work.
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    from peers import optional

    if (torch := optional("torch")) is not None:
        torch.set_num_threads(count)
