"""What every group of settings is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class Strict(BaseModel):
    """A group of settings: unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _no_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value.strip()


Name = Annotated[str, AfterValidator(_no_blank)]
