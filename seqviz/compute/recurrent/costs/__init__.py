"""Costs of a recurrent network: parameters, time, and the terms of its loss."""
