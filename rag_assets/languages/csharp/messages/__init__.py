"""Messages and the handlers that take them."""
