"""Plotly figures: pure functions from numbers to ``go.Figure``. The only place that imports Plotly."""
