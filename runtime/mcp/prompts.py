"""The prompts: what a person may choose from their program's menu, and what it then tells its model."""

from runtime.mcp.results import Prompt, PromptArgument, PromptGot, PromptMessage, Prompts, Text
from runtime.mcp.schemas import GetPrompt
from runtime.mcp.versions import INVALID_PARAMS, RpcError

ANSWER = Prompt(
    name="answer_from_documents",
    title="Answer from my documents",
    description="An answer that rests on your documents alone, each sentence with its source.",
    arguments=(PromptArgument(name="question", title="Question", description="What you want to know.", required=True),),
)
_TOLD = (
    "Answer the question between the lines from my own documents. Use the tool `ask` with its exact words, and give me the"
    " answer as it comes, with its markers like [1] and the sources under their numbers. If there is no answer, say so and"
    " show me the closest passages instead. Add nothing of your own.\n\n---\n{question}\n---"
)

PROMPTS = Prompts(prompts=(ANSWER,))


def got(asked: GetPrompt) -> PromptGot:
    """Raises RpcError."""
    if asked.name != ANSWER.name:
        raise RpcError(INVALID_PARAMS, f"there is no prompt {asked.name[:100]!r}; there is {ANSWER.name}")
    question = asked.arguments.get("question", "").strip()
    if not question:
        raise RpcError(INVALID_PARAMS, f"the prompt {ANSWER.name} needs its argument `question`")
    told = Text(text=_TOLD.replace("{question}", question))
    return PromptGot(description=ANSWER.description, messages=(PromptMessage(role="user", content=told),))
