"""What builders know about code beyond one declaration: types, methods, entities. Pure functions over segments."""
