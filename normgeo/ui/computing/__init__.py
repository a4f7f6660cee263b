"""Computations that pages ask for: the server of all sessions, a task, its progress bar."""
