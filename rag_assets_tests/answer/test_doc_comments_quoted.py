"""What authors say above their code is quoted in the words of the text, whatever the language writes comments with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES: dict[str, str | bytes] = {
    "docs/errors.md": "# Errors\n\n## The oven throws “unknown bread” errors\n\nMend it by baking again.\n",
    "o.fs": "module OvenTests\n\n[<Fact>]\nlet ``dough: oven always keeps the dough warm`` () =\n    keepWarm dough\n",
    "a.kt": "/**\n * Boils an egg.\n *\n * Slowly, as <b>cooks</b> do it.\n"
    " * @param minutes how long\n */\nfun boilEgg(minutes: Int): Int {\n"
    "    return minutes * 2\n}\n",
    "b.swift": "/// Fries a fish.\n///\n/// - Parameter size: how big\n"
    "func fryFish(size: Int) -> Int {\n    return size\n}\n",
    "c.vb": "Public Class Kitchen\n    ''' <summary>\n    ''' Cuts a large cake.\n"
    "    ''' </summary>\n    ''' <param name=\"parts\">How many.</param>\n"
    "    Public Sub CutCake(parts As Integer)\n        Dim a = parts\n    End Sub\n"
    "End Class\n",
    "d.fs": "module Kitchen\n/// <summary>\n/// Bakes a bread.\n/// </summary>\n"
    '/// <param name="x">The flour.</param>\nlet bakeBread (x: int) =\n    x + 1\n',
    "e.php": "<?php\nclass Soup {\n    /**\n     * Cooks a soup.\n     *\n     * Hot.\n"
    "     * @param int $a water\n     */\n    public function cookSoup($a) {\n"
    "        return $a;\n    }\n}\n",
    "f.rb": "class Tea\n  # Brews a tea.\n  #\n  # Green only.\n  def brew_tea(a)\n    a + 1\n  end\nend\n",
    "g.scala": "object Rice {\n  /** Steams the rice.\n    *\n    * Long.\n    */\n"
    "  def steamRice(a: Int): Int = {\n    a + 1\n  }\n}\n",
    "i.lua": "--- Mixes the dough.\n--\n-- Well.\nfunction mix_dough(a)\n  return a\nend\n",
    "k.hs": "-- | Slices the onion.\n--\n-- Fine.\nsliceOnion :: Int -> Int\nsliceOnion a = a + 1\n",
    "l.cpp": "/**\n * Melts the butter.\n *\n * In a pan.\n */\nint meltButter(int a) {\n    return a + 1;\n}\n",
    "m.rs": "/// Roasts the nut.\n///\n/// Brown.\npub fn roast_nut(a: i32) -> i32 {\n    a + 1\n}\n",
    "n.dart": "/// Whips the cream.\n///\n/// Stiff.\nint whipCream(int a) {\n  return a + 1;\n}\n",
}


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("kitchen"), FILES, "kitchen") as index:
        yield index


@pytest.mark.parametrize(
    "question", ["how is the unknown bread error mended?", "how long is the dough of the oven warm?"]
)
def test_headings_and_names_of_any_text_are_told_as_they_are_written(kitchen: Index, question: str) -> None:
    assert "[unverified]" not in kitchen.ask(question).text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("boilEgg", "“Boils an egg. Slowly, as cooks do it.”"),
        ("fryFish", "“Fries a fish."),
        ("CutCake", "“Cuts a large cake.”"),
        ("bakeBread", "“Bakes a bread.”"),
        ("cookSoup", "“Cooks a soup. Hot.”"),
        ("brew_tea", "“Brews a tea. Green only.”"),
        ("steamRice", "“Steams the rice. Long.”"),
        ("mix_dough", "“Mixes the dough. Well.”"),
        ("sliceOnion", "“Slices the onion. Fine.”"),
        ("meltButter", "“Melts the butter. In a pan.”"),
        ("roast_nut", "“Roasts the nut. Brown.”"),
        ("whipCream", "“Whips the cream. Stiff.”"),
    ],
)
def test_comments_are_quoted_in_the_words_of_the_text(kitchen: Index, name: str, said: str) -> None:
    answer = kitchen.ask(f"what does {name} do?")
    assert said in answer.text and "[unverified]" not in answer.text
