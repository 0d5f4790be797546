"""Intermediate representation: forms, dtypes and guards of a program, and tables of operations."""
