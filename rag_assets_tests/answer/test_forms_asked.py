"""What people ask of the forms that languages have: variants, protocols, macros, namespaces, modules of a build."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Harbour\n\nHarbour 2.0 is a breaking release, see the guide.\n\n"
    "**Harbour** provides moorings for boats and the people who own them.\n",
    "settings.gradle.kts": 'include(":app")\ninclude(":core:boats")\n',
    "app/build.gradle.kts": '/* Free. */\n\nplugins {\n    id("application")\n}\n',
    "core/boats/build.gradle.kts": 'plugins {\n    id("library")\n}\n',
    "src/BoatFile.kt": "package boats\n\nclass BoatFile(val path: String)\n",
    "src/OarFile.kt": "package boats\n\nclass OarFile(val path: String)\n",
    "src/BoatApi.kt": "package boats\n\ninterface BoatApi {\n"
    '    @GET(value = "boats")\n    suspend fun boats(): List<String>\n\n'
    '    @POST("boats")\n    suspend fun add(): String\n}\n',
    "src/signal.rs": "/// What a boat says.\npub enum Signal {\n    Red(u8),\n    Green,\n}\n",
    "src/kinds.zig": """\
pub const supported_flag_kinds: []const Kind = &.{
    .plain,
    .striped,
    .@"with.cross",
};
""",
    "src/harbour/ports.clj": '(ns harbour.ports)\n\n(def defaults\n  {"harbour" {:port 4711}})\n',
    "src/harbour/quoted.clj": '(ns harbour.quoted)\n\n(defn harbour "Quotes for Harbour." [s] (str s))\n',
    "src/harbour/boats_store.clj": """(ns harbour.boats-store
  "Boats that lie at a wharf, and are
(defn anchored [] :none) where it is shallow.")

(defprotocol Moorable
  "What can lie here."
  (moor [this]))

(defprotocol Sinkable
  (sink [this]))

(defmacro with-anchor [& body]
  `(do ~@body))

(defmacro without-sail [& body]
  `(do ~@body))
""",
    "app/Services/CrewService.php": """<?php
namespace App\\Services;

class CrewService
{
    /** @return Collection|array<array-key, Sailor> */
    public function sailorsOnLeave(): array
    {
        return $this->leaves->sailors();
    }
}
""",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("harbour"), FILES, "harbour") as index:
        yield index


def told(harbour: Index, question: str) -> str:
    return harbour.ask(question, options=AskOptions()).text


def listed(harbour: Index, question: str) -> list[str]:
    """The names of a list, each as it stands before its place."""
    lines = [line for line in told(harbour, question).split("\n") if line.startswith("- ")]
    return [line.removeprefix("- ").partition(" in ")[0].strip("*") for line in lines]


def test_a_name_in_bold_says_what_it_is(harbour: Index) -> None:
    assert "\n> **Harbour** provides moorings" in told(harbour, "what is this project about?")


def test_the_modules_of_a_build_are_its_folders(harbour: Index) -> None:
    answer = told(harbour, "which modules does the app have?")
    assert listed(harbour, "which modules does the app have?") == ["app", "core:boats"]
    assert "app/build.gradle.kts:3: `plugins {`" in answer


def test_requests_that_annotations_declare_are_made(harbour: Index) -> None:
    assert listed(harbour, "which HTTP requests are made?") == ["BoatApi.boats", "BoatApi.add"]


def test_files_are_no_types(harbour: Index) -> None:
    assert "BoatFile" not in listed(harbour, "which files are generated?")


@pytest.mark.parametrize("question", ["which variants does Signal have?", "which enum variants does Signal have?"])
def test_variants_are_the_values_of_an_enumeration(harbour: Index, question: str) -> None:
    answer = told(harbour, question)
    assert answer.startswith("`Signal` in src/signal.rs:1") and "Green" in answer


def test_a_name_in_quotes_is_called_as_it_is_within(harbour: Index) -> None:
    assert listed(harbour, "which flag kinds are supported?") == [".plain", ".striped", "with.cross"]


def test_forms_of_clojure_are_listed(harbour: Index) -> None:
    assert listed(harbour, "which protocols are there?") == ["Moorable", "Sinkable"]
    assert [one.rpartition(".")[2] for one in listed(harbour, "which macros are there?")] == [
        "with-anchor",
        "without-sail",
    ]
    spaces = listed(harbour, "which namespaces are there?")
    assert [one for one in spaces if "harbour" in one] == [
        "harbour.boats-store",
        "harbour.ports",
        "harbour.quoted",
    ]


def test_a_text_of_clojure_goes_on_over_lines(harbour: Index) -> None:
    """What looks like code in it is none, and its first line can be found."""
    assert "Boats that lie at a wharf" in told(harbour, "which boats lie at a wharf?")
    assert told(harbour, "where is anchored defined?").startswith("`src/harbour/boats_store`")


def test_what_is_asked_for_a_name_is_not_what_is_called_so(harbour: Index) -> None:
    answer = told(harbour, "what is the default port for Harbour?")
    assert "4711" in answer and not answer.startswith("`harbour` in src/harbour/quoted.clj")


def test_what_only_a_tag_says_is_quoted_as_it_is(harbour: Index) -> None:
    answer = told(harbour, "how are the sailors on leave found?")
    assert "“returns: Collection|array<array-key, Sailor>”" in answer and "[unverified]" not in answer
