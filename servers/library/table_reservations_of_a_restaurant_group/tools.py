"""Tools of the Lindenhof reservations desk."""

import re
from datetime import date, datetime, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

SERVICE_COLUMNS = (
    "service_id, restaurant_id, restaurant_name, service_date, meal, first_arrival_at, last_arrival_at, status, "
    "covers, cover_limit, pacing_limit, live_reservations, open_entries"
)
TABLE_COLUMNS = "table_id, label, area_name, restaurant_id, restaurant_name, min_guests, max_guests, status, out_reason"
QUARTERS = ("00:00", "15:00", "30:00", "45:00")
NOTICE_MINUTES = 60
DAYS_AHEAD = 60
GUEST_COLUMNS = (
    "guest_id, name, email, phone, assistant, tier_id, upcoming_limit, upcoming, counted_no_shows, blocked_on"
)
RESERVATION_COLUMNS = (
    "reservation_id, status, guest_id, guest_name, restaurant_id, restaurant_name, service_id, meal, party_size, "
    "starts_at, ends_at, table_id, table_label, joined_table_id, joined_table_label, area_name, deposit_status, "
    "deposit_cents, deposit_due_by, refunded_cents, note, made_at, seated_at, closed_at, cancel_reason"
)
WAITING_COLUMNS = (
    "entry_id, status, guest_id, guest_name, service_id, restaurant_name, service_date, meal, party_size, joined_at, "
    "offered_table_id, offered_table_label, offered_for, offered_at, offer_until, closed_at, reservation_id"
)
BLOCKS_WITH_NAMES = """
    SELECT b.id AS block_id, b.guest_id AS guest_id, g.name AS guest_name, b.reason AS reason,
      b.blocked_on AS blocked_on, x.name AS blocked_by, b.lifted_on AS lifted_on, y.name AS lifted_by
    FROM blocks b
    JOIN guests g ON g.id = b.guest_id
    LEFT JOIN managers x ON x.id = b.blocked_by
    LEFT JOIN managers y ON y.id = b.lifted_by
"""
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
SEATING_LEAD_MINUTES = 15
FULL_REFUND_HOURS = 24
HALF_REFUND_HOURS = 4
NO_SHOWS_THAT_BLOCK = 3


class Manager(TypedDict):
    manager_id: str
    name: str


class Restaurant(TypedDict):
    restaurant_id: str
    name: str
    pacing_limit: int
    reset_minutes: int
    managers: list[Manager]


class Restaurants(TypedDict):
    restaurants: list[Restaurant]


class PartyTerm(TypedDict):
    min_guests: int
    max_guests: int
    stay_minutes: int
    deposit_per_head_cents: int


class GuestLimit(TypedDict):
    tier_id: str
    upcoming_limit: int


class Terms(TypedDict):
    party_terms: list[PartyTerm]
    guest_limits: list[GuestLimit]


class Service(TypedDict):
    service_id: str
    restaurant_id: str
    restaurant_name: str
    service_date: str
    meal: str
    first_arrival_at: str
    last_arrival_at: str
    status: str
    covers: int
    cover_limit: int
    pacing_limit: int
    live_reservations: int
    open_entries: int


class Services(TypedDict):
    services: list[Service]


class DiningTable(TypedDict):
    table_id: str
    label: str
    area_name: str
    restaurant_id: str
    restaurant_name: str
    min_guests: int
    max_guests: int
    status: str
    out_reason: str | None


class TablePair(TypedDict):
    table_id: str
    joined_table_id: str
    labels: str
    min_guests: int
    max_guests: int


class DiningTables(TypedDict):
    tables: list[DiningTable]
    pairs: list[TablePair]


class FreeTable(TypedDict):
    table_id: str
    joined_table_id: str | None
    label: str
    area_name: str
    min_guests: int
    max_guests: int


class FreeTables(TypedDict):
    free_tables: list[FreeTable]
    covers_arriving: int
    pacing_limit: int
    covers: int
    cover_limit: int


class Guest(TypedDict):
    guest_id: str
    name: str
    email: str
    phone: str | None
    assistant: str | None
    tier_id: str
    upcoming_limit: int
    upcoming: int
    counted_no_shows: int
    blocked_on: str | None


class Guests(TypedDict):
    guests: list[Guest]


class Block(TypedDict):
    block_id: str
    guest_id: str
    guest_name: str
    reason: str
    blocked_on: str
    blocked_by: str | None
    lifted_on: str | None
    lifted_by: str | None


class Blocks(TypedDict):
    blocks: list[Block]


class Reservation(TypedDict):
    reservation_id: str
    status: str
    guest_id: str
    guest_name: str
    restaurant_id: str
    restaurant_name: str
    service_id: str
    meal: str
    party_size: int
    starts_at: str
    ends_at: str
    table_id: str
    table_label: str
    joined_table_id: str | None
    joined_table_label: str | None
    area_name: str
    deposit_status: str | None
    deposit_cents: int | None
    deposit_due_by: str | None
    refunded_cents: int | None
    note: str
    made_at: str
    seated_at: str | None
    closed_at: str | None
    cancel_reason: str | None


class Reservations(TypedDict):
    reservations: list[Reservation]


class WaitingEntry(TypedDict):
    entry_id: str
    status: str
    guest_id: str
    guest_name: str
    service_id: str
    restaurant_name: str
    service_date: str
    meal: str
    party_size: int
    joined_at: str
    offered_table_id: str | None
    offered_table_label: str | None
    offered_for: str | None
    offered_at: str | None
    offer_until: str | None
    closed_at: str | None
    reservation_id: str | None


class WaitingEntries(TypedDict):
    entries: list[WaitingEntry]


def list_restaurants(db: Database) -> Restaurants:
    """List the restaurants of the group with their managers.

    `pacing_limit` is the number of guests who may arrive in one quarter hour.
    """
    rows = db.all("SELECT id AS restaurant_id, name, pacing_limit, reset_minutes FROM restaurants ORDER BY name, id")
    managers = db.all("SELECT id AS manager_id, name, restaurant_id FROM managers ORDER BY name, id")
    restaurants = [
        {
            **row,
            "managers": [
                {"manager_id": manager["manager_id"], "name": manager["name"]}
                for manager in managers
                if manager["restaurant_id"] == row["restaurant_id"]
            ],
        }
        for row in rows
    ]
    return cast("Restaurants", {"restaurants": restaurants})


def list_terms(db: Database) -> Terms:
    """List stay and deposit for each size of party, and how many upcoming reservations each kind of guest may have in one restaurant."""
    party_terms = db.all(
        "SELECT min_guests, max_guests, stay_minutes, deposit_per_head_cents FROM party_bands ORDER BY min_guests, id"
    )
    guest_limits = db.all("SELECT id AS tier_id, upcoming_limit FROM guest_tiers ORDER BY upcoming_limit, id")
    return cast("Terms", {"party_terms": party_terms, "guest_limits": guest_limits})


def find_services(
    db: Database,
    *,
    restaurant_id: str | None = None,
    from_date: str | None = None,
    until_date: str | None = None,
    meal: Literal["lunch", "dinner"] | None = None,
    status: Literal["planned", "open", "closed"] | None = None,
) -> Services:
    """Find services (one meal in one restaurant on one day), the earliest first, with how full they are.

    Args:
        restaurant_id: Only services of this restaurant, as `list_restaurants` shows it.
        from_date: Only services on or after this day, `YYYY-MM-DD`.
        until_date: Only services on or before this day, `YYYY-MM-DD`.
        meal: Only this meal.
        status: Only services in this status.
    """
    if restaurant_id is not None:
        _require_restaurant(db, restaurant_id)
    if from_date is not None:
        _check_date("from_date", from_date)
    if until_date is not None:
        _check_date("until_date", until_date)
    if from_date is not None and until_date is not None and until_date < from_date:
        raise ToolError(f"until_date {until_date} lies before from_date {from_date}; exchange them")
    services = db.all(
        f"""
        SELECT {SERVICE_COLUMNS} FROM service_details
        WHERE (:restaurant_id IS NULL OR restaurant_id = :restaurant_id)
          AND (:from_date IS NULL OR service_date >= :from_date)
          AND (:until_date IS NULL OR service_date <= :until_date)
          AND (:meal IS NULL OR meal = :meal)
          AND (:status IS NULL OR status = :status)
        ORDER BY first_arrival_at, restaurant_name, service_id
        """,
        restaurant_id=restaurant_id,
        from_date=from_date,
        until_date=until_date,
        meal=meal,
        status=status,
    )
    return cast("Services", {"services": services})


def list_tables(
    db: Database,
    *,
    restaurant_id: str,
    status: Literal["in_use", "out_of_order"] | None = None,
) -> DiningTables:
    """List the tables of a restaurant, and its pairs of tables that can be joined.

    Pairs are listed whatever the status of their tables.

    Args:
        restaurant_id: The restaurant, as `list_restaurants` shows it.
        status: Only tables in this status.
    """
    _require_restaurant(db, restaurant_id)
    tables = db.all(
        f"""
        SELECT {TABLE_COLUMNS} FROM table_details
        WHERE restaurant_id = :restaurant_id AND (:status IS NULL OR status = :status)
        ORDER BY label, table_id
        """,
        restaurant_id=restaurant_id,
        status=status,
    )
    pairs = db.all(
        """
        SELECT x.table_id AS table_id, y.table_id AS joined_table_id, x.label || ' + ' || y.label AS labels,
          j.min_guests AS min_guests, j.max_guests AS max_guests
        FROM table_joins j
        JOIN table_details x ON x.table_id = j.table_a
        JOIN table_details y ON y.table_id = j.table_b
        WHERE x.restaurant_id = :restaurant_id
        ORDER BY x.table_id, y.table_id
        """,
        restaurant_id=restaurant_id,
    )
    return cast("DiningTables", {"tables": tables, "pairs": pairs})


def find_free_tables(db: Database, *, service_id: str, arrives_at: str, party_size: int) -> FreeTables:
    """Find the tables and pairs that fit a party and are free for its whole stay, with how many guests arrive then.

    The smallest that fit come first. Tables that are kept by an offer to a waiting guest are left out. A table that is free
    does not help when `covers_arriving` or `covers` leave no room for the party.

    Args:
        service_id: The service, as `find_services` shows it.
        arrives_at: The arrival, `YYYY-MM-DD HH:MM:SS`, on a quarter hour.
        party_size: The number of guests.
    """
    service = _service(db, service_id)
    _check_moment("arrives_at", arrives_at)
    if not service["first_arrival_at"] <= arrives_at <= service["last_arrival_at"] or arrives_at[14:] not in QUARTERS:
        raise ToolError(
            f"{arrives_at} is no arrival time of {service_id}; ask for a quarter hour"
            f" from {service['first_arrival_at']} to {service['last_arrival_at']}"
        )
    band = db.one(
        "SELECT stay_minutes FROM party_bands WHERE :party_size BETWEEN min_guests AND max_guests ORDER BY min_guests, id",
        party_size=party_size,
    )
    if band is None:
        raise ToolError(f"no table is found for a party of {party_size}; list_terms shows the sizes that are taken")
    house = db.one("SELECT reset_minutes FROM restaurants WHERE id = :id", id=service["restaurant_id"])
    reset_minutes = 0 if house is None else house["reset_minutes"]
    free_from = _minutes_later(arrives_at, band["stay_minutes"] + reset_minutes)
    taken = {
        row["table_id"]
        for row in db.all(
            """
            SELECT table_id FROM occupancy
            WHERE status IN ('held', 'confirmed', 'seated') AND starts_at < :free_from AND free_from > :arrives_at
            UNION
            SELECT table_id FROM standing_offers WHERE starts_at < :free_from AND free_from > :arrives_at
            ORDER BY table_id
            """,
            free_from=free_from,
            arrives_at=arrives_at,
        )
    }
    fitting = db.all(
        """
        SELECT t.table_id AS table_id, NULL AS joined_table_id, t.label AS label, t.area_name AS area_name,
          t.min_guests AS min_guests, t.max_guests AS max_guests
        FROM table_details t
        WHERE t.restaurant_id = :restaurant_id AND t.status = 'in_use'
          AND :party_size BETWEEN t.min_guests AND t.max_guests
        UNION ALL
        SELECT x.table_id, y.table_id, x.label || ' + ' || y.label, x.area_name, j.min_guests, j.max_guests
        FROM table_joins j
        JOIN table_details x ON x.table_id = j.table_a
        JOIN table_details y ON y.table_id = j.table_b
        WHERE x.restaurant_id = :restaurant_id AND x.status = 'in_use' AND y.status = 'in_use'
          AND :party_size BETWEEN j.min_guests AND j.max_guests
        ORDER BY max_guests, table_id, joined_table_id
        """,
        restaurant_id=service["restaurant_id"],
        party_size=party_size,
    )
    free_tables = [row for row in fitting if row["table_id"] not in taken and row["joined_table_id"] not in taken]
    arriving = db.one(
        "SELECT coalesce(sum(covers), 0) AS covers FROM arrivals WHERE service_id = :service_id AND starts_at = :arrives_at",
        service_id=service_id,
        arrives_at=arrives_at,
    )
    return cast(
        "FreeTables",
        {
            "free_tables": free_tables,
            "covers_arriving": 0 if arriving is None else arriving["covers"],
            "pacing_limit": service["pacing_limit"],
            "covers": service["covers"],
            "cover_limit": service["cover_limit"],
        },
    )


def find_guests(
    db: Database, *, name: str | None = None, email: str | None = None, blocked: bool | None = None
) -> Guests:
    """Find guests by name or e-mail, in the order of their names.

    Several guests may have similar names; compare the e-mail address before acting for one of them.

    Args:
        name: A part of the guest's or the assistant's name.
        email: The whole e-mail address.
        blocked: `true` for blocked guests only, `false` for the others only.
    """
    if name is not None and not name.strip():
        raise ToolError("the name to look for is empty; give a part of it or leave it out")
    if email is not None and not email.strip():
        raise ToolError("the e-mail address to look for is empty; give all of it or leave it out")
    rows = db.all(f"SELECT {GUEST_COLUMNS} FROM guest_details ORDER BY name, guest_id")
    if name is not None:
        part = name.strip().casefold()
        rows = [row for row in rows if part in row["name"].casefold() or part in (row["assistant"] or "").casefold()]
    if email is not None:
        address = email.strip().casefold()
        rows = [row for row in rows if row["email"].casefold() == address]
    if blocked is not None:
        rows = [row for row in rows if (row["blocked_on"] is not None) == blocked]
    return cast("Guests", {"guests": rows})


def list_blocks(db: Database, *, guest_id: str | None = None, open_only: bool = False) -> Blocks:
    """List the blocks of guests, the latest first, with the managers who set and lifted them.

    Args:
        guest_id: Only blocks of this guest, as `find_guests` shows it.
        open_only: `true` for blocks that have not been lifted.
    """
    if guest_id is not None:
        _guest(db, guest_id)
    blocks = db.all(
        f"""
        {BLOCKS_WITH_NAMES}
        WHERE (:guest_id IS NULL OR b.guest_id = :guest_id) AND (:open_only = 0 OR b.lifted_on IS NULL)
        ORDER BY b.blocked_on DESC, b.id
        """,
        guest_id=guest_id,
        open_only=int(open_only),
    )
    return cast("Blocks", {"blocks": blocks})


def find_reservations(
    db: Database,
    *,
    guest_id: str | None = None,
    restaurant_id: str | None = None,
    service_id: str | None = None,
    table_id: str | None = None,
    date: str | None = None,
    status: Literal["held", "confirmed", "seated", "completed", "cancelled", "no_show"] | None = None,
    deposit_overdue: bool = False,
) -> Reservations:
    """Find reservations, the earliest arrival first, with their tables and deposits.

    Args:
        guest_id: Only reservations of this guest, as `find_guests` shows it.
        restaurant_id: Only reservations in this restaurant, as `list_restaurants` shows it.
        service_id: Only reservations for this service, as `find_services` shows it.
        table_id: Only reservations at this table, also as a part of a pair, as `list_tables` shows it.
        date: Only arrivals on this day, `YYYY-MM-DD`.
        status: Only reservations in this status.
        deposit_overdue: `true` for held reservations whose deposit was due before now.
    """
    if guest_id is not None:
        _guest(db, guest_id)
    if restaurant_id is not None:
        _require_restaurant(db, restaurant_id)
    if service_id is not None:
        _service(db, service_id)
    if table_id is not None:
        _table(db, table_id)
    if date is not None:
        _check_date("date", date)
    reservations = db.all(
        f"""
        SELECT {RESERVATION_COLUMNS} FROM reservation_details
        WHERE (:guest_id IS NULL OR guest_id = :guest_id)
          AND (:restaurant_id IS NULL OR restaurant_id = :restaurant_id)
          AND (:service_id IS NULL OR service_id = :service_id)
          AND (:table_id IS NULL OR table_id = :table_id OR joined_table_id = :table_id)
          AND (:day IS NULL OR date(starts_at) = :day)
          AND (:status IS NULL OR status = :status)
          AND (:overdue = 0 OR (status = 'held' AND deposit_status = 'due' AND deposit_due_by < :now))
        ORDER BY starts_at, reservation_id
        """,
        guest_id=guest_id,
        restaurant_id=restaurant_id,
        service_id=service_id,
        table_id=table_id,
        day=date,
        status=status,
        overdue=int(deposit_overdue),
        now=db.now(),
    )
    return cast("Reservations", {"reservations": reservations})


def find_waiting_entries(
    db: Database,
    *,
    service_id: str | None = None,
    guest_id: str | None = None,
    status: Literal["waiting", "offered", "accepted", "expired", "withdrawn"] | None = None,
) -> WaitingEntries:
    """Find places on the waiting lists, those who joined first at the top.

    An offer whose `offer_until` has passed stays `offered`, and keeps its table, until the place is ended as lapsed.

    Args:
        service_id: Only places for this service, as `find_services` shows it.
        guest_id: Only places of this guest, as `find_guests` shows it.
        status: Only places in this status.
    """
    if service_id is not None:
        _service(db, service_id)
    if guest_id is not None:
        _guest(db, guest_id)
    entries = db.all(
        f"""
        SELECT {WAITING_COLUMNS} FROM waiting_details
        WHERE (:service_id IS NULL OR service_id = :service_id)
          AND (:guest_id IS NULL OR guest_id = :guest_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY joined_at, entry_id
        """,
        service_id=service_id,
        guest_id=guest_id,
        status=status,
    )
    return cast("WaitingEntries", {"entries": entries})


def register_guest(
    db: Database, *, name: str, email: str, phone: str | None = None, assistant: str | None = None
) -> Guest:
    """Register a new guest, who becomes a regular guest. Look with `find_guests` first whether the guest is known.

    Args:
        name: The full name.
        email: The e-mail address, which no other guest has.
        phone: The phone number, if told.
        assistant: The name of the assistant who may act for the guest, if there is one.
    """
    full_name = _text("name", name)
    address = _text("email", email)
    if EMAIL.fullmatch(address) is None:
        raise ToolError(f"{address!r} is not an e-mail address; ask the guest for it")
    known = db.one(
        "SELECT id, name FROM guests WHERE lower(email) = lower(:email) ORDER BY id LIMIT 1", email=address
    )
    if known is not None:
        raise ToolError(f"{address} belongs to {known['name']} ({known['id']}) already; a guest is registered once")
    guest_id = db.new_id("gst")
    db.run(
        """
        INSERT INTO guests (id, name, email, phone, tier_id, assistant, registered_on)
        VALUES (:id, :name, :email, :phone, 'regular', :assistant, :today)
        """,
        id=guest_id,
        name=full_name,
        email=address,
        phone=None if phone is None else _text("phone", phone),
        assistant=None if assistant is None else _text("assistant", assistant),
        today=db.now()[:10],
    )
    return _guest(db, guest_id)


def book_table(
    db: Database,
    *,
    guest_id: str,
    service_id: str,
    arrives_at: str,
    party_size: int,
    table_id: str,
    joined_table_id: str | None = None,
    note: str = "",
) -> Reservation:
    """Make a reservation. It is confirmed at once, or held with a deposit due if the party owes one.

    Args:
        guest_id: The guest, as `find_guests` shows it.
        service_id: The service, as `find_services` shows it.
        arrives_at: The arrival, `YYYY-MM-DD HH:MM:SS`.
        party_size: The number of guests.
        table_id: The table, as `find_free_tables` shows it.
        joined_table_id: The second table of a pair, as `find_free_tables` shows it.
        note: What the restaurant should know, in a few words.
    """
    return _book(db, guest_id, service_id, arrives_at, party_size, table_id, joined_table_id, note.strip())


def move_reservation(
    db: Database,
    *,
    reservation_id: str,
    arrives_at: str | None = None,
    service_id: str | None = None,
    table_id: str | None = None,
    joined_table_id: str | None = None,
) -> Reservation:
    """Move an upcoming reservation to another time, day or table of the same restaurant. What is left out stays as it is.

    With a new `table_id` the party sits at that table alone, unless `joined_table_id` is given too.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
        arrives_at: The new arrival, `YYYY-MM-DD HH:MM:SS`.
        service_id: The new service, as `find_services` shows it; only when the day or the meal changes, and then with `arrives_at`.
        table_id: The new table, as `find_free_tables` shows it.
        joined_table_id: The second table of a new pair, only together with `table_id`.
    """
    present = _upcoming(db, reservation_id)
    if service_id is not None:
        _service(db, service_id)
        if arrives_at is None:
            raise ToolError(f"arrives_at is missing; say when the party arrives in {service_id}")
    if arrives_at is not None:
        _check_moment("arrives_at", arrives_at)
    first_table, second_table = _new_tables(db, present, table_id, joined_table_id)
    new_service = present["service_id"] if service_id is None else service_id
    new_start = present["starts_at"] if arrives_at is None else arrives_at
    same_time = new_service == present["service_id"] and new_start == present["starts_at"]
    if same_time and first_table == present["table_id"] and second_table == present["joined_table_id"]:
        raise ToolError(f"{reservation_id} is at that time and table already; say what is to change")
    if not same_time:
        _check_change(db, present)
        deposit = _open_deposit(db, reservation_id)
        free_until = _minutes_later(db.now(), FULL_REFUND_HOURS * 60)
        if deposit is not None and deposit["status"] == "paid" and present["starts_at"] < free_until:
            # rule: no_late_move_with_deposit
            raise ToolError(
                f"the deposit of {_euros(deposit['amount_cents'])} euros for {reservation_id} is paid and less than"
                f" {FULL_REFUND_HOURS} hours are left until {present['starts_at']}; its time stays, its tables may change"
            )
        _check_window(db, new_start)
    db.run(
        """
        UPDATE reservations
        SET service_id = :service_id, starts_at = :starts_at, table_id = :table_id, joined_table_id = :joined_table_id,
          agreed_at = :agreed_at
        WHERE id = :id
        """,
        service_id=new_service,
        starts_at=new_start,
        table_id=first_table,
        joined_table_id=second_table,
        agreed_at=present["agreed_at"] if same_time else db.now(),
        id=reservation_id,
    )
    return _reservation(db, reservation_id)


def change_party_size(
    db: Database,
    *,
    reservation_id: str,
    party_size: int,
    table_id: str | None = None,
    joined_table_id: str | None = None,
) -> Reservation:
    """Change the number of guests of an upcoming reservation, and its tables where the present ones no longer fit.

    A deposit that comes to be owed, changes or falls away is dealt with at once, and the reservation held or confirmed accordingly.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
        party_size: The new number of guests.
        table_id: The new table, if it changes, as `find_free_tables` shows it.
        joined_table_id: The second table of a new pair, only together with `table_id`.
    """
    present = _upcoming(db, reservation_id)
    first_table, second_table = _new_tables(db, present, table_id, joined_table_id)
    band = _band(db, party_size)
    if party_size == present["party_size"]:
        raise ToolError(f"{reservation_id} is for {party_size} already; say another number of guests")
    _check_change(db, present)
    owed_cents = party_size * band["deposit_per_head_cents"]
    deposit = _open_deposit(db, reservation_id)
    status = present["status"]
    if deposit is None:
        status = "held" if owed_cents > 0 else "confirmed"
    elif deposit["status"] == "paid":
        if owed_cents > deposit["amount_cents"]:
            # rule: paid_party_does_not_grow
            raise ToolError(
                f"the paid deposit of {_euros(deposit['amount_cents'])} euros covers fewer heads than {party_size},"
                f" which would owe {_euros(owed_cents)}; more guests need a reservation of their own"
            )
    elif owed_cents == 0:
        status = "confirmed"
        _settle(db, deposit["id"], "void", 0)
    db.run(
        """
        UPDATE reservations
        SET party_size = :party_size, band_id = :band_id, table_id = :table_id, joined_table_id = :joined_table_id,
          status = :status, agreed_at = :now
        WHERE id = :id
        """,
        party_size=party_size,
        band_id=band["id"],
        table_id=first_table,
        joined_table_id=second_table,
        status=status,
        now=db.now(),
        id=reservation_id,
    )
    if deposit is None and owed_cents > 0:
        _ask_deposit(db, reservation_id, owed_cents)
    if deposit is not None and deposit["status"] == "due" and owed_cents > 0:
        db.run("UPDATE deposits SET amount_cents = :cents WHERE id = :id", cents=owed_cents, id=deposit["id"])
    return _reservation(db, reservation_id)


def record_deposit(db: Database, *, reservation_id: str) -> Reservation:
    """Record that the whole deposit of a held reservation has been paid, which confirms the reservation.

    Args:
        reservation_id: The held reservation, as `find_reservations` shows it.
    """
    present = _row(db, reservation_id)
    deposit = _open_deposit(db, reservation_id)
    if present["status"] != "held" or deposit is None or deposit["status"] != "due":
        raise ToolError(f"no deposit is due for {reservation_id}, which is {present['status']}; only held ones are paid for")
    db.run("UPDATE deposits SET status = 'paid', paid_at = :now WHERE id = :id", now=db.now(), id=deposit["id"])
    db.run("UPDATE reservations SET status = 'confirmed' WHERE id = :id", id=reservation_id)
    return _reservation(db, reservation_id)


def cancel_reservation(db: Database, *, reservation_id: str, called_off_by: str | None = None) -> Reservation:
    """Cancel an upcoming reservation and return of its deposit what is to be returned, see `refunded_cents`.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
        called_off_by: The manager who calls it off for the restaurant, as `list_restaurants` shows it; leave it out when the guest cancels.
    """
    present = _upcoming(db, reservation_id)
    if called_off_by is not None:
        service = _service(db, present["service_id"])
        _require_manager_of(db, called_off_by, service["restaurant_id"])
    now = db.now()
    if now >= present["starts_at"]:
        # rule: cancelled_in_time
        raise ToolError(
            f"the arrival time of {reservation_id}, {present['starts_at']}, has come; it can no longer be cancelled,"
            " only seated, marked as a no-show or, while held, released"
        )
    deposit = _open_deposit(db, reservation_id)
    if deposit is not None and deposit["status"] == "due":
        _settle(db, deposit["id"], "void", 0)
    elif deposit is not None:
        amount_cents = deposit["amount_cents"]
        if called_off_by is not None or present["starts_at"] >= _minutes_later(now, FULL_REFUND_HOURS * 60):
            _settle(db, deposit["id"], "refunded", amount_cents)
        elif present["starts_at"] >= _minutes_later(now, HALF_REFUND_HOURS * 60):
            _settle(db, deposit["id"], "part_refunded", amount_cents // 2)
        else:
            _settle(db, deposit["id"], "forfeited", 0)
    _cancel(db, reservation_id, "guest" if called_off_by is None else "house", called_off_by)
    return _reservation(db, reservation_id)


def release_hold(db: Database, *, reservation_id: str) -> Reservation:
    """Release the table of a held reservation whose deposit has not been paid in time.

    Args:
        reservation_id: The held reservation, as `find_reservations` with `deposit_overdue` shows it.
    """
    present = _row(db, reservation_id)
    if present["status"] != "held":
        raise ToolError(f"{reservation_id} is {present['status']}; only held reservations are released")
    now = db.now()
    deposit = _open_deposit(db, reservation_id)
    if deposit is not None and now <= deposit["due_by"] and now < present["starts_at"]:
        # rule: cancelled_in_time
        raise ToolError(
            f"the deposit of {reservation_id} can still be paid until {deposit['due_by']}; it is not released before that"
        )
    if deposit is not None:
        _settle(db, deposit["id"], "void", 0)
    _cancel(db, reservation_id, "released", None)
    return _reservation(db, reservation_id)


def seat_party(db: Database, *, reservation_id: str) -> Reservation:
    """Record that the party of a confirmed reservation has arrived and sits at its table.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
    """
    present = _row(db, reservation_id)
    if present["status"] == "held":
        # rule: confirmed_when_paid
        raise ToolError(f"{reservation_id} is only held, its deposit is not paid; the party is seated once that is recorded")
    if present["status"] != "confirmed":
        raise ToolError(f"{reservation_id} is {present['status']}; only parties of confirmed reservations are seated")
    now = db.now()
    if present["starts_at"] > _minutes_later(now, SEATING_LEAD_MINUTES):
        # rule: seating_time
        raise ToolError(
            f"it is {now}, too early to seat the party of {present['starts_at']};"
            f" it may sit down {SEATING_LEAD_MINUTES} minutes before its arrival time"
        )
    db.run("UPDATE reservations SET status = 'seated', seated_at = :now WHERE id = :id", now=now, id=reservation_id)
    return _reservation(db, reservation_id)


def complete_reservation(db: Database, *, reservation_id: str) -> Reservation:
    """Record that a seated party has left. A paid deposit is credited to the bill.

    Args:
        reservation_id: The seated reservation, as `find_reservations` shows it.
    """
    present = _row(db, reservation_id)
    if present["status"] != "seated":
        raise ToolError(f"{reservation_id} is {present['status']}; only a seated party can have left")
    deposit = _open_deposit(db, reservation_id)
    if deposit is not None:
        _settle(db, deposit["id"], "credited", 0)
    db.run("UPDATE reservations SET status = 'completed', closed_at = :now WHERE id = :id", now=db.now(), id=reservation_id)
    return _reservation(db, reservation_id)


def mark_no_show(db: Database, *, reservation_id: str) -> Reservation:
    """Record that the party of a confirmed reservation did not come.

    The deposit is forfeited, and the guest is blocked at once if this was one no-show too many; `find_guests` shows it.

    Args:
        reservation_id: The confirmed reservation, as `find_reservations` shows it.
    """
    present = _row(db, reservation_id)
    if present["status"] != "confirmed":
        raise ToolError(f"{reservation_id} is {present['status']}; only a confirmed reservation becomes a no-show")
    db.run("UPDATE reservations SET status = 'no_show', closed_at = :now WHERE id = :id", now=db.now(), id=reservation_id)
    deposit = _open_deposit(db, reservation_id)
    if deposit is not None:
        _settle(db, deposit["id"], "forfeited", 0)
    too_many = db.one(
        """
        SELECT a.reservation_id AS reservation_id
        FROM counted_no_shows a
        JOIN counted_no_shows b ON b.guest_id = a.guest_id
          AND date(b.starts_at) BETWEEN date(a.starts_at) AND date(a.starts_at, '+180 days')
        WHERE a.guest_id = :guest_id
        GROUP BY a.reservation_id
        HAVING count(*) >= :most
        ORDER BY a.reservation_id LIMIT 1
        """,
        guest_id=present["guest_id"],
        most=NO_SHOWS_THAT_BLOCK,
    )
    if too_many is not None:
        _block(db, present["guest_id"], "no_shows", None)
    return _reservation(db, reservation_id)


def join_waiting_list(db: Database, *, guest_id: str, service_id: str, party_size: int) -> WaitingEntry:
    """Put a guest on the waiting list of a service.

    Args:
        guest_id: The guest, as `find_guests` shows it.
        service_id: The service, as `find_services` shows it.
        party_size: The number of guests.
    """
    guest = _guest(db, guest_id)
    service = _service(db, service_id)
    _band(db, party_size)
    if guest["blocked_on"] is not None:
        # rule: blocked_guests_do_not_book
        raise ToolError(f"{guest['name']} is blocked since {guest['blocked_on']} and cannot join a waiting list")
    present = db.one(
        """
        SELECT id, status FROM waiting_entries
        WHERE guest_id = :guest_id AND service_id = :service_id AND status IN ('waiting', 'offered')
        ORDER BY id LIMIT 1
        """,
        guest_id=guest_id,
        service_id=service_id,
    )
    if present is not None:
        # rule: one_open_place
        raise ToolError(
            f"{guest['name']} has an open place for {service_id} already, {present['id']} ({present['status']});"
            " it must be ended before another"
        )
    now = db.now()
    if service["last_arrival_at"] < _minutes_later(now, NOTICE_MINUTES):
        raise ToolError(f"it is {now}, and {service_id} takes its last guests at {service['last_arrival_at']}; waiting is in vain")
    entry_id = db.new_id("wait")
    db.run(
        """
        INSERT INTO waiting_entries (id, guest_id, service_id, party_size, joined_at, status)
        VALUES (:id, :guest_id, :service_id, :party_size, :now, 'waiting')
        """,
        id=entry_id,
        guest_id=guest_id,
        service_id=service_id,
        party_size=party_size,
        now=now,
    )
    return _entry(db, entry_id)


def offer_table(db: Database, *, entry_id: str, table_id: str, arrives_at: str) -> WaitingEntry:
    """Offer a free table to a waiting guest and keep it until `offer_until`.

    Args:
        entry_id: The place on the waiting list, as `find_waiting_entries` shows it.
        table_id: One table, as `find_free_tables` shows it; pairs are not offered.
        arrives_at: The arrival, `YYYY-MM-DD HH:MM:SS`.
    """
    entry = _entry(db, entry_id)
    _table(db, table_id)
    _check_moment("arrives_at", arrives_at)
    if entry["status"] != "waiting":
        raise ToolError(f"{entry_id} is {entry['status']}; an offer goes to a guest who is waiting")
    if arrives_at[14:] not in QUARTERS:
        raise ToolError(f"{arrives_at} is not a quarter hour; offer an arrival at :00, :15, :30 or :45")
    _check_window(db, arrives_at)
    db.run(
        """
        UPDATE waiting_entries
        SET status = 'offered', offered_table_id = :table_id, offered_for = :arrives_at, offered_at = :now,
          offer_until = datetime(:now, '+2 hours')
        WHERE id = :id
        """,
        table_id=table_id,
        arrives_at=arrives_at,
        now=db.now(),
        id=entry_id,
    )
    return _entry(db, entry_id)


def accept_offer(db: Database, *, entry_id: str) -> Reservation:
    """Make the reservation that a waiting guest was offered and has accepted.

    Args:
        entry_id: The place with the offer, as `find_waiting_entries` shows it.
    """
    entry = _entry(db, entry_id)
    table_id = entry["offered_table_id"]
    arrives_at = entry["offered_for"]
    if entry["status"] != "offered" or table_id is None or arrives_at is None:
        raise ToolError(f"{entry_id} is {entry['status']}; no offer stands that could be accepted")
    reservation = _book(
        db,
        entry["guest_id"],
        entry["service_id"],
        arrives_at,
        entry["party_size"],
        table_id,
        None,
        "from the waiting list",
    )
    db.run(
        "UPDATE waiting_entries SET status = 'accepted', closed_at = :now, reservation_id = :reservation_id WHERE id = :id",
        now=db.now(),
        reservation_id=reservation["reservation_id"],
        id=entry_id,
    )
    return reservation


def end_waiting(db: Database, *, entry_id: str, reason: Literal["withdrawn", "expired"]) -> WaitingEntry:
    """End an open place on a waiting list without a reservation.

    Args:
        entry_id: The place, as `find_waiting_entries` shows it.
        reason: `withdrawn` when the guest declines or no longer wants to wait, `expired` when the offer has lapsed.
    """
    entry = _entry(db, entry_id)
    if entry["status"] not in ("waiting", "offered"):
        raise ToolError(f"{entry_id} is {entry['status']} already; only open places can be ended")
    if reason == "expired" and entry["status"] == "waiting":
        raise ToolError(f"{entry_id} has had no offer that could have lapsed; it can only be withdrawn")
    db.run(
        "UPDATE waiting_entries SET status = :status, closed_at = :now WHERE id = :id",
        status=reason,
        now=db.now(),
        id=entry_id,
    )
    return _entry(db, entry_id)


def open_service(db: Database, *, service_id: str, manager_id: str) -> Service:
    """Open a planned service for booking.

    Args:
        service_id: The planned service, as `find_services` shows it.
        manager_id: The manager who asks for it, as `list_restaurants` shows it.
    """
    service = _service(db, service_id)
    _require_manager_of(db, manager_id, service["restaurant_id"])
    if service["status"] != "planned":
        raise ToolError(f"{service_id} is {service['status']}; only planned services are opened")
    db.run("UPDATE services SET status = 'open' WHERE id = :id", id=service_id)
    return _service(db, service_id)


def close_service(db: Database, *, service_id: str, manager_id: str) -> Service:
    """Close a service for good. Guests who still wait for it without an offer lose their places.

    Args:
        service_id: The planned or open service, as `find_services` shows it.
        manager_id: The manager who asks for it, as `list_restaurants` shows it.
    """
    service = _service(db, service_id)
    _require_manager_of(db, manager_id, service["restaurant_id"])
    if service["status"] == "closed":
        raise ToolError(f"{service_id} is closed already; nothing is left to do")
    db.run("UPDATE services SET status = 'closed' WHERE id = :id", id=service_id)
    db.run(
        "UPDATE waiting_entries SET status = 'expired', closed_at = :now WHERE service_id = :id AND status = 'waiting'",
        now=db.now(),
        id=service_id,
    )
    return _service(db, service_id)


def take_table_out(db: Database, *, table_id: str, manager_id: str, out_reason: str) -> DiningTable:
    """Take a table out of order. Move its reservations with `move_reservation` first.

    Args:
        table_id: The table, as `list_tables` shows it.
        manager_id: The manager who asks for it, as `list_restaurants` shows it.
        out_reason: What is wrong with the table, in a few words.
    """
    table = _table(db, table_id)
    _require_manager_of(db, manager_id, table["restaurant_id"])
    what_is_wrong = _text("out_reason", out_reason)
    if table["status"] == "out_of_order":
        raise ToolError(f"{table_id} is out of order already: {table['out_reason']}")
    db.run(
        "UPDATE dining_tables SET status = 'out_of_order', out_reason = :out_reason WHERE id = :id",
        out_reason=what_is_wrong,
        id=table_id,
    )
    return _table(db, table_id)


def put_table_back(db: Database, *, table_id: str, manager_id: str) -> DiningTable:
    """Put a table that was out of order back into use.

    Args:
        table_id: The table, as `list_tables` shows it.
        manager_id: The manager who asks for it, as `list_restaurants` shows it.
    """
    table = _table(db, table_id)
    _require_manager_of(db, manager_id, table["restaurant_id"])
    if table["status"] == "in_use":
        raise ToolError(f"{table_id} is in use already; only a table that is out of order is put back")
    db.run("UPDATE dining_tables SET status = 'in_use', out_reason = NULL WHERE id = :id", id=table_id)
    return _table(db, table_id)


def block_guest(db: Database, *, guest_id: str, manager_id: str) -> Block:
    """Block a guest for conduct. The guest's open places on waiting lists are withdrawn; reservations stand.

    Args:
        guest_id: The guest, as `find_guests` shows it.
        manager_id: The manager who asks for it, as `list_restaurants` shows it.
    """
    guest = _guest(db, guest_id)
    manager = _manager(db, manager_id)
    if guest["blocked_on"] is not None:
        raise ToolError(f"{guest['name']} is blocked since {guest['blocked_on']} already; one block is enough")
    return _block_row(db, _block(db, guest_id, "conduct", manager["id"]))


def lift_block(db: Database, *, guest_id: str, manager_id: str) -> Block:
    """Lift the block of a guest.

    Args:
        guest_id: The blocked guest, as `find_guests` shows it.
        manager_id: The manager who lifts it, as `list_restaurants` shows it.
    """
    guest = _guest(db, guest_id)
    manager = _manager(db, manager_id)
    block = db.one(
        "SELECT id FROM blocks WHERE guest_id = :guest_id AND lifted_on IS NULL ORDER BY id LIMIT 1", guest_id=guest_id
    )
    if block is None:
        raise ToolError(f"{guest['name']} is not blocked; there is nothing to lift")
    db.run(
        "UPDATE blocks SET lifted_on = :today, lifted_by = :manager_id WHERE id = :id",
        today=db.now()[:10],
        manager_id=manager["id"],
        id=block["id"],
    )
    return _block_row(db, block["id"])


def _require_restaurant(db: Database, restaurant_id: str) -> None:
    if db.one("SELECT id FROM restaurants WHERE id = :id", id=restaurant_id) is None:
        raise ToolError(f"no restaurant {restaurant_id!r}; list_restaurants lists them")


def _service(db: Database, service_id: str) -> Service:
    row = db.one(f"SELECT {SERVICE_COLUMNS} FROM service_details WHERE service_id = :id", id=service_id)
    if row is None:
        raise ToolError(f"no service {service_id!r}; find_services lists them")
    return cast("Service", row)


def _check_date(argument: str, value: str) -> None:
    try:
        parsed = date.fromisoformat(value)
    except ValueError:
        raise ToolError(f"{argument} {value!r} is not a date; write it as YYYY-MM-DD") from None
    if parsed.isoformat() != value:
        raise ToolError(f"{argument} {value!r} is written otherwise than YYYY-MM-DD")


def _check_moment(argument: str, value: str) -> None:
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        raise ToolError(f"{argument} {value!r} is not a time; write it as YYYY-MM-DD HH:MM:SS") from None
    if len(value) != 19 or parsed.isoformat(sep=" ") != value:
        raise ToolError(f"{argument} {value!r} is written otherwise than YYYY-MM-DD HH:MM:SS")


def _minutes_later(moment: str, minutes: int) -> str:
    try:
        return (datetime.fromisoformat(moment) + timedelta(minutes=minutes)).isoformat(sep=" ")
    except OverflowError:
        raise ToolError(f"{moment} is too far away") from None


def _book(
    db: Database,
    guest_id: str,
    service_id: str,
    arrives_at: str,
    party_size: int,
    table_id: str,
    joined_table_id: str | None,
    note: str,
) -> Reservation:
    _guest(db, guest_id)
    _service(db, service_id)
    _check_moment("arrives_at", arrives_at)
    first_table, second_table = _ordered_tables(db, table_id, joined_table_id)
    band = _band(db, party_size)
    _check_window(db, arrives_at)
    now = db.now()
    deposit_cents = party_size * band["deposit_per_head_cents"]
    reservation_id = db.new_id("res")
    db.run(
        """
        INSERT INTO reservations
          (id, guest_id, service_id, party_size, band_id, starts_at, table_id, joined_table_id, status, note, made_at, agreed_at)
        VALUES
          (:id, :guest_id, :service_id, :party_size, :band_id, :starts_at, :table_id, :joined_table_id, :status, :note, :now, :now)
        """,
        id=reservation_id,
        guest_id=guest_id,
        service_id=service_id,
        party_size=party_size,
        band_id=band["id"],
        starts_at=arrives_at,
        table_id=first_table,
        joined_table_id=second_table,
        status="held" if deposit_cents > 0 else "confirmed",
        note=note,
        now=now,
    )
    if deposit_cents > 0:
        _ask_deposit(db, reservation_id, deposit_cents)
    return _reservation(db, reservation_id)


def _ask_deposit(db: Database, reservation_id: str, amount_cents: int) -> None:
    db.run(
        """
        INSERT INTO deposits (id, reservation_id, amount_cents, status, asked_at, due_by)
        VALUES (:id, :reservation_id, :amount_cents, 'due', :now, datetime(:now, '+48 hours'))
        """,
        id=db.new_id("dep"),
        reservation_id=reservation_id,
        amount_cents=amount_cents,
        now=db.now(),
    )


def _check_window(db: Database, arrives_at: str) -> None:
    now = db.now()
    earliest = _minutes_later(now, NOTICE_MINUTES)
    if arrives_at < earliest:
        # rule: booking_window
        raise ToolError(
            f"it is {now}, too late to arrange an arrival at {arrives_at}; {NOTICE_MINUTES} minutes of notice are needed"
        )
    last_day = (date.fromisoformat(now[:10]) + timedelta(days=DAYS_AHEAD)).isoformat()
    if arrives_at[:10] > last_day:
        # rule: booking_window
        raise ToolError(
            f"{arrives_at[:10]} is too far ahead; reservations are arranged for days up to {last_day} at present"
        )


def _band(db: Database, party_size: int) -> dict[str, Any]:
    row = db.one(
        """
        SELECT id, min_guests, max_guests, stay_minutes, deposit_per_head_cents FROM party_bands
        WHERE :party_size BETWEEN min_guests AND max_guests
        ORDER BY min_guests, id LIMIT 1
        """,
        party_size=party_size,
    )
    if row is None:
        # rule: party_at_most_twelve
        raise ToolError(f"a party of {party_size} cannot be taken; parties have 1 to 12 guests")
    return row


def _ordered_tables(db: Database, table_id: str, joined_table_id: str | None) -> tuple[str, str | None]:
    _table(db, table_id)
    if joined_table_id is None:
        return table_id, None
    _table(db, joined_table_id)
    if joined_table_id == table_id:
        raise ToolError(f"{table_id} is named twice; a pair has two different tables")
    return min(table_id, joined_table_id), max(table_id, joined_table_id)


def _text(argument: str, value: str) -> str:
    text = value.strip()
    if not text:
        raise ToolError(f"{argument} is empty; say it in words")
    return text


def _guest(db: Database, guest_id: str) -> Guest:
    row = db.one(f"SELECT {GUEST_COLUMNS} FROM guest_details WHERE guest_id = :id", id=guest_id)
    if row is None:
        raise ToolError(f"no guest {guest_id!r}; find_guests lists them")
    return cast("Guest", row)


def _table(db: Database, table_id: str) -> DiningTable:
    row = db.one(f"SELECT {TABLE_COLUMNS} FROM table_details WHERE table_id = :id", id=table_id)
    if row is None:
        raise ToolError(f"no table {table_id!r}; list_tables lists them")
    return cast("DiningTable", row)


def _reservation(db: Database, reservation_id: str) -> Reservation:
    row = db.one(f"SELECT {RESERVATION_COLUMNS} FROM reservation_details WHERE reservation_id = :id", id=reservation_id)
    if row is None:
        raise ToolError(f"no reservation {reservation_id!r}; find_reservations lists them")
    return cast("Reservation", row)


def _row(db: Database, reservation_id: str) -> dict[str, Any]:
    row = db.one(
        """
        SELECT id, guest_id, service_id, party_size, starts_at, table_id, joined_table_id, status, agreed_at
        FROM reservations WHERE id = :id
        """,
        id=reservation_id,
    )
    if row is None:
        raise ToolError(f"no reservation {reservation_id!r}; find_reservations lists them")
    return row


def _upcoming(db: Database, reservation_id: str) -> dict[str, Any]:
    row = _row(db, reservation_id)
    if row["status"] not in ("held", "confirmed"):
        raise ToolError(f"{reservation_id} is {row['status']}; this is done to held and confirmed reservations only")
    return row


def _new_tables(
    db: Database, present: dict[str, Any], table_id: str | None, joined_table_id: str | None
) -> tuple[str, str | None]:
    if table_id is not None:
        return _ordered_tables(db, table_id, joined_table_id)
    if joined_table_id is not None:
        raise ToolError(f"table_id is missing; name both tables of the pair with {joined_table_id}")
    return present["table_id"], present["joined_table_id"]


def _check_change(db: Database, present: dict[str, Any]) -> None:
    now = db.now()
    if present["starts_at"] < _minutes_later(now, NOTICE_MINUTES):
        # rule: booking_window
        raise ToolError(
            f"it is {now}, less than {NOTICE_MINUTES} minutes before the present arrival at {present['starts_at']};"
            " the time and the number of guests stay as they are"
        )
    guest = _guest(db, present["guest_id"])
    if guest["blocked_on"] is not None:
        # rule: blocked_guests_do_not_book
        raise ToolError(
            f"{guest['name']} is blocked since {guest['blocked_on']}; the reservation stands or is cancelled, but not changed"
        )


def _open_deposit(db: Database, reservation_id: str) -> dict[str, Any] | None:
    return db.one(
        """
        SELECT id, amount_cents, status, due_by FROM deposits
        WHERE reservation_id = :id AND status IN ('due', 'paid')
        ORDER BY id LIMIT 1
        """,
        id=reservation_id,
    )


def _settle(db: Database, deposit_id: str, status: str, refunded_cents: int) -> None:
    db.run(
        "UPDATE deposits SET status = :status, refunded_cents = :refunded_cents, settled_at = :now WHERE id = :id",
        status=status,
        refunded_cents=refunded_cents,
        now=db.now(),
        id=deposit_id,
    )


def _cancel(db: Database, reservation_id: str, reason: str, called_off_by: str | None) -> None:
    db.run(
        """
        UPDATE reservations
        SET status = 'cancelled', closed_at = :now, cancel_reason = :reason, called_off_by = :called_off_by
        WHERE id = :id
        """,
        now=db.now(),
        reason=reason,
        called_off_by=called_off_by,
        id=reservation_id,
    )


def _manager(db: Database, manager_id: str) -> dict[str, Any]:
    row = db.one(
        """
        SELECT m.id AS id, m.name AS name, m.restaurant_id AS restaurant_id, h.name AS restaurant_name
        FROM managers m JOIN restaurants h ON h.id = m.restaurant_id
        WHERE m.id = :id
        """,
        id=manager_id,
    )
    if row is None:
        raise ToolError(f"no manager {manager_id!r}; list_restaurants lists them")
    return row


def _require_manager_of(db: Database, manager_id: str, restaurant_id: str) -> None:
    manager = _manager(db, manager_id)
    if manager["restaurant_id"] != restaurant_id:
        # rule: managers_only
        raise ToolError(
            f"{manager['name']} manages {manager['restaurant_name']} and decides nothing in another restaurant;"
            " its own manager has to ask for it"
        )


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _block(db: Database, guest_id: str, reason: str, manager_id: str | None) -> str:
    block_id = db.new_id("blk")
    now = db.now()
    db.run(
        """
        INSERT INTO blocks (id, guest_id, reason, blocked_on, blocked_by)
        VALUES (:id, :guest_id, :reason, :today, :manager_id)
        """,
        id=block_id,
        guest_id=guest_id,
        reason=reason,
        today=now[:10],
        manager_id=manager_id,
    )
    db.run(
        """
        UPDATE waiting_entries SET status = 'withdrawn', closed_at = :now
        WHERE guest_id = :guest_id AND status IN ('waiting', 'offered')
        """,
        now=now,
        guest_id=guest_id,
    )
    return block_id


def _entry(db: Database, entry_id: str) -> WaitingEntry:
    row = db.one(f"SELECT {WAITING_COLUMNS} FROM waiting_details WHERE entry_id = :id", id=entry_id)
    if row is None:
        raise ToolError(f"no place {entry_id!r} on a waiting list; find_waiting_entries lists them")
    return cast("WaitingEntry", row)


def _block_row(db: Database, block_id: str) -> Block:
    row = db.one(f"{BLOCKS_WITH_NAMES} WHERE b.id = :id", id=block_id)
    if row is None:
        raise ToolError(f"no block {block_id!r}; list_blocks lists them")
    return cast("Block", row)
