"""Tools of the instrument booking desk in Brekke Hall."""

from datetime import date, datetime, timedelta
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

DAYS_AHEAD = 21
FREE_UNTIL_HOURS = 24
EARLIEST_MINUTES = 10
LATEST_MINUTES = 30
MISSED_WITHIN_DAYS = 60


class Instrument(TypedDict):
    instrument_id: str
    name: str
    kind_id: str
    kind: str
    room: str
    status: str
    hourly_price_cents: int
    operator_price_cents: int
    longest_hours: int
    group_week_hours: int


class Instruments(TypedDict):
    instruments: list[Instrument]


class Person(TypedDict):
    person_id: str
    name: str
    role: str
    group_id: str | None
    group_name: str | None
    has_night_permit: bool
    status: str
    suspended_on: str | None
    bookings_ahead: int


class People(TypedDict):
    people: list[Person]


class Group(TypedDict):
    group_id: str
    name: str
    budget_cents: int
    charged_cents: int
    booked_cents: int


class Groups(TypedDict):
    groups: list[Group]


class Certificate(TypedDict):
    certificate_id: str
    person_id: str
    person: str
    kind_id: str
    kind: str
    status: str
    issued_by: str
    issuer: str
    issued_on: str
    expires_on: str
    withdrawn_on: str | None


class Certificates(TypedDict):
    certificates: list[Certificate]


class Booking(TypedDict):
    booking_id: str
    person_id: str
    person: str
    group_id: str | None
    group_name: str | None
    instrument_id: str
    instrument: str
    kind: str
    operator_id: str | None
    operator: str | None
    starts_at: str
    ends_at: str
    status: str
    booked_at: str
    started_at: str | None
    closed_at: str | None
    price_cents: int


class Bookings(TypedDict):
    bookings: list[Booking]


class Repair(TypedDict):
    repair_id: str
    instrument_id: str
    instrument: str
    reason: str
    starts_at: str
    ends_at: str
    status: str
    closed_at: str | None


class Repairs(TypedDict):
    repairs: list[Repair]


class Charge(TypedDict):
    charge_id: str
    booking_id: str
    person_id: str
    person: str
    group_id: str | None
    group_name: str | None
    instrument: str
    starts_at: str
    reason: str
    amount_cents: int
    charged_at: str
    status: str
    waived_by: str | None
    waived_at: str | None


class Charges(TypedDict):
    charges: list[Charge]


def find_instruments(
    db: Database,
    *,
    text: str | None = None,
    kind_id: str | None = None,
    status: Literal["in_service", "out_of_service", "retired"] | None = None,
) -> Instruments:
    """Find instruments with their room, state, and the prices and limits of their kind, by name.

    Args:
        text: Only instruments whose name or kind contains these words, in upper or lower case.
        kind_id: Only instruments of this kind; the ids of the kinds stand beside the instruments.
        status: Only instruments in this state.
    """
    words = _words(text, "text")
    if kind_id is not None:
        _check_kind(db, kind_id)
    rows = db.all(
        """SELECT instrument_id, name, kind FROM instrument_details
        WHERE (:kind_id IS NULL OR kind_id = :kind_id) AND (:status IS NULL OR status = :status)
        ORDER BY name, instrument_id""",
        kind_id=kind_id,
        status=status,
    )
    found = [row["instrument_id"] for row in rows if _has_words(f"{row['name']} {row['kind']}", words)]
    return {"instruments": [_instrument(db, instrument_id) for instrument_id in found]}


def find_people(
    db: Database,
    *,
    name: str | None = None,
    role: Literal["researcher", "leader", "operator", "manager"] | None = None,
    group_id: str | None = None,
    status: Literal["active", "suspended", "left"] | None = None,
) -> People:
    """Find people with their group, night permit, state and number of bookings ahead, by name.

    Args:
        name: Only people whose name contains these words, in upper or lower case.
        role: Only people in this role.
        group_id: Only people of this group, as `find_groups` shows it.
        status: Only people in this state.
    """
    words = _words(name, "name")
    if group_id is not None:
        _group(db, group_id)
    rows = db.all(
        """SELECT id, name FROM people
        WHERE (:role IS NULL OR role = :role)
          AND (:group_id IS NULL OR group_id = :group_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY name, id""",
        role=role,
        group_id=group_id,
        status=status,
    )
    return {"people": [_person(db, row["id"]) for row in rows if _has_words(row["name"], words)]}


def find_groups(db: Database, *, name: str | None = None) -> Groups:
    """Find research groups with their budget, open charges and the price of bookings not yet charged, by name.

    Args:
        name: Only groups whose name contains these words, in upper or lower case.
    """
    words = _words(name, "name")
    rows = db.all("SELECT id, name FROM research_groups ORDER BY name, id")
    return {"groups": [_group(db, row["id"]) for row in rows if _has_words(row["name"], words)]}


def find_certificates(
    db: Database,
    *,
    person_id: str | None = None,
    kind_id: str | None = None,
    status: Literal["valid", "replaced", "withdrawn"] | None = None,
) -> Certificates:
    """Find certificates, those expiring first at the top. An expired one keeps the state valid; look at its expiry day.

    Args:
        person_id: Only certificates of this person, as `find_people` shows it.
        kind_id: Only certificates for this kind, as `find_instruments` shows it.
        status: Only certificates in this state.
    """
    if person_id is not None:
        _person(db, person_id)
    if kind_id is not None:
        _check_kind(db, kind_id)
    rows = db.all(
        """SELECT id FROM certificates
        WHERE (:person_id IS NULL OR person_id = :person_id)
          AND (:kind_id IS NULL OR kind_id = :kind_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY expires_on, id""",
        person_id=person_id,
        kind_id=kind_id,
        status=status,
    )
    return {"certificates": [_certificate(db, row["id"]) for row in rows]}


def find_bookings(
    db: Database,
    *,
    booking_id: str | None = None,
    person_id: str | None = None,
    operator_id: str | None = None,
    instrument_id: str | None = None,
    day: str | None = None,
    status: Literal["booked", "running", "finished", "cancelled", "missed"] | None = None,
) -> Bookings:
    """Find bookings with their price, those beginning first at the top.

    Args:
        booking_id: Only the booking with this id.
        person_id: Only bookings of this person, as `find_people` shows it.
        operator_id: Only bookings in which this operator assists, as `find_people` shows it.
        instrument_id: Only bookings of this instrument, as `find_instruments` shows it.
        day: Only bookings on this day, YYYY-MM-DD.
        status: Only bookings in this state.
    """
    if booking_id is not None:
        _booking(db, booking_id)
    if person_id is not None:
        _person(db, person_id)
    if operator_id is not None:
        _person(db, operator_id)
    if instrument_id is not None:
        _instrument(db, instrument_id)
    if day is not None:
        _check_day(day)
    rows = db.all(
        """SELECT id FROM bookings
        WHERE (:booking_id IS NULL OR id = :booking_id)
          AND (:person_id IS NULL OR person_id = :person_id)
          AND (:operator_id IS NULL OR operator_id = :operator_id)
          AND (:instrument_id IS NULL OR instrument_id = :instrument_id)
          AND (:day IS NULL OR date(starts_at) = :day)
          AND (:status IS NULL OR status = :status)
        ORDER BY starts_at, id""",
        booking_id=booking_id,
        person_id=person_id,
        operator_id=operator_id,
        instrument_id=instrument_id,
        day=day,
        status=status,
    )
    return {"bookings": [_booking(db, row["id"]) for row in rows]}


def find_repairs(
    db: Database,
    *,
    instrument_id: str | None = None,
    status: Literal["planned", "running", "done", "cancelled"] | None = None,
) -> Repairs:
    """Find repairs of instruments, those beginning first at the top.

    Args:
        instrument_id: Only repairs of this instrument, as `find_instruments` shows it.
        status: Only repairs in this state.
    """
    if instrument_id is not None:
        _instrument(db, instrument_id)
    rows = db.all(
        """SELECT id FROM repairs
        WHERE (:instrument_id IS NULL OR instrument_id = :instrument_id) AND (:status IS NULL OR status = :status)
        ORDER BY starts_at, id""",
        instrument_id=instrument_id,
        status=status,
    )
    return {"repairs": [_repair(db, row["id"]) for row in rows]}


def find_charges(
    db: Database,
    *,
    group_id: str | None = None,
    person_id: str | None = None,
    reason: Literal["use", "late_cancellation", "missed"] | None = None,
    status: Literal["open", "waived"] | None = None,
) -> Charges:
    """Find charges on groups with the booking that each comes from, the oldest first.

    Args:
        group_id: Only charges on this group, as `find_groups` shows it.
        person_id: Only charges from bookings of this person, as `find_people` shows it.
        reason: Only charges for this reason.
        status: Only charges in this state.
    """
    if group_id is not None:
        _group(db, group_id)
    if person_id is not None:
        _person(db, person_id)
    rows = db.all(
        """SELECT charge_id FROM charge_details
        WHERE (:group_id IS NULL OR group_id = :group_id)
          AND (:person_id IS NULL OR person_id = :person_id)
          AND (:reason IS NULL OR reason = :reason)
          AND (:status IS NULL OR status = :status)
        ORDER BY charged_at, charge_id""",
        group_id=group_id,
        person_id=person_id,
        reason=reason,
        status=status,
    )
    return {"charges": [_charge(db, row["charge_id"]) for row in rows]}


def book_instrument(
    db: Database,
    *,
    person_id: str,
    instrument_id: str,
    starts_at: str,
    ends_at: str,
    requested_by: str,
    operator_id: str | None = None,
) -> Booking:
    """Book an instrument for a person.

    Args:
        person_id: Who will use it, as `find_people` shows it.
        instrument_id: The instrument, as `find_instruments` shows it.
        starts_at: When it begins, YYYY-MM-DD HH:MM:SS.
        ends_at: When it ends, YYYY-MM-DD HH:MM:SS.
        requested_by: Who asks for it, as `find_people` shows it.
        operator_id: The operator who assists, as `find_people` shows it, if one does.
    """
    person = _person(db, person_id)
    _instrument(db, instrument_id)
    if operator_id is not None:
        _person(db, operator_id)
        if operator_id == person_id:
            raise ToolError(f"{person['name']} cannot assist in a booking of his or her own; name an operator")
    _check_request(db, person, requested_by)
    _check_slot(db, starts_at, ends_at)
    booking_id = db.new_id("bkg")
    db.run(
        """INSERT INTO bookings (id, person_id, instrument_id, operator_id, starts_at, ends_at, status, booked_at)
        VALUES (:id, :person_id, :instrument_id, :operator_id, :starts_at, :ends_at, 'booked', :now)""",
        id=booking_id,
        person_id=person_id,
        instrument_id=instrument_id,
        operator_id=operator_id,
        starts_at=starts_at,
        ends_at=ends_at,
        now=db.now(),
    )
    return _booking(db, booking_id)


def move_booking(db: Database, *, booking_id: str, starts_at: str, ends_at: str, requested_by: str) -> Booking:
    """Move a booking to another time on the same instrument, with the same operator.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        starts_at: When it begins now, YYYY-MM-DD HH:MM:SS.
        ends_at: When it ends now, YYYY-MM-DD HH:MM:SS.
        requested_by: Who asks for it, as `find_people` shows it.
    """
    booking = _booking(db, booking_id)
    _check_request(db, _person(db, booking["person_id"]), requested_by)
    _check_booked(booking)
    if _is_late(db, booking):
        # rule: no_late_move
        raise ToolError(
            f"{booking_id} begins at {booking['starts_at']}; it could be moved until {FREE_UNTIL_HOURS} hours before that"
        )
    _check_slot(db, starts_at, ends_at)
    db.run(
        "UPDATE bookings SET starts_at = :starts_at, ends_at = :ends_at WHERE id = :id",
        starts_at=starts_at,
        ends_at=ends_at,
        id=booking_id,
    )
    return _booking(db, booking_id)


def assign_operator(db: Database, *, booking_id: str, operator_id: str) -> Booking:
    """Have an operator assist in a booking, in place of another one if there was one.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        operator_id: The operator, as `find_people` shows it.
    """
    booking = _booking(db, booking_id)
    operator = _person(db, operator_id)
    _check_booked(booking)
    if booking["operator_id"] == operator_id:
        raise ToolError(f"{operator['name']} assists in {booking_id} already; nothing is left to do")
    if booking["person_id"] == operator_id:
        raise ToolError(f"{operator['name']} is the one who booked {booking_id}; name an operator")
    db.run("UPDATE bookings SET operator_id = :operator_id WHERE id = :id", operator_id=operator_id, id=booking_id)
    return _booking(db, booking_id)


def cancel_booking(db: Database, *, booking_id: str, requested_by: str) -> Booking:
    """Cancel a booking. What is due for cancelling late is charged at once; `find_charges` shows it.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        requested_by: Who asks for it, as `find_people` shows it.
    """
    booking = _booking(db, booking_id)
    _check_request(db, _person(db, booking["person_id"]), requested_by)
    _check_booked(booking)
    if db.now() >= booking["starts_at"]:
        raise ToolError(f"{booking_id} began at {booking['starts_at']}; it can only be started or marked as missed")
    instrument = _instrument(db, booking["instrument_id"])
    db.run("UPDATE bookings SET status = 'cancelled', closed_at = :now WHERE id = :id", now=db.now(), id=booking_id)
    if _is_late(db, booking) and instrument["status"] == "in_service":
        _add_charge(db, booking_id, "late_cancellation", booking["price_cents"] // 2)
    return _booking(db, booking_id)


def start_booking(db: Database, *, booking_id: str) -> Booking:
    """Hand the instrument over at the beginning of a booking.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    _check_booked(booking)
    start = _moment(booking["starts_at"], "starts_at")
    now = _moment(db.now(), "now")
    if now < start - timedelta(minutes=EARLIEST_MINUTES):
        # rule: start_window
        raise ToolError(
            f"it is too early to start {booking_id}; it begins at {start} and starts at most {EARLIEST_MINUTES} minutes before"
        )
    if now > start + timedelta(minutes=LATEST_MINUTES):
        # rule: start_window
        raise ToolError(f"it is too late to start {booking_id}; it began at {start}, so it can only be marked as missed")
    other = db.one(
        "SELECT id FROM bookings WHERE instrument_id = :id AND status = 'running' ORDER BY id",
        id=booking["instrument_id"],
    )
    if other is not None:
        raise ToolError(f"{other['id']} still runs on {booking['instrument']}; finish it first")
    db.run("UPDATE bookings SET status = 'running', started_at = :now WHERE id = :id", now=db.now(), id=booking_id)
    return _booking(db, booking_id)


def finish_booking(db: Database, *, booking_id: str) -> Booking:
    """Take the instrument back at the end of a running booking and charge its use; `find_charges` shows the charge.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    if booking["status"] != "running":
        raise ToolError(f"{booking_id} is {booking['status']} and not running; there is nothing to finish")
    db.run("UPDATE bookings SET status = 'finished', closed_at = :now WHERE id = :id", now=db.now(), id=booking_id)
    _add_charge(db, booking_id, "use", booking["price_cents"])
    return _booking(db, booking_id)


def mark_missed(db: Database, *, booking_id: str) -> Booking:
    """Mark a booking as missed and charge it. Whether the person is suspended by it, `find_people` shows.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    _check_booked(booking)
    start = _moment(booking["starts_at"], "starts_at")
    if _moment(db.now(), "now") <= start + timedelta(minutes=LATEST_MINUTES):
        # rule: missed_charged, second_missed
        raise ToolError(
            f"{booking_id} begins at {start} and can be started until {LATEST_MINUTES} minutes after; wait until then"
        )
    db.run("UPDATE bookings SET status = 'missed', closed_at = :now WHERE id = :id", now=db.now(), id=booking_id)
    _add_charge(db, booking_id, "missed", booking["price_cents"])
    earlier = db.one(
        """SELECT id FROM bookings
        WHERE person_id = :person_id AND status = 'missed' AND id <> :id
          AND date(starts_at) BETWEEN :first AND :day
        ORDER BY starts_at, id""",
        person_id=booking["person_id"],
        id=booking_id,
        first=(start.date() - timedelta(days=MISSED_WITHIN_DAYS)).isoformat(),
        day=start.date().isoformat(),
    )
    if earlier is not None:
        db.run(
            "UPDATE people SET status = 'suspended', suspended_on = :today WHERE id = :id AND status = 'active'",
            today=db.now()[:10],
            id=booking["person_id"],
        )
    return _booking(db, booking_id)


def readmit_person(db: Database, *, person_id: str, requested_by: str) -> Person:
    """End the suspension of a person.

    Args:
        person_id: The suspended person, as `find_people` shows it.
        requested_by: Who decided it, as `find_people` shows it.
    """
    person = _person(db, person_id)
    asker = _person(db, requested_by)
    if person["status"] != "suspended":
        raise ToolError(f"{person['name']} is {person['status']} and not suspended; there is nothing to end")
    if asker["role"] != "manager" or asker["status"] != "active":
        # rule: second_missed
        raise ToolError(f"{asker['name']} cannot end a suspension; only the laboratory manager decides that")
    db.run("UPDATE people SET status = 'active', suspended_on = NULL WHERE id = :id", id=person_id)
    return _person(db, person_id)


def issue_certificate(db: Database, *, person_id: str, kind_id: str, issued_by: str) -> Certificate:
    """Issue a certificate from today on. It replaces a valid one that the person has for the kind.

    Args:
        person_id: Who gets it, as `find_people` shows it.
        kind_id: The kind of instrument, as `find_instruments` shows it.
        issued_by: Who issues it, as `find_people` shows it.
    """
    person = _person(db, person_id)
    issuer = _person(db, issued_by)
    _check_kind(db, kind_id)
    for somebody in (person, issuer):
        if somebody["status"] == "left":
            raise ToolError(f"{somebody['name']} has left and neither gets nor issues a certificate")
    if person_id == issued_by:
        # rule: skilled_issuers
        raise ToolError(f"{person['name']} cannot issue a certificate to himself or herself; somebody else has to do it")
    db.run(
        """UPDATE certificates SET status = 'replaced'
        WHERE person_id = :person_id AND kind_id = :kind_id AND status = 'valid'""",
        person_id=person_id,
        kind_id=kind_id,
    )
    certificate_id = db.new_id("crt")
    db.run(
        """INSERT INTO certificates (id, person_id, kind_id, status, issued_by, issued_on, expires_on)
        SELECT :id, :person_id, kinds.id, 'valid', :issued_by, :today,
          date(:today, '+' || kinds.certificate_months || ' months')
        FROM kinds WHERE kinds.id = :kind_id""",
        id=certificate_id,
        person_id=person_id,
        issued_by=issued_by,
        today=db.now()[:10],
        kind_id=kind_id,
    )
    return _certificate(db, certificate_id)


def withdraw_certificate(db: Database, *, certificate_id: str) -> Certificate:
    """Withdraw a valid certificate from today on. Bookings that were made with it stay as they are.

    Args:
        certificate_id: The certificate, as `find_certificates` shows it.
    """
    certificate = _certificate(db, certificate_id)
    if certificate["status"] != "valid":
        raise ToolError(f"{certificate_id} is {certificate['status']} already; only a valid certificate is withdrawn")
    db.run(
        "UPDATE certificates SET status = 'withdrawn', withdrawn_on = :today WHERE id = :id",
        today=db.now()[:10],
        id=certificate_id,
    )
    return _certificate(db, certificate_id)


def plan_repair(db: Database, *, instrument_id: str, starts_at: str, ends_at: str, work: str) -> Repair:
    """Plan a repair of an instrument, which keeps that time free of bookings.

    Args:
        instrument_id: The instrument, as `find_instruments` shows it.
        starts_at: When it begins, YYYY-MM-DD HH:MM:SS, not in the past.
        ends_at: When it ends, YYYY-MM-DD HH:MM:SS.
        work: What is done, in a few words; `find_repairs` shows it as the reason.
    """
    instrument = _instrument(db, instrument_id)
    start = _moment(starts_at, "starts_at")
    end = _moment(ends_at, "ends_at")
    if end <= start:
        raise ToolError(f"the end {ends_at} is not after the beginning {starts_at}")
    if starts_at < db.now():
        raise ToolError(f"{starts_at} is past; a repair is planned from now on, {db.now()}")
    told = work.strip()
    if not told:
        raise ToolError("work is blank; say in a few words what is done")
    if instrument["status"] == "retired":
        raise ToolError(f"{instrument['name']} is retired and not repaired any more")
    repair_id = db.new_id("rep")
    db.run(
        """INSERT INTO repairs (id, instrument_id, reason, starts_at, ends_at, status)
        VALUES (:id, :instrument_id, :reason, :starts_at, :ends_at, 'planned')""",
        id=repair_id,
        instrument_id=instrument_id,
        reason=told,
        starts_at=starts_at,
        ends_at=ends_at,
    )
    return _repair(db, repair_id)


def start_repair(db: Database, *, repair_id: str) -> Repair:
    """Start a planned repair, whose time must have come. The instrument must not be in use.

    Args:
        repair_id: The repair, as `find_repairs` shows it.
    """
    repair = _repair(db, repair_id)
    if repair["status"] != "planned":
        raise ToolError(f"{repair_id} is {repair['status']}; only a planned repair is started")
    if db.now() < repair["starts_at"]:
        raise ToolError(f"{repair_id} is planned for {repair['starts_at']}; it cannot start before that")
    booking = db.one(
        "SELECT id FROM bookings WHERE instrument_id = :id AND status = 'running' ORDER BY id",
        id=repair["instrument_id"],
    )
    if booking is not None:
        raise ToolError(f"{repair['instrument']} is in use by {booking['id']}; that booking must be finished first")
    other = db.one(
        "SELECT id FROM repairs WHERE instrument_id = :id AND status = 'running' ORDER BY id",
        id=repair["instrument_id"],
    )
    if other is not None:
        raise ToolError(f"{other['id']} of {repair['instrument']} is still going on; finish that repair first")
    db.run("UPDATE repairs SET status = 'running' WHERE id = :id", id=repair_id)
    db.run("UPDATE instruments SET status = 'out_of_service' WHERE id = :id", id=repair["instrument_id"])
    return _repair(db, repair_id)


def finish_repair(db: Database, *, repair_id: str) -> Repair:
    """Finish a running repair, early or late.

    Args:
        repair_id: The repair, as `find_repairs` shows it.
    """
    repair = _repair(db, repair_id)
    if repair["status"] != "running":
        raise ToolError(f"{repair_id} is {repair['status']}; only a running repair is finished")
    db.run("UPDATE repairs SET status = 'done', closed_at = :now WHERE id = :id", now=db.now(), id=repair_id)
    db.run(
        "UPDATE instruments SET status = 'in_service' WHERE id = :id AND status = 'out_of_service'",
        id=repair["instrument_id"],
    )
    return _repair(db, repair_id)


def cancel_repair(db: Database, *, repair_id: str) -> Repair:
    """Give up a planned repair, which frees its time.

    Args:
        repair_id: The repair, as `find_repairs` shows it.
    """
    repair = _repair(db, repair_id)
    if repair["status"] != "planned":
        raise ToolError(f"{repair_id} is {repair['status']}; only a planned repair is given up")
    db.run("UPDATE repairs SET status = 'cancelled', closed_at = :now WHERE id = :id", now=db.now(), id=repair_id)
    return _repair(db, repair_id)


def waive_charge(db: Database, *, charge_id: str, waived_by: str) -> Charge:
    """Waive an open charge, which gives the amount back to the budget of the group.

    Args:
        charge_id: The charge, as `find_charges` shows it.
        waived_by: Who waives it, as `find_people` shows it.
    """
    _charge(db, charge_id)
    _person(db, waived_by)
    db.run(
        "UPDATE charges SET status = 'waived', waived_by = :waived_by, waived_at = :now WHERE id = :id",
        waived_by=waived_by,
        now=db.now(),
        id=charge_id,
    )
    return _charge(db, charge_id)


def _words(text: str | None, argument: str) -> list[str]:
    if text is None:
        return []
    words = text.casefold().split()
    if not words:
        raise ToolError(f"{argument} is blank; leave it out to see all")
    return words


def _has_words(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _check_day(day: str) -> None:
    try:
        right = date.fromisoformat(day).isoformat() == day
    except ValueError:
        right = False
    if not right:
        raise ToolError(f"{day!r} is no day; write it as YYYY-MM-DD")


def _check_kind(db: Database, kind_id: str) -> None:
    if db.one("SELECT id FROM kinds WHERE id = :id", id=kind_id) is None:
        raise ToolError(f"no kind {kind_id!r}; find_instruments shows the kinds")


def _instrument(db: Database, instrument_id: str) -> Instrument:
    row = db.one(
        """SELECT instrument_id, name, kind_id, kind, room, status, hourly_price_cents, operator_price_cents,
          longest_hours, group_week_hours
        FROM instrument_details WHERE instrument_id = :id""",
        id=instrument_id,
    )
    if row is None:
        raise ToolError(f"no instrument {instrument_id!r}; find_instruments lists them")
    return cast("Instrument", row)


def _person(db: Database, person_id: str) -> Person:
    row = db.one(
        """SELECT person_id, name, role, group_id, group_name, has_night_permit, status, suspended_on, bookings_ahead
        FROM person_details WHERE person_id = :id""",
        id=person_id,
    )
    if row is None:
        raise ToolError(f"no person {person_id!r}; find_people lists them")
    return cast("Person", {**row, "has_night_permit": bool(row["has_night_permit"])})


def _group(db: Database, group_id: str) -> Group:
    row = db.one(
        """SELECT group_id, name, budget_cents, charged_cents, booked_cents
        FROM group_details WHERE group_id = :id""",
        id=group_id,
    )
    if row is None:
        raise ToolError(f"no group {group_id!r}; find_groups lists them")
    return cast("Group", row)


def _certificate(db: Database, certificate_id: str) -> Certificate:
    row = db.one(
        """SELECT certificate_id, person_id, person, kind_id, kind, status, issued_by, issuer, issued_on, expires_on,
          withdrawn_on
        FROM certificate_details WHERE certificate_id = :id""",
        id=certificate_id,
    )
    if row is None:
        raise ToolError(f"no certificate {certificate_id!r}; find_certificates lists them")
    return cast("Certificate", row)


def _booking(db: Database, booking_id: str) -> Booking:
    row = db.one(
        """SELECT booking_id, person_id, person, group_id, group_name, instrument_id, instrument, kind, operator_id,
          operator, starts_at, ends_at, status, booked_at, started_at, closed_at, price_cents
        FROM booking_details WHERE booking_id = :id""",
        id=booking_id,
    )
    if row is None:
        raise ToolError(f"no booking {booking_id!r}; find_bookings lists them")
    return cast("Booking", row)


def _check_request(db: Database, person: Person, requested_by: str) -> None:
    asker = _person(db, requested_by)
    if asker["status"] == "left":
        raise ToolError(f"{asker['name']} has left; somebody else has to ask")
    own = asker["person_id"] == person["person_id"]
    leads = asker["role"] == "leader" and asker["group_id"] == person["group_id"]
    if not own and not leads and asker["role"] != "manager":
        # rule: on_request
        raise ToolError(
            f"{asker['name']} may not ask for {person['name']}; that person, the leader of the group or the manager may"
        )


def _check_booked(booking: Booking) -> None:
    if booking["status"] != "booked":
        raise ToolError(f"{booking['booking_id']} is {booking['status']}; that is possible only while it is booked")


def _moment(text: str, argument: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ToolError(f"{argument} {text!r} is no time; write it as YYYY-MM-DD HH:MM:SS") from None
    if moment.isoformat(sep=" ") != text:
        raise ToolError(f"{argument} {text!r} is not written as YYYY-MM-DD HH:MM:SS")
    return moment


def _check_slot(db: Database, starts_at: str, ends_at: str) -> None:
    start = _moment(starts_at, "starts_at")
    end = _moment(ends_at, "ends_at")
    if end <= start:
        raise ToolError(f"the end {ends_at} is not after the beginning {starts_at}")
    on_grid = all(moment.minute in (0, 30) and moment.second == 0 for moment in (start, end))
    if not on_grid or start.date() != end.date():
        # rule: half_hours
        raise ToolError("a booking begins and ends on the full or half hour of one and the same day; choose such times")
    now = _moment(db.now(), "now")
    if start <= now or start.date() > now.date() + timedelta(days=DAYS_AHEAD):
        # rule: horizon
        raise ToolError(
            f"a booking begins later than now, {now}, and at the latest {DAYS_AHEAD} days from today; {starts_at} does not"
        )


def _is_late(db: Database, booking: Booking) -> bool:
    free_until = _moment(booking["starts_at"], "starts_at") - timedelta(hours=FREE_UNTIL_HOURS)
    return _moment(db.now(), "now") > free_until


def _add_charge(
    db: Database, booking_id: str, reason: Literal["use", "late_cancellation", "missed"], amount_cents: int
) -> None:
    db.run(
        """INSERT INTO charges (id, booking_id, reason, amount_cents, charged_at, status)
        VALUES (:id, :booking_id, :reason, :amount_cents, :now, 'open')""",
        id=db.new_id("chg"),
        booking_id=booking_id,
        reason=reason,
        amount_cents=amount_cents,
        now=db.now(),
    )


def _repair(db: Database, repair_id: str) -> Repair:
    row = db.one(
        """SELECT repair_id, instrument_id, instrument, reason, starts_at, ends_at, status, closed_at
        FROM repair_details WHERE repair_id = :id""",
        id=repair_id,
    )
    if row is None:
        raise ToolError(f"no repair {repair_id!r}; find_repairs lists them")
    return cast("Repair", row)


def _charge(db: Database, charge_id: str) -> Charge:
    row = db.one(
        """SELECT charge_id, booking_id, person_id, person, group_id, group_name, instrument, starts_at, reason,
          amount_cents, charged_at, status, waived_by, waived_at
        FROM charge_details WHERE charge_id = :id""",
        id=charge_id,
    )
    if row is None:
        raise ToolError(f"no charge {charge_id!r}; find_charges lists them")
    return cast("Charge", row)
