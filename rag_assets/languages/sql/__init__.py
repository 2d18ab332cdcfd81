"""SQL of any dialect: one lexer, one reader of statements, one model of references."""
