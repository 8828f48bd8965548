"""Tools of a shelf of board games.

Each function whose name does not begin with `_` is a tool. Its signature and docstring become the schema that the agent
sees: after a change here, `farm derive` writes it into environment.json.
"""

from datetime import date, timedelta
from typing import TypedDict, cast

from servers.toolkit import Database, ToolError

MOST_LOANS = 2
LOAN_DAYS = 14


class Game(TypedDict):
    """A TypedDict describes a result, so that the agent and `farm check` know what is in it."""

    game_id: str
    title: str
    players: int
    lent: bool


class GameList(TypedDict):
    games: list[Game]


class OpenLoan(TypedDict):
    loan_id: str
    title: str
    member: str
    due_on: str


class OpenLoanList(TypedDict):
    loans: list[OpenLoan]


class Lent(TypedDict):
    loan_id: str
    lent_on: str
    due_on: str


class Returned(TypedDict):
    days_late: int


def find_games(db: Database, *, title: str = "") -> GameList:
    """List the games, and whether each is lent now.

    Args:
        title: Only games with this in their title; without it, all of them.
    """
    rows = db.all(
        """
        SELECT id AS game_id, title, players,
            EXISTS (SELECT 1 FROM loans WHERE game_id = games.id AND returned_on IS NULL) AS lent
        FROM games WHERE instr(lower(title), lower(:title)) ORDER BY games.title
        """,
        title=title,
    )
    return {"games": cast("list[Game]", [{**row, "lent": bool(row["lent"])} for row in rows])}


def list_loans(db: Database, *, member: str | None = None) -> OpenLoanList:
    """List the games that are lent now, the one that is due first at the top.

    Args:
        member: Only the games of this member: the full name, such as `Mira Okafor`.
    """
    rows = db.all(
        """
        SELECT loans.id AS loan_id, title, member, due_on FROM loans JOIN games ON games.id = game_id
        WHERE returned_on IS NULL AND (:member IS NULL OR member = :member) ORDER BY due_on, loans.id
        """,
        member=member,
    )
    return {"loans": cast("list[OpenLoan]", rows)}


def lend_game(db: Database, *, game_id: str, member: str) -> Lent:
    """Lend a game to a member.

    Args:
        game_id: The game, as `find_games` shows it.
        member: The member's full name, such as `Mira Okafor`.
    """
    if db.one("SELECT 1 FROM games WHERE id = :id", id=game_id) is None:
        raise ToolError(f"there is no game {game_id!r}; find_games lists them")  # a refusal says what to do instead
    if db.one("SELECT 1 FROM loans WHERE game_id = :id AND returned_on IS NULL", id=game_id) is not None:
        raise ToolError("this game is lent now")  # rule: one_loan_a_game
    open_loans = db.all("SELECT id FROM loans WHERE member = :member AND returned_on IS NULL", member=member)
    if len(open_loans) >= MOST_LOANS:
        raise ToolError(f"a member has at most {MOST_LOANS} games; one has to come back first")  # rule: two_games
    loan_id = db.new_id("loan")  # never uuid or random: the same calls give the same ids
    today = db.now()[:10]  # never the wall clock
    due_on = str(date.fromisoformat(today) + timedelta(days=LOAN_DAYS))
    db.run(
        "INSERT INTO loans (id, game_id, member, lent_on, due_on) VALUES (:id, :game, :member, :today, :due_on)",
        id=loan_id,
        game=game_id,
        member=member,
        today=today,
        due_on=due_on,
    )
    return {"loan_id": loan_id, "lent_on": today, "due_on": due_on}


def return_game(db: Database, *, loan_id: str) -> Returned:
    """Take a game back that a member has returned, and say how many days late it is.

    Args:
        loan_id: The loan, as `list_loans` shows it.
    """
    loan = db.one("SELECT due_on, returned_on FROM loans WHERE id = :id", id=loan_id)
    if loan is None:
        raise ToolError(f"there is no loan {loan_id!r}; list_loans shows those of a member")
    if loan["returned_on"] is not None:
        raise ToolError("this game is back already")
    today = db.now()[:10]
    db.run("UPDATE loans SET returned_on = :today WHERE id = :id", today=today, id=loan_id)
    return {"days_late": max(0, (date.fromisoformat(today) - date.fromisoformat(loan["due_on"])).days)}
