"""What every engine shares: how calls are answered, what goes in, buffers to be written to."""
