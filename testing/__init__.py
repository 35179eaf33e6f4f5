"""A real server, the one Chromium and a student without a browser: for tests, benchmarks, tools."""
