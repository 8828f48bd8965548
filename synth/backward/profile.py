"""The profile of a run: the lengths of its errands, and whether they have refusals and questions."""

from dataclasses import dataclass

from servers.bundle.environment import Environment
from servers.errors import RequestError

LENGTHS = (1, 2, 3, 2, 4, 3, 1, 2, 5, 3)
LONGEST = 5
EVERY_REFUSAL = 5


@dataclass(frozen=True)
class Wish:
    """The wanted kind of one walk. No `tools` means all."""

    id: str
    at: int
    commands: int
    refusal: bool
    tools: frozenset[str] = frozenset()
    tells: bool = True


@dataclass(frozen=True)
class Profile:
    """The wanted kinds of a run's walks.

    `lengths` are numbers of commands, used in turn. No `tools` means all. With `refusals`, every fifth walk keeps a
    refused command. With `tells`, most tasks ask to be told something.
    """

    lengths: tuple[int, ...] = LENGTHS
    tools: frozenset[str] = frozenset()
    refusals: bool = True
    tells: bool = True

    def wish(self, seed: int, at: int) -> Wish:
        """The wanted kind of a walk."""
        refusal = self.refusals and at % EVERY_REFUSAL == EVERY_REFUSAL - 1
        return Wish(f"back{seed}_{at:04d}", at, self.lengths[at % len(self.lengths)], refusal, self.tools, self.tells)


EVERYTHING = Profile()


def profile_of(
    environment: Environment, lengths: str | None, tools: list[str] | None, *, refusals: bool, tells: bool
) -> Profile:
    """A profile from options: lengths as `1,2,2`.

    Raises:
        RequestError: the lengths are not valid, or a command does not exist.
    """
    commands = [tool.name for tool in environment.tools.values() if tool.writes]
    if unknown := [tool for tool in tools or () if tool not in commands]:
        raise RequestError(
            f"{environment.id} has no command {unknown[0]!r} that a scenario could be about; there are: "
            + ", ".join(sorted(commands))
        )
    if lengths is None:
        return Profile(tools=frozenset(tools or ()), refusals=refusals, tells=tells)
    told = lengths.split(",")
    if not all(one.isdecimal() and 1 <= int(one) <= LONGEST for one in told):
        raise RequestError(
            f"--commands {lengths!r}: say numbers of commands from 1 to {LONGEST}, one walk after another, as 1,2,2"
        )
    return Profile(tuple(int(one) for one in told), frozenset(tools or ()), refusals, tells)
