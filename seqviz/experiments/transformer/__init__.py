"""Parts of Transformers, measured: architectures, interventions, interpretability."""
