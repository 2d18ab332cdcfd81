"""A Qdrant server on loopback for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rag_assets_tests.index.qdrant_wire import QdrantWire
    from rag_assets_tests.index.server_label import Label


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantWire]:
    pytest.importorskip("qdrant_client")
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    monkeypatch.setattr("rag_assets.index.vectors.qdrant_server.client_calls.FIRST_WAIT_SECONDS", 0.005)
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    monkeypatch.delenv("RAG_ASSETS__STORES__QDRANT_URL", raising=False)
    with QdrantWire() as running:
        yield running


@pytest.fixture
def label(wire: QdrantWire, tmp_path: Path) -> Label:
    from rag_assets_tests.index.server_label import Label

    return Label(wire, tmp_path)
