"""One button in the heading of a page for its link and the files of its figures."""
