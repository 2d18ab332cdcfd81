"""What is told of the structure of code within a filter tells nothing of the files outside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

LINES = "    private int _one;\n" * 30
FILES = {
    **{f"src/Part{at}/Thing{at}.cs": f"namespace Shop;\n\npublic class Thing{at}\n{{\n}}\n" for at in range(10)},
    "src/Open/Door.cs": """\
namespace Shop;

public partial class Door
{
    public void Use(Key key) => key.Turn();
}
""",
    "src/Open/Lock.cs": "namespace Shop;\n\npublic class Lock\n{\n    public void Shut()\n    {\n    }\n}\n",
    "src/Closed/Door.cs": f"namespace Shop;\n\npublic partial class Door\n{{\n{LINES}}}\n",
    "src/Closed/Key.cs": "namespace Shop;\n\npublic class Key\n{\n    public void Turn() => new Lock().Shut();\n}\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("narrowed"), FILES, "narrowed") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "said", "unsaid"),
    [
        ("what is in the folder src?", "Its parts (8 of 12):", ""),
        ("path:src/Open what is in the folder src?", "Its parts:", " of "),
        ("what is the longest class?", "**Door** has **37 lines**", ""),
        ("path:src/Open what is the longest class?", "**Lock** has **6 lines**", "37"),
        ("how does Door reach Lock?", "From Door to Lock", ""),
        ("path:src/Open how does Door reach Lock?", "Not sure", "From Door"),
    ],
)
def test_nothing_outside_a_filter_is_counted_or_led_through(shop: Index, question: str, said: str, unsaid: str) -> None:
    answer = shop.ask(question)
    told = answer.text + str(answer.reason)
    assert said in told, told
    assert not unsaid or unsaid not in told, told
