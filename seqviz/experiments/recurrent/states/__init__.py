"""States of bundled recurrent networks on letters and reviews, with jobs on held-out ones."""
