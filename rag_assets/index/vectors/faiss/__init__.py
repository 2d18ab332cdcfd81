"""Vectors searched exactly with FAISS."""
