"""A page from title to "next lesson": the lesson, its header, its notebook."""
