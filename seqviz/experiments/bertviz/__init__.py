"""BertViz's views as self-contained pages."""
