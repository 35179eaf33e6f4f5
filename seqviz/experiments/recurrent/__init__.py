"""Training and measurements of recurrent networks for the lesson "RNN"."""
