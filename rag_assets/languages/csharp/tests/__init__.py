"""Test classes, their cases and their subjects."""
