"""The accuracy lesson on a real encoder: masking, padding, direction, training and testing."""
