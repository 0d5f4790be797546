"""Contents of a compiled function's cache: its recordings, and how each of these is run."""


def recordings_of_each(compiled):
    """Return how many recordings there are for each kind of arguments."""
    return [entry.recordings for entry in compiled.kinds.values()]


def recordings(compiled):
    return sum(recordings_of_each(compiled))


def paths(compiled):
    return [path for entry in compiled.kinds.values() for path in entry.all_recordings()]


def ways(compiled):
    return [path.how[0] for path in paths(compiled)]
