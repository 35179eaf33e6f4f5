"""A pretrained model taken apart: what each part adds, knows by layer, and is missed for."""
