"""Section 5 of the paper as a story in seven short chapters, in three languages."""
