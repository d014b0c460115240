"""What a test asks of LangChain over /v1/responses: `langchain_responses.py BASE`, one JSON object back."""

import json
import sys

from langchain_openai import ChatOpenAI

base = sys.argv[1]
model = ChatOpenAI(
    model="general", base_url=base, api_key="none", use_responses_api=True, output_version="responses/v1", max_retries=0
)


def ask() -> object:
    first = model.invoke([("system", "You are a pirate."), ("user", "cite")])
    second = model.bind(previous_response_id=first.response_metadata["id"]).invoke("refuse")
    metadata = second.response_metadata["metadata"]
    third = model.invoke([("user", "cite"), first, ("user", "near")])
    return {"first": first.text, "second": second.text, "metadata": metadata, "third": third.response_metadata["id"]}


def stream() -> object:
    return [piece for chunk in model.stream("cite") if (piece := chunk.text)]


def cite() -> object:
    whole, streamed = model.invoke("cite"), None
    for chunk in model.stream("cite"):
        streamed = chunk if streamed is None else streamed + chunk
    return [
        [annotation for block in each.content_blocks for annotation in block.get("annotations", [])]
        for each in (whole, streamed)
    ]


def cancel() -> object:
    left = None
    chunks = model.stream("hang")
    for chunk in chunks:
        left = left or chunk.response_metadata.get("id")
        if chunk.text:
            break
    chunks.close()
    return left


def error() -> object:
    said = []
    for asked in ("fail", "stream"):
        try:
            _ = list(model.stream("fail")) if asked == "stream" else model.invoke(asked)
        except Exception as problem:
            said.append(str(problem))
    return said


print(json.dumps({each.__name__: each() for each in (ask, stream, cite, cancel, error)}))
