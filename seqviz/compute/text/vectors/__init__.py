"""Word vectors: tables, projections, analogies; counted, trained and contextual vectors."""
