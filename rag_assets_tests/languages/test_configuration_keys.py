"""The keys of configuration files, for outlines."""

from __future__ import annotations

import pytest

from rag_assets.languages.configuration_keys import configuration_keys

YAML = "# about\nservices:\n  web:\n    image: shop\n    ports:\n      - 80\n  db:\n    image: sql\ntop: 1\n"
JSON = '{\n  "a": {\n    "b": 1,\n    "c": {\n      "d": {\n        "e": 1\n      }\n    }\n  },\n  "z": []\n}\n'
TOML = 'x = 1\n[tool.ruff]\nlength = 120\nselect = [\n  "E",\n]\n[tool.mypy]\nstrict = true\n'
XML = '<Project>\n  <ItemGroup>\n    <PackageReference Include="Dapper" Version="2" />\n  </ItemGroup>\n</Project>\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            YAML,
            "2-8 services, 3-6 services.web, 4-4 services.web.image, 5-6 services.web.ports, 7-8 services.db, "
            "8-8 services.db.image, 9-9 top",
        ),
        (JSON, "2-9 a, 3-3 a.b, 4-8 a.c, 5-7 a.c.d, 10-10 z"),
        (TOML, "1-1 x, 2-6 tool.ruff, 3-3 tool.ruff.length, 4-6 tool.ruff.select, 7-8 tool.mypy, 8-8 tool.mypy.strict"),
        (XML, "1-5 Project, 2-4 Project.ItemGroup, 3-3 Project.ItemGroup.PackageReference Dapper"),
        ('{"a":{"b":1}}', ""),
        ("", ""),
        ("plain words\nand: more of them", "2-2 and"),
    ],
    ids=["yaml", "json", "toml", "xml", "one line", "empty", "prose"],
)
def test_keys_have_the_lines_below_them(text: str, expected: str) -> None:
    found = [
        f"{text.count(chr(10), 0, key.start) + 1}-{text.count(chr(10), 0, key.end) + 1} {key.name}"
        for key in configuration_keys(text)
    ]
    assert ", ".join(found) == expected
