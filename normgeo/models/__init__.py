"""What is built on normalizers: families, the normalized GLM, layers, networks, recurrences."""
