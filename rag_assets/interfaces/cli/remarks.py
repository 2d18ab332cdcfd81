"""What a build noticed and served all the same, in words: checks that only warn, and the warnings of rules.

Programs get the names and numbers of `index --json` and of Dagster; here is what they mean and what can be done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rag_assets.interfaces.cli.output import counted, named_counts

_SHOWN_EXAMPLES = 3
_NO_DOMAIN = "B15.business-domain-key"
_REFINED = "REFINE."
_UNANSWERED = "LLM."

_CHECKS: Mapping[str, Callable[[Mapping[str, int]], str]] = {
    "kinds_are_recognised": lambda n: (
        f"{n.get('percent', 0)} % of {counted(n.get('csharp_segments', 0), 'C# type')} have no known role and are of "
        "the kind Other"
    ),
    "builders_succeeded": lambda n: f"{counted(n.get('failed', 0), 'description')} could not be made",
    "entities_have_repositories": lambda n: (
        f"{counted(n.get('gaps', 0), 'persisted entity', 'persisted entities')} without a repository, so the index "
        "does not tell how they are read and written"
    ),
    "every_file_has_an_outcome": lambda n: f"{counted(n.get('without_sections', 0), 'file')} without a section",
}
"""The checks that warn on sound repositories; others are shown by name."""

_RULES: Mapping[str, tuple[str, str, str]] = {
    # rule: (one of what, several of what, what follows or what to do)
    "DOMAIN.collision": ("domain key is declared twice", "domain keys are declared twice", "the first is used"),
    "DOMAIN.unknown": ("entity names a domain", "entities name a domain", "that is not declared in this repository"),
    "DOMAIN.unknown-key": ("domain has a key", "domains have a key", "that cannot be read from the source"),
    "RESX.ambiguous": ("text differs", "texts differ", "between resource files of one class; the first is used"),
    "RESX.missing-culture": ("text is not there", "texts are not there", "in a language; another language is used"),
    "RESX.missing-key": ("text is used", "texts are used", "that the resource file does not have; its key is shown"),
    "RESX.not-text": ("resource is used as a text", "resources are used as texts", "but no text; its key is shown"),
    "RESX.repeated-key": ("key is more than once", "keys are more than once", "in a resource file; the first is used"),
    "RESX.unknown-class": ("text is used", "texts are used", "of a class without a resource file; its key is shown"),
    "RESX.wrong-class": ("text names one class", "texts name one class", "of resources and a key of another"),
    "endpoints.unparsed": ("controller", "controllers", "whose endpoints could not be read: they are not described"),
}
"""What the warnings of a build mean that anybody can act on."""


def check_remark(check: Mapping[str, Any]) -> str:
    """One line of a check that warns: what it found, and its first examples or what helps."""
    examples = [" ".join(text.split()) for text in check["examples"]]
    more = [f"and {len(examples) - _SHOWN_EXAMPLES} more"] if len(examples) > _SHOWN_EXAMPLES else []
    words = _CHECKS.get(check["name"])
    said = f"{check['name']}: {named_counts(check['numbers'])}" if words is None else words(check["numbers"])
    return "; ".join([said.removesuffix(": "), *examples[:_SHOWN_EXAMPLES], *more])


def rule_remarks(warnings: Mapping[str, int], points: int) -> Iterator[str]:
    """A line for each rule that warned. Sections without a business domain are a remark only where others have one:
    nobody needs to declare domains."""
    for rule, count in warnings.items():
        if rule == _NO_DOMAIN:
            if count < points:
                yield f"{count:,} of {points:,} sections are of no domain; widen the paths or namespaces of domains"
        elif rule in _RULES:
            one, several, rest = _RULES[rule]
            yield f"{counted(count, one, several)} {rest} ({rule})"
        elif rule.startswith(_REFINED):
            yield f"{counted(count, 'summary', 'summaries')} of the model not used, the derived one is kept ({rule})"
        elif rule.startswith(_UNANSWERED):
            yield f"{counted(count, 'summary', 'summaries')} not written by the model ({rule})"
        else:
            yield f"{counted(count, 'warning')} of {rule}"
