"""Everything that knows NATS: messages, actors, the journal, and the Protocols of the three powers with their bodies.

From `prompts` it takes only `vocabulary`, from `index` only rules that need no index, such as filters and masking; what the Python
client reads too is in `groundwire.wire`. faststream and nats-py are imported here and nowhere else.
"""

import importlib
import sys
from types import ModuleType
from typing import Any


class _PutOff(ModuleType):
    """A package that is loaded when something of it is first used, which may be never.

    importlib's own LazyLoader loads at the second `import`, used or not.
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


#: nats-py imports aiohttp, for WebSockets alone, and it takes as long to load as all else of nats-py. FastStream imports the
#: others, for web services and for fields that no message has.
for each in ("aiohttp", "email_validator", "uvicorn"):
    sys.modules.setdefault(each, _PutOff(each))
