"""The structured-text model behind builders: none by default, or an OpenAI-compatible server.

The HTTP client is loaded when a server is configured.
"""

from __future__ import annotations

from rag_assets.llm.opening import llm_fingerprint, open_llm

__all__ = ["llm_fingerprint", "open_llm"]
