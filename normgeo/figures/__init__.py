"""Results into plotly figures, one file each; no computing. The only place that imports plotly."""
