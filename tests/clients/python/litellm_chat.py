"""What a test asks of litellm over /v1/chat/completions: `litellm_chat.py BASE`, one JSON object back."""

import json
import sys

import litellm

options = {"api_base": sys.argv[1], "api_key": "none", "num_retries": 0, "max_retries": 0}
litellm.suppress_debug_info = True


def complete(text: str, model: str = "general", **more: object) -> object:
    return litellm.completion(model=f"openai/{model}", messages=[{"role": "user", "content": text}], **options, **more)


def ask() -> object:
    return {"first": complete("cite").choices[0].message.content}


def stream() -> object:
    return [piece for chunk in complete("cite", stream=True) if (piece := chunk.choices[0].delta.content)]


def cite() -> object:
    whole = complete("cite").choices[0].message
    streamed = [chunk.choices[0].delta for chunk in complete("cite", stream=True)]
    return [
        whole.model_dump()["annotations"],
        [a for delta in streamed for a in getattr(delta, "annotations", None) or ()],
    ]


def cancel() -> object:
    chunks = complete("leave", stream=True)
    first = next(piece for chunk in chunks if (piece := chunk.choices[0].delta.content))
    chunks.completion_stream.close()
    return first


def error() -> object:
    said = []
    for call in (
        lambda: complete("cite", "gpt-9"),
        lambda: complete("cite", n=2),
        lambda: complete("fail"),
        lambda: list(complete("fail", stream=True)),
    ):
        try:
            call()
        except Exception as problem:
            said.append(str(problem))
    return said


print(json.dumps({each.__name__: each() for each in (ask, stream, cite, cancel, error)}))
