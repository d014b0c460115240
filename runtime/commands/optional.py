"""The commands of plug-ins that come with the product, as `groundwire.commands` declares them: listed without loading them."""

from typing import NamedTuple


class Command(NamedTuple):
    """`line`: one line of help. `module` holds the click command `attribute`, and is imported when the command runs."""

    module: str
    attribute: str
    line: str


BACKUP = Command(
    "runtime.commands.backup",
    "backup_command",
    "Copy index, journal, keys, profiles and settings, also while it serves.",
)
EVAL = Command(
    "runtime.commands.eval", "eval_group", "Measure retrieval, answers, the gate or rewriting on your own set."
)
MCP = Command(
    "runtime.commands.mcp", "mcp_command", "Offer the documents to a desktop client, by the Model Context Protocol."
)
RESTORE = Command("runtime.commands.backup", "restore_command", "Put a backup back.")
