"""Rows of the growth benchmark, one module per part of the program; each exports ROWS."""
