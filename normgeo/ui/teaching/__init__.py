"""What a lecturer needs on a page beside the page: tours, presenting, symbols, links."""
