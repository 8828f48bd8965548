"""Tools of the Havelmark Museum's loan desk."""

from datetime import date, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

OBJECT_ROWS = """
SELECT object_id, name, maker, class AS care_class, value_cents, status
FROM object_details
"""
BORROWER_ROWS = """
SELECT borrower_id, name, city, registrar, status, facility_until, ceiling_cents, held_cents, loans_out
FROM borrower_details
"""
LOAN_ROWS = """
SELECT loan_id, borrower_id, borrower, exhibition, requested_on, first_day, last_day, status, extended_days, dispatched_on,
  returned_on, reason, agreed_cents
FROM loan_details
"""
TRIP_ROWS = """
SELECT trip_id, courier_id, courier, loan_id, exhibition, first_day, last_day, status
FROM trip_details
"""
NOTICE_DAYS = 90
DIRECTOR_CENTS = 25000000
FEE_CENTS = 30000
FEE_PER_OBJECT_CENTS = 15000
FREE_CANCELLING_DAYS = 30
CHECK_DAYS = 14
DISPATCH_DAYS = 14
LONGEST_EXTENSION = 60
EXTENSION_NOTICE_DAYS = 30


class CareClass(TypedDict):
    class_id: str
    name: str
    most_days: int
    rest_days: int
    needs_courier: bool


class CareClasses(TypedDict):
    care_classes: list[CareClass]


class Check(TypedDict):
    check_id: str
    checked_on: str
    result: str
    note: str


class MuseumObject(TypedDict):
    object_id: str
    name: str
    maker: str | None
    care_class: str
    value_cents: int
    status: str
    checks: list[Check]


class Objects(TypedDict):
    objects: list[MuseumObject]


class Borrower(TypedDict):
    borrower_id: str
    name: str
    city: str
    registrar: str
    status: str
    facility_until: str
    ceiling_cents: int
    held_cents: int
    loans_out: int


class Borrowers(TypedDict):
    borrowers: list[Borrower]


class Item(TypedDict):
    object_id: str
    name: str
    care_class: str
    value_cents: int
    status: str
    director_agreed: bool


class Certificate(TypedDict):
    certificate_id: str
    insurer: str
    covers_cents: int
    valid_from: str
    valid_until: str


class Invoice(TypedDict):
    invoice_id: str
    amount_cents: int
    issued_on: str
    status: str
    paid_on: str | None


class Loan(TypedDict):
    loan_id: str
    borrower_id: str
    borrower: str
    exhibition: str
    requested_on: str
    first_day: str
    last_day: str
    status: str
    extended_days: int
    dispatched_on: str | None
    returned_on: str | None
    reason: str | None
    agreed_cents: int
    items: list[Item]
    certificates: list[Certificate]
    invoices: list[Invoice]


class Loans(TypedDict):
    loans: list[Loan]


class Trip(TypedDict):
    trip_id: str
    courier_id: str
    courier: str
    loan_id: str
    exhibition: str
    first_day: str
    last_day: str
    status: str


class Trips(TypedDict):
    trips: list[Trip]


class Courier(TypedDict):
    courier_id: str
    name: str
    profession: str


class Couriers(TypedDict):
    couriers: list[Courier]


def list_care_classes(db: Database) -> CareClasses:
    """List the care classes of objects with their longest loan and their rest, in days, and whether they need a courier."""
    rows = db.all("SELECT id AS class_id, name, most_days, rest_days, needs_courier FROM care_classes ORDER BY name, id")
    return {"care_classes": [cast("CareClass", {**row, "needs_courier": bool(row["needs_courier"])}) for row in rows]}


def find_objects(
    db: Database,
    *,
    text: str | None = None,
    care_class: Literal["Robust", "Fragile", "Light-sensitive"] | None = None,
    status: Literal["available", "out", "in_conservation", "barred"] | None = None,
) -> Objects:
    """Find our objects in alphabetical order, with all their condition checks, the latest first.

    Args:
        text: Only objects whose name or maker contains this, in any case.
        care_class: Only objects of this care class.
        status: Only objects in this status.
    """
    _check_filter(text, "text")
    rows = db.all(
        OBJECT_ROWS
        + """
        WHERE (:text IS NULL OR instr(lower(name), lower(:text)) > 0 OR instr(lower(coalesce(maker, '')), lower(:text)) > 0)
          AND (:care_class IS NULL OR class = :care_class)
          AND (:status IS NULL OR status = :status)
        ORDER BY name, object_id
        """,
        text=text,
        care_class=care_class,
        status=status,
    )
    return {"objects": [_as_object(db, row) for row in rows]}


def find_borrowers(
    db: Database, *, name: str | None = None, status: Literal["approved", "suspended"] | None = None
) -> Borrowers:
    """Find borrowing museums in alphabetical order, with what counts against their ceiling now.

    Args:
        name: Only museums whose name, city or registrar contains this, in any case.
        status: Only museums in this status.
    """
    _check_filter(name, "name")
    rows = db.all(
        BORROWER_ROWS
        + """
        WHERE (:name IS NULL OR instr(lower(name), lower(:name)) > 0 OR instr(lower(city), lower(:name)) > 0
            OR instr(lower(registrar), lower(:name)) > 0)
          AND (:status IS NULL OR status = :status)
        ORDER BY name, borrower_id
        """,
        name=name,
        status=status,
    )
    return {"borrowers": [cast("Borrower", row) for row in rows]}


def find_loans(
    db: Database,
    *,
    text: str | None = None,
    borrower_id: str | None = None,
    object_id: str | None = None,
    status: Literal["requested", "agreed", "out", "overdue", "returned", "refused", "cancelled"] | None = None,
) -> Loans:
    """Find loans with their objects, certificates and invoices, the earliest first day first. Overdue loans are out too.

    Args:
        text: Only loans whose exhibition contains this, in any case.
        borrower_id: Only loans to this museum, as `find_borrowers` shows it.
        object_id: Only loans for which this object was proposed, as `find_objects` shows it.
        status: Only loans in this status.
    """
    _check_filter(text, "text")
    if borrower_id is not None:
        _borrower(db, borrower_id)
    if object_id is not None:
        _object(db, object_id)
    rows = db.all(
        LOAN_ROWS
        + """
        WHERE (:text IS NULL OR instr(lower(exhibition), lower(:text)) > 0)
          AND (:borrower_id IS NULL OR borrower_id = :borrower_id)
          AND (:object_id IS NULL OR EXISTS (
            SELECT 1 FROM items WHERE items.loan_id = loan_details.loan_id AND items.object_id = :object_id))
          AND (:status IS NULL OR status = :status OR (:status = 'overdue' AND status = 'out' AND last_day < :today))
        ORDER BY first_day, loan_id
        """,
        text=text,
        borrower_id=borrower_id,
        object_id=object_id,
        status=status,
        today=db.now()[:10],
    )
    return {"loans": [_as_loan(db, row) for row in rows]}


def find_couriers(db: Database, *, name: str | None = None, free_on: str | None = None) -> Couriers:
    """Find couriers in alphabetical order.

    Args:
        name: Only couriers whose name contains this, in any case.
        free_on: Only couriers who have no trip on this day, YYYY-MM-DD.
    """
    _check_filter(name, "name")
    if free_on is not None:
        _check_day(free_on)
    rows = db.all(
        """
        SELECT id AS courier_id, name, profession FROM couriers
        WHERE (:name IS NULL OR instr(lower(name), lower(:name)) > 0)
          AND (:free_on IS NULL OR NOT EXISTS (
            SELECT 1 FROM trips
            WHERE trips.courier_id = couriers.id AND trips.status <> 'called_off'
              AND :free_on BETWEEN trips.first_day AND trips.last_day))
        ORDER BY name, id
        """,
        name=name,
        free_on=free_on,
    )
    return {"couriers": [cast("Courier", row) for row in rows]}


def find_trips(
    db: Database,
    *,
    courier_id: str | None = None,
    loan_id: str | None = None,
    status: Literal["planned", "done", "called_off"] | None = None,
) -> Trips:
    """Find couriers' trips, the earliest first.

    Args:
        courier_id: Only trips of this courier, as `find_couriers` shows it.
        loan_id: Only trips for this loan, as `find_loans` shows it.
        status: Only trips in this status.
    """
    if courier_id is not None:
        _courier(db, courier_id)
    if loan_id is not None:
        _loan(db, loan_id)
    rows = db.all(
        TRIP_ROWS
        + """
        WHERE (:courier_id IS NULL OR courier_id = :courier_id)
          AND (:loan_id IS NULL OR loan_id = :loan_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY first_day, trip_id
        """,
        courier_id=courier_id,
        loan_id=loan_id,
        status=status,
    )
    return {"trips": [cast("Trip", row) for row in rows]}


def request_loan(db: Database, *, borrower_id: str, exhibition: str, first_day: str, last_day: str) -> Loan:
    """File the request of a museum for a loan, from today. Its objects are proposed afterwards.

    Args:
        borrower_id: The museum that asks, as `find_borrowers` shows it.
        exhibition: The title of its exhibition.
        first_day: The first day of the loan, YYYY-MM-DD.
        last_day: The last day of the loan, YYYY-MM-DD.
    """
    borrower = _borrower(db, borrower_id)
    _check_text(exhibition, "title of the exhibition")
    _check_day(first_day)
    _check_day(last_day)
    if last_day <= first_day:
        raise ToolError(f"the last day {last_day} is not after the first day {first_day}")
    today = db.now()[:10]
    earliest = str(date.fromisoformat(today) + timedelta(days=NOTICE_DAYS))
    if first_day < earliest:
        # rule: ninety_days
        raise ToolError(
            f"a loan from {first_day} had to be asked for {NOTICE_DAYS} days before; asked for today it begins on {earliest} at the earliest"
        )
    _check_overdue(db, borrower)
    loan_id = db.new_id("loa")
    db.run(
        """
        INSERT INTO loans (id, borrower_id, exhibition, requested_on, first_day, last_day, status)
        VALUES (:id, :borrower_id, :exhibition, :today, :first_day, :last_day, 'requested')
        """,
        id=loan_id,
        borrower_id=borrower_id,
        exhibition=exhibition.strip(),
        today=today,
        first_day=first_day,
        last_day=last_day,
    )
    return _loan(db, loan_id)


def propose_object(db: Database, *, loan_id: str, object_id: str) -> Loan:
    """Propose an object for a requested loan, with its present insurance value.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        object_id: The object, as `find_objects` shows it.
    """
    _loan(db, loan_id)
    thing = _object(db, object_id)
    known = db.one(
        "SELECT status FROM items WHERE loan_id = :loan_id AND object_id = :object_id ORDER BY id LIMIT 1",
        loan_id=loan_id,
        object_id=object_id,
    )
    if known is not None:
        raise ToolError(f"{thing['name']} is on {loan_id} already ({known['status']}); it cannot be there twice")
    db.run(
        """
        INSERT INTO items (id, loan_id, object_id, value_cents, status, director_agreed)
        VALUES (:id, :loan_id, :object_id, :value_cents, 'proposed', 0)
        """,
        id=db.new_id("itm"),
        loan_id=loan_id,
        object_id=object_id,
        value_cents=thing["value_cents"],
    )
    return _loan(db, loan_id)


def take_off_object(db: Database, *, loan_id: str, object_id: str) -> Loan:
    """Take an object off a requested loan, whether it is decided or not.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        object_id: The object, as `find_loans` shows it among the items.
    """
    item = _item(db, loan_id, object_id)
    db.run("DELETE FROM items WHERE id = :id", id=item["id"])
    return _loan(db, loan_id)


def decide_object(
    db: Database,
    *,
    loan_id: str,
    object_id: str,
    decision: Literal["agreed", "declined"],
    director_agrees: bool = False,
) -> Loan:
    """Agree to or decline a proposed object of a requested loan.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        object_id: The object, as `find_loans` shows it among the items.
        decision: What is decided.
        director_agrees: Whether the director has agreed to this object.
    """
    item = _item(db, loan_id, object_id)
    if item["status"] != "proposed":
        raise ToolError(
            f"{object_id} on {loan_id} is {item['status']} already; while the loan is requested it can be taken off and proposed anew"
        )
    agreed = decision == "agreed"
    if agreed and item["value_cents"] > DIRECTOR_CENTS and not director_agrees:
        # rule: directors_word
        raise ToolError(
            f"{object_id} is worth {_euros(item['value_cents'])} euros, and over {_euros(DIRECTOR_CENTS)} euros the director must agree; get the director's word first"
        )
    db.run(
        "UPDATE items SET status = :decision, director_agreed = :director_agreed WHERE id = :id",
        decision=decision,
        director_agreed=1 if agreed and director_agrees else 0,
        id=item["id"],
    )
    return _loan(db, loan_id)


def agree_loan(db: Database, *, loan_id: str) -> Loan:
    """Agree to a requested loan; its fee is invoiced today.

    Args:
        loan_id: The loan, as `find_loans` shows it.
    """
    loan = _loan(db, loan_id)
    _check_step(loan, ("requested",), "is agreed to")
    _check_overdue(db, _borrower(db, loan["borrower_id"]))
    db.run("UPDATE loans SET status = 'agreed' WHERE id = :id", id=loan_id)
    agreed = len([item for item in loan["items"] if item["status"] == "agreed"])
    db.run(
        """
        INSERT INTO invoices (id, loan_id, amount_cents, issued_on, status)
        VALUES (:id, :loan_id, :amount_cents, :today, 'open')
        """,
        id=db.new_id("inv"),
        loan_id=loan_id,
        amount_cents=FEE_CENTS + FEE_PER_OBJECT_CENTS * agreed,
        today=db.now()[:10],
    )
    return _loan(db, loan_id)


def refuse_loan(db: Database, *, loan_id: str, reason: str) -> Loan:
    """Refuse a requested loan.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        reason: Why, in a few words.
    """
    loan = _loan(db, loan_id)
    _check_text(reason, "reason")
    _check_step(loan, ("requested",), "is refused")
    db.run("UPDATE loans SET status = 'refused', reason = :reason WHERE id = :id", reason=reason.strip(), id=loan_id)
    return _loan(db, loan_id)


def cancel_loan(db: Database, *, loan_id: str, reason: str) -> Loan:
    """Cancel a requested or agreed loan, with its planned trips and, if it is early enough, its open invoice.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        reason: Why, in a few words.
    """
    loan = _loan(db, loan_id)
    _check_text(reason, "reason")
    _check_step(loan, ("requested", "agreed"), "is cancelled")
    db.run("UPDATE trips SET status = 'called_off' WHERE loan_id = :id AND status = 'planned'", id=loan_id)
    last_free = str(date.fromisoformat(loan["first_day"]) - timedelta(days=FREE_CANCELLING_DAYS))
    if db.now()[:10] <= last_free:
        db.run("UPDATE invoices SET status = 'void' WHERE loan_id = :id AND status = 'open'", id=loan_id)
    db.run("UPDATE loans SET status = 'cancelled', reason = :reason WHERE id = :id", reason=reason.strip(), id=loan_id)
    return _loan(db, loan_id)


def register_certificate(
    db: Database, *, loan_id: str, insurer: str, covers_cents: int, valid_from: str, valid_until: str
) -> Loan:
    """Register an insurance certificate for a requested, agreed or outgoing loan.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        insurer: Who insures.
        covers_cents: The sum that it covers, in cents.
        valid_from: The first day that it covers, YYYY-MM-DD.
        valid_until: The last day that it covers, YYYY-MM-DD.
    """
    loan = _loan(db, loan_id)
    if loan["status"] not in ("requested", "agreed", "out"):
        raise ToolError(f"{loan_id} is {loan['status']}; a certificate is registered only while a loan is still running")
    _check_text(insurer, "insurer")
    if covers_cents <= 0:
        raise ToolError(f"a certificate over {covers_cents} cents covers nothing; give the sum that it covers in cents")
    _check_day(valid_from)
    _check_day(valid_until)
    if valid_until < valid_from:
        raise ToolError(f"the certificate would end on {valid_until}, before it begins on {valid_from}")
    db.run(
        """
        INSERT INTO certificates (id, loan_id, insurer, covers_cents, valid_from, valid_until)
        VALUES (:id, :loan_id, :insurer, :covers_cents, :valid_from, :valid_until)
        """,
        id=db.new_id("cer"),
        loan_id=loan_id,
        insurer=insurer.strip(),
        covers_cents=covers_cents,
        valid_from=valid_from,
        valid_until=valid_until,
    )
    return _loan(db, loan_id)


def book_payment(db: Database, *, invoice_id: str) -> Loan:
    """Book the payment of an open invoice, in full and today.

    Args:
        invoice_id: The invoice, as `find_loans` shows it.
    """
    invoice = db.one("SELECT loan_id, amount_cents, status FROM invoices WHERE id = :id", id=invoice_id)
    if invoice is None:
        raise ToolError(f"no invoice {invoice_id!r}; find_loans shows the invoices of each loan")
    if invoice["status"] != "open":
        raise ToolError(
            f"{invoice_id} over {_euros(invoice['amount_cents'])} euros is {invoice['status']} already; only open invoices are paid"
        )
    db.run("UPDATE invoices SET status = 'paid', paid_on = :today WHERE id = :id", today=db.now()[:10], id=invoice_id)
    return _loan(db, invoice["loan_id"])


def record_check(db: Database, *, object_id: str, result: Literal["fit", "unfit"], note: str) -> MuseumObject:
    """Record a condition check of an object that is at home, made today.

    Args:
        object_id: The object, as `find_objects` shows it.
        result: Whether it is fit to travel. An unfit object goes to conservation, a fit one is released from there.
        note: What was found, in a few words.
    """
    thing = _object(db, object_id)
    _check_text(note, "note")
    if thing["status"] == "out":
        # rule: found_fit
        raise ToolError(f"{thing['name']} is out on loan and cannot be checked here; take the loan back first")
    db.run(
        """
        INSERT INTO checks (id, object_id, checked_on, result, note)
        VALUES (:id, :object_id, :today, :result, :note)
        """,
        id=db.new_id("chk"),
        object_id=object_id,
        today=db.now()[:10],
        result=result,
        note=note.strip(),
    )
    if result == "unfit" and thing["status"] == "available":
        db.run("UPDATE objects SET status = 'in_conservation' WHERE id = :id", id=object_id)
    if result == "fit" and thing["status"] == "in_conservation":
        db.run("UPDATE objects SET status = 'available' WHERE id = :id", id=object_id)
    return _object(db, object_id)


def book_courier(db: Database, *, loan_id: str, courier_id: str, first_day: str, last_day: str) -> Trip:
    """Book a courier to travel with an agreed loan.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        courier_id: The courier, as `find_couriers` shows it.
        first_day: The first day of the trip, YYYY-MM-DD, today at the earliest.
        last_day: The last day of the trip, YYYY-MM-DD.
    """
    loan = _loan(db, loan_id)
    _courier(db, courier_id)
    if loan["status"] != "agreed":
        raise ToolError(f"{loan_id} is {loan['status']}; a courier is booked for agreed loans")
    _check_day(first_day)
    _check_day(last_day)
    today = db.now()[:10]
    if first_day < today:
        raise ToolError(f"a trip from {first_day} lies in the past; it begins today, {today}, at the earliest")
    if last_day < first_day:
        raise ToolError(f"the trip would end on {last_day}, before it begins on {first_day}")
    trip_id = db.new_id("tri")
    db.run(
        """
        INSERT INTO trips (id, courier_id, loan_id, first_day, last_day, status)
        VALUES (:id, :courier_id, :loan_id, :first_day, :last_day, 'planned')
        """,
        id=trip_id,
        courier_id=courier_id,
        loan_id=loan_id,
        first_day=first_day,
        last_day=last_day,
    )
    return _trip(db, trip_id)


def call_off_trip(db: Database, *, trip_id: str) -> Trip:
    """Call off a planned trip.

    Args:
        trip_id: The trip, as `find_trips` shows it.
    """
    trip = _trip(db, trip_id)
    if trip["status"] != "planned":
        raise ToolError(f"{trip_id} of {trip['courier']} is {trip['status']}; only planned trips are called off")
    db.run("UPDATE trips SET status = 'called_off' WHERE id = :id", id=trip_id)
    return _trip(db, trip_id)


def dispatch_loan(db: Database, *, loan_id: str) -> Loan:
    """Send an agreed loan out today; its agreed objects are out then, and its planned trip of today counts as done.

    Args:
        loan_id: The loan, as `find_loans` shows it.
    """
    loan = _loan(db, loan_id)
    _check_step(loan, ("agreed",), "is dispatched")
    today = db.now()[:10]
    earliest = str(date.fromisoformat(loan["first_day"]) - timedelta(days=DISPATCH_DAYS))
    if today < earliest or today > loan["last_day"]:
        # rule: dispatch_window
        raise ToolError(f"{loan_id} is dispatched from {earliest} until {loan['last_day']}, and today is {today}")
    for item in loan["items"]:
        if item["status"] == "agreed":
            _check_fit(db, item["object_id"])
    db.run("UPDATE loans SET status = 'out', dispatched_on = :today WHERE id = :id", today=today, id=loan_id)
    db.run(
        """
        UPDATE objects SET status = 'out'
        WHERE id IN (SELECT object_id FROM items WHERE loan_id = :id AND status = 'agreed')
        """,
        id=loan_id,
    )
    db.run(
        """
        UPDATE trips SET status = 'done'
        WHERE loan_id = :id AND status = 'planned' AND :today BETWEEN first_day AND last_day
        """,
        id=loan_id,
        today=today,
    )
    return _loan(db, loan_id)


def extend_loan(db: Database, *, loan_id: str, days: int) -> Loan:
    """Move the last day of an agreed or outgoing loan.

    Args:
        loan_id: The loan, as `find_loans` shows it.
        days: By how many days, at least 1.
    """
    loan = _loan(db, loan_id)
    if loan["status"] not in ("agreed", "out"):
        raise ToolError(f"{loan_id} is {loan['status']}; only agreed and outgoing loans are extended")
    if days < 1:
        raise ToolError(f"{days} days are no extension; give at least 1")
    if loan["extended_days"] > 0:
        # rule: extended_in_time
        raise ToolError(
            f"{loan_id} was extended by {loan['extended_days']} days before, and a loan is extended only once; it ends on {loan['last_day']}"
        )
    latest = str(date.fromisoformat(loan["last_day"]) - timedelta(days=EXTENSION_NOTICE_DAYS))
    if db.now()[:10] > latest:
        # rule: extended_in_time
        raise ToolError(f"an extension of {loan_id} had to be asked for until {latest}; it ends on {loan['last_day']}")
    if days > LONGEST_EXTENSION:
        # rule: sixty_days
        raise ToolError(f"{days} days are more than the {LONGEST_EXTENSION} days of the longest extension")
    db.run(
        "UPDATE loans SET last_day = date(last_day, '+' || :days || ' days'), extended_days = :days WHERE id = :id",
        days=days,
        id=loan_id,
    )
    return _loan(db, loan_id)


def take_back_loan(db: Database, *, loan_id: str) -> Loan:
    """Take an outgoing loan back today; its objects are available again.

    Args:
        loan_id: The loan, as `find_loans` shows it.
    """
    loan = _loan(db, loan_id)
    _check_step(loan, ("out",), "is taken back")
    db.run("UPDATE loans SET status = 'returned', returned_on = :today WHERE id = :id", today=db.now()[:10], id=loan_id)
    db.run(
        """
        UPDATE objects SET status = 'available'
        WHERE status = 'out' AND id IN (SELECT object_id FROM items WHERE loan_id = :id AND status = 'agreed')
        """,
        id=loan_id,
    )
    return _loan(db, loan_id)


def _check_filter(text: str | None, what: str) -> None:
    if text is not None and not text.strip():
        raise ToolError(f"the {what} is blank; leave it out to see all")


def _check_day(text: str) -> None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ToolError(f"{text!r} is no day; write it as YYYY-MM-DD") from None
    if day.isoformat() != text:
        raise ToolError(f"{text!r} is not written as YYYY-MM-DD")


def _as_object(db: Database, row: dict[str, Any]) -> MuseumObject:
    checks = db.all(
        """
        SELECT id AS check_id, checked_on, result, note FROM checks
        WHERE object_id = :id ORDER BY checked_on DESC, id
        """,
        id=row["object_id"],
    )
    return cast("MuseumObject", {**row, "checks": [cast("Check", check) for check in checks]})


def _object(db: Database, object_id: str) -> MuseumObject:
    row = db.one(OBJECT_ROWS + "WHERE object_id = :id", id=object_id)
    if row is None:
        raise ToolError(f"no object {object_id!r}; find_objects lists them")
    return _as_object(db, row)


def _borrower(db: Database, borrower_id: str) -> Borrower:
    row = db.one(BORROWER_ROWS + "WHERE borrower_id = :id", id=borrower_id)
    if row is None:
        raise ToolError(f"no borrower {borrower_id!r}; find_borrowers lists them")
    return cast("Borrower", row)


def _as_loan(db: Database, row: dict[str, Any]) -> Loan:
    items = db.all(
        """
        SELECT items.object_id AS object_id, objects.name AS name, care_classes.name AS care_class,
          items.value_cents AS value_cents, items.status AS status, items.director_agreed AS director_agreed
        FROM items
        JOIN objects ON objects.id = items.object_id
        JOIN care_classes ON care_classes.id = objects.class_id
        WHERE items.loan_id = :id ORDER BY objects.name, items.object_id
        """,
        id=row["loan_id"],
    )
    certificates = db.all(
        """
        SELECT id AS certificate_id, insurer, covers_cents, valid_from, valid_until
        FROM certificates WHERE loan_id = :id ORDER BY valid_from, id
        """,
        id=row["loan_id"],
    )
    invoices = db.all(
        """
        SELECT id AS invoice_id, amount_cents, issued_on, status, paid_on
        FROM invoices WHERE loan_id = :id ORDER BY issued_on, id
        """,
        id=row["loan_id"],
    )
    return cast(
        "Loan",
        {
            **row,
            "items": [cast("Item", {**item, "director_agreed": bool(item["director_agreed"])}) for item in items],
            "certificates": [cast("Certificate", certificate) for certificate in certificates],
            "invoices": [cast("Invoice", invoice) for invoice in invoices],
        },
    )


def _check_text(text: str, what: str) -> None:
    if not text.strip():
        raise ToolError(f"the {what} is blank; say it in a few words")


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _check_overdue(db: Database, borrower: Borrower) -> None:
    late = db.one(
        """
        SELECT id, last_day FROM loans
        WHERE borrower_id = :id AND status = 'out' AND last_day < :today ORDER BY last_day, id LIMIT 1
        """,
        id=borrower["borrower_id"],
        today=db.now()[:10],
    )
    if late is not None:
        # rule: overdue_borrower
        raise ToolError(
            f"{borrower['name']} should have sent back {late['id']} by {late['last_day']}; until it is back there is no new request and no agreement"
        )


def _loan(db: Database, loan_id: str) -> Loan:
    row = db.one(LOAN_ROWS + "WHERE loan_id = :id", id=loan_id)
    if row is None:
        raise ToolError(f"no loan {loan_id!r}; find_loans lists them")
    return _as_loan(db, row)


def _item(db: Database, loan_id: str, object_id: str) -> dict[str, Any]:
    _loan(db, loan_id)
    row = db.one(
        """
        SELECT id, value_cents, status FROM items
        WHERE loan_id = :loan_id AND object_id = :object_id ORDER BY id LIMIT 1
        """,
        loan_id=loan_id,
        object_id=object_id,
    )
    if row is None:
        raise ToolError(f"there is no object {object_id!r} on {loan_id}; find_loans shows its objects")
    return row


def _courier(db: Database, courier_id: str) -> Courier:
    row = db.one("SELECT id AS courier_id, name, profession FROM couriers WHERE id = :id", id=courier_id)
    if row is None:
        raise ToolError(f"no courier {courier_id!r}; find_couriers lists them")
    return cast("Courier", row)


def _check_step(loan: Loan, states: tuple[str, ...], what: str) -> None:
    if loan["status"] not in states:
        # rule: loan_steps
        raise ToolError(f"{loan['loan_id']} is {loan['status']}, and only a loan that is {' or '.join(states)} {what}")


def _trip(db: Database, trip_id: str) -> Trip:
    row = db.one(TRIP_ROWS + "WHERE trip_id = :id", id=trip_id)
    if row is None:
        raise ToolError(f"no trip {trip_id!r}; find_trips lists them")
    return cast("Trip", row)


def _check_fit(db: Database, object_id: str) -> None:
    thing = _object(db, object_id)
    if thing["status"] != "available":
        # rule: found_fit
        raise ToolError(f"{thing['name']} is {thing['status']} and not ready at home, so it cannot be dispatched")
    today = db.now()[:10]
    since = str(date.fromisoformat(today) - timedelta(days=CHECK_DAYS))
    back = db.one(
        """
        SELECT max(loans.returned_on) AS returned_on
        FROM items JOIN loans ON loans.id = items.loan_id
        WHERE items.object_id = :id AND items.status = 'agreed' AND loans.status = 'returned'
        """,
        id=object_id,
    )
    if back is not None and back["returned_on"] is not None:
        since = max(since, str(back["returned_on"]))
    latest = thing["checks"][0] if thing["checks"] else None
    if latest is None or latest["checked_on"] < since:
        # rule: found_fit
        raise ToolError(f"{thing['name']} needs a condition check made on {since} or later that finds it fit; record one first")
    if not [check for check in thing["checks"] if check["result"] == "fit" and check["checked_on"] == latest["checked_on"]]:
        # rule: found_fit
        raise ToolError(f"{thing['name']} was found unfit on {latest['checked_on']}; it stays until a check finds it fit")
