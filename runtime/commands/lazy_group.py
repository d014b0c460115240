"""A group of commands that imports the module of a command when the command is called."""

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """`parts`: by name of a command, its module in this folder and its name there. They are listed after the group's own."""

    def __init__(
        self, *args: Any, parts: Mapping[str, tuple[str, str]], **options: Any
    ) -> None:  # as click.Group takes them
        super().__init__(*args, **options)
        self.parts = parts

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.parts]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.parts:
            return super().get_command(ctx, name)
        module, attribute = self.parts[name]
        command = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
        return command if isinstance(command, click.Command) else None
