"""One recurrent cell by hand, the wirings that are made of it, and what is left without tanh."""
