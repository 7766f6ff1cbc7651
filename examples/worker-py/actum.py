"""The worker's side of Actum's HTTP door: its task, and its calls."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

# What an answer with a secret in it says of its result: it is for the model and for nobody else.
MODEL_ONLY = "actum:model-only-result/1"

Json = dict[str, Any]


@dataclass
class Outcome:
    """What became of a call, as the model is told it."""

    is_error: bool
    content: Any
    # The content holds a secret: it is neither logged nor kept.
    model_only: bool = False


class TaskOver(Exception):
    """The token stopped working: the task was ended, taken back, or is past its time."""


class Actum:
    def __init__(self, url: str, token: str, log: Callable[[str], None]) -> None:
        self._url = url
        self._token = token
        self._log = log
        self._deadline = time.time() + 30
        self._tools: dict[str, Json] = {}
        self._selections: list[str] = []
        # The kernel is this worker's own, and no proxy stands before it.
        self._open = build_opener(ProxyHandler({})).open

    def task(self) -> Json:
        task = self._get("/v1/task")
        self._deadline = datetime.fromisoformat(task["expires_at"]).timestamp()
        self._tools = {tool["name"]: tool for tool in task["catalog"]["tools"]}
        self._selections = [selection["token"] for selection in task["selection_tokens"]]
        return task

    def tools(self, provider: str) -> list[Json]:
        """The tools in a provider's own shape, to be handed to its SDK as they are."""
        catalog = self._get(f"/v1/task?tools={provider}")["catalog"]
        for left_out in catalog.get("left_out", []):
            self._log(f"left out {left_out['name']}: {left_out['problem']}")
        tools: list[Json] = catalog["tools"]
        return tools

    def offers(self, name: str) -> bool:
        return name in self._tools

    def call(self, action: str, arguments: Json, key: str) -> Outcome:
        """Makes a call and waits until it is decided. The key names this one call, however often it is sent."""
        call = {"action": action, "arguments": arguments, "idempotency_key": key}
        if self._tools.get(action, {}).get("selection_token_required"):
            # A tool does not say which of several tokens it takes. One that is refused was not spent.
            for token in self._selections:
                outcome = self._post({**call, "selection_token": token})
                if not (outcome.is_error and outcome.content.get("reason") == "selection_token_invalid"):
                    return outcome
        return self._post(call)

    def _post(self, call: Json) -> Outcome:
        status, body = self._ask("/v1/actions", call)
        if status == 202:
            self._log(f"{call['action']} waits for the owner: {body['request_id']}")
            return self._decided(body["status_url"])
        if status != 200:
            authorization = {key: body[key] for key in ["authorization"] if key in body}
            return Outcome(True, {**body["error"], **authorization})
        # Where effects are suppressed there is a decision and no result.
        content = body["result"] if "result" in body else {"decision": body["decision"]}
        return Outcome(False, content, body.get("result_schema") == MODEL_ONLY)

    def _decided(self, path: str) -> Outcome:
        """Follows a call until the owner has decided and it has run, or the task is over."""
        wait = 0.5
        while True:
            _, body = self._ask(path)
            state = body.get("state")
            if "superseded_by" in body:
                # The owner put a call with other arguments in its place.
                return self._decided(f"/v1/actions/{body['superseded_by']}")
            if state == "succeeded":
                return Outcome(False, body.get("result"))
            if state not in ("pending", "approved", "running"):
                return Outcome(True, {"state": state, "reason": body.get("reason")})
            if time.time() + wait > self._deadline:
                return Outcome(True, {"state": state, "reason": "the task is over"})
            time.sleep(wait)
            wait = min(wait * 1.5, 10)

    def _get(self, path: str) -> Json:
        status, body = self._ask(path)
        if status != 200:
            raise RuntimeError(body["error"]["message"])
        return body

    def _ask(self, path: str, call: Json | None = None) -> tuple[int, Json]:
        """One request, sent again while the kernel cannot be reached: a call runs once under its key."""
        data = None if call is None else json.dumps(call).encode()
        request = Request(self._url + path, data, {"Authorization": f"Bearer {self._token}"})
        wait = 0.5
        while True:
            try:
                with self._open(request, timeout=60) as response:
                    return response.status, json.load(response)
            except HTTPError as error:
                if error.code == 401:
                    raise TaskOver("the task is over, or its token is wrong") from None
                if error.code != 503:
                    return error.code, json.load(error)
            except (OSError, HTTPException, ValueError):
                pass
            if time.time() + wait > self._deadline:
                raise RuntimeError(f"no answer from the kernel at {self._url}")
            time.sleep(wait)
            wait = min(wait * 2, 10)
