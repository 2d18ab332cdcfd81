"""The ignore policy: which files are indexed, the reason for each other one, and who overrules whom."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rag_assets.contracts.source_file import SkippedFile, SkipReason
from rag_assets.sources.default_ignores import is_copied_library, is_generated_text, is_minified_text
from rag_assets.sources.ignore import IgnorePolicy, PathRules
from rag_assets.sources.snapshot import EntryKind, TreeEntry


def rules(policy: IgnorePolicy | None = None, root: str = "", nested: Mapping[str, str] | None = None) -> PathRules:
    """Path rules with the `.rag_assets_ignore` of the root and of other directories."""
    made = PathRules(policy or IgnorePolicy())
    for directory, text in {"": root, **(nested or {})}.items():
        made.add_ignore_file(directory, ".rag_assets_ignore", text.encode())
    return made


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        # wanted
        ("src/Order.cs", None),
        ("src/Resources.resx", None),
        ("db/schema.sql", None),
        ("README.md", None),
        ("Makefile", None),
        ("src/App.csproj", None),
        ("src/Shop.razor", None),
        ("src/Vendor/VendorController.cs", None),
        ("src/main/java/com/acme/vendor/Vendor.java", None),
        ("src/Shop/wwwroot/admin/vendor/vendor-list.js", None),
        ("src/themes/vendor/Vendor.cs", None),
        ("packages/ui/src/button.ts", None),
        ("src/Binder.cs", None),
        ("src/Objects/A.cs", None),
        ("src/Designer.cs", None),
        ("build/Build.cs", None),
        ("docs/jquery-plan.md", None),
        ("src/types/tinymce.d.ts", None),
        ("public/app/types/store.d.ts", None),
        ("apps/www/next-env.d.ts", None),
        ("src/jquery-helper.js", None),
        ("package.json", None),
        ("static/release-1.2/notes.md", None),
        ("src/shop-2.0/Order.cs", None),
        ("Content/orders-2024/a.css", None),
        # binary and unsupported
        ("logo.png", SkipReason.BINARY),
        ("logo.SVG", SkipReason.BINARY),
        ("fonts/a.woff2", SkipReason.BINARY),
        ("lib/a.dll", SkipReason.BINARY),
        ("key.snk", SkipReason.BINARY),
        ("certs/server.pem", SkipReason.BINARY),
        ("a.tar.gz", SkipReason.BINARY),
        ("spec.pptx", SkipReason.UNSUPPORTED),
        ("spec.doc", SkipReason.UNSUPPORTED),
        # vendored
        ("node_modules/a/index.js", SkipReason.VENDORED),
        ("web/node_modules/a/index.js", SkipReason.VENDORED),
        ("bower_components/x.js", SkipReason.VENDORED),
        ("vendor/a/b.go", SkipReason.VENDORED),
        ("src/Shop/wwwroot/themes/Night/vendor/slick/slick.js", SkipReason.VENDORED),
        ("third_party/zlib/z.c", SkipReason.VENDORED),
        ("packages/Newtonsoft.Json.13.0.3/lib/a.xml", SkipReason.VENDORED),
        ("src/Web/wwwroot/lib/jquery/jquery.js", SkipReason.VENDORED),
        ("Web/Scripts/jquery-1.10.2.js", SkipReason.VENDORED),
        ("Web/Scripts/bootstrap.js", SkipReason.VENDORED),
        ("src/Web/wwwroot/pdfjs-4.2.67-dist/web/viewer.css", SkipReason.VENDORED),
        ("static/plugins/DataTables-1.10.16/js/tables.js", SkipReason.VENDORED),
        ("public/libs/tinymce/tinymce.d.ts", SkipReason.VENDORED),
        ("Web/wwwroot/js/signalr.d.ts", SkipReason.VENDORED),
        ("app/src/main/baseline-prof.txt", SkipReason.GENERATED),
        ("src/Shop/PublicAPI.Shipped.txt", SkipReason.GENERATED),
        # generated
        ("Form1.Designer.cs", SkipReason.GENERATED),
        ("Migrations/20240101_Init.Designer.cs", SkipReason.GENERATED),
        ("Migrations/ShopContextModelSnapshot.cs", SkipReason.GENERATED),
        ("A.g.cs", SkipReason.GENERATED),
        ("A.g.i.cs", SkipReason.GENERATED),
        ("src/obj/Debug/A.cs", SkipReason.GENERATED),
        ("src/Bin/Release/a.xml", SkipReason.GENERATED),
        ("src/Bin/net8.0/run.js", SkipReason.GENERATED),
        ("src/bin/Shop.runtimeconfig.json", SkipReason.GENERATED),
        ("crates/shop/src/bin/import.rs", None),
        ("bin/common/vacuum.py", None),
        ("bin/console", None),
        ("web/dist/app.js", SkipReason.GENERATED),
        ("__pycache__/a.txt", SkipReason.GENERATED),
        ("shop.egg-info/PKG-INFO", SkipReason.GENERATED),
        # minified and lock files
        ("site.min.js", SkipReason.MINIFIED),
        ("wwwroot/assets/uPlot.esm.js", SkipReason.GENERATED),
        ("dist-of/vue.umd.js", SkipReason.GENERATED),
        ("src/esm.js", None),
        ("js/index.umd.js", None),
        ("rollup.config.esm.js", None),
        ("site.min.css", SkipReason.MINIFIED),
        ("app.js.map", SkipReason.MINIFIED),
        ("package-lock.json", SkipReason.LOCK_FILE),
        ("src/packages.lock.json", SkipReason.LOCK_FILE),
        ("yarn.lock", SkipReason.LOCK_FILE),
        ("Cargo.lock", SkipReason.LOCK_FILE),
        (".gitignore", SkipReason.IGNORED),
    ],
)
def test_conventions_by_path(path: str, reason: SkipReason | None) -> None:
    refusal = rules().refused_path(path)
    assert (refusal[0] if refusal else None) == reason
    assert refusal is None or refusal[1], "a skipped file always says which rule matched"


def test_an_ignore_file_names_the_pattern_and_the_line() -> None:
    made = rules(root="# ours\n\n*.sql\n")
    assert made.refused_path("db/a.sql") == (SkipReason.IGNORED, ".rag_assets_ignore:3: *.sql")


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        ("src/a.txt", True),
        ("src/keep/a.txt", False),  # re-included by the deeper file
        ("src/keep/deep/a.txt", False),
        ("a.txt", True),
        ("gen/keep.cs", True),  # cannot be re-included below an ignored directory
        ("sub/gen/keep.cs", False),  # `/gen/` is anchored at the root
    ],
)
def test_nested_ignore_files_and_negation(path: str, ignored: bool) -> None:
    made = rules(root="*.txt\n/gen/\n!keep.cs\n", nested={"src/keep": "!*.txt\n"})
    assert (made.refused_path(path) is not None) is ignored


@pytest.mark.parametrize(
    ("path", "ignored"),
    [("docs/a.md", False), ("src/a.cs", False), ("src/gen/a.cs", False), ("other/a.cs", True), ("src/a.py", True)],
)
def test_include_limits_to_what_matches(path: str, ignored: bool) -> None:
    made = rules(IgnorePolicy(include=("docs/", "src/**/*.cs")))
    refusal = made.refused_path(path)
    assert (refusal is not None) is ignored
    assert refusal is None or refusal[0] is SkipReason.IGNORED


def test_the_operator_beats_the_repository() -> None:
    """A repository cannot bring back what the configuration excludes."""
    made = rules(IgnorePolicy(exclude=("secret/",)), root="!secret/\n", nested={"secret": "!*\n"})
    assert made.refused_path("secret/a.cs") == (SkipReason.IGNORED, "exclude: secret/")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vendor/ours/a.go", "!/vendor/"),
        ("dist/app.cs", "!dist/"),
        ("A.Designer.cs", "!*.Designer.cs"),
        ("package-lock.json", "!package-lock.json"),
        ("src/bin/tool.cs", "!src/bin/"),
    ],
)
def test_a_negated_pattern_overrules_a_convention(path: str, text: str) -> None:
    assert rules().refused_path(path) is not None
    assert rules(root=text).refused_path(path) is None
    assert rules(IgnorePolicy(exclude=(text,))).refused_path(path) is None


def test_a_negated_pattern_does_not_make_a_binary_text() -> None:
    refusal = rules(root="!*.png").refused_path("logo.png")
    assert refusal is not None
    assert refusal[0] is SkipReason.BINARY


@pytest.mark.parametrize(
    ("setting", "pattern"),
    [(setting, pattern) for setting in ("include", "exclude") for pattern in ("", "  ", "# docs", "!", "/", "[x")]
    + [("include", "!docs/")],
)
def test_a_setting_that_matches_nothing_is_refused_by_name(setting: str, pattern: str) -> None:
    with pytest.raises(ValueError, match=setting):
        IgnorePolicy(**{setting: (pattern,)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (TreeEntry("a.cs", "1", 0), SkipReason.EMPTY),
        (TreeEntry("a.cs", "1", 11), SkipReason.TOO_LARGE),
        (TreeEntry("a.cs", "1", 10), None),
        (TreeEntry("a.png", "1", 99), SkipReason.BINARY),
        (TreeEntry("a.cs", "1", 5, EntryKind.SYMLINK), SkipReason.SYMLINK),
        (TreeEntry("lib", "1", 0, EntryKind.SUBMODULE), SkipReason.SUBMODULE),
        (TreeEntry("../a", "1", 5, EntryKind.FILE, SkipReason.UNSAFE_PATH, "path traversal"), SkipReason.UNSAFE_PATH),
    ],
)
def test_entries_are_refused_by_kind_and_size(entry: TreeEntry, reason: SkipReason | None) -> None:
    found = rules(IgnorePolicy(max_file_bytes=10)).admitted(entry)
    assert (found.reason if isinstance(found, SkippedFile) else None) == reason
    assert found.detail or found is entry


@pytest.mark.parametrize(
    ("name", "text", "generated"),
    [
        ("A.cs", "// <auto-generated>\n// by a tool\nclass A {}", True),
        ("A.cs", "\n\n#pragma warning disable\n// <auto-generated />\nclass A {}", True),
        ("A.cs", "/*\n <autogenerated>\n*/\nclass A {}", True),
        ("A.vb", "' <Auto-Generated>\nClass A", True),
        ("A.cs", 'class A { string s = @"\n// <auto-generated/>\n"; }', False),
        ("A.cs", "class A {}\n// <auto-generated>\n", False),
        ("A.cs", "// about the <auto-generated header of others\n", True),
        ("A.cs", "//" + " " * 3000 + "\n// <auto-generated>\nclass A {}", False),
        ("A.md", "<auto-generated>", False),
        ("A.cs", "/* never closed <auto-generated>", True),
        ("a_msgp.go", "// +build !js\n\n// Code generated by github.com/tinylib/msgp DO NOT EDIT.\npackage a", True),
        ("a_pb.py", "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\na = 1", True),
        ("model.ts", "/**\n * Generated by Orval\n * Do not edit manually.\n */\nexport type A = string", True),
        ("client.ts", "/* eslint-disable */\n// This file is auto-generated by openapi-ts\nexport {}", True),
        ("Api.java", "/*\n * NOTE: This class is auto generated by OpenAPI Generator.\n */\npackage a;", True),
        ("table.py", "# Auto generated by tools/make_table.py\nTABLE = {}", True),
        ("api.rs", "// @generated\npub struct A;", True),
        ("types.d.ts", "// GENERATED CODE - DO NOT MODIFY BY HAND\ndeclare class A {}", True),
        ("0001_initial.py", "# Generated by Django 4.2 on 2024-05-06\nfrom django.db import migrations", False),
        ("conf.py", "# Not all values are present in this\n# autogenerated file.\nproject = 'a'", False),
        ("make.js", "const head = `// This file is autogenerated, do not edit`", False),
        ("Report.cs", "// The report is generated by a worker. Do not call it from here.\nclass A {}", False),
        ("A.java", "/** Columns that are @GeneratedValue. */\nclass A {}", False),
        ("List.html", "<!DOCTYPE html>\n<!-- Generated by javadoc (version 1.7) on Tue -->\n<html>", True),
        ("api.html", '<html><head><meta name="generator" content="docfx 2.56" /></head>', True),
        ("api.html", "<html><head><meta content='TypeDoc' name='generator'></head>", True),
        ("guide.html", '<html><head><meta name="generator" content="Jekyll v4" /></head>', False),
        ("page.html", "<p>Javadoc is generated by javadoc</p>", False),
    ],
)
def test_generated_code_is_told_by_its_opening_comment(name: str, text: str, generated: bool) -> None:
    assert is_generated_text(name, text) is generated


@pytest.mark.parametrize(
    ("name", "text", "minified"),
    [
        ("a.js", "var a=1;" * 2000, True),
        ("a.css", ".a{color:red}" * 500, True),
        ("a.js", "var a = 1;\n" * 2000, False),
        ("a.js", "var a=1;" * 20, False),
        ("a.cs", "var a=1;" * 2000, False),
    ],
)
def test_minified_scripts_are_told_by_their_lines(name: str, text: str, minified: bool) -> None:
    assert is_minified_text(name, text) is minified


@pytest.mark.parametrize(
    ("path", "text", "copied"),
    [
        ("web/wwwroot/pdf/build/pdf.mjs", "/**\n * @licstart The following is the licence\n */\n", True),
        ("static/js/range.js", "/* flatpickr v4.5.2, @license MIT */\nvar a;\n", True),
        ("app/public/theme.css", "/*!\n *  Font Awesome 4.7.0 by @davegandy\n */\n", True),
        ("static/js/orders.js", "/*! Sends the orders of a page */\nvar a;\n", False),
        ("static/js/orders.js", "/** Sends orders.\n * @param {string} id */\nvar a;\n/*! v1.2 */\n", False),
        ("src/flatpickr.js", "/*! flatpickr v4.5.2 */\nvar a;\n", False),
        ("wwwroot/Page.cs", "/*! Shop v1.2 */\n", False),
    ],
)
def test_copies_of_libraries_are_told_by_how_they_begin(path: str, text: str, copied: bool) -> None:
    assert is_copied_library(path, text) is copied
