"""Test infrastructure: servers, Chromium, protocol client, Redis, Ray, network emulation."""
