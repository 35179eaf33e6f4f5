"""How a bench and its texts become HTML, CSS, JSON and links."""
