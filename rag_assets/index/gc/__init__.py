"""Garbage collection: what is marked, and what is swept."""
