"""`rag-assets eval tokens`: what the answers of a question set cost who reads the results, in tokens."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from rag_assets.cli.console import Output, short
from rag_assets.cli.eval.run import QuestionSelection, ask, questions_for
from rag_assets.cli.options import (
    AsJson,
    GenerationOption,
    LabelOption,
    SetRepository,
    WithoutLeaky,
    known_label,
    session_of,
)
from rag_assets.cli.quality import show_table
from rag_assets.index.eval_records import EvalRun
from rag_assets.index.generations import read_generation
from rag_assets.models.openai_compat.token_counting import token_counter
from rag_assets.search.index import load_policy


def tokens(
    context: typer.Context,
    question_set: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Questions (.jsonl, .json, .yaml). With `spans` (PATH:FIRST-LAST) also the tokens to the lines that "
            "answer.",
        ),
    ],
    label: LabelOption = None,
    generation: GenerationOption = "active",
    repository: SetRepository = "",
    without_leaky: WithoutLeaky = False,
    tokenizer: Annotated[
        str, typer.Option(help="What counts: estimate, or cl100k_base or o200k_base with bpe-openai installed.")
    ] = "estimate",
    as_json: AsJson = False,
) -> None:
    """Show how many tokens a reader needs until the first file that answers, and until the lines, for each --detail of
    `search` and for grep and reading files. The numbers are kept with the run of the set.

    Example: rag-assets eval tokens questions.jsonl --label shop@main
    """
    from rag_assets.api import Index
    from rag_assets.evaluation.persist import keep_run_of_finished
    from rag_assets.evaluation.runs import visible_files
    from rag_assets.evaluation.tokens import token_costs
    from rag_assets.index.generation_refs import named_generation

    counter = token_counter(tokenizer)
    session = session_of(context)
    home = session.home()
    name = known_label(home, label, how="as rag-assets eval tokens FILE --label LABEL")
    asked = read_generation(home, *named_generation(home, [name], generation))
    questions = questions_for(session, asked, QuestionSelection(question_set, repository, without_leaky))
    run = ask(session, home, asked, questions)
    clearance, policy = session.clearance(), load_policy(home, session.config_option)
    with Index(home, asked, session.config_option, clearance=clearance, policy=policy) as index:
        costs = token_costs(index, questions, lambda text: counter([text])[0], visible_files(asked, clearance))
    run = dataclasses.replace(run, tokens=costs, tokenizer=tokenizer)
    record = keep_run_of_finished(home, asked, run)
    if as_json:
        session.output.json(
            {
                "label": name,
                "commit": asked.manifest.commit_sha,
                "stored": record is not None,
                "set": run.set,
                "questions": len(run.results),
                "tokenizer": tokenizer,
                "tokens": [dataclasses.asdict(cost) for cost in costs],
                "metrics": run.metrics,
            }
        )
        return
    commit = short(asked.manifest.commit_sha)
    session.output.line((name, "path"), f" {run.generation_id} (commit {commit}): {len(run.results)} of {run.set}")
    show_costs(session.output, run)


def show_costs(output: Output, run: EvalRun) -> None:
    """Both tables: to the first file, and, where the lines are known, to these."""
    budgets = list(run.tokens[0].recall)
    head = [f"RECALL@{budget}" for budget in budgets]
    rows = [
        (cost.name, f"{cost.expected:,}", *(f"{cost.recall[budget]:.3f}" for budget in budgets), f"{cost.page:,}")
        for cost in run.tokens
    ]
    show_table(output, ("READING", "EXPECTED", *head, "FIVE HITS"), rows, set())
    if run.tokens[0].member_recall:
        output.line()
        of_members = [
            (
                cost.name,
                f"{cost.member_median or 0:,}",
                *(f"{cost.member_recall[budget]:.3f}" for budget in budgets),
            )
            for cost in run.tokens
        ]
        show_table(output, ("TO THE LINES", "MEDIAN", *head), of_members, set())
    output.line((f"tokens as {run.tokenizer} counts them; 32,000 where nothing is found", "dim"))
