"""What the states of a recurrent network say: the next letter of a text, or one verdict on it."""
