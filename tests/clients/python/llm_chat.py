"""What a test asks of llm over /v1/chat/completions: `llm_chat.py BASE`, one JSON object back. `LLM_USER_PATH`: an empty folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

base = sys.argv[1]
Path(os.environ["LLM_USER_PATH"], "extra-openai-models.yaml").write_text(
    "".join(
        f"- model_id: {name}\n  model_name: {model}\n  api_base: {base}\n"
        for name, model in (("docs", "general"), ("no-such", "gpt-9"))
    )
)

import llm  # noqa: E402 - it reads the models when it is imported

model = llm.get_model("docs")
for each in (model, llm.get_model("no-such")):
    each.key = "none"


def ask() -> object:
    conversation = model.conversation()
    first = conversation.prompt("cite", stream=False).text()
    second = conversation.prompt("refuse", stream=False).text()
    command = [sys.executable, "-m", "llm", "-m", "docs", "--key", "none", "cite"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {"first": first, "second": second, "command": shown}


def stream() -> object:
    return [piece for piece in model.prompt("cite") if piece]


def cite() -> object:
    response = model.prompt("cite", stream=False)
    response.text()
    return response.response_json["choices"][0]["message"]["annotations"]


def cancel() -> object:
    pieces = iter(model.prompt("leave"))
    first = next(piece for piece in pieces if piece)
    pieces.close()
    return first


def error() -> object:
    said = []
    for call in (
        lambda: llm.get_model("no-such").prompt("cite").text(),
        lambda: model.prompt("cite", logit_bias={"1": 5}).text(),
        lambda: model.prompt("fail", stream=False).text(),
        lambda: model.prompt("fail").text(),
    ):
        try:
            call()
        except Exception as problem:
            said.append(str(problem))
    return said


# The rest comes last: llm closes its connection when it ends, and an edge may do one question at a time.
print(json.dumps({each.__name__: each() for each in (ask, stream, cite, error, cancel)}))
