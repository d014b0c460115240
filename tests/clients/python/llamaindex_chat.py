"""What a test asks of LlamaIndex over /v1/chat/completions: `llamaindex_chat.py BASE`, one JSON object back."""

import json
import sys

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

options = {"api_base": sys.argv[1], "api_key": "none", "max_retries": 0}
model = OpenAILike(model="general", is_chat_model=True, **options)


def user(text: str) -> list[ChatMessage]:
    return [ChatMessage(role="user", content=text)]


def ask() -> object:
    return {"first": model.chat(user("cite")).message.content}


def stream() -> object:
    return [each.delta for each in model.stream_chat(user("cite")) if each.delta]


def cite() -> object:
    return [each.model_dump() for each in model.chat(user("cite")).raw.choices[0].message.annotations]


def cancel() -> object:
    chunks = model.stream_chat(user("leave"))
    for chunk in chunks:
        if chunk.delta:
            break
    chunks.close()
    return chunk.delta


def error() -> object:
    said = []
    calls = (
        lambda: OpenAILike(model="gpt-9", is_chat_model=True, **options).chat(user("cite")),
        lambda: model.chat(user("cite"), n=2),
        lambda: model.chat(user("fail")),
        lambda: list(model.stream_chat(user("fail"))),
    )
    for call in calls:
        try:
            call()
        except Exception as problem:
            said.append(str(problem))
    return said


print(json.dumps({each.__name__: each() for each in (ask, stream, cite, cancel, error)}))
