"""Vectors in a Qdrant server."""
