"""Measurements of the lessons on pretrained networks: models, data and `seqviz.compute`."""
