"""Outputs of a recurrent network's states: the next letter of a text, or its class."""
