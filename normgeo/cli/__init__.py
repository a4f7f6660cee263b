"""The command line: a module for each command, with `add` (its arguments) and `run`."""
