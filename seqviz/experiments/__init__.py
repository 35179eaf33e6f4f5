"""What a lesson measures on a pretrained network: a model, data and mathematics put together."""
