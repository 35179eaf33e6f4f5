"""Decoding with a decoder (greedy, sampling, beam search, trees), and its surprisal."""
