"""Quotas, admission and rate limits of clients."""
