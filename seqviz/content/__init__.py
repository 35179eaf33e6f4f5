"""The table of contents, the glossary and the index of the search on the home page."""
