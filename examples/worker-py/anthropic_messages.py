"""Anthropic, Messages."""

import json
from typing import Any

from anthropic import Anthropic

from actum import Outcome
from model import Beginning, Call, Turn

SHAPE = "anthropic"


class Chat:
    def __init__(self, beginning: Beginning) -> None:
        self._client = Anthropic()
        self._model = beginning.model
        self._system = beginning.system
        self._tools: Any = beginning.tools
        self._messages: list[Any] = [{"role": "user", "content": beginning.user}]

    def next(self, results: list[tuple[Call, Outcome]]) -> Turn:
        if results:
            content = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "is_error": outcome.is_error,
                    "content": json.dumps(outcome.content, ensure_ascii=False),
                }
                for call, outcome in results
            ]
            self._messages.append({"role": "user", "content": content})
        message = self._client.messages.create(
            model=self._model,
            system=self._system,
            messages=self._messages,
            max_tokens=8192,
            tools=self._tools,
        )
        self._messages.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = [Call(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
        return Turn(text, calls)
