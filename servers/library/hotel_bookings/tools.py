"""Tools of the front desk of Gannet House, a hotel of 24 rooms."""

import re
from datetime import date, timedelta
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

MAX_NIGHTS = 21
FREE_UPGRADE_DAYS = 2
MAX_CHARGE_CENTS = 500_00
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

NEW_BOOKING = """
    INSERT INTO bookings (
        booking_id, guest_id, room_id, charged_type_id, rate_plan_id, arrival, departure, adults, children,
        status, room_total_cents, deposit_cents, created_at
    ) VALUES (
        :id, :guest_id, :room_id, :charged_type_id, :rate_plan_id, :arrival, :departure, :adults, :children,
        'tentative', :total, :deposit, :now
    )
"""


class Guest(TypedDict):
    guest_id: str
    full_name: str
    email: str
    phone: str | None
    level: str
    blocked_reason: str | None
    registered_on: str


class GuestList(TypedDict):
    guests: list[Guest]


class RoomType(TypedDict):
    room_type_id: str
    name: str
    beds: str
    grade: int
    capacity: int


class RatePlan(TypedDict):
    rate_plan_id: str
    name: str
    min_nights: int
    book_ahead_days: int
    discount_percent: int
    deposit_percent: int
    free_cancel_days: int | None
    late_fee_percent: int


class Season(TypedDict):
    season_id: str
    name: str
    first_night: str
    last_night: str
    min_nights: int


class Tariff(TypedDict):
    today: str
    room_types: list[RoomType]
    rate_plans: list[RatePlan]
    seasons: list[Season]


class Room(TypedDict):
    room_id: str
    number: int
    floor: int
    room_type_id: str
    type_name: str
    grade: int
    capacity: int
    bathroom: str
    condition: str
    closed_until: str | None
    occupied_by: str | None


class RoomList(TypedDict):
    rooms: list[Room]


class Night(TypedDict):
    night: str
    season: str
    price_cents: int


class Quote(TypedDict):
    nights: list[Night]
    total_cents: int
    deposit_cents: int
    free_cancellation_until: str | None
    late_fee_percent: int


class Booking(TypedDict):
    booking_id: str
    guest_id: str
    guest_name: str
    status: str
    room_id: str
    room_type_id: str
    charged_type_id: str
    rate_plan_id: str
    arrival: str
    departure: str
    adults: int
    children: int
    room_total_cents: int
    deposit_cents: int


class BookingList(TypedDict):
    today: str
    bookings: list[Booking]


class Charge(TypedDict):
    charge_id: str
    booking_id: str
    kind: str
    description: str
    amount_cents: int
    posted_at: str


class Payment(TypedDict):
    payment_id: str
    booking_id: str
    kind: str
    method: str
    amount_cents: int
    refunded_payment_id: str | None
    made_at: str


class Folio(TypedDict):
    booking: Booking
    charges: list[Charge]
    payments: list[Payment]
    due_cents: int
    paid_cents: int
    balance_cents: int
    cancellation_fee_cents: int | None


class Receipt(TypedDict):
    payment_id: str
    booking_id: str
    kind: str
    method: str
    amount_cents: int
    balance_cents: int


class Task(TypedDict):
    task_id: str
    room_id: str
    kind: str
    note: str
    due_on: str
    created_at: str
    done_at: str | None


class TaskList(TypedDict):
    tasks: list[Task]


# --- looking things up ---


def find_guests(db: Database, *, text: str) -> GuestList:
    """Find guests by name or e-mail address.

    A guest whose `blocked_reason` is set is blocked.

    Args:
        text: A part of the name or of the e-mail address; upper and lower case are the same.
    """
    sql = """
        SELECT * FROM guests
        WHERE instr(lower(full_name || ' ' || email), lower(trim(:text))) > 0
        ORDER BY full_name, guest_id
    """
    return {"guests": cast("list[Guest]", db.all(sql, text=text))}


def list_tariff(db: Database) -> Tariff:
    """List the room types, the rate plans and the seasons on sale.

    `today` is the day at the desk; `quote_stay` prices a stay. Cancelling is never free if `free_cancel_days` is null.
    """
    types = db.all("SELECT * FROM room_types ORDER BY grade, room_type_id")
    plans = db.all("SELECT * FROM rate_plans ORDER BY discount_percent")
    seasons = db.all("SELECT * FROM seasons ORDER BY first_night")
    return {
        "today": _today(db),
        "room_types": cast("list[RoomType]", types),
        "rate_plans": cast("list[RatePlan]", plans),
        "seasons": cast("list[Season]", seasons),
    }


def find_rooms(
    db: Database,
    *,
    arrival: str | None = None,
    departure: str | None = None,
    room_type_id: str | None = None,
    condition: Literal["clean", "dirty"] | None = None,
    party: int = 1,
) -> RoomList:
    """Find rooms; with an arrival and a departure, only those that are free for all nights between.

    `condition` and `occupied_by` (a booking) tell how the room is now.

    Args:
        arrival: The first night, as YYYY-MM-DD; goes with `departure`.
        departure: The day on which the guest leaves, as YYYY-MM-DD.
        room_type_id: Only rooms of this type, as `list_tariff` shows it.
        condition: Only rooms that housekeeping has left so.
        party: Only rooms for at least as many people.
    """
    if (arrival is None) != (departure is None):
        raise ToolError("arrival and departure go together; give both, or neither to see all rooms")
    if arrival is not None and departure is not None:
        _stay_length(arrival, departure)
    if room_type_id is not None:
        _room_type(db, room_type_id)
    sql = """
        SELECT * FROM room_list AS r
        WHERE capacity >= :party
            AND (:room_type_id IS NULL OR room_type_id = :room_type_id)
            AND (:condition IS NULL OR condition = :condition)
            AND (:arrival IS NULL OR closed_until IS NULL OR closed_until <= :arrival)
            AND NOT EXISTS (
                SELECT 1 FROM bookings AS b
                WHERE b.room_id = r.room_id AND b.status IN ('tentative', 'confirmed', 'in_house')
                    AND b.arrival < :departure AND b.departure > :arrival
            )
        ORDER BY number
    """
    rooms = db.all(
        sql, arrival=arrival, departure=departure, room_type_id=room_type_id, condition=condition, party=party
    )
    return {"rooms": cast("list[Room]", rooms)}


def quote_stay(db: Database, *, room_type_id: str, rate_plan_id: str, arrival: str, departure: str) -> Quote:
    """Price a new stay night by night, with its deposit and its terms of cancellation.

    It does not look whether a room is free; `find_rooms` does.

    Args:
        room_type_id: The room type, as `list_tariff` shows it.
        rate_plan_id: The rate plan, as `list_tariff` shows it.
        arrival: The first night, as YYYY-MM-DD.
        departure: The day on which the guest leaves, as YYYY-MM-DD.
    """
    plan = _rate_plan(db, rate_plan_id)
    _refuse_late_start(db, plan, arrival)
    return _quote(db, _room_type(db, room_type_id), plan, arrival, departure)


def find_bookings(
    db: Database,
    *,
    guest_id: str | None = None,
    room_id: str | None = None,
    status: Literal["tentative", "confirmed", "in_house", "departed", "cancelled"] | None = None,
    arrives_on: str | None = None,
    departs_on: str | None = None,
) -> BookingList:
    """Find bookings by guest, room, status and days, in the order of their arrivals.

    Filters that are left out let everything pass. `today` is the day at the desk. `show_booking` shows the bill of one.

    Args:
        guest_id: Only bookings of this guest.
        room_id: Only bookings of this room.
        status: Only bookings that stand so.
        arrives_on: Only bookings that begin on this day, as YYYY-MM-DD.
        departs_on: Only bookings that end on this day, as YYYY-MM-DD.
    """
    for day in (arrives_on, departs_on):
        if day is not None:
            _day(day)
    sql = """
        SELECT * FROM booking_list
        WHERE (:guest_id IS NULL OR guest_id = :guest_id)
            AND (:room_id IS NULL OR room_id = :room_id)
            AND (:status IS NULL OR status = :status)
            AND (:arrives_on IS NULL OR arrival = :arrives_on)
            AND (:departs_on IS NULL OR departure = :departs_on)
        ORDER BY arrival, booking_id
    """
    bookings = db.all(
        sql, guest_id=guest_id, room_id=room_id, status=status, arrives_on=arrives_on, departs_on=departs_on
    )
    return {"today": _today(db), "bookings": cast("list[Booking]", bookings)}


def show_booking(db: Database, *, booking_id: str) -> Folio:
    """Show a booking with its charges, its payments and its balance.

    A negative balance is owed to the guest. `cancellation_fee_cents` is what cancelling would cost now, null when it
    cannot be cancelled any more.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    return _folio(db, booking_id)


def find_tasks(
    db: Database,
    *,
    status: Literal["open", "done"] = "open",
    room_id: str | None = None,
    kind: Literal["cleaning", "repair", "setup"] | None = None,
) -> TaskList:
    """Find housekeeping tasks, the earliest due first.

    Args:
        status: Whether to show what is still to be done or what has been done.
        room_id: Only tasks in this room.
        kind: Only tasks of this kind; `setup` is cots, extra beds and the like.
    """
    sql = """
        SELECT * FROM housekeeping_tasks
        WHERE (done_at IS NOT NULL) = (:status = 'done')
            AND (:room_id IS NULL OR room_id = :room_id)
            AND (:kind IS NULL OR kind = :kind)
        ORDER BY due_on, room_id, task_id
    """
    return {"tasks": cast("list[Task]", db.all(sql, status=status, room_id=room_id, kind=kind))}


# --- bookings ---


def register_guest(db: Database, *, full_name: str, email: str, phone: str | None = None) -> Guest:
    """Register a guest who has never been booked before.

    Args:
        full_name: The name as the guest writes it.
        email: The e-mail address; no two guests share one.
        phone: The telephone number, with the country code.
    """
    address = email.strip()
    known = db.one("SELECT guest_id, full_name FROM guests WHERE email = :email", email=address)
    if known is not None:
        raise ToolError(f"{address} belongs to {known['full_name']} ({known['guest_id']}); book for that guest instead")
    if not full_name.strip() or not EMAIL.fullmatch(address):
        raise ToolError("a guest needs a name and an e-mail address; ask for what is missing")
    guest_id = db.new_id("gst")
    db.run(
        """
        INSERT INTO guests (guest_id, full_name, email, phone, registered_on)
        VALUES (:id, :full_name, :email, :phone, :today)
        """,
        id=guest_id,
        full_name=full_name.strip(),
        email=address,
        phone=phone,
        today=_today(db),
    )
    return _guest(db, guest_id)


def create_booking(
    db: Database,
    *,
    guest_id: str,
    room_id: str,
    rate_plan_id: str,
    arrival: str,
    departure: str,
    adults: int,
    children: int = 0,
) -> Folio:
    """Book a room. The booking is tentative until its deposit is paid and it is confirmed.

    Args:
        guest_id: Who books, as `find_guests` or `register_guest` shows it.
        room_id: A room that is free on these nights, as `find_rooms` shows it.
        rate_plan_id: The rate plan, as `list_tariff` shows it.
        arrival: The first night, as YYYY-MM-DD.
        departure: The day on which the guest leaves, as YYYY-MM-DD.
        adults: How many adults stay, one at least.
        children: How many children stay.
    """
    if adults < 1 or children < 0:
        raise ToolError("a stay needs one adult or more, and children are not fewer than 0")
    _guest(db, guest_id)
    room, plan = _room(db, room_id), _rate_plan(db, rate_plan_id)
    _refuse_late_start(db, plan, arrival)
    quote = _quote(db, _room_type(db, room["room_type_id"]), plan, arrival, departure)
    booking_id = db.new_id("bkg")
    db.run(
        NEW_BOOKING,
        id=booking_id,
        guest_id=guest_id,
        room_id=room_id,
        charged_type_id=room["room_type_id"],
        rate_plan_id=rate_plan_id,
        arrival=arrival,
        departure=departure,
        adults=adults,
        children=children,
        total=quote["total_cents"],
        deposit=quote["deposit_cents"],
        now=db.now(),
    )
    return _folio(db, booking_id)


def confirm_booking(db: Database, *, booking_id: str) -> Folio:
    """Confirm a tentative booking whose deposit has been paid.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    folio = _folio(db, booking_id)
    booking = folio["booking"]
    if booking["status"] != "tentative":
        raise ToolError(f"{booking_id} is {booking['status']}; only a tentative booking is confirmed")
    missing = booking["deposit_cents"] - folio["paid_cents"]
    if missing > 0:
        # rule: deposit_first
        raise ToolError(f"{_euros(missing)} of the deposit are missing; take that payment first")
    db.run("UPDATE bookings SET status = 'confirmed' WHERE booking_id = :id", id=booking_id)
    return _folio(db, booking_id)


def change_dates(db: Database, *, booking_id: str, arrival: str, departure: str) -> Folio:
    """Move a booking to other dates in the same room, or let a guest in house stay longer.

    A booking before its arrival is priced anew; for a guest in house the added nights are charged.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        arrival: The new first night, as YYYY-MM-DD; for a guest in house the same as before.
        departure: The new day of departure, as YYYY-MM-DD.
    """
    booking = _live_booking(db, booking_id)
    plan = _rate_plan(db, booking["rate_plan_id"])
    if plan["free_cancel_days"] is None:
        # rule: fixed_dates
        raise ToolError(f"the dates of the plan {plan['name']} are fixed; the booking can be kept or cancelled")
    price = _longer_stay_price if booking["status"] == "in_house" else _other_dates_price
    total = price(db, booking, plan, arrival, departure)
    db.run(
        "UPDATE bookings SET arrival = :arrival, departure = :departure WHERE booking_id = :id",
        arrival=arrival,
        departure=departure,
        id=booking_id,
    )
    _set_price(db, booking, total)
    return _folio(db, booking_id)


def move_room(db: Database, *, booking_id: str, room_id: str, free_upgrade: bool = False) -> Folio:
    """Give a booking another room for the nights to come.

    A room of the same grade costs nothing more. For a higher grade the difference is added to the room price, unless
    it is a gold member's free upgrade. When a guest in house moves, the room left behind goes to cleaning.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        room_id: The new room, as `find_rooms` shows it.
        free_upgrade: Whether to move a gold member up one grade free of charge.
    """
    booking, room = _live_booking(db, booking_id), _room(db, room_id)
    if room_id == booking["room_id"]:
        raise ToolError(f"{booking_id} is in {room_id} already")
    if booking["departure"] <= _today(db):
        raise ToolError(f"{booking_id} ends on {booking['departure']}, so no nights are left; extend the stay first")
    charged = _room_type(db, booking["charged_type_id"])
    step = room["grade"] - charged["grade"]
    if step < 0:
        # rule: no_lower_grade
        raise ToolError(
            f"room {room['number']} is of a lower grade than the type that is paid for, {charged['name']}; "
            "find_rooms shows the grades"
        )
    if free_upgrade:
        _refuse_free_upgrade(db, booking, step)
    else:
        _charge_as(db, booking, _room_type(db, room["room_type_id"]))
    db.run("UPDATE bookings SET room_id = :room_id WHERE booking_id = :id", room_id=room_id, id=booking_id)
    if booking["status"] == "in_house":
        _send_to_cleaning(db, booking["room_id"], f"{booking['guest_name']} has moved to room {room['number']}")
    return _folio(db, booking_id)


def cancel_booking(db: Database, *, booking_id: str) -> Folio:
    """Cancel a booking before the stay and charge the fee that is due by its plan.

    `show_booking` tells the fee beforehand. A negative balance afterwards is to be refunded.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    fee = _cancellation_fee(db, booking)
    if fee is None:
        # rule: begun_stays_are_not_cancelled
        raise ToolError(f"{booking_id} is {booking['status']}; only tentative and confirmed bookings are cancelled")
    db.run("UPDATE bookings SET status = 'cancelled' WHERE booking_id = :id", id=booking_id)
    if fee > 0:
        _add_charge(db, booking_id, "cancellation_fee", f"Cancelled on {_today(db)}", fee)
    return _folio(db, booking_id)


# --- money ---


def take_payment(
    db: Database, *, booking_id: str, amount_cents: int, method: Literal["card", "cash", "transfer"]
) -> Receipt:
    """Take a payment for a booking, up to its open balance.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        amount_cents: How much, in cents.
        method: How the guest pays.
    """
    balance = _folio(db, booking_id)["balance_cents"]
    if amount_cents < 1:
        raise ToolError(f"a payment is at least 1 cent; {_euros(max(balance, 0))} are open")
    if amount_cents > balance:
        # rule: nobody_pays_too_much
        raise ToolError(f"only {_euros(max(balance, 0))} are open, so {_euros(amount_cents)} cannot be taken")
    return _receipt(db, _add_payment(db, booking_id, method, amount_cents))


def refund_payment(db: Database, *, payment_id: str, amount_cents: int) -> Receipt:
    """Refund a payment, wholly or in part, by the method with which it was paid.

    No more is refunded than the guest has paid too much: a booking with a negative balance.

    Args:
        payment_id: The payment, as `show_booking` shows it.
        amount_cents: How much, in cents.
    """
    payment = db.one("SELECT * FROM payments WHERE payment_id = :id AND kind = 'payment'", id=payment_id)
    if payment is None:
        raise ToolError(f"no payment {payment_id!r}; show_booking lists the payments of a booking")
    if amount_cents < 1:
        raise ToolError("a refund is at least 1 cent")
    refunded = db.one(
        "SELECT coalesce(sum(amount_cents), 0) AS cents FROM payments WHERE refunded_payment_id = :id", id=payment_id
    )
    left = payment["amount_cents"] - (refunded["cents"] if refunded else 0)
    credit = max(-_folio(db, payment["booking_id"])["balance_cents"], 0)
    if amount_cents > min(left, credit):
        # rule: refunds_are_bounded
        raise ToolError(
            f"{_euros(left)} of this payment are left and the guest has paid {_euros(credit)} too much; "
            f"up to {_euros(min(left, credit))} can be refunded"
        )
    refund_id = _add_payment(db, payment["booking_id"], payment["method"], amount_cents, refunds=payment_id)
    return _receipt(db, refund_id)


def post_charge(
    db: Database,
    *,
    booking_id: str,
    kind: Literal["restaurant", "minibar", "parking", "laundry", "damage"],
    description: str,
    amount_cents: int,
) -> Folio:
    """Put an extra on the bill of a guest in house.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        kind: What the extra belongs to.
        description: What it was, as the guest will read it on the bill.
        amount_cents: How much, in cents.
    """
    booking = _booking(db, booking_id)
    if booking["status"] != "in_house":
        # rule: extras_for_guests_in_house
        raise ToolError(f"{booking_id} is {booking['status']}; extras are charged to guests in house only")
    if not 1 <= amount_cents <= MAX_CHARGE_CENTS:
        # rule: extras_are_bounded
        raise ToolError(f"an extra is between 0.01 EUR and {_euros(MAX_CHARGE_CENTS)}; the manager posts larger ones")
    _add_charge(db, booking_id, kind, description, amount_cents)
    return _folio(db, booking_id)


# --- arrival, departure, housekeeping ---


def check_in(db: Database, *, booking_id: str) -> Folio:
    """Check a guest in, on the day of arrival or later during the booked nights.

    Args:
        booking_id: The confirmed booking, as `find_bookings` shows it.
    """
    booking, today = _booking(db, booking_id), _today(db)
    if booking["status"] != "confirmed":
        # rule: check_in_when_confirmed
        raise ToolError(f"{booking_id} is {booking['status']}; only confirmed bookings are checked in")
    if not booking["arrival"] <= today < booking["departure"]:
        # rule: check_in_when_confirmed
        raise ToolError(f"{booking_id} is for {booking['arrival']} to {booking['departure']}, and today is {today}")
    db.run("UPDATE bookings SET status = 'in_house' WHERE booking_id = :id", id=booking_id)
    return _folio(db, booking_id)


def check_out(db: Database, *, booking_id: str) -> Folio:
    """Check a guest out whose bill is settled. The room goes to cleaning.

    Args:
        booking_id: The booking of a guest in house, as `find_bookings` shows it.
    """
    folio = _folio(db, booking_id)
    booking, balance = folio["booking"], folio["balance_cents"]
    if booking["status"] != "in_house":
        raise ToolError(f"{booking_id} is {booking['status']}; only guests in house are checked out")
    if balance > 0:
        # rule: bills_are_settled
        raise ToolError(f"{_euros(balance)} are open; take the payment first")
    if balance < 0:
        # rule: bills_are_settled
        raise ToolError(f"the guest has paid {_euros(-balance)} too much; refund it first")
    db.run("UPDATE bookings SET status = 'departed' WHERE booking_id = :id", id=booking_id)
    _send_to_cleaning(db, booking["room_id"], f"{booking['guest_name']} has left")
    return _folio(db, booking_id)


def add_task(
    db: Database, *, room_id: str, kind: Literal["cleaning", "repair", "setup"], note: str, due_on: str
) -> Task:
    """Give housekeeping a task. A room that waits for a repair takes no guest until the task is done.

    Args:
        room_id: The room, as `find_rooms` shows it.
        kind: What kind of work it is; `setup` is cots, extra beds and the like.
        note: What is to be done, for whoever does it.
        due_on: The day on which it is to be done, as YYYY-MM-DD.
    """
    room = _room(db, room_id)
    if _day(due_on) < _day(_today(db)):
        raise ToolError(f"{due_on} is over; a task is due today or later")
    same = db.one(
        "SELECT task_id FROM housekeeping_tasks WHERE room_id = :room_id AND kind = :kind AND done_at IS NULL",
        room_id=room_id,
        kind=kind,
    )
    if same is not None:
        raise ToolError(
            f"room {room['number']} has an open {kind} task already ({same['task_id']}); find_tasks shows it"
        )
    return _task(db, _add_task(db, room_id, kind, note, due_on))


def complete_task(db: Database, *, task_id: str) -> Task:
    """Record that a housekeeping task has been done. A cleaning makes its room clean.

    Args:
        task_id: The open task, as `find_tasks` shows it.
    """
    task = _task(db, task_id)
    if task["done_at"] is not None:
        raise ToolError(f"{task_id} was done at {task['done_at']} already")
    db.run("UPDATE housekeeping_tasks SET done_at = :now WHERE task_id = :id", now=db.now(), id=task_id)
    if task["kind"] == "cleaning":
        db.run("UPDATE rooms SET condition = 'clean' WHERE room_id = :id", id=task["room_id"])
    return _task(db, task_id)


# --- rows by id ---


def _guest(db: Database, guest_id: str) -> Guest:
    row = db.one("SELECT * FROM guests WHERE guest_id = :id", id=guest_id)
    if row is None:
        raise ToolError(f"no guest {guest_id!r}; find_guests lists them, register_guest adds one")
    return cast("Guest", row)


def _room_type(db: Database, room_type_id: str) -> RoomType:
    row = db.one("SELECT * FROM room_types WHERE room_type_id = :id", id=room_type_id)
    if row is None:
        raise ToolError(f"no room type {room_type_id!r}; list_tariff lists them")
    return cast("RoomType", row)


def _rate_plan(db: Database, rate_plan_id: str) -> RatePlan:
    row = db.one("SELECT * FROM rate_plans WHERE rate_plan_id = :id", id=rate_plan_id)
    if row is None:
        raise ToolError(f"no rate plan {rate_plan_id!r}; list_tariff lists them")
    return cast("RatePlan", row)


def _room(db: Database, room_id: str) -> Room:
    row = db.one("SELECT * FROM room_list WHERE room_id = :id", id=room_id)
    if row is None:
        raise ToolError(f"no room {room_id!r}; find_rooms lists them")
    return cast("Room", row)


def _booking(db: Database, booking_id: str) -> Booking:
    row = db.one("SELECT * FROM booking_list WHERE booking_id = :id", id=booking_id)
    if row is None:
        raise ToolError(f"no booking {booking_id!r}; find_bookings lists them")
    return cast("Booking", row)


def _live_booking(db: Database, booking_id: str) -> Booking:
    booking = _booking(db, booking_id)
    if booking["status"] in ("departed", "cancelled"):
        raise ToolError(f"{booking_id} is {booking['status']} and cannot be changed; make a new booking instead")
    return booking


def _folio(db: Database, booking_id: str) -> Folio:
    booking = _booking(db, booking_id)
    charges = db.all("SELECT * FROM charges WHERE booking_id = :id ORDER BY posted_at, charge_id", id=booking_id)
    payments = db.all("SELECT * FROM payments WHERE booking_id = :id ORDER BY made_at, payment_id", id=booking_id)
    money = db.all("SELECT * FROM folios WHERE booking_id = :id", id=booking_id)[0]
    return {
        "booking": booking,
        "charges": cast("list[Charge]", charges),
        "payments": cast("list[Payment]", payments),
        "due_cents": money["due_cents"],
        "paid_cents": money["paid_cents"],
        "balance_cents": money["balance_cents"],
        "cancellation_fee_cents": _cancellation_fee(db, booking),
    }


def _receipt(db: Database, payment_id: str) -> Receipt:
    sql = """
        SELECT payment_id, booking_id, kind, method, amount_cents, balance_cents
        FROM payments JOIN folios USING (booking_id) WHERE payment_id = :id
    """
    return cast("Receipt", db.one(sql, id=payment_id))


def _task(db: Database, task_id: str) -> Task:
    row = db.one("SELECT * FROM housekeeping_tasks WHERE task_id = :id", id=task_id)
    if row is None:
        raise ToolError(f"no task {task_id!r}; find_tasks lists them")
    return cast("Task", row)


# --- dates and prices ---


def _today(db: Database) -> str:
    return db.now()[:10]


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise ToolError(f"{text!r} is not a date; write it as 2026-07-01")
    return day


def _stay_length(arrival: str, departure: str) -> int:
    length = (_day(departure) - _day(arrival)).days
    if not 1 <= length <= MAX_NIGHTS:
        # rule: length_of_stay
        raise ToolError(f"{arrival} to {departure} are {length} nights; a stay has 1 to {MAX_NIGHTS}")
    return length


def _refuse_late_start(db: Database, plan: RatePlan, arrival: str) -> None:
    ahead = (_day(arrival) - _day(_today(db))).days
    if ahead < 0:
        # rule: booked_ahead
        raise ToolError(f"{arrival} is over; the earliest arrival is today, {_today(db)}")
    if ahead < plan["book_ahead_days"]:
        earliest = _day(_today(db)) + timedelta(days=plan["book_ahead_days"])
        # rule: booked_ahead
        raise ToolError(
            f"{plan['name']} is booked {plan['book_ahead_days']} days ahead, so the earliest arrival is {earliest}; "
            "list_tariff shows the other plans"
        )


def _nights(db: Database, room_type: RoomType, plan: RatePlan, arrival: str, departure: str) -> list[Night]:
    """The nights of a stay that are on sale, with their prices."""
    sql = """
        WITH RECURSIVE nights (night) AS (
            SELECT :arrival
            UNION ALL
            SELECT date(night, '+1 day') FROM nights WHERE date(night, '+1 day') < :departure
        )
        SELECT night, name AS season,
            iif(strftime('%w', night) IN ('5', '6'), weekend_cents, weekday_cents) * (100 - :discount) / 100
                AS price_cents
        FROM nights
        JOIN seasons ON night BETWEEN first_night AND last_night
        JOIN rates USING (season_id)
        WHERE room_type_id = :room_type_id
        ORDER BY night
    """
    nights = db.all(
        sql,
        arrival=arrival,
        departure=departure,
        discount=plan["discount_percent"],
        room_type_id=room_type["room_type_id"],
    )
    return cast("list[Night]", nights)


def _quote(db: Database, room_type: RoomType, plan: RatePlan, arrival: str, departure: str) -> Quote:
    """The price of a stay, if the plan and the seasons allow its length."""
    length = _stay_length(arrival, departure)
    if length < plan["min_nights"]:
        # rule: long_enough_for_the_plan
        raise ToolError(
            f"{plan['name']} is for {plan['min_nights']} nights or more, and this stay has {length}; "
            "list_tariff shows the other plans"
        )
    nights = _nights(db, room_type, plan, arrival, departure)
    if len(nights) < length:
        # rule: nights_on_sale
        raise ToolError("some of these nights are not on sale; list_tariff shows the seasons that are")
    strict = db.one(
        """
        SELECT name, min_nights FROM seasons
        WHERE first_night < :departure AND last_night >= :arrival AND min_nights > :length
        ORDER BY min_nights DESC
        """,
        arrival=arrival,
        departure=departure,
        length=length,
    )
    if strict is not None:
        # rule: length_of_season
        raise ToolError(f"a stay that touches {strict['name']} has {strict['min_nights']} nights or more, not {length}")
    free_days = plan["free_cancel_days"]
    return {
        "nights": nights,
        "total_cents": _sum(nights),
        "deposit_cents": _sum(nights) * plan["deposit_percent"] // 100,
        "free_cancellation_until": None if free_days is None else str(_day(arrival) - timedelta(days=free_days)),
        "late_fee_percent": plan["late_fee_percent"],
    }


def _longer_stay_price(db: Database, booking: Booking, plan: RatePlan, arrival: str, departure: str) -> int:
    """The room price of a guest in house who stays on: what was booked, and the added nights."""
    if arrival != booking["arrival"] or departure <= booking["departure"]:
        # rule: stays_are_not_shortened
        raise ToolError(
            f"the stay began on {booking['arrival']} and is booked until {booking['departure']}; "
            "a guest in house can only leave later"
        )
    charged = _room_type(db, booking["charged_type_id"])
    _quote(db, charged, plan, arrival, departure)
    return booking["room_total_cents"] + _sum(_nights(db, charged, plan, booking["departure"], departure))


def _other_dates_price(db: Database, booking: Booking, plan: RatePlan, arrival: str, departure: str) -> int:
    """The room price of a booking that is moved before its arrival: what a new one would cost."""
    fee = _cancellation_fee(db, booking)
    if fee:
        # rule: dates_change_while_free
        raise ToolError(
            f"the dates could change while cancelling was free; cancelling costs {_euros(fee)} by now, "
            "so the booking can be kept or cancelled"
        )
    _refuse_late_start(db, plan, arrival)
    return _quote(db, _room_type(db, booking["charged_type_id"]), plan, arrival, departure)["total_cents"]


def _sum(nights: list[Night]) -> int:
    return sum(night["price_cents"] for night in nights)


def _cancellation_fee(db: Database, booking: Booking) -> int | None:
    """What cancelling costs now; None for a stay that has begun or a booking that is over."""
    if booking["status"] == "tentative":
        return 0
    if booking["status"] != "confirmed":
        return None
    plan = _rate_plan(db, booking["rate_plan_id"])
    notice = (_day(booking["arrival"]) - _day(_today(db))).days
    if plan["free_cancel_days"] is not None and notice >= plan["free_cancel_days"]:
        return 0
    return booking["room_total_cents"] * plan["late_fee_percent"] // 100


def _euros(cents: int) -> str:
    return f"{cents / 100:.2f} EUR"


# --- shared writes ---


def _set_price(db: Database, booking: Booking, total_cents: int) -> None:
    """Change what the room costs. The deposit follows while the booking waits for it."""
    plan = _rate_plan(db, booking["rate_plan_id"])
    db.run(
        """
        UPDATE bookings SET
            room_total_cents = :total,
            deposit_cents = iif(status = 'tentative', :total * :percent / 100, deposit_cents)
        WHERE booking_id = :id
        """,
        total=total_cents,
        percent=plan["deposit_percent"],
        id=booking["booking_id"],
    )


def _charge_as(db: Database, booking: Booking, room_type: RoomType) -> None:
    """Price the nights to come as those of another room type."""
    if room_type["room_type_id"] == booking["charged_type_id"]:
        return
    plan = _rate_plan(db, booking["rate_plan_id"])
    first = max(booking["arrival"], _today(db))
    before = _nights(db, _room_type(db, booking["charged_type_id"]), plan, first, booking["departure"])
    after = _nights(db, room_type, plan, first, booking["departure"])
    _set_price(db, booking, booking["room_total_cents"] + _sum(after) - _sum(before))
    db.run(
        "UPDATE bookings SET charged_type_id = :type WHERE booking_id = :id",
        type=room_type["room_type_id"],
        id=booking["booking_id"],
    )


def _refuse_free_upgrade(db: Database, booking: Booking, step: int) -> None:
    if _guest(db, booking["guest_id"])["level"] != "gold":
        # rule: free_upgrades
        raise ToolError(f"{booking['guest_name']} is not a gold member; the upgrade can be paid for")
    if step != 1:
        # rule: free_upgrades
        raise ToolError(f"a free upgrade goes up one grade, and this room is {step} above what is paid for")
    opens = _day(booking["arrival"]) - timedelta(days=FREE_UPGRADE_DAYS)
    if _day(_today(db)) < opens:
        # rule: free_upgrades
        raise ToolError(f"this booking can be upgraded free of charge from {opens} on; until then it can be paid for")


def _add_charge(db: Database, booking_id: str, kind: str, description: str, amount_cents: int) -> None:
    db.run(
        """
        INSERT INTO charges (charge_id, booking_id, kind, description, amount_cents, posted_at)
        VALUES (:id, :booking_id, :kind, :description, :amount, :now)
        """,
        id=db.new_id("chg"),
        booking_id=booking_id,
        kind=kind,
        description=description,
        amount=amount_cents,
        now=db.now(),
    )


def _add_payment(db: Database, booking_id: str, method: str, amount_cents: int, refunds: str | None = None) -> str:
    """Record a payment, or the refund of one."""
    payment_id = db.new_id("pay")
    db.run(
        """
        INSERT INTO payments (payment_id, booking_id, kind, method, amount_cents, refunded_payment_id, made_at)
        VALUES (:id, :booking_id, :kind, :method, :amount, :refunded_payment_id, :now)
        """,
        id=payment_id,
        booking_id=booking_id,
        kind="payment" if refunds is None else "refund",
        method=method,
        amount=amount_cents,
        refunded_payment_id=refunds,
        now=db.now(),
    )
    return payment_id


def _add_task(db: Database, room_id: str, kind: str, note: str, due_on: str) -> str:
    task_id = db.new_id("tsk")
    db.run(
        """
        INSERT INTO housekeeping_tasks (task_id, room_id, kind, note, due_on, created_at)
        VALUES (:id, :room_id, :kind, :note, :due_on, :now)
        """,
        id=task_id,
        room_id=room_id,
        kind=kind,
        note=note,
        due_on=due_on,
        now=db.now(),
    )
    return task_id


def _send_to_cleaning(db: Database, room_id: str, note: str) -> None:
    """Mark a room dirty and see to it that one cleaning task is open for it."""
    db.run("UPDATE rooms SET condition = 'dirty' WHERE room_id = :id", id=room_id)
    waiting = "SELECT 1 FROM housekeeping_tasks WHERE room_id = :id AND kind = 'cleaning' AND done_at IS NULL"
    if db.one(waiting, id=room_id) is None:
        _add_task(db, room_id, "cleaning", note, _today(db))
