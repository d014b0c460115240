"""`groundwire graph`: draw the pipeline."""

import click

from runtime.terminal import say


@click.command("graph")
def graph_command() -> None:
    """Print the pipeline as a Mermaid flowchart, read from the actors' signatures."""
    from actors.pipeline import pipeline
    from bus.delivery.graph import GraphError

    try:
        say(pipeline().mermaid())
    except GraphError as error:
        raise click.ClickException(str(error)) from None
