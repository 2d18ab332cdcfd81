"""How well a generation answers: question sets, their metrics, their runs, and the gate before promotion."""

from rag_assets.evaluation.gate import GateRules, decide
from rag_assets.evaluation.metrics import METRICS_VERSION
from rag_assets.evaluation.questions import EvalQuestion, QuestionSet, QuestionSetError, load_questions
from rag_assets.evaluation.runs import EvalError, run_questions

__all__ = [
    "METRICS_VERSION",
    "EvalError",
    "EvalQuestion",
    "GateRules",
    "QuestionSet",
    "QuestionSetError",
    "decide",
    "load_questions",
    "run_questions",
]
