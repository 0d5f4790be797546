"""Captured state: what a recorded function can read besides its arguments, and guards on it."""
