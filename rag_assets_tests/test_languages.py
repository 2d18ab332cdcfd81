"""The table from path to language and source type."""

from __future__ import annotations

from collections import Counter

import pytest

from rag_assets.languages.detection import LANGUAGES, SourceType, detect_language, source_type


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/Order.cs", "csharp"),
        ("src/Order.g.CS", "csharp"),
        ("Pages/Index.cshtml", "razor"),
        ("app/views/index.html.erb", "html"),
        ("views/cart.blade.php", "html"),
        ("lib/cart.inc", "php"),
        ("rtl/cpu.sv", "verilog"),
        ("Podfile", "ruby"),
        ("Pages/Index.cshtml.cs", "csharp"),
        ("Views/Cart.razor", "razor"),
        ("App.xaml", "xaml"),
        ("Texts.nl.resx", "resx"),
        ("Shop.csproj", "msbuild"),
        ("Shop.sln", "msbuild"),
        ("Directory.Build.props", "msbuild"),
        ("build/Common.targets", "msbuild"),
        ("web.config", "xml"),
        ("appsettings.Development.json", "json"),
        ("db/dbo.Order.sql", "sql"),
        ("web/cart.ts", "typescript"),
        ("web/cart.d.ts", "typescript"),
        ("web/Cart.tsx", "tsx"),
        ("web/cart.mjs", "javascript"),
        ("tool.py", "python"),
        ("Main.java", "java"),
        ("main.go", "go"),
        ("docs/a.MD", "markdown"),
        ("docs/a.rst", "rst"),
        ("LICENSE", "text"),
        ("LICENSE.md", "markdown"),
        ("README", "text"),
        (".editorconfig", "ini"),
        ("src/.gitignore", "ignore"),
        (".env", "ini"),
        (".env.local", "ini"),
        ("server.env.example", "ini"),
        ("web.config.sample", "xml"),
        ("config.yml.dist", "yaml"),
        (".npmrc.example", "ini"),
        ("OrderService.cs.template", "text"),
        ("Makefile.example", "makefile"),
        (".example", "text"),
        ("mail.template", "text"),
        ("Dockerfile", "dockerfile"),
        ("docker/Dockerfile.dev", "dockerfile"),
        ("api.dockerfile", "dockerfile"),
        ("Makefile", "makefile"),
        ("CMakeLists.txt", "makefile"),
        ("ci/build.ps1", "powershell"),
        ("run.sh", "shell"),
        ("api.proto", "proto"),
        ("talk.vtt", "vtt"),
        ("a.sql.bak", "text"),
        ("unknown.xyz", "text"),
        ("a.cs/notes", "text"),
        ("", "text"),
        (".", "text"),
        ("..", "text"),
        ("dir.sql/", "text"),
    ],
)
def test_a_path_has_one_language(path: str, language: str) -> None:
    assert detect_language(path) == language
    assert language in LANGUAGES


@pytest.mark.parametrize(
    ("language", "kind"),
    [
        ("csharp", SourceType.CODE),
        ("sql", SourceType.SQL),
        ("markdown", SourceType.DOCUMENT),
        ("text", SourceType.DOCUMENT),
        ("json", SourceType.CONFIG),
        ("resx", SourceType.RESOURCE),
        ("vtt", SourceType.TRANSCRIPT),
        ("razor", SourceType.MARKUP),
        ("no such language", SourceType.DOCUMENT),
    ],
)
def test_a_language_has_one_source_type(language: str, kind: SourceType) -> None:
    assert source_type(language) is kind


def test_no_extension_and_no_name_belongs_to_two_languages() -> None:
    extensions = Counter(ext for language in LANGUAGES.values() for ext in language.extensions.split())
    names = Counter(name for language in LANGUAGES.values() for name in language.names.split())
    assert [key for key, count in (extensions + names).items() if count > 1 and key not in {"dockerfile", "env"}] == []


def test_the_table_is_in_lower_case_because_paths_are_compared_in_it() -> None:
    assert all(entry == entry.lower() for found in LANGUAGES.values() for entry in (found.extensions, found.names))
