"""The mathematics: torch and numpy in, frozen dataclasses of numpy arrays out."""
