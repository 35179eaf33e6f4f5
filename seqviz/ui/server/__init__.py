"""HTTP layer: static files, index page, security headers, hosts, shutdown, deprecated names."""
