"""Artifacts: documents with fixed sections that are written from an index, every statement cited (E17)."""
