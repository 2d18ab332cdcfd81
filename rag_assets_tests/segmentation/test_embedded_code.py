"""Code inside markup: members of Razor blocks and of the scripts of components, with windows around them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.contracts.segment import MemberKind, ParseHealth
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, member, outline

COUNTER = """@page "/counter"
@inject IStock Stock

<h1>@title</h1>
<p>é @code is a word here, {not} a block</p>

@code {
    [Parameter] public int Step { get; set; } = 1;
    private string title = "} @code {";

    /// <summary>Adds one step.</summary>
    private async Task IncrementCount()
    {
        if (Step > 0) { count += Step; } // }
    }
}

<style>p { color: red }</style>

@functions{
    int count;
}
"""
COMPONENT = """<template>
  <button @click="addOne">{{ count }}</button>
</template>

<script setup lang="ts">
import { ref } from 'vue'
interface Props { start: number }
/** Adds one. */
function addOne() {
  count.value++
}
const reset = () => { count.value = 0 }
</script>

<style>p { color: red }</style>
"""


@pytest.mark.rule("A04")
def test_the_members_of_razor_blocks_stand_between_windows_of_markup() -> None:
    file = segment_file(COUNTER, "Pages/Counter.razor", "razor")
    check_invariants(COUNTER, file)
    assert file.health is ParseHealth.OK
    assert outline(file) == [
        "markup Pages/Counter.razor",
        "  window lines 1-7",
        "  property Step",
        "  field title",
        "  method IncrementCount",
        "  window lines 16-20",
        "  field count",
    ]
    method = member(file.segments[0], "IncrementCount")
    assert (method.doc, method.signature) == ("Adds one step.", "private async Task IncrementCount()")
    assert method.span.slice(COUNTER).endswith("// }\n    }")


def test_the_members_of_scripts_stand_between_windows_of_markup() -> None:
    file = segment_file(COMPONENT, "src/Counter.vue", "vue")
    check_invariants(COMPONENT, file)
    assert outline(file) == [
        "file src/Counter.vue",
        "  window lines 1-6",
        "  type Props",
        "    property start",
        "  function addOne",
        "  function reset",
        "  window lines 13-15",
    ]
    assert member(file.segments[0], "addOne").doc == "Adds one."


OPTIONS = """\
<script>
export default defineComponent({
  props: { owner: String },
  setup(props) {
    const total = ref(0)
    // Counts a line.
    function add(line) { total.value += line }
    const clear = () => { total.value = 0 }
    return { total, add, clear }
  },
  computed: { doubled() { return this.total * 2 } },
  methods: {
    save: async function (id) { await fetch(id) },
  },
})
</script>
"""


def test_the_functions_of_the_options_of_a_component_are_members() -> None:
    file = segment_file(OPTIONS, "src/Cart.vue", "vue")
    check_invariants(OPTIONS, file)
    names = [one.name for one in file.segments[0].members if one.kind is MemberKind.FUNCTION]
    assert names == ["add", "clear", "doubled", "save"]
    assert member(file.segments[0], "add").doc == "Counts a line."


def test_nothing_of_an_exported_object_is_lost() -> None:
    text = OPTIONS.removeprefix("<script>\n").removesuffix("</script>\n")
    file = segment_file(text, "src/cart.js", "javascript")
    check_invariants(text, file)
    kept = "".join(one.span.slice(text) for one in file.segments[0].members)
    assert "props: { owner: String }" in kept and "const total = ref(0)" in kept and "return { total" in kept


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("razor", "<p>@code</p>"),
        ("razor", "@code{ int a; }"),  # no room for what the block would be inside of
        ("razor", "<p>text</p>\n@code { int never;"),
        ("vue", "<template/>\n<script>\nexport default {}\n</script>"),
        ("svelte", "<script>const = ;</script"),
    ],
)
def test_without_members_a_file_is_windows(language: str, text: str) -> None:
    file = segment_file(text, "a.x", language)
    check_invariants(text, file)
    assert file.health is ParseHealth.NO_GRAMMAR


FRAGMENTS = (
    *("@code {", "@functions{", "}", "{", "int a;", "void B() { }", "<p>é𝄞</p>", '"', "'", "//", "/*", "*/", "@code"),
    *(
        "<script>",
        '<script lang="ts">',
        "</script>",
        "function f() {}",
        "class A {}",
        "<template>",
        "const a = 1",
        "\x00",
    ),
)


def test_scripts_of_comments_alone_declare_nothing() -> None:
    text = "<script>\n//\n</script>\n<script>\n// more words\n</script>"
    found = segment_file(text, "src/a.vue", "vue")
    check_invariants(text, found)
    assert all(member.kind is MemberKind.WINDOW for member in found.segments[0].members)


@pytest.mark.rule("A07")
@pytest.mark.parametrize("language", ["razor", "vue", "svelte"])
@given(
    text=st.lists(st.sampled_from(FRAGMENTS), max_size=25).flatmap(
        lambda parts: st.sampled_from(["\n", "\r\n", "\r", " "]).map(lambda glue: glue.join(parts))
    )
)
@settings(max_examples=100)
def test_any_markup_gives_valid_segments(language: str, text: str) -> None:
    check_invariants(text, segment_file(text, "src/some file.x", language))


@pytest.mark.parametrize(
    "piece", ["@code {\n", "@code { int a; }\n", "<script>\n", "<script>let a;</script>\n", "@code{("]
)
@pytest.mark.parametrize("language", ["razor", "vue"])
def test_hostile_repetitions_end_in_valid_segments(language: str, piece: str) -> None:
    """No crash, no recursion error, no quadratic time."""
    text = piece * (20_000 // len(piece))
    check_invariants(text, segment_file(text, "a.x", language))
