"""The ASGI application: routing, start, maintenance and collectors of metrics."""
