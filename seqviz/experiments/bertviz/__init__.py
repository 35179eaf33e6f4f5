"""BertViz's views as pages that need no other host."""
