"""Code with syntax errors: what is good is used, the rest is not lost."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import ParseHealth
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_covers_text, check_invariants, outline

BROKEN = {
    "python": "class Good:\n    def f(self): pass\n\ndef broken(:\n    secret_word()\n\ndef fine(): pass\n",
    "typescript": "class Good { f() {} }\ninterface { secret_word\nclass Other { g() {} }\n",
    "javascript": "class Good { f() {} }\nlet = = secret_word;\nfunction fine() {}\n",
    "java": "class Good { void f() {} }\nclass { secret_word }}\nclass Other { }\n",
    "go": "package a\n\ntype Good struct { A int }\n\nfunc ( secret_word\n\nfunc Fine() {}\n",
}


@pytest.mark.parametrize("language", BROKEN)
def test_good_declarations_survive_and_no_word_is_lost(language: str) -> None:
    text = BROKEN[language]
    file = segment_file(text, "a.x", language)
    check_invariants(text, file)
    assert file.health is ParseHealth.PARTIAL
    assert file.detail.startswith("syntax errors, the first at line ")
    assert "Good" in {segment.name for segment in file.segments}
    held = [found.span for segment in file.segments for found in (segment.members or [segment])]
    assert any("secret_word" in span.slice(text) for span in held)


@pytest.mark.parametrize("language", BROKEN)
def test_what_is_no_code_at_all_becomes_windows(language: str) -> None:
    text = "}}} ((( [[[ <<< %%% 'é\n" * 40
    file = segment_file(text, "src/a.x", language)
    check_invariants(text, file)
    assert file.health is ParseHealth.TEXT_FALLBACK
    assert file.detail
    assert [(segment.kind, segment.symbol) for segment in file.segments] == [("file", "src/a.x")]
    check_covers_text(text, file)


@pytest.mark.parametrize(
    ("language", "text"),
    [("javascript", "lambda x: " * 2_000), ("java", "a=>" * 5_000), ("csharp", "A<" * 5_000)],
)
def test_what_would_exhaust_the_parser_becomes_windows(language: str, text: str) -> None:
    file = segment_file(text, "a.x", language)
    check_covers_text(text, file)
    assert file.health is ParseHealth.TEXT_FALLBACK
    assert file.detail


def test_an_error_inside_a_class_leaves_its_other_members() -> None:
    text = "class A:\n    def f(self): pass\n    def g(self, : pass\n    def h(self): pass\n"
    file = segment_file(text, "a.py", "python")
    assert file.health is ParseHealth.PARTIAL
    assert "  method f" in outline(file)


@pytest.mark.parametrize("name", ["Br", "Acme.Br"])
def test_types_keep_the_namespace_of_a_block_that_does_not_close(name: str) -> None:
    text = f"namespace {name}\n{{\n    public class Good {{ }}\n    public class Broken {{ void X( {{ if (a ] }}\n}}\n"
    file = segment_file(text, "a.cs", "csharp")
    assert file.health is ParseHealth.PARTIAL
    assert [segment.symbol for segment in file.segments if segment.kind == "class"] == [
        f"{name}.Good",
        f"{name}.Broken",
    ]
    assert {segment.namespace for segment in file.segments if segment.kind == "class"} == {name}
