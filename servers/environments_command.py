"""The command `farm environments`: what there is, in a moment."""

from typing import Annotated

import typer
from rich.text import Text

from servers.bundle.card import bundles_in, card_of
from servers.bundle.files import PACKAGED
from servers.cli.command_options import AsJson, Shelves, shelves
from servers.text.terminal import Terminal, in_one_line, lines

app = typer.Typer()
out = Terminal()


@app.command()
def environments(
    library: Shelves = None,
    long: Annotated[bool, typer.Option("--long", help="Show descriptions in full.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the environments that there are."""
    cards = [card_of(folder) for folder in bundles_in([*shelves(library), PACKAGED]).values()]
    if as_json:
        out.print_data([card._asdict() for card in cards])
        return
    table = lines("environment", "tools", "scenarios", "what it is")
    for card in cards:
        told = card.problem or (card.description if long else card.title)
        table.add_row(card.id, str(card.tools), str(card.scenarios), Text(told) if long else in_one_line(told))
    out.print(table)
