"""One recurrent cell by hand, wirings of such cells, and the network without tanh."""
