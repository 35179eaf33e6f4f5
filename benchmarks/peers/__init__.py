"""The first figure of *AR fitting* in other frameworks, beside our page."""
