"""Recurrent networks that are trained and measured for the lesson "RNN"."""
