"""Ways to teach with a page: predict, break, compare, tour, present."""
