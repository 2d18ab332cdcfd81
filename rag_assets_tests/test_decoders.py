"""Types are prepared for decoding one at a time: two threads at once would end the interpreter."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import rag_assets
from rag_assets.serialization import from_json, from_msgpack, from_plain

_MANY_THREADS = """
import sys, threading, msgspec
from rag_assets.serialization import from_json, from_msgpack, from_plain

VALUE = {f"o{n}": {f"i{m}": ["x"] for m in range(20)} for n in range(20)}
JSON, PACKED = msgspec.json.encode(VALUE), msgspec.msgpack.encode(VALUE)
WAYS = (
    lambda kind: from_json(JSON, kind),
    lambda kind: from_msgpack(PACKED, kind),
    lambda kind: from_plain(VALUE, kind),
)

def new_type(number):
    own = {"__module__": __name__}
    inner = msgspec.defstruct(f"Inner{number}", [(f"i{m}", "list[str]", []) for m in range(20)], namespace=dict(own))
    globals()[inner.__name__] = inner
    fields = [(f"o{n}", f"Inner{number} | None", None) for n in range(20)]
    return msgspec.defstruct(f"Outer{number}", fields, namespace=dict(own))

def at_once(kind):
    together, found = threading.Barrier(2 * len(WAYS)), []
    def go(way):
        together.wait()
        found.append(way(kind))
    threads = [threading.Thread(target=go, args=(way,)) for way in WAYS * 2]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return found

sys.setswitchinterval(1e-6)
for number in range(200):
    found = at_once(new_type(number))
    assert len(found) == 2 * len(WAYS) and all(msgspec.to_builtins(each) == VALUE for each in found)
print("survived")
"""


class _Known(msgspec.Struct):
    names: list[str]


def test_a_type_is_prepared_by_many_threads_at_once():
    """With msgspec's own `decode(type=…)` this process dies of a segmentation fault within a few types."""
    ran = subprocess.run([sys.executable, "-c", _MANY_THREADS], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout) == (0, "survived\n"), ran.stderr


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda: from_json(b'{"names": 3}', _Known), id="json"),
        pytest.param(lambda: from_msgpack(b"\x81\xa5names\x03", _Known), id="msgpack"),
        pytest.param(lambda: from_plain({"names": 3}, _Known), id="plain"),
    ],
)
def test_what_does_not_fit_is_refused(read):
    with pytest.raises(msgspec.ValidationError, match=r"Expected `array`, got `int` - at `\$.names`"):
        read()


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda: from_json(b'{"names": ["a"', _Known), id="cut short"),
        pytest.param(lambda: from_json(b"\x00\xff" * 8, _Known), id="other bytes"),
        pytest.param(lambda: from_json(b'{"names": ["\xff"]}', _Known), id="no UTF-8"),
        pytest.param(lambda: from_json('{"names": ["\ud800"]}', _Known), id="half a character"),
        pytest.param(lambda: from_json(b"[" * 100_000, object), id="nested too deep"),
        pytest.param(lambda: from_msgpack(b"\x81\xa5names\x91\xa1\xff", _Known), id="packed, no UTF-8"),
        pytest.param(lambda: from_msgpack(b"\x91" * 100_000, object), id="packed, nested too deep"),
    ],
)
def test_damaged_bytes_are_one_kind_of_error(read):
    with pytest.raises(msgspec.DecodeError):
        read()


def test_nothing_else_prepares_types():
    """Every other way to decode to a type would be one that may crash."""
    package = Path(rag_assets.__file__).parent
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in sorted(package.rglob("*.py"))
        if path.name != "serialization.py" and "msgspec" in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _prepares(node)
    ]

    assert found == []


def _prepares(call: ast.Call) -> bool:
    called = ast.unparse(call.func)
    if called in ("msgspec.json.Decoder", "msgspec.msgpack.Decoder", "msgspec.convert"):
        return True
    typed = len(call.args) > 1 or any(keyword.arg == "type" for keyword in call.keywords)
    return called in ("msgspec.json.decode", "msgspec.msgpack.decode") and typed
