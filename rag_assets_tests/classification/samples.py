"""Tiny factories: C# texts become real segments through the real parser."""

from __future__ import annotations

from rag_assets.classification.classifier import Classifier, FileFacts
from rag_assets.contracts.kinds import Classification
from rag_assets.contracts.segment import Segment
from rag_assets.languages.detection import detect_language
from rag_assets.segmentation import segment_file


def segments_of(text: str, path: str = "src/Shop/Code.cs") -> tuple[Segment, ...]:
    return segment_file(text, path, detect_language(path)).segments


def classified(text: str, path: str = "src/Shop/Code.cs", classifier: Classifier | None = None) -> Classification:
    """The classification of the first segment of a text."""
    segment = segments_of(text, path)[0]
    return (classifier or Classifier()).classify(segment, FileFacts(path, detect_language(path), text))
