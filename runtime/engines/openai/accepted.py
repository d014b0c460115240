"""What servers refuse of a request, read from their refusals, and the request without it.

Servers of this interface differ in the parameters that they accept, and few ignore those that they do not know.
"""

import json
import re
from collections.abc import Iterable
from functools import reduce
from typing import Any, Final

from runtime.engines.engine import SHAPE

#: Each parameter that a request can do without or send in another form, and what a refusal of it mentions.
_MENTIONED: Final = {
    "response_format": re.compile(
        r"response_?(?:format|schema)|json[_ ]?(?:schema|object|mode)|grammar|structured|guided|output_(?:format|config)",
        re.IGNORECASE,
    ),
    **{
        name: re.compile(rf"\b{name}\b")
        for name in ("max_tokens", "max_completion_tokens", "temperature", "seed", "stream_options", "reasoning_effort")
    },
}
#: Each is sent in this form instead; one without another form is left out.
_RENAMED: Final = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


def refused_in(said: str, body: dict[str, Any], known: list[str]) -> str:
    """The parameter of the body that a server's error message refuses; empty for none, and for one refused in each form."""
    places = {
        found.start(): name
        for name, mentioned in _MENTIONED.items()
        if name in body and known.count(name) <= (name == "response_format") and (found := mentioned.search(said))
    }
    return places[min(places)] if places else ""


def without(body: dict[str, Any], refused: Iterable[str]) -> dict[str, Any]:
    """The body as a server accepts it that refused these parameters, one after the other."""
    return reduce(_without, refused, body)


def _without(body: dict[str, Any], name: str) -> dict[str, Any]:
    rest = {key: value for key, value in body.items() if key != name}
    if name not in body:
        return body
    if name in _RENAMED:
        return rest | {_RENAMED[name]: body[name]}
    if name != "response_format" or body[name]["type"] != "json_schema":
        return rest
    told = SHAPE.format(schema=json.dumps(body[name]["json_schema"]["schema"], ensure_ascii=False))
    *before, last = body["messages"]
    messages = [*before, last | {"content": f"{last['content']}\n\n{told}"}]
    return rest | {"response_format": {"type": "json_object"}, "messages": messages}
