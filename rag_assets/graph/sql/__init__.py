"""The graph of databases: objects of SQL files, what they read and write, and the SQL that other languages hold."""
