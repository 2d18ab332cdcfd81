"""Nouns of the seeds, shared by every stage; imports nothing else of the package."""
