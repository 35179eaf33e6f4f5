"""What every bench is made of: declared parameters, a body, and what it shows, as data."""
