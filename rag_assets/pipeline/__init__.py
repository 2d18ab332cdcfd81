"""One module per asset: reads the tables of the stages before it, calls the pure code through the cache, writes
its own table. Nothing here knows Dagster; `rag_assets.defs` and `run_stages` call the same functions."""
