"""/v1/completions: runs for the older OpenAI clients, whose prompt is the question."""

from aiohttp import web
from msgspec.structs import replace

from bus.runs.router import Reader
from bus.runs.run_record import RunRecord
from runtime.edge.idempotency import IDEMPOTENCY_KEY
from runtime.edge.openai import schemas
from runtime.edge.openai.answering import Answer, usage_of
from runtime.edge.openai.asking import check_completion, check_model, question_of
from runtime.edge.openai.errors import OPENAI_ERRORS, unsupported
from runtime.edge.rejoining import ask_or_join
from runtime.edge.request_parsing import check_text
from runtime.edge.routes import Reply, Route


@Route(
    "POST",
    "/v1/completions",
    {
        200: Reply(
            "The answer; with `stream`, server-sent events that each hold a TextCompletion.",
            schemas.TextCompletion,
            (schemas.TextCompletion,),
        )
    },
    "ask",
    problems=(404, 409, 429, 500, 503, 504),
    parameters=(IDEMPOTENCY_KEY,),
    errors=OPENAI_ERRORS,
)
async def complete_text(request: web.Request, asked: schemas.CompletionAsked) -> web.StreamResponse:
    """Ask as an older OpenAI client; `model` names a profile, and the prompt is the question."""
    await check_model(request, asked.model)
    check_completion(asked)
    prompt = prompt_of(asked)
    check_text("prompt", prompt)
    question = question_of(request, asked, prompt, max_tokens=asked.max_tokens)
    async with ask_or_join(request, question, "completions", waits=not asked.stream) as reader:
        return await TextAnswer(request, reader, asked, prompt if asked.echo else "").send()


def prompt_of(asked: schemas.CompletionAsked) -> str:
    """The prompt, which may be a list of one. Raises Problem for several, and for token numbers."""
    prompts = (asked.prompt,) if isinstance(asked.prompt, str) else asked.prompt
    if any(not isinstance(each, str) for each in prompts):
        raise unsupported("prompt", "token numbers are not read; send text")
    if len(prompts) != 1:
        raise unsupported("prompt", f"there are {len(prompts)} prompts; send one question at a time")
    return str(prompts[0])


class TextAnswer(Answer):
    """A run as a text completion. `echo`: what stands before the answer."""

    def __init__(self, request: web.Request, reader: Reader, asked: schemas.CompletionAsked, echo: str) -> None:
        super().__init__(request, reader, asked, most_tokens=asked.max_tokens)
        self._echo = echo

    def first(self) -> schemas.TextCompletion | None:
        return self.piece(self._echo) if self._echo else None

    def piece(self, text: str) -> schemas.TextCompletion:
        return self._completion(schemas.TextChoice(text=text))

    def last(self, finish: schemas.Finish) -> schemas.TextCompletion:
        return self._completion(
            schemas.TextChoice(text="", finish_reason=finish), references=self.references, passages=self.passages
        )

    def counted(self, usage: schemas.Usage) -> schemas.TextCompletion:
        return self._completion(usage=usage)

    def whole(self, text: str, finish: schemas.Finish, record: RunRecord | None) -> schemas.TextCompletion:
        return self._completion(
            schemas.TextChoice(text=self._echo + text, finish_reason=finish),
            usage=usage_of(record, text),
            references=self.references,
            passages=self.passages,
            outcome=record.outcome or "" if record else "",
        )

    def _completion(self, *choices: schemas.TextChoice, **fields: object) -> schemas.TextCompletion:
        made = schemas.TextCompletion(
            id=f"cmpl-{self.run.run_id}", created=self.created, model=self.asked.model, choices=choices
        )
        return replace(made, **fields)
