"""The command line: a module for each command, with `add` (its words) and `run`."""
