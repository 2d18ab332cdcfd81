"""Entity Framework: contexts, mappings, entities, and what LINQ does with rows."""
