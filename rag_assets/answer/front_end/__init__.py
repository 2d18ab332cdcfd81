"""What front ends declare."""
