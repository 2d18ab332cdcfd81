"""Artifacts of quotes: how many sections have something to say, whether every sentence is supported, what they cost.

    python benchmarks/artifacts.py --home HOME --label a@main b@main --subject "a@main=retries" "a@main=timeouts"

Every shipped artifact is made of every subject (`LABEL=SUBJECT`; without any: of everything that is indexed), without a
model. Subjects that no label has (`--alien`) must be refused.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter

from rag_assets import Index, open_index
from rag_assets.answer.artifact.templates import ARTIFACTS, TEMPLATES, WHOLE, OutputType
from rag_assets.answer.citations import Support
from rag_assets.qa.agents import AgentLibrary
from rag_assets.qa.answering import Artifact, QuestionAnswerer, make_artifact
from rag_assets.qa.ask_options import AskOptions

ALIENS = ("moon rockets", "payroll of warehouse robots", "patient blood samples", "wedding cake recipes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True)
    parser.add_argument("--label", nargs="+", required=True)
    parser.add_argument("--subject", nargs="*", default=[], metavar="LABEL=SUBJECT")
    parser.add_argument("--alien", nargs="*", default=ALIENS, help="subjects that no label has")
    arguments = parser.parse_args()
    seconds: list[float] = []
    made: list[Artifact] = []
    aliens: list[Artifact] = []
    for label in arguments.label:
        subjects = [
            subject for known, _, subject in (one.partition("=") for one in arguments.subject) if known == label
        ]
        with open_index(label, home=arguments.home) as index:
            for output in ARTIFACTS:
                for subject in subjects or [WHOLE]:
                    started = time.process_time()
                    made.append(_made(index, output, subject))
                    seconds.append(time.process_time() - started)
            aliens += [_made(index, OutputType.BLUEPRINT, subject) for subject in arguments.alien]
    _print(made, aliens, seconds)


def _made(index: Index, output: OutputType, subject: str) -> Artifact:
    with QuestionAnswerer(index, AskOptions(agent=AgentLibrary().author(output))) as asker:
        return make_artifact(asker, subject)


def _print(made: list[Artifact], aliens: list[Artifact], seconds: list[float]) -> None:
    written = [one for one in made if not one.refused]
    support = Counter(checked.support for one in written for checked in one.answer.checks)
    print(f"made {len(written)} of {len(made)}; refused {sum(one.refused for one in aliens)} of {len(aliens)} aliens")
    print(f"sentences {support.total()}, supported {support[Support.SUPPORTED]}")
    for output in ARTIFACTS:
        sections = [one.sections for one in written if one.output is output]
        whole = len(sections) * len(TEMPLATES[output].without_model)
        print(f"{output}: {sum(map(len, sections))} of {whole} sections say something")
    print(f"CPU seconds: p50 {statistics.median(seconds):.2f}, most {max(seconds):.2f}")


if __name__ == "__main__":
    main()
