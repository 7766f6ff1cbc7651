"""Google, Gemini API."""

from typing import Any
from uuid import uuid4

from google.genai import Client, types

from actum import Outcome
from model import Beginning, Call, Turn

SHAPE = "gemini"


class Chat:
    def __init__(self, beginning: Beginning) -> None:
        # The key is read from GEMINI_API_KEY, the address from GOOGLE_GEMINI_BASE_URL.
        self._client = Client()
        self._model = beginning.model
        tools: Any = [{"function_declarations": beginning.tools}] if beginning.tools else None
        self._config = types.GenerateContentConfig(
            system_instruction=beginning.system,
            tools=tools,
            # Calls run nowhere but at the kernel.
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        self._contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=beginning.user)])]
        # Not every model names its calls; those that do want the name back.
        self._named: set[str] = set()

    def next(self, results: list[tuple[Call, Outcome]]) -> Turn:
        if results:
            parts = [
                types.Part(
                    function_response=types.FunctionResponse(
                        id=call.id if call.id in self._named else None,
                        name=call.name,
                        response={"error" if outcome.is_error else "output": outcome.content},
                    )
                )
                for call, outcome in results
            ]
            self._contents.append(types.Content(role="user", parts=parts))
        answer = self._client.models.generate_content(
            model=self._model, contents=self._contents, config=self._config
        )
        content = answer.candidates[0].content if answer.candidates else None
        if content is None:
            raise RuntimeError("the model gave no answer")
        # As it came: its parts have signatures that the next request must bring back.
        self._contents.append(content)
        parts = content.parts or []
        calls = []
        for call in (part.function_call for part in parts if part.function_call):
            if call.id:
                self._named.add(call.id)
            calls.append(Call(call.id or str(uuid4()), call.name or "", call.args or {}))
        return Turn("".join(part.text for part in parts if part.text and not part.thought), calls)
