"""The content-addressed cache: durable, shared, disposable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.contracts.identity import cache_key
from rag_assets.index.cache import Cache


def test_what_was_put_is_found_again_by_another_opening(tmp_path: Path) -> None:
    with Cache(tmp_path, "stage") as cache:
        cache.put_many([(cache_key("v1", "a"), b"A"), (cache_key("v1", "b"), b"B")])
    with Cache(tmp_path, "stage") as cache:
        found = cache.get_many([cache_key("v1", "a"), cache_key("v2", "a")])
    assert found == {cache_key("v1", "a"): b"A"}


def test_keys_tell_apart_what_joins_to_the_same_text() -> None:
    assert cache_key("ab", "c") != cache_key("a", "bc") != cache_key("abc")


def test_more_keys_than_one_statement_takes(tmp_path: Path) -> None:
    entries = [(cache_key(str(i)), str(i).encode()) for i in range(3_000)]
    with Cache(tmp_path, "stage") as cache:
        cache.put_many(entries)
        assert cache.get_many([key for key, _ in entries]) == dict(entries)
        assert cache.count() == 3_000


def test_the_first_value_of_a_key_stays(tmp_path: Path) -> None:
    """Equal keys mean equal inputs, so a second writer has nothing to add."""
    with Cache(tmp_path, "stage") as cache:
        cache.put_many([(b"k" * 32, b"1")])
        cache.put_many([(b"k" * 32, b"2")])
        assert cache.get_many([b"k" * 32]) == {b"k" * 32: b"1"}


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    Cache(tmp_path, "stage").close()
    (tmp_path / "stage.sqlite").write_bytes(b"not a database" * 100)
    with Cache(tmp_path, "stage") as cache:
        assert cache.count() == 0
        cache.put_many([(b"k" * 32, b"v")])
    assert (tmp_path / "stage.damaged").exists()


def test_entries_put_before_a_kill_survive_it(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from rag_assets.index.cache import Cache\n"
        "cache = Cache(Path(sys.argv[1]), 'stage')\n"
        "cache.put_many([(bytes([i]) * 32, b'v') for i in range(50)])\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    with Cache(tmp_path, "stage") as cache:
        assert cache.count() == 50


def test_two_writers_at_once(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rag_assets.index.cache import Cache\n"
        "cache = Cache(Path(sys.argv[1]), 'stage')\n"
        "for i in range(100):\n"
        "    cache.put_many([(bytes([int(sys.argv[2]), i]) * 16, b'v' * 1000)])\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(n)]) for n in (1, 2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    with Cache(tmp_path, "stage") as cache:
        assert cache.count() == 200


def test_an_unusable_folder_is_named(tmp_path: Path) -> None:
    Cache(tmp_path, "other").close()
    (tmp_path / "stage.sqlite").mkdir()
    with pytest.raises(OSError, match=r"stage\.sqlite"):
        Cache(tmp_path, "stage")
