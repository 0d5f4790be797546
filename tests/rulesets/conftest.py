"""Tests here read the tables of rules as they are: all rules are in them first."""

from chainrules.rules.loading import load

load()
