"""What figures of every subject are made of: style, axes, scales, words on a figure, tables."""
