"""`python -m rag_assets` is the same as `rag-assets`."""

from rag_assets.cli import main

if __name__ == "__main__":
    main()
