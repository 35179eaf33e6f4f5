"""Figures of autoregressive series: paths, estimates, forecasts, training."""
