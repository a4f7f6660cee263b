"""What a lecturer and a student do with a page: predict, break, compare, tour, present."""
