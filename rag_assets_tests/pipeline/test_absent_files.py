"""Clones that do not have all files of a commit: said, and never served where they have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.errors import SourceError
from rag_assets.index.generations import active_generation
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import built, lexical

FILES = {"src/A.cs": "class A { }\n", "src/B.cs": "class B { }\n", "src/C.cs": "class C { }\n"}


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    made = Repository.new(tmp_path / "source")
    made.git("config", "uploadpack.allowFilter", "true")
    made.git("config", "uploadpack.allowAnySHA1InWant", "true")
    made.commit(FILES)
    return made


def test_a_partial_clone_replaces_nothing_and_says_what_is_not_in_it(tmp_path: Path, source: Repository) -> None:
    whole = built(source, lexical(tmp_path / "home"))
    source.commit({}, "next")
    partial = Repository(tmp_path / "partial")
    clone = ["clone", "--quiet", "--bare", "--filter=blob:none", source.path.as_uri(), str(partial.path)]
    source.git(*clone)
    with pytest.raises(SourceError, match="shop@main: all 3 files of this commit are not in the clone"):
        built(partial, lexical(tmp_path / "home"))
    served = active_generation(whole.build.home, whole.label)
    assert served is not None and served.manifest.generation_id == whole.build.spec.generation_id

    partial.git("cat-file", "blob", "HEAD:src/A.cs")  # git fetches what it is asked for
    made = built(partial, lexical(tmp_path / "home"))
    report = made.reports["discovered_files"]
    assert report.counts["indexed"] == 1
    (problem,) = report.problems
    assert problem.startswith("2 files of this commit are not in the clone (partial or damaged)")

    partial.git(*problem.split("`")[1].split()[1:])
    report = made.again(force=True).reports["discovered_files"]
    assert (report.counts["indexed"], report.problems) == (3, [])
