"""Training of static tables: questions and texts of repositories, the table that learns them, and how well it ranks.

numpy and scipy (the extra `training`); nothing that searches, asks or indexes imports it.
"""
