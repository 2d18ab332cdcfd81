"""What must hold before a generation is served."""
