"""Common code of clients in separate processes: a step a line in, its result a line out (`tests/clients/talking.py`)."""

import inspect
import json
import sys
import traceback
from collections.abc import Callable


async def serve(client: object) -> None:
    """Call the client's method for each step until there are no more."""
    for line in sys.stdin:
        step = json.loads(line)
        try:
            call: Callable[..., object] = getattr(client, step.pop("do"))
            found = call(**step)
            answer = {"ok": await found if inspect.isawaitable(found) else found}
        except Exception:  # the test handles every error
            answer = {"failed": traceback.format_exc()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
