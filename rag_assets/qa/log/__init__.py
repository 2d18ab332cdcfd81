"""What is kept of a turn, and running it again."""
