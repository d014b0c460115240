"""The prompt that a person may choose from the menu of their program."""

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from runtime.mcp.peer import Context

ANSWER = Prompt(
    name="answer_from_documents",
    title="Answer from my documents",
    description="An answer that rests on your documents alone, each sentence with its source.",
    arguments=[PromptArgument(name="question", title="Question", description="What you want to know.", required=True)],
)
_TEXT = (
    "Answer the question between the lines from my own documents. Use the tool `ask` with its exact words, and give me the"
    " answer as it comes, with its markers like [1] and the sources under their numbers. If there is no answer, say so and"
    " show me the closest passages instead. Add nothing of your own.\n\n---\n{question}\n---"
)


async def listed(_: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
    return ListPromptsResult(prompts=[ANSWER])


async def got(_: Context, params: GetPromptRequestParams) -> GetPromptResult:
    """Raises MCPError."""
    if params.name != ANSWER.name:
        raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name[:100]!r}; there is {ANSWER.name}")
    question = (params.arguments or {}).get("question", "").strip()
    if not question:
        raise MCPError(INVALID_PARAMS, f"the prompt {ANSWER.name} needs its argument `question`")
    content = TextContent(type="text", text=_TEXT.replace("{question}", question))
    return GetPromptResult(description=ANSWER.description, messages=[PromptMessage(role="user", content=content)])
