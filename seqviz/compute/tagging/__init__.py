"""One tag for each letter of a text: who wrote it with a capital, where do words begin?"""
