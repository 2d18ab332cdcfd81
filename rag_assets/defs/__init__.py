"""The Dagster layer: thin assets over `rag_assets.pipeline`, one file per stage."""
