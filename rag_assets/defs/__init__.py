"""The Dagster layer: thin assets over `rag_assets.stages`, one file per stage."""
