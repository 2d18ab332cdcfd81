"""Games of Unity and Godot: their assemblies, packages, versions and scenes, and what their editors show of code."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

_ASSEMBLY = '{{\n    "name": "{0}",\n    "references": [{1}],\n    "includePlatforms": [\n        "Editor"\n    ]\n}}\n'
_STATE = (
    "namespace Moor\n{{\n    class {0}State : {1}\n    {{\n        public override void Enter() {{ }}\n    }}\n}}\n"
)
UNITY = {
    "README.md": "# Moor\n\nA game of sheep.\n",
    "Packages/manifest.json": '{\n  "dependencies": {\n    "com.unity.netcode": "2.4.3",\n'
    '    "com.unity.modules.ai": "1.0.0",\n    "org.sheep.wool": "file:../wool"\n  }\n}\n',
    "ProjectSettings/ProjectVersion.txt": "m_EditorVersion: 6000.0.52f1\n",
    "Assets/Play/Moor.Play.asmdef": _ASSEMBLY.format(
        "Moor.Play", '\n        "Moor.Wool",\n        "Unity.Netcode"\n    '
    ),
    "Assets/Wool/Moor.Wool.asmdef": _ASSEMBLY.format("Moor.Wool", ""),
    "Assets/Scenes/Meadow.unity": "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!1 &1\nGameObject:\n  m_Layer: 1\n",
    "Assets/Scenes/Fold.unity": "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!1 &1\nGameObject:\n  m_Layer: 2\n",
    "Assets/Play/FlockSpawner.cs.meta": "fileFormatVersion: 2\nguid: 7c9efd627253a5b4c8c5ab1ae629aa8e\n",
    "Assets/Play/ServerFlockSpawner.cs": """\
using UnityEngine;

namespace Moor
{
    /// <summary>Lets flocks of sheep come.</summary>
    public class ServerFlockSpawner : MonoBehaviour
    {
        [Tooltip("Sheep of a flock.")]
        [SerializeField]
        int m_Sheep = 12;

        [SerializeField] float m_Pause = 3;

        int m_Come;
    }
}
""",
    "Assets/Play/FlockData.cs": "namespace Moor\n{\n    public class FlockData : ScriptableObject { }\n}\n",
    "Assets/Play/WoolData.cs": "namespace Moor\n{\n    public class WoolData : ScriptableObject { }\n}\n",
    "Assets/Link/LinkState.cs": "namespace Moor\n{\n    /// <summary>A state of a link.</summary>\n"
    "    abstract class LinkState\n    {\n        public abstract void Enter();\n    }\n}\n",
    "Assets/Link/UpState.cs": _STATE.format("Up", "LinkState"),
    "Assets/Link/LostState.cs": _STATE.format("Lost", "LinkState"),
    "Assets/Link/WaitingState.cs": _STATE.format("Waiting", "UpState"),
}
GODOT = {
    "README.md": "# Bog\n\nA game of frogs.\n",
    "Bog.csproj": '<Project Sdk="Godot.NET.Sdk/4.7.2">\n</Project>\n',
    "src/Frog.cs.uid": "uid://bbr3dm52d75kv\n",
    "src/Frog.cs": 'using Godot;\n\npublic partial class Frog : Node3D\n{\n    [Export(PropertyHint.Range, "0, 9")]\n'
    "    public float Leap { get; set; } = 4f;\n\n    [Export] public float Weight { get; set; } = 2f;\n\n"
    "    public float Age { get; set; }\n}\n",
    "src/Pond.cs": "using Godot;\n\npublic partial class Pond : Node3D\n{\n    [Signal]\n"
    "    public delegate void FullEventHandler();\n\n    [Signal]\n    public delegate void DryEventHandler();\n}\n",
    "src/Frog.tscn": '[gd_scene format=3 uid="uid://deklo7q47fodq"]\n\n[node name="Frog" type="Node3D"]\n',
    "src/Pond.tscn": '[gd_scene format=3 uid="uid://deklo7q47fodr"]\n\n[node name="Pond" type="Node3D"]\n',
}


@pytest.fixture(scope="module")
def moor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("moor"), UNITY, "moor") as index:
        yield index


@pytest.fixture(scope="module")
def bog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("bog"), GODOT, "bog") as index:
        yield index


def _told(index: Index, question: str) -> list[str]:
    told = re.findall(r"- \*\*(.+?)\*\* in ", index.ask(question).text)
    return [one.removeprefix("Moor.").replace("** derives from **ScriptableObject", "") for one in told]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which assembly definitions are there?", ["Play", "Wool"]),
        ("What does the play assembly reference?", [
            "Play** refers to **Moor.Wool", "Play** refers to **Unity.Netcode"
        ]),
        ("Which assemblies reference Moor.Wool?", ["Play** refers to **Moor.Wool"]),
        ("Which packages does the project depend on?", ["com.unity.netcode"]),
        ("Which scenes does the game have?", ["Fold.unity", "Meadow.unity"]),
        ("Which fields of the flock spawner can be set in the inspector?", ["m_Sheep", "m_Pause"]),
        ("Which serialized fields does the ServerFlockSpawner have?", ["m_Sheep", "m_Pause"]),
        ("Which ScriptableObjects are there?", ["FlockData", "WoolData"]),
        ("Which link states are there?", ["LostState", "UpState", "WaitingState"]),
    ],
)  # fmt: skip
def test_a_game_of_unity_is_told_by_what_its_editor_reads(moor: Index, question: str, told: list[str]) -> None:
    assert _told(moor, question) == told


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which exported properties does the frog have?", ["Leap", "Weight"]),
        ("Which signals does the pond emit?", ["FullEventHandler", "DryEventHandler"]),
        ("Which scenes are there?", ["Frog.tscn", "Pond.tscn"]),
    ],
)
def test_a_game_of_godot_is_told_by_what_its_editor_reads(bog: Index, question: str, told: list[str]) -> None:
    assert _told(bog, question) == told


def test_the_version_of_an_engine_is_what_its_project_says(moor: Index, bog: Index) -> None:
    assert "m_EditorVersion: 6000.0.52f1" in moor.ask("Which Unity version do I need?").text
    assert "Godot.NET.Sdk/4.7.2" in bog.ask("Which version of Godot is needed?").text
    assert "no manifest says" not in bog.ask("Which version of Unity is needed?").text  # may be a container


def test_what_an_engine_keeps_beside_each_asset_is_not_indexed(moor: Index, bog: Index) -> None:
    paths = {hit.path for index in (moor, bog) for hit in index.search("guid uid spawner frog", limit=50).hits}
    assert not any(path.endswith((".meta", ".uid")) for path in paths) and "src/Frog.cs" in paths


def test_amounts_that_an_editor_shows_are_settings(moor: Index) -> None:
    told = moor.ask("How many sheep does a flock have by default?").text.partition("\n\n")[0]
    assert told.startswith("**Default:**") and "int m_Sheep = 12" in told and "m_Pause" not in told
