"""No line of code and no question takes long to be looked through, whatever its shape."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from rag_assets.answer import constant_families, message_texts, model_lines, policies
from rag_assets.answer.front_end import components
from rag_assets.answer.structure import questions
from rag_assets.answer.structure.constructs import construct_asked
from rag_assets.languages import manifests
from rag_assets_tests.cli.conftest import opened_index


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (message_texts._TEXTS, '\\"' * 20_000),
        (components._PROPERTY, "a" * 40_000),
        (components._PROPERTY, "a<" * 5_000),
        (constant_families._DEFINED, f"#define A_B{' ' * 12_000}x"),
        (model_lines._CHOICES, "a=" * 20_000),
        (policies._ASKED, f"who can see {'a ' * 4_000}?!x"),
        (questions._FOLDER, f"what is the {'a.' * 10_000}?!x"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_line_of_one_shape_is_looked_through_at_once(pattern: re.Pattern[str], text: str) -> None:
    begun = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    assert time.thread_time() - begun < 1.0


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("Where are exceptions swallowed?", "# rescue x\n" * 10_000),
        ("Where are exceptions swallowed?", "# except x:\n" * 10_000),
        ("Where are exceptions swallowed?", "// catch {\n" * 10_000),
        ("Which methods are async void?", f"async void x{' ' * 40_000}"),
        ("What global mutable state is there?", "static int a = b\n" * 10_000),
        ("What global mutable state is there?", "public \n" * 10_000),
        ("Where is caching used?", "Cache.get<" * 10_000),
        ("Which methods block on async code?", "task" * 20_000),
    ],
)
def test_code_that_begins_a_form_again_and_again_is_looked_through_at_once(question: str, code: str) -> None:
    wanted = construct_asked(question)
    assert wanted is not None
    begun = time.thread_time()
    assert not [*wanted.written.finditer(code)]
    assert time.thread_time() - begun < 0.5


def test_a_build_file_of_many_projects_is_read_at_once() -> None:
    text = "".join(f"project(p{number})\nfind_package(q{number})\n" for number in range(6_000))
    begun = time.thread_time()
    assert len([*manifests.packages_in("CMakeLists.txt", text)]) == 6_000
    assert time.thread_time() - begun < 2.0


def test_a_document_that_announces_lists_again_and_again_is_read_at_once(tmp_path: Path) -> None:
    with opened_index(tmp_path, {"docs/a.md": "# Shop\n\n" + "- databases supported:\n" * 12_000}, "lists") as index:
        begun = time.thread_time()
        index.ask("Which databases are supported?")
        assert time.thread_time() - begun < 5.0
