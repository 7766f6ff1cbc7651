"""OpenAI, Responses. The whole conversation is sent each time, with the model's own items as they came."""

from typing import Any

from openai import OpenAI

from actum import Outcome
from model import Beginning, Call, Turn, as_text, parsed

SHAPE = "openai-responses"


class Chat:
    def __init__(self, beginning: Beginning) -> None:
        self._client = OpenAI()
        self._model = beginning.model
        self._system = beginning.system
        self._tools: Any = beginning.tools
        self._input: list[Any] = [{"role": "user", "content": beginning.user}]

    def next(self, results: list[tuple[Call, Outcome]]) -> Turn:
        for call, outcome in results:
            self._input.append({"type": "function_call_output", "call_id": call.id, "output": as_text(outcome)})
        response = self._client.responses.create(
            model=self._model, instructions=self._system, input=self._input, tools=self._tools
        )
        self._input.extend(item.to_dict() for item in response.output)
        calls = [
            Call(item.call_id, item.name, parsed(item.arguments))
            for item in response.output
            if item.type == "function_call"
        ]
        return Turn(response.output_text, calls)
