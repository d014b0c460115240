"""`groundwire eval`: measure on a set of questions or claims."""

import importlib

import click

_PARTS = {
    "retrieval": ("eval_retrieval", "eval_retrieval_command"),
    "answers": ("eval_answers", "eval_answers_command"),
    "gate": ("eval_gate", "eval_gate_command"),
    "rewriting": ("eval_rewriting", "eval_rewriting_command"),
}


class _Parts(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_PARTS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _PARTS:
            return None
        module, attribute = _PARTS[name]
        command = getattr(importlib.import_module(f"runtime.commands.{module}"), attribute)
        return command if isinstance(command, click.Command) else None


@click.command("eval", cls=_Parts)
def eval_group() -> None:
    """Measure retrieval, answers, the gate or rewriting on a set of your own."""
