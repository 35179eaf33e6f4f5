"""The first figure of *AR fitting* in other frameworks, compared with SeqViz."""
