"""What people and programs outside the package talk to."""
