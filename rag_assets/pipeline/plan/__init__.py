"""What a build would do and cost."""
