"""What pages and benches share: results of the class, limits, the order of drawing, components."""
