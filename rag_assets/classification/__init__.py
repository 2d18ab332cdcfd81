"""Decides the kind of a segment: ordered first-match rules from data, with evidence (domain reference §1; A09)."""

from rag_assets.classification.classifier import CLASSIFIER_VERSION, DEFAULT_PACKS, Classifier, FileFacts, classify
from rag_assets.classification.rule_packs import PackError, PatternError, built_in_packs, path_matches

__all__ = [
    "CLASSIFIER_VERSION",
    "DEFAULT_PACKS",
    "Classifier",
    "FileFacts",
    "PackError",
    "PatternError",
    "built_in_packs",
    "classify",
    "path_matches",
]
