"""Writing many documents at once: everything arrives, nothing is swallowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.contracts.identity import content_hash
from rag_assets.index.blobs import BlobStore, BlobWriter


def test_everything_is_there_when_the_writer_is_left(tmp_path: Path) -> None:
    texts = [f"text {number % 150}\r\n" for number in range(300)]  # each twice, more than may be pending
    store = BlobStore(tmp_path)
    with BlobWriter(store) as writer:
        for text in texts:
            writer.put_as(content_hash(text), text)
    assert [store.get(content_hash(text)) for text in texts] == texts
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 150


@pytest.mark.parametrize("texts", [1, 200], ids=["on leaving", "while writing"])
def test_a_failed_write_is_raised(tmp_path: Path, texts: int) -> None:
    blocked = tmp_path / "blobs"
    blocked.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(OSError, match="blobs"), BlobWriter(BlobStore(blocked)) as writer:
        for number in range(texts):
            writer.put_as(content_hash(f"{number}"), f"text {number}")


def test_the_error_of_the_caller_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), BlobWriter(BlobStore(tmp_path)) as writer:
        writer.put_as(content_hash("text"), "text")
        raise ZeroDivisionError
