"""Plug-ins: optional parts of the product, found through entry points and loaded on first use.

A group is `groundwire.engines`, `.protocols`, `.formats`, `.indexes` or `.commands`. The core never imports a plug-in; any
installed distribution may add one by declaring an entry point of its group (docs/plugins.md).
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Name to entry point, in the order of the names. Of two with one name the first on `sys.path` counts."""
    return {each.name: each for each in sorted(entry_points(group=f"groundwire.{group}"), key=lambda each: each.name)}
