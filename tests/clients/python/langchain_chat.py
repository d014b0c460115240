"""What a test asks of LangChain over /v1/chat/completions: `langchain_chat.py BASE`, one JSON object back."""

import json
import sys

from langchain_openai import ChatOpenAI

options = {"base_url": sys.argv[1], "api_key": "none", "max_retries": 0}
model = ChatOpenAI(model="general", **options)


def ask() -> object:
    first = model.invoke([("system", "You are a pirate."), ("user", "cite")])
    second = model.invoke([("user", "cite"), first, ("user", "refuse")])
    return {"first": first.content, "second": second.content, "id": second.id}


def stream() -> object:
    return [piece for chunk in model.stream("cite") if (piece := chunk.text)]


def cite() -> object:
    return {"kwargs": model.invoke("cite").additional_kwargs, "near": model.invoke("near").text}


def cancel() -> object:
    chunks = model.stream("leave")
    for chunk in chunks:
        if chunk.text:
            break
    chunks.close()
    return chunk.text


def error() -> object:
    said = []
    calls = (
        lambda: ChatOpenAI(model="gpt-9", **options).invoke("cite"),
        lambda: model.bind(n=2).invoke("cite"),
        lambda: model.invoke("fail"),
        lambda: list(model.stream("fail")),
    )
    for call in calls:
        try:
            call()
        except Exception as problem:
            said.append(str(problem))
    return said


print(json.dumps({each.__name__: each() for each in (ask, stream, cite, cancel, error)}))
