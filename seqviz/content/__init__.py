"""Catalog of lessons, glossary, and search index of the home page."""
