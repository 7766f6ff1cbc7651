"""OpenAI, Chat Completions; also what speaks it, at OPENAI_BASE_URL."""

from typing import Any, cast

from openai import OpenAI, omit
from openai.types.chat import ChatCompletionMessageFunctionToolCall

from actum import Outcome
from model import Beginning, Call, Turn, as_text, parsed

SHAPE = "openai"


class Chat:
    def __init__(self, beginning: Beginning) -> None:
        self._client = OpenAI()
        self._model = beginning.model
        self._tools: Any = beginning.tools or omit
        self._messages: list[Any] = [
            {"role": "system", "content": beginning.system},
            {"role": "user", "content": beginning.user},
        ]

    def next(self, results: list[tuple[Call, Outcome]]) -> Turn:
        for call, outcome in results:
            self._messages.append({"role": "tool", "tool_call_id": call.id, "content": as_text(outcome)})
        completion = self._client.chat.completions.create(
            model=self._model, messages=self._messages, tools=self._tools
        )
        message = completion.choices[0].message
        self._messages.append(cast(Any, message.to_dict()))
        calls = [
            Call(call.id, call.function.name, parsed(call.function.arguments))
            for call in message.tool_calls or []
            if isinstance(call, ChatCompletionMessageFunctionToolCall)
        ]
        return Turn(message.content or "", calls)
