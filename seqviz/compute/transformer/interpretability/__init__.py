"""A model taken apart: what each part adds, what it knows by layer, what is missed without."""
