"""Picks the requester of a back-office task: a person with the authority, who is not its subject."""

from random import Random

from servers.bundle.phrases import Sender, holes
from synth.backward.errand import Errand
from synth.solutions.row_relations import RowPlace, RowRelations


def sender_of(walk: Errand, random: Random) -> str | None:
    """The name of a requester for a walk's commands. None if nobody is allowed to ask."""
    tools = {command.drawn.tool for command in walk.commands}
    about = {place for command in walk.commands for place in command.drawn.places.values()}
    found = [
        name
        for sender in walk.setting.phrases.senders
        if not sender.tools or tools <= set(sender.tools)
        for name in (*sender.names, *_rows(sender, walk.setting.first, about))
    ]
    return random.choice(found) if found else None


def names_of(sender: Sender, world: RowRelations) -> list[str]:
    """The names of the people who may ask."""
    return [*sender.names, *_rows(sender, world, set())]


def _rows(sender: Sender, world: RowRelations, about: set[RowPlace]) -> list[str]:
    if sender.table is None:
        return []
    fit = [
        world.rows[place]
        for place in world.places(sender.table)
        if place not in about and all(world.rows[place].get(name) in wanted for name, wanted in sender.only.items())
    ]
    told = [row for row in fit if all(row.get(name) not in (None, "") for name in holes(sender.name))]
    return [_filled(sender.name, row) for row in told]


def _filled(template: str, row: dict[str, object]) -> str:
    for name in holes(template):
        template = template.replace(f"{{{name}}}", str(row[name]))
    return template
