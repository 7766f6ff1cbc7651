"""What the loop knows of a provider: it is asked, and wants calls made."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

from actum import Json, Outcome


@dataclass
class Call:
    id: str
    name: str
    # As the model wrote them, which may be anything.
    arguments: Any


@dataclass
class Turn:
    text: str
    calls: list[Call]


@dataclass
class Beginning:
    """What every conversation begins with."""

    model: str
    system: str
    user: str
    tools: list[Json]


class Model(Protocol):
    """A conversation. It is told what came of all calls of its last turn, in their order, and takes the next one."""

    def next(self, results: list[tuple[Call, Outcome]]) -> Turn: ...


def parsed(text: str) -> Any:
    """Arguments that a provider gives as text. Without any, some models write nothing at all."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def as_text(outcome: Outcome) -> str:
    """A result for providers that have no field which says that it is an error."""
    content = {"error": outcome.content} if outcome.is_error else outcome.content
    return json.dumps(content, ensure_ascii=False)
