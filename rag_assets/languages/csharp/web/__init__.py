"""HTTP endpoints of C# code: found by attributes, by convention, by calls. Pure functions over segments and text."""
