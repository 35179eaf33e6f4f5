"""One step of a cell, graphs and influence of wirings, and the collapse without tanh."""
