"""Decides which files are indexed, with a reason for each of the others."""
