"""Builders, descriptions and sections work on what they are given (A03, A16, A20, A26, A39)."""

from __future__ import annotations

import builtins
import os
import random
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from rag_assets.contracts.description import SummaryFacts
from rag_assets_tests.descriptions.samples import file_context, processor, segmented
from rag_assets_tests.descriptions.test_general import EVERY_SHAPE
from rag_assets_tests.sections.windows import window

FORBIDDEN = [
    (builtins, "open"),
    (os, "open"),
    (os, "stat"),
    (os, "urandom"),
    (socket, "socket"),
    (subprocess, "Popen"),
    (time, "time"),
    (time, "time_ns"),
    (time, "monotonic"),
    (time, "perf_counter"),
    (random, "random"),
    (uuid, "uuid4"),
]


def forbidden(*arguments: object, **named: object) -> None:
    raise AssertionError("pure code reached for the outside world")


def test_no_io_no_clock_no_randomness(monkeypatch: pytest.MonkeyPatch) -> None:
    """From segments to sections and points with files, network, clock and randomness taken away; the files of the
    contexts do not exist at all (A03)."""
    made = processor()
    inputs = [(file_context(text, path), segmented(text, path)) for _, path, text in EVERY_SHAPE]
    descriptions: list[SummaryFacts] = []
    with monkeypatch.context() as patched:
        for module, name in FORBIDDEN:
            patched.setattr(module, name, forbidden)
        for context, file in inputs:
            for found in made.describe_file(context, file).descriptions:
                sections = found.use_window(window()).build_summary_sections()
                for section in sections:
                    section.vectors = [1.0]
                found.use_sections(sections).build_rag_points()
                descriptions.append(found)
    assert len(descriptions) >= len(EVERY_SHAPE)
    assert not Path(inputs[0][0].full_path).exists()


SCRIPT = """
import hashlib, msgspec
from rag_assets_tests.descriptions.samples import described_file
from rag_assets_tests.descriptions.test_general import EVERY_SHAPE
from rag_assets_tests.sections.windows import window
digest = hashlib.sha256()
for _, path, text in EVERY_SHAPE:
    for found in described_file(text, path).descriptions:
        digest.update(msgspec.json.encode(found))
        for section in found.use_window(window(64)).build_summary_sections():
            digest.update(msgspec.json.encode(section))
print(digest.hexdigest())
"""


def test_the_same_bytes_whatever_the_hash_seed() -> None:
    """Two processes with different PYTHONHASHSEED write the same descriptions and sections."""
    root = Path(__file__).parents[2]
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
