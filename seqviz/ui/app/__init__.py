"""ASGI application: start, routing, maintenance and metrics collectors."""
