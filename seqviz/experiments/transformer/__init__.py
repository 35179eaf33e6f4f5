"""Transformers measured part by part: architectures, interventions, interpretability."""
