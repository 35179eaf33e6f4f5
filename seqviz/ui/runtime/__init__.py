"""Scheduler, result cache, clients, worker processes, metrics and logs."""
