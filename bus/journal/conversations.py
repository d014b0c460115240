"""Which runs are of one conversation: a record beside the messages of each.

A client names its chats itself, so that two clients may use one name. A conversation's id is what only the secret derives from who
asks and that name (`Runs.conversation_id`): a chat of the same name that another asks is another conversation.
"""

from bus.journal.journal import Journal
from bus.wire.subjects import CHAT, Key


def chat_key(run_id: str, conversation: str) -> Key:
    """Where it stands in the journal that this run is one of a conversation."""
    return Key(CHAT, run_id, conversation)


async def latest_run(journal: Journal, conversation: str) -> str | None:
    """The run that was added last; None when there is none, or the journal no longer keeps it. Raises Unavailable."""
    found = await journal.newest(chat_key("*", conversation).subject)
    return found.key.run_id if found else None
