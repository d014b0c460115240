"""The commands of plug-ins that come with the product, as `groundwire.commands` declares them: listed without loading them."""

from typing import NamedTuple

START, INTEGRATIONS, DEBUGGING, OPERATIONS = "Start here", "Integrations", "Debugging", "Operations"


class Command(NamedTuple):
    """`line`: one line of help, under the heading `group`. `module` holds the click command `attribute`, and is imported when the
    command runs.
    """

    module: str
    attribute: str
    line: str
    group: str = "Extensions"


BACKUP = Command(
    "runtime.commands.backup",
    "backup_command",
    "Copy index, journal, keys, profiles and settings, also while it serves.",
    OPERATIONS,
)
EVAL = Command("runtime.commands.eval", "eval_group", "Measure answers or the gate on your own set.", DEBUGGING)
MCP = Command(
    "runtime.commands.mcp",
    "mcp_command",
    "Offer the documents to a desktop client, by the Model Context Protocol.",
    INTEGRATIONS,
)
SUITE = Command(
    "runtime.commands.suite", "suite_group", "Keep recorded runs as tests, and check them again.", DEBUGGING
)
RESTORE = Command("runtime.commands.backup", "restore_command", "Put a backup back.", OPERATIONS)
