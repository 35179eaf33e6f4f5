"""The tests: a folder for each package of `seqviz`, and what runs in a browser or a server."""
