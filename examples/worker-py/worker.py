"""python worker.py --provider openai|openai-responses|anthropic|google

ACTUM_TOKEN is the task's token, ACTUM_URL the kernel, MODEL the model. Each SDK reads its own variables.
"""

import argparse
import importlib
import os
import sys
from functools import partial
from typing import Any

from actum import Actum
from loop import SYSTEM, run, told
from model import Beginning

# Only the one that is asked for is loaded.
PROVIDERS = {
    "openai": "openai_chat",
    "openai-responses": "openai_responses",
    "anthropic": "anthropic_messages",
    "google": "google_gemini",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--provider", choices=PROVIDERS, required=True)
    chosen = parser.parse_args().provider
    url = os.environ.get("ACTUM_URL", "http://127.0.0.1:7373")
    token, name = os.environ.get("ACTUM_TOKEN"), os.environ.get("MODEL")
    if not token or not name:
        parser.error("set ACTUM_TOKEN and MODEL")
    provider: Any = importlib.import_module(PROVIDERS[chosen])
    log = partial(print, flush=True)
    actum = Actum(url, token, log)
    task = actum.task()
    tools = actum.tools(provider.SHAPE)
    model = provider.Chat(Beginning(name, SYSTEM, told(task), tools))
    run(actum, model, log)


try:
    main()
except Exception as error:
    # Its message alone: what else hangs on an error of an SDK may hold the conversation.
    sys.exit(f"error: {error}")
