"""Names that follow from a repository path: the stem of a file, the module it is."""

from __future__ import annotations

_UNNAMED = "file"  # for a text without path, as tests and callers of one segmenter pass it


def file_stem(path: str) -> str:
    """`src/Order.Service.cs` → `Order.Service`; `.editorconfig` → `.editorconfig`."""
    name = path.rsplit("/", 1)[-1]
    stem, dot, _ = name.rpartition(".")
    return (stem if dot and stem else name) or _UNNAMED


def directory(path: str) -> str:
    """`a/b/c.go` → `a/b`; empty at the root."""
    return path.rpartition("/")[0]


def without_extension(path: str) -> str:
    """`web/src/cart.ts` → `web/src/cart`."""
    folder = directory(path)
    return f"{folder}/{file_stem(path)}" if folder else file_stem(path)


def python_module(path: str) -> str:
    """`src/shop/cart.py` → `shop.cart`; a package is its folder: `shop/__init__.py` → `shop`."""
    parts = without_extension(path).removeprefix("src/").split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(part for part in parts if part)
