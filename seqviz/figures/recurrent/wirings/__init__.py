"""Figures of one step of a cell, wirings and their influence, and the linear collapse."""
