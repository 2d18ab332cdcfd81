"""The base class of all groups of settings."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator


class Strict(BaseModel):
    """A group of settings: unknown keys are refused, values do not change, numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_the_default(cls, values: Any) -> Any:
        return without_nothing(cls, values)


def without_nothing(model: type[BaseModel], values: Any) -> Any:
    """Drops settings without a value, such as a block whose lines are all comments, so that their defaults hold."""
    if not isinstance(values, dict):
        return values
    return {name: value for name, value in values.items() if value is not None or name not in model.model_fields}


def _no_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value.strip()


Name = Annotated[str, AfterValidator(_no_blank)]
