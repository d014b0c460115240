"""`groundwire graph`: draw the pipeline."""

import click

from runtime.commands.options import one_line_errors
from runtime.terminal import say


@click.command("graph")
def graph_command() -> None:
    """Print the pipeline as a Mermaid flowchart, read from the actors' signatures."""
    from actors.pipeline import pipeline
    from bus.delivery.graph import GraphError

    with one_line_errors(GraphError):
        say(pipeline().mermaid())
