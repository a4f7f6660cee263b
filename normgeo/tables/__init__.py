"""Results as text, Markdown, LaTeX, CSV, JSON and HTML."""
