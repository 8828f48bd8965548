"""Tools of the city library's lending desk."""

from datetime import date, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

DEBT_LIMIT_CENTS = 500
PICKUP_DAYS = 5
LOST_FEE_CENTS = 300
WAIVER_LIMIT_CENTS = 500
WAIVER_DAYS = 365
MOST_RENEWALS = 2
CARD_RENEWAL_DAYS = 30


class Branch(TypedDict):
    branch_id: str
    name: str
    address: str


class Branches(TypedDict):
    branches: list[Branch]


class MemberLine(TypedDict):
    member_id: str
    name: str
    kind: str


class Members(TypedDict):
    members: list[MemberLine]


class Member(TypedDict):
    member_id: str
    name: str
    kind: str
    email: str | None
    guardian_id: str | None
    joined_on: str
    card_expires_on: str
    loans: int
    loan_limit: int
    loan_days: int
    reservations: int
    reservation_limit: int
    overdue_cents_a_day: int
    overdue_cents_at_most: int
    owed_cents: int


class Book(TypedDict):
    book_id: str
    title: str
    author: str
    published: int
    genre: str
    audience: str
    price_cents: int
    copies: int
    on_shelf: int
    waiting: int


class Books(TypedDict):
    books: list[Book]


class Copy(TypedDict):
    copy_id: str
    book_id: str
    title: str
    branch_id: str
    branch: str
    state: str
    due_on: str | None


class Copies(TypedDict):
    copies: list[Copy]


class Loan(TypedDict):
    loan_id: str
    copy_id: str
    book_id: str
    title: str
    member_id: str
    member: str
    lent_on: str
    due_on: str
    renewals: int
    status: str
    closed_on: str | None


class Loans(TypedDict):
    loans: list[Loan]


class Reservation(TypedDict):
    reservation_id: str
    book_id: str
    title: str
    member_id: str
    member: str
    reserved_at: str
    status: str
    position: int | None
    copy_id: str | None
    pickup_by: str | None


class Reservations(TypedDict):
    reservations: list[Reservation]


class Fine(TypedDict):
    fine_id: str
    member_id: str
    member: str
    loan_id: str
    title: str
    kind: str
    cents: int
    charged_on: str
    status: str
    settled_on: str | None
    paid_by: str | None
    waiver_reason: str | None


class Fines(TypedDict):
    fines: list[Fine]


class TakenBack(TypedDict):
    loan: Loan
    fine: Fine | None
    set_aside_for: Reservation | None


class LoanLost(TypedDict):
    loan: Loan
    fine: Fine


class Cancelled(TypedDict):
    reservation: Reservation
    set_aside_for: Reservation | None


class Released(TypedDict):
    expired: list[Reservation]
    set_aside: list[Reservation]


def list_branches(db: Database) -> Branches:
    """List the library's branches."""
    rows = db.all("SELECT id AS branch_id, name, address FROM branches ORDER BY id")
    return {"branches": cast("list[Branch]", rows)}


def find_members(
    db: Database, *, name: str | None = None, kind: Literal["adult", "student", "child"] | None = None
) -> Members:
    """Find members by name or kind of membership; without arguments, all of them.

    Args:
        name: A part of the name.
        kind: The kind of membership.
    """
    rows = db.all(
        "SELECT member_id, name, kind FROM member_details"
        " WHERE (:name IS NULL OR instr(lower(name), lower(:name)) > 0) AND (:kind IS NULL OR kind = :kind)"
        " ORDER BY name",
        name=name,
        kind=kind,
    )
    return {"members": cast("list[MemberLine]", rows)}


def show_member(db: Database, *, member_id: str) -> Member:
    """Show a member's card, how many loans and reservations they have and may have, and what they owe.

    Args:
        member_id: The member, as `find_members` shows it.
    """
    return _member(db, member_id)


def find_books(
    db: Database,
    *,
    text: str | None = None,
    genre: str | None = None,
    audience: Literal["children", "teen", "adult"] | None = None,
    on_shelf_only: bool = False,
) -> Books:
    """Find books, with how many copies there are, how many are on a shelf, and how many people wait for one.

    Args:
        text: A part of the title or of the author's name.
        genre: The exact genre, such as `science fiction`.
        audience: For whom the book is.
        on_shelf_only: Whether to leave out books of which no copy is on a shelf.
    """
    rows = db.all(
        "SELECT * FROM book_details"
        " WHERE (:text IS NULL OR instr(lower(title), lower(:text)) > 0 OR instr(lower(author), lower(:text)) > 0)"
        " AND (:genre IS NULL OR genre = lower(:genre)) AND (:audience IS NULL OR audience = :audience)"
        " AND (on_shelf > 0 OR NOT :on_shelf_only)"
        " ORDER BY title",
        text=text,
        genre=genre,
        audience=audience,
        on_shelf_only=on_shelf_only,
    )
    return {"books": cast("list[Book]", rows)}


def find_copies(
    db: Database,
    *,
    book_id: str | None = None,
    branch_id: str | None = None,
    state: Literal["on_shelf", "on_loan", "set_aside", "in_repair", "lost"] | None = None,
) -> Copies:
    """Find copies: at which branch each belongs, in what state it is, and when it is due back if it is on loan.

    Args:
        book_id: Only copies of this book, as `find_books` shows it.
        branch_id: Only copies of this branch, as `list_branches` shows it.
        state: Only copies in this state.
    """
    _known(db, book_id=book_id, branch_id=branch_id)
    rows = db.all(
        "SELECT * FROM copy_details"
        " WHERE (:book_id IS NULL OR book_id = :book_id) AND (:branch_id IS NULL OR branch_id = :branch_id)"
        " AND (:state IS NULL OR state = :state)"
        " ORDER BY copy_id",
        book_id=book_id,
        branch_id=branch_id,
        state=state,
    )
    return {"copies": cast("list[Copy]", rows)}


def find_loans(
    db: Database,
    *,
    member_id: str | None = None,
    book_id: str | None = None,
    status: Literal["open", "overdue", "returned", "lost"] | None = None,
) -> Loans:
    """Find loans, those due first at the top. Overdue loans are open too.

    Args:
        member_id: Only loans of this member.
        book_id: Only loans of this book.
        status: Only loans in this status.
    """
    _known(db, member_id=member_id, book_id=book_id)
    rows = db.all(
        "SELECT * FROM loan_details"
        " WHERE (:member_id IS NULL OR member_id = :member_id) AND (:book_id IS NULL OR book_id = :book_id)"
        " AND (:status IS NULL OR status = :status OR (:status = 'overdue' AND status = 'open' AND due_on < :today))"
        " ORDER BY due_on, loan_id",
        member_id=member_id,
        book_id=book_id,
        status=status,
        today=_today(db),
    )
    return {"loans": cast("list[Loan]", rows)}


def find_reservations(
    db: Database,
    *,
    member_id: str | None = None,
    book_id: str | None = None,
    status: Literal["waiting", "ready", "collected", "cancelled", "expired"] | None = None,
) -> Reservations:
    """Find reservations, the oldest first, with the place in the queue of those that wait.

    A reservation is ready while a copy is set aside for it.

    Args:
        member_id: Only reservations of this member.
        book_id: Only reservations of this book.
        status: Only reservations in this status.
    """
    _known(db, member_id=member_id, book_id=book_id)
    rows = db.all(
        "SELECT * FROM reservation_details"
        " WHERE (:member_id IS NULL OR member_id = :member_id) AND (:book_id IS NULL OR book_id = :book_id)"
        " AND (:status IS NULL OR status = :status)"
        " ORDER BY reserved_at, reservation_id",
        member_id=member_id,
        book_id=book_id,
        status=status,
    )
    return {"reservations": cast("list[Reservation]", rows)}


def find_fines(
    db: Database, *, member_id: str | None = None, status: Literal["unpaid", "paid", "waived"] | None = None
) -> Fines:
    """Find fines, the oldest first.

    Args:
        member_id: Only fines of this member.
        status: Only fines in this status.
    """
    _known(db, member_id=member_id)
    rows = db.all(
        "SELECT * FROM fine_details"
        " WHERE (:member_id IS NULL OR member_id = :member_id) AND (:status IS NULL OR status = :status)"
        " ORDER BY charged_on, fine_id",
        member_id=member_id,
        status=status,
    )
    return {"fines": cast("list[Fine]", rows)}


def lend_copy(db: Database, *, member_id: str, copy_id: str) -> Loan:
    """Lend a copy to a member. A copy that was set aside for the member is thereby collected.

    Args:
        member_id: Who borrows.
        copy_id: The copy, as `find_copies` or `find_reservations` shows it.
    """
    member = _member_in_good_standing(db, member_id)
    copy = _copy(db, copy_id)
    today = _today(db)
    overdue = find_loans(db, member_id=member_id, status="overdue")["loans"]
    if overdue:
        titles = ", ".join(loan["title"] for loan in overdue)
        # rule: overdue_comes_back_first
        raise ToolError(f"{member['name']} has overdue loans ({titles}); they must come back first")
    reserved = find_reservations(db, member_id=member_id, book_id=copy["book_id"], status="ready")["reservations"]
    for reservation in reserved:
        if reservation["copy_id"] != copy_id:
            raise ToolError(f"{reservation['copy_id']} is set aside for {member['name']}; lend that copy")
        if cast("str", reservation["pickup_by"]) < today:
            # rule: collected_in_time
            raise ToolError(
                f"{copy_id} was set aside until {reservation['pickup_by']}; release_uncollected comes first"
            )
        _close_reservation(db, reservation["reservation_id"], "collected")
    loan_id = db.new_id("loan")
    db.run(
        "INSERT INTO loans (id, copy_id, member_id, lent_on, due_on)"
        " VALUES (:loan_id, :copy_id, :member_id, :today, :due_on)",
        loan_id=loan_id,
        copy_id=copy_id,
        member_id=member_id,
        today=today,
        due_on=_days_after(today, member["loan_days"]),
    )
    return _loan(db, loan_id)


def renew_loan(db: Database, *, loan_id: str) -> Loan:
    """Prolong a loan by one loan period from its due date.

    Args:
        loan_id: The loan, as `find_loans` shows it.
    """
    loan = _open_loan(db, loan_id)
    member = _member_in_good_standing(db, loan["member_id"])
    if loan["renewals"] >= MOST_RENEWALS:
        # rule: two_renewals
        raise ToolError(f"{loan_id} was renewed {MOST_RENEWALS} times already; it stays due on {loan['due_on']}")
    if loan["due_on"] < _today(db):
        # rule: no_late_renewal
        raise ToolError(f"{loan_id} is overdue since {loan['due_on']}; it cannot be renewed, only returned")
    db.run(
        "UPDATE loans SET due_on = :due_on, renewals = renewals + 1 WHERE id = :loan_id",
        due_on=_days_after(loan["due_on"], member["loan_days"]),
        loan_id=loan_id,
    )
    return _loan(db, loan_id)


def take_back_copy(db: Database, *, copy_id: str) -> TakenBack:
    """Take back a copy that is on loan. Charges the overdue fine, and sets the copy aside if somebody waits for it.

    Args:
        copy_id: The copy that came back.
    """
    copy = _copy(db, copy_id)
    open_loan = db.one("SELECT * FROM loan_details WHERE copy_id = :copy_id AND status = 'open'", copy_id=copy_id)
    if open_loan is None:
        raise ToolError(f"{copy_id} is not on loan; its state is {copy['state']}")
    loan = cast("Loan", open_loan)
    _close_loan(db, loan["loan_id"], "returned")
    cents = _overdue_cents(db, loan)
    fine = _charge(db, loan, "overdue", cents) if cents else None
    set_aside_for = _set_aside_for_next(db, copy_id)
    return {"loan": _loan(db, loan["loan_id"]), "fine": fine, "set_aside_for": set_aside_for}


def report_lost(db: Database, *, loan_id: str) -> LoanLost:
    """Close an open loan whose copy the member has lost, and charge the book's price and the fee for it.

    Args:
        loan_id: The loan, as `find_loans` shows it.
    """
    loan = _open_loan(db, loan_id)
    _close_loan(db, loan_id, "lost")
    db.run("UPDATE copies SET status = 'lost' WHERE id = :copy_id", copy_id=loan["copy_id"])
    fine = _charge(db, loan, "lost", _book(db, loan["book_id"])["price_cents"] + LOST_FEE_CENTS)
    return {"loan": _loan(db, loan_id), "fine": fine}


def reserve_book(db: Database, *, member_id: str, book_id: str) -> Reservation:
    """Put a member at the end of the queue for a book of which no copy is on a shelf.

    Args:
        member_id: Who waits.
        book_id: The book, as `find_books` shows it.
    """
    _member_in_good_standing(db, member_id)
    _book(db, book_id)
    reservation_id = db.new_id("res")
    db.run(
        "INSERT INTO reservations (id, book_id, member_id, reserved_at)"
        " VALUES (:reservation_id, :book_id, :member_id, :now)",
        reservation_id=reservation_id,
        book_id=book_id,
        member_id=member_id,
        now=db.now(),
    )
    return _reservation(db, reservation_id)


def cancel_reservation(db: Database, *, reservation_id: str) -> Cancelled:
    """Cancel a reservation that waits or is ready. A copy that was set aside goes to the next in the queue.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
    """
    copy_id = _reservation(db, reservation_id)["copy_id"]
    _close_reservation(db, reservation_id, "cancelled")
    set_aside_for = _set_aside_for_next(db, copy_id) if copy_id else None
    return {"reservation": _reservation(db, reservation_id), "set_aside_for": set_aside_for}


def release_uncollected(db: Database) -> Released:
    """Release every copy that was not collected in time.

    Those reservations expire; each copy goes to the next in its queue, or back on the shelf when nobody waits.
    """
    late = [
        reservation
        for reservation in find_reservations(db, status="ready")["reservations"]
        if cast("str", reservation["pickup_by"]) < _today(db)
    ]
    set_aside: list[Reservation] = []
    for reservation in late:
        _close_reservation(db, reservation["reservation_id"], "expired")
        following = _set_aside_for_next(db, cast("str", reservation["copy_id"]))
        set_aside += [following] if following else []
    return {"expired": [_reservation(db, one["reservation_id"]) for one in late], "set_aside": set_aside}


def pay_fine(db: Database, *, fine_id: str, paid_by: Literal["cash", "card"]) -> Fine:
    """Take the payment of a whole fine.

    Args:
        fine_id: The fine, as `find_fines` shows it.
        paid_by: How it is paid.
    """
    _unpaid_fine(db, fine_id)
    db.run(
        "UPDATE fines SET status = 'paid', settled_on = :today, paid_by = :paid_by WHERE id = :fine_id",
        today=_today(db),
        paid_by=paid_by,
        fine_id=fine_id,
    )
    return _fine(db, fine_id)


def waive_fine(db: Database, *, fine_id: str, reason: str) -> Fine:
    """Waive a whole overdue fine.

    Args:
        fine_id: The fine, as `find_fines` shows it.
        reason: Why the member could not help being late.
    """
    fine = _unpaid_fine(db, fine_id)
    today = _today(db)
    if fine["kind"] != "overdue" or fine["cents"] > WAIVER_LIMIT_CENTS:
        # rule: small_overdue_fines_waived
        raise ToolError(
            f"only an overdue fine of at most {_euros(WAIVER_LIMIT_CENTS)} can be waived;"
            f" {fine_id} is for a book {fine['kind']}, {_euros(fine['cents'])}, and can be paid"
        )
    if not reason.strip():
        raise ToolError("a waiver needs a reason: say why the member could not help being late")
    for earlier in find_fines(db, member_id=fine["member_id"], status="waived")["fines"]:
        if cast("str", earlier["settled_on"]) > _days_after(today, -WAIVER_DAYS):
            # rule: one_waiver_a_year
            raise ToolError(f"{fine['member']} had a fine waived on {earlier['settled_on']}; this one can be paid")
    db.run(
        "UPDATE fines SET status = 'waived', settled_on = :today, waiver_reason = :reason WHERE id = :fine_id",
        today=today,
        reason=reason.strip(),
        fine_id=fine_id,
    )
    return _fine(db, fine_id)


def renew_card(db: Database, *, member_id: str) -> Member:
    """Renew a member's card by a year.

    Args:
        member_id: Whose card it is.
    """
    member = _member(db, member_id)
    today = _today(db)
    if member["owed_cents"]:
        # rule: card_renewed_without_debt
        raise ToolError(
            f"{member['name']} owes {_euros(member['owed_cents'])}; it must be paid before the card is renewed"
        )
    opens_on = _days_after(member["card_expires_on"], -CARD_RENEWAL_DAYS)
    if opens_on > today:
        # rule: card_renewed_when_due
        raise ToolError(
            f"the card of {member['name']} runs until {member['card_expires_on']}; it can be renewed from {opens_on}"
        )
    db.run(
        "UPDATE members SET card_expires_on = date(max(card_expires_on, :today), '+1 year') WHERE id = :member_id",
        today=today,
        member_id=member_id,
    )
    return _member(db, member_id)


def move_copy(db: Database, *, copy_id: str, branch_id: str) -> Copy:
    """Move a copy that is on the shelf to another branch.

    Args:
        copy_id: The copy, as `find_copies` shows it.
        branch_id: Where it shall be, as `list_branches` shows it.
    """
    copy = _copy(db, copy_id)
    _branch(db, branch_id)
    if copy["branch_id"] == branch_id:
        raise ToolError(f"{copy_id} is at {copy['branch']} already")
    db.run("UPDATE copies SET branch_id = :branch_id WHERE id = :copy_id", branch_id=branch_id, copy_id=copy_id)
    return _copy(db, copy_id)


def _row(db: Database, sql: str, key: str, refusal: str) -> dict[str, Any]:
    """The one row that `sql` finds for `:id`, or a refusal that names the id."""
    row = db.one(sql, id=key)
    if row is None:
        raise ToolError(refusal.replace("{}", repr(key)))
    return row


def _known(
    db: Database, *, member_id: str | None = None, book_id: str | None = None, branch_id: str | None = None
) -> None:
    """Refuse ids that do not exist: an empty list would read as if there were nothing to find."""
    if member_id is not None:
        _member(db, member_id)
    if book_id is not None:
        _book(db, book_id)
    if branch_id is not None:
        _branch(db, branch_id)


def _member(db: Database, member_id: str) -> Member:
    sql = "SELECT * FROM member_details WHERE member_id = :id"
    return cast("Member", _row(db, sql, member_id, "no member {}; find_members finds them by name"))


def _member_in_good_standing(db: Database, member_id: str) -> Member:
    member = _member(db, member_id)
    if member["card_expires_on"] < _today(db):
        # rule: valid_card
        raise ToolError(f"the card of {member['name']} expired on {member['card_expires_on']}; renew_card renews it")
    if member["owed_cents"] > DEBT_LIMIT_CENTS:
        # rule: little_debt
        raise ToolError(
            f"{member['name']} owes {_euros(member['owed_cents'])}; fines must be paid until no more than"
            f" {_euros(DEBT_LIMIT_CENTS)} is owed"
        )
    return member


def _branch(db: Database, branch_id: str) -> Branch:
    sql = "SELECT id AS branch_id, name, address FROM branches WHERE id = :id"
    return cast("Branch", _row(db, sql, branch_id, "no branch {}; list_branches shows them"))


def _book(db: Database, book_id: str) -> Book:
    sql = "SELECT * FROM book_details WHERE book_id = :id"
    return cast("Book", _row(db, sql, book_id, "no book {}; find_books finds them by title or author"))


def _copy(db: Database, copy_id: str) -> Copy:
    sql = "SELECT * FROM copy_details WHERE copy_id = :id"
    return cast("Copy", _row(db, sql, copy_id, "no copy {}; find_copies lists them"))


def _loan(db: Database, loan_id: str) -> Loan:
    sql = "SELECT * FROM loan_details WHERE loan_id = :id"
    return cast("Loan", _row(db, sql, loan_id, "no loan {}; find_loans lists them"))


def _open_loan(db: Database, loan_id: str) -> Loan:
    loan = _loan(db, loan_id)
    if loan["status"] != "open":
        raise ToolError(f"{loan_id} is closed: {loan['status']} on {loan['closed_on']}")
    return loan


def _reservation(db: Database, reservation_id: str) -> Reservation:
    sql = "SELECT * FROM reservation_details WHERE reservation_id = :id"
    return cast("Reservation", _row(db, sql, reservation_id, "no reservation {}; find_reservations lists them"))


def _fine(db: Database, fine_id: str) -> Fine:
    sql = "SELECT * FROM fine_details WHERE fine_id = :id"
    return cast("Fine", _row(db, sql, fine_id, "no fine {}; find_fines lists them"))


def _unpaid_fine(db: Database, fine_id: str) -> Fine:
    fine = _fine(db, fine_id)
    if fine["status"] != "unpaid":
        raise ToolError(f"{fine_id} is settled: {fine['status']} on {fine['settled_on']}")
    return fine


def _close_loan(db: Database, loan_id: str, status: Literal["returned", "lost"]) -> None:
    db.run(
        "UPDATE loans SET status = :status, closed_on = :today WHERE id = :loan_id",
        status=status,
        today=_today(db),
        loan_id=loan_id,
    )


def _close_reservation(db: Database, reservation_id: str, status: Literal["collected", "cancelled", "expired"]) -> None:
    db.run(
        "UPDATE reservations SET status = :status, closed_on = :today WHERE id = :reservation_id",
        status=status,
        today=_today(db),
        reservation_id=reservation_id,
    )


def _set_aside_for_next(db: Database, copy_id: str) -> Reservation | None:
    """Give a copy that just became free to the first in its queue, if there is one."""
    first = db.one(
        "SELECT reservation_id FROM reservation_details"
        " WHERE position = 1 AND book_id = (SELECT book_id FROM copies WHERE id = :copy_id)",
        copy_id=copy_id,
    )
    if first is None:
        return None
    db.run(
        "UPDATE reservations SET status = 'ready', copy_id = :copy_id, pickup_by = :pickup_by"
        " WHERE id = :reservation_id",
        copy_id=copy_id,
        pickup_by=_days_after(_today(db), PICKUP_DAYS),
        reservation_id=first["reservation_id"],
    )
    return _reservation(db, first["reservation_id"])


def _overdue_cents(db: Database, loan: Loan) -> int:
    member = _member(db, loan["member_id"])
    days = (date.fromisoformat(_today(db)) - date.fromisoformat(loan["due_on"])).days
    return min(max(days, 0) * member["overdue_cents_a_day"], member["overdue_cents_at_most"])


def _charge(db: Database, loan: Loan, kind: Literal["overdue", "lost"], cents: int) -> Fine:
    fine_id = db.new_id("fine")
    db.run(
        "INSERT INTO fines (id, member_id, loan_id, kind, cents, charged_on)"
        " VALUES (:fine_id, :member_id, :loan_id, :kind, :cents, :today)",
        fine_id=fine_id,
        member_id=loan["member_id"],
        loan_id=loan["loan_id"],
        kind=kind,
        cents=cents,
        today=_today(db),
    )
    return _fine(db, fine_id)


def _today(db: Database) -> str:
    return db.now()[:10]


def _days_after(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
