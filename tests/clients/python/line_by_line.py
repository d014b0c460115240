"""What clients in processes of their own have in common: a step a line in, its result a line out (`tests/clients/talking.py`)."""

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
        except Exception:  # whatever goes wrong is the test's to know
            answer = {"failed": traceback.format_exc()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
