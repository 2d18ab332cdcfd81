"""Entity Framework in the graph: contexts, sets, entities, their tables, migrations, and who reads and writes them."""
