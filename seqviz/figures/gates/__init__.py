"""Figures of gated cells: traces, maps, diagrams, small networks."""
