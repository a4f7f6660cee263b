"""What everything stands on: array checks, sentences, progress."""
