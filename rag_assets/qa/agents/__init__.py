"""Agents: who writes, with which model, what, and within which bounds (E15)."""
