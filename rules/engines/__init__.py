"""Base parts of all engines: dispatch of calls, checks of inputs, and buffers for writes."""
