"""Prices of derivatives, in calls of the function: ``cr.cost``, its command and its table."""
