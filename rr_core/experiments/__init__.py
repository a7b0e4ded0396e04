"""The paper's evaluation as an engine: sweeps over populations, k, epsilon and N, and what they say of its claims."""
