"""One tag for each letter of a text: where do words begin, and what are they?"""
