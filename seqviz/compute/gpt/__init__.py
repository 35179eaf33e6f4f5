"""From the scores of a next token to a text: draws, beams, trees, and what a text costs in bits."""
