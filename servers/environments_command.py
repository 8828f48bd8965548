"""The command `farm environments`: lists what is available, quickly."""

from typing import Annotated

import typer

from servers.bundle.card import bundles_in, card_of, hidden_in
from servers.bundle.files import PACKAGED
from servers.cli.command_options import AsJson, Shelves, shelves
from servers.text.terminal import Listing, Terminal

app = typer.Typer()
out = Terminal()


@app.command()
def environments(
    library: Shelves = None,
    long: Annotated[bool, typer.Option("--long", help="Show descriptions in full.")] = False,
    benchmarks: Annotated[
        bool, typer.Option("--benchmarks", help="List imported public benchmarks, instead of environments to train in.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the environments of the library."""
    folders = [*shelves(library), PACKAGED]
    cards = [card_of(folder) for folder in bundles_in(folders).values()]
    cards = [card for card in cards if (card.benchmark is not None) == benchmarks]
    if as_json:
        out.print_data([card._asdict() for card in cards])
        return
    if benchmarks and not cards:
        out.print("There are none here: `farm import --help` lists what can be imported. --library names its folder.")
        return
    table = Listing("environment", "tools", "scenarios", "what it is")
    for card in cards:
        told = card.problem or (card.description if long else card.title)
        table.add(card.id, str(card.tools), str(card.scenarios), told, whole=long)
    out.print(table)
    for line in hidden_in(folders):
        out.print(line, soft_wrap=True)
