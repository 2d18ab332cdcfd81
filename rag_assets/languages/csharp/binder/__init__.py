"""C# without a compiler: the declarations of a label, what written names mean, and the edges that follow."""
