"""Plotly figures: pure functions from numbers to ``go.Figure``, and what is said of them. Nothing else in `rr_core`
imports Plotly.
"""
