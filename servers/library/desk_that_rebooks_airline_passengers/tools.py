"""Tools of the Fjordwing rebooking desk.

A segment is one passenger on one flight. Moving somebody closes the old segment and makes a new one that replaces it.
`departs_at` and `arrives_at` are timetable times, `leaves_at` and `lands_at` the expected ones, with the delay."""

from datetime import date, datetime, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

LEAST_MINUTES_BEFORE_LEAVING = 40
BOOKING_COLUMNS = (
    "booking_id, contact_name, contact_email, fare_type_id AS fare_type, cabin, change_allowed, change_fee_cents, booked_on, "
    "status, split_from_booking_id, adults, children, infants, fees_due_cents, waivers, desk_refunds_cents"
)
SEGMENT_COLUMNS = (
    "segment_id, booking_id, passenger_id, passenger_name, kind, leg, flight_id, flight_no, origin_id, destination_id, "
    "departs_at, arrives_at, leaves_at, lands_at, flight_status, delay_minutes, cabin, fare_paid_cents, status, disrupted, "
    "replaces_segment_id, move_kind, booked_at"
)
FLIGHT_COLUMNS = (
    "flight_id, flight_no, origin_id, origin_city, destination_id, destination_city, departs_at, arrives_at, leaves_at, "
    "lands_at, status, delay_minutes, cause"
)
WAITLIST_COLUMNS = (
    "entry_id, flight_id, flight_no, departs_at, cabin, segment_id, held_flight_id, booking_id, passenger_id, passenger_name, "
    "tier_id AS tier, status, joined_at, closed_at"
)
VOUCHER_COLUMNS = (
    "voucher_id, kind, amount_cents, status, segment_id, flight_no, departs_at, booking_id, passenger_id, passenger_name, "
    "hotel_room_id, hotel, night_on, issued_at, closed_at"
)
REFUND_COLUMNS = (
    "refund_request_id, segment_id, flight_no, departs_at, booking_id, passenger_id, passenger_name, amount_cents, reason, "
    "status, requested_at, decided_at, decided_by, paid_at"
)
FEE_COLUMNS = (
    "fee_charge_id, segment_id, flight_no, departs_at, booking_id, passenger_id, passenger_name, amount_cents, status, "
    "charged_at, settled_at, waive_reason"
)
LEAST_MINUTES_FOR_A_CONNECTION = 45
LEAST_MINUTES_FOR_A_VOLUNTARY_CHANGE = 60
MEAL_CENTS = 15000
MOST_TAXI_CENTS = 60000
LEAST_LETTERS_OF_A_REASON = 5
MOST_DELAY_MINUTES = 1440


class Cabin(TypedDict):
    cabin: str
    seats: int
    crew_seats: int
    taken: int
    free_seats: int
    waiting: int


class Flight(TypedDict):
    flight_id: str
    flight_no: str
    origin_id: str
    origin_city: str
    destination_id: str
    destination_city: str
    departs_at: str
    arrives_at: str
    leaves_at: str
    lands_at: str
    status: str
    delay_minutes: int
    cause: str | None
    cabins: list[Cabin]


class Flights(TypedDict):
    flights: list[Flight]


class Booking(TypedDict):
    booking_id: str
    contact_name: str
    contact_email: str
    fare_type: str
    cabin: str
    change_allowed: bool
    change_fee_cents: int
    booked_on: str
    status: str
    split_from_booking_id: str | None
    adults: int
    children: int
    infants: int
    fees_due_cents: int
    waivers: int
    desk_refunds_cents: int


class Bookings(TypedDict):
    bookings: list[Booking]


class Passenger(TypedDict):
    passenger_id: str
    name: str
    kind: str
    tier: str
    home_airport_id: str | None


class Segment(TypedDict):
    segment_id: str
    booking_id: str
    passenger_id: str
    passenger_name: str
    kind: str
    leg: int
    flight_id: str
    flight_no: str
    origin_id: str
    destination_id: str
    departs_at: str
    arrives_at: str
    leaves_at: str
    lands_at: str
    flight_status: str
    delay_minutes: int
    cabin: str
    fare_paid_cents: int
    status: str
    disrupted: bool
    replaces_segment_id: str | None
    move_kind: str | None
    booked_at: str


class Segments(TypedDict):
    segments: list[Segment]


class BookingFile(TypedDict):
    booking: Booking
    passengers: list[Passenger]
    segments: list[Segment]


class Alternative(TypedDict):
    flight_id: str
    flight_no: str
    departs_at: str
    leaves_at: str
    lands_at: str
    status: str
    free_seats: int
    waiting: int


class Alternatives(TypedDict):
    segment_id: str
    cabin: str
    disrupted: bool
    alternatives: list[Alternative]


class WaitlistEntry(TypedDict):
    entry_id: str
    flight_id: str
    flight_no: str
    departs_at: str
    cabin: str
    segment_id: str
    held_flight_id: str
    booking_id: str
    passenger_id: str
    passenger_name: str
    tier: str
    status: str
    joined_at: str
    closed_at: str | None


class WaitlistEntries(TypedDict):
    entries: list[WaitlistEntry]


class Voucher(TypedDict):
    voucher_id: str
    kind: str
    amount_cents: int
    status: str
    segment_id: str
    flight_no: str
    departs_at: str
    booking_id: str
    passenger_id: str
    passenger_name: str
    hotel_room_id: str | None
    hotel: str | None
    night_on: str | None
    issued_at: str
    closed_at: str | None


class Vouchers(TypedDict):
    vouchers: list[Voucher]


class HotelNight(TypedDict):
    hotel_night_id: str
    hotel: str
    airport_id: str
    city: str
    night_on: str
    rooms: int
    rooms_free: int


class HotelNights(TypedDict):
    hotel_nights: list[HotelNight]


class HotelRoom(TypedDict):
    hotel_room_id: str
    hotel_night_id: str
    hotel: str
    airport_id: str
    night_on: str
    status: str
    booked_at: str
    booking_id: str | None
    guests: list[str]


class HotelRooms(TypedDict):
    hotel_rooms: list[HotelRoom]


class Refund(TypedDict):
    refund_request_id: str
    segment_id: str
    flight_no: str
    departs_at: str
    booking_id: str
    passenger_id: str
    passenger_name: str
    amount_cents: int
    reason: str
    status: str
    requested_at: str
    decided_at: str | None
    decided_by: str | None
    paid_at: str | None


class Refunds(TypedDict):
    refunds: list[Refund]


class Fee(TypedDict):
    fee_charge_id: str
    segment_id: str
    flight_no: str
    departs_at: str
    booking_id: str
    passenger_id: str
    passenger_name: str
    amount_cents: int
    status: str
    charged_at: str
    settled_at: str | None
    waive_reason: str | None


class Fees(TypedDict):
    fees: list[Fee]


def find_bookings(
    db: Database,
    *,
    name: str | None = None,
    flight_id: str | None = None,
    status: Literal["active", "cancelled"] | None = None,
) -> Bookings:
    """Find bookings, in the order of their ids.

    Args:
        name: Only bookings whose contact or one of whose passengers has this in the name, in capitals or not.
        flight_id: Only bookings of which somebody has or had a segment on this flight, as `find_flights` shows it.
        status: Only bookings in this status.
    """
    if flight_id is not None:
        _flight(db, flight_id)
    rows = db.all(
        f"""SELECT {BOOKING_COLUMNS} FROM booking_details
        WHERE (:status IS NULL OR status = :status)
          AND (:flight_id IS NULL OR EXISTS (
            SELECT 1 FROM segments JOIN passengers ON passengers.id = segments.passenger_id
            WHERE passengers.booking_id = booking_details.booking_id AND segments.flight_id = :flight_id))
        ORDER BY booking_id""",
        status=status,
        flight_id=flight_id,
    )
    if name is not None:
        part = _part_of_a_name(name)
        people = db.all(
            """SELECT id AS booking_id, contact_name AS name FROM bookings
            UNION ALL SELECT booking_id, name FROM passengers
            ORDER BY booking_id, name"""
        )
        found = {person["booking_id"] for person in people if part in person["name"].casefold()}
        rows = [row for row in rows if row["booking_id"] in found]
    return {"bookings": [_as_booking(row) for row in rows]}


def show_booking(db: Database, *, booking_id: str) -> BookingFile:
    """Show one booking with its passengers and all their segments, closed ones too.

    The segments come by passenger and leg, the oldest first. `desk_refunds_cents` is what the desk itself has approved so far.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    passengers = db.all(
        """SELECT id AS passenger_id, name, kind, tier_id AS tier, home_airport_id FROM passengers
        WHERE booking_id = :booking_id ORDER BY id""",
        booking_id=booking_id,
    )
    segments = db.all(
        f"""SELECT {SEGMENT_COLUMNS} FROM segment_details WHERE booking_id = :booking_id
        ORDER BY passenger_id, leg, booked_at, segment_id""",
        booking_id=booking_id,
    )
    return {
        "booking": booking,
        "passengers": [cast("Passenger", row) for row in passengers],
        "segments": [_as_segment(row) for row in segments],
    }


def find_segments(
    db: Database,
    *,
    passenger_name: str | None = None,
    booking_id: str | None = None,
    flight_id: str | None = None,
    status: Literal["confirmed", "checked_in", "boarded", "flown", "moved", "cancelled", "no_show"] | None = None,
    disrupted: bool | None = None,
) -> Segments:
    """Find segments, that is who is or was on which flight, the earliest timetable departure first.

    Args:
        passenger_name: Only passengers with this in the name, in capitals or not.
        booking_id: Only segments of this booking, as `find_bookings` shows it.
        flight_id: Only segments on this flight, as `find_flights` shows it.
        status: Only segments in this status.
        disrupted: Only segments whose flight is (true) or is not (false) disrupted for the passenger at present.
    """
    if booking_id is not None:
        _booking(db, booking_id)
    if flight_id is not None:
        _flight(db, flight_id)
    rows = db.all(
        f"""SELECT {SEGMENT_COLUMNS} FROM segment_details
        WHERE (:booking_id IS NULL OR booking_id = :booking_id)
          AND (:flight_id IS NULL OR flight_id = :flight_id)
          AND (:status IS NULL OR status = :status)
          AND (:disrupted IS NULL OR disrupted = :disrupted)
        ORDER BY departs_at, segment_id""",
        booking_id=booking_id,
        flight_id=flight_id,
        status=status,
        disrupted=None if disrupted is None else int(disrupted),
    )
    if passenger_name is not None:
        rows = _named(rows, passenger_name)
    return {"segments": [_as_segment(row) for row in rows]}


def find_flights(
    db: Database,
    *,
    flight_no: str | None = None,
    origin: str | None = None,
    destination: str | None = None,
    departs_on: str | None = None,
    status: Literal["scheduled", "delayed", "boarding", "departed", "cancelled"] | None = None,
) -> Flights:
    """Find flights with the seats of their cabins, the earliest timetable departure first.

    Args:
        flight_no: Only this flight number, such as `FW210`; it may occur on several days.
        origin: Only flights from this place: three-letter airport code or city.
        destination: Only flights to this place: three-letter airport code or city.
        departs_on: Only flights with their timetable departure on this day, `YYYY-MM-DD`.
        status: Only flights in this status.
    """
    if flight_no is not None and not flight_no.strip():
        raise ToolError("the flight number is blank; give one such as FW210, or leave it out")
    rows = db.all(
        f"""SELECT {FLIGHT_COLUMNS} FROM flight_details
        WHERE (:flight_no IS NULL OR flight_no = :flight_no)
          AND (:origin_id IS NULL OR origin_id = :origin_id)
          AND (:destination_id IS NULL OR destination_id = :destination_id)
          AND (:departs_on IS NULL OR date(departs_at) = :departs_on)
          AND (:status IS NULL OR status = :status)
        ORDER BY departs_at, flight_id""",
        flight_no=None if flight_no is None else flight_no.strip().upper(),
        origin_id=None if origin is None else _airport_id(db, origin),
        destination_id=None if destination is None else _airport_id(db, destination),
        departs_on=None if departs_on is None else _day(departs_on),
        status=status,
    )
    return {"flights": [_with_cabins(db, row) for row in rows]}


def find_alternatives(db: Database, *, segment_id: str) -> Alternatives:
    """Find the other flights that are still open between the two airports of a segment, the earliest expected arrival first.

    Full flights are shown too, with no free seats, as one can wait for them. Seats are those of the passenger's cabin. Whether a
    flight fits the rest of the journey, the fare and the time limits is found out only on moving.

    Args:
        segment_id: The segment to be replaced, as `find_segments` or `show_booking` shows it.
    """
    segment = _segment(db, segment_id)
    rows = db.all(
        """SELECT flight_details.flight_id, flight_details.flight_no, flight_details.departs_at, flight_details.leaves_at,
          flight_details.lands_at, flight_details.status, cabin_details.free_seats, cabin_details.waiting
        FROM flight_details
        JOIN cabin_details ON cabin_details.flight_id = flight_details.flight_id AND cabin_details.cabin = :cabin
        WHERE flight_details.origin_id = :origin_id AND flight_details.destination_id = :destination_id
          AND flight_details.flight_id <> :flight_id
          AND flight_details.status IN ('scheduled', 'delayed')
          AND flight_details.leaves_at >= datetime(:now, '+' || :minutes || ' minutes')
        ORDER BY flight_details.lands_at, flight_details.flight_id""",
        cabin=segment["cabin"],
        origin_id=segment["origin_id"],
        destination_id=segment["destination_id"],
        flight_id=segment["flight_id"],
        now=db.now(),
        minutes=LEAST_MINUTES_BEFORE_LEAVING,
    )
    return {
        "segment_id": segment_id,
        "cabin": segment["cabin"],
        "disrupted": segment["disrupted"],
        "alternatives": [cast("Alternative", row) for row in rows],
    }


def find_waitlist_entries(
    db: Database,
    *,
    flight_id: str | None = None,
    booking_id: str | None = None,
    passenger_name: str | None = None,
    status: Literal["waiting", "cleared", "withdrawn", "expired"] | None = None,
) -> WaitlistEntries:
    """Find places on waiting lists, flight by flight; within a flight and cabin in the order in which seats are given.

    Args:
        flight_id: Only those who want this flight, as `find_flights` shows it.
        booking_id: Only passengers of this booking, as `find_bookings` shows it.
        passenger_name: Only passengers with this in the name, in capitals or not.
        status: Only entries in this status.
    """
    if flight_id is not None:
        _flight(db, flight_id)
    if booking_id is not None:
        _booking(db, booking_id)
    rows = db.all(
        f"""SELECT {WAITLIST_COLUMNS} FROM waitlist_details
        WHERE (:flight_id IS NULL OR flight_id = :flight_id)
          AND (:booking_id IS NULL OR booking_id = :booking_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY departs_at, flight_id, cabin, priority, joined_at, entry_id""",
        flight_id=flight_id,
        booking_id=booking_id,
        status=status,
    )
    if passenger_name is not None:
        rows = _named(rows, passenger_name)
    return {"entries": [cast("WaitlistEntry", row) for row in rows]}


def find_vouchers(
    db: Database,
    *,
    booking_id: str | None = None,
    passenger_name: str | None = None,
    kind: Literal["meal", "hotel", "taxi"] | None = None,
    status: Literal["issued", "used", "void"] | None = None,
) -> Vouchers:
    """Find vouchers, the one issued first at the top.

    Args:
        booking_id: Only vouchers of this booking, as `find_bookings` shows it.
        passenger_name: Only passengers with this in the name, in capitals or not.
        kind: Only vouchers of this kind.
        status: Only vouchers in this status.
    """
    if booking_id is not None:
        _booking(db, booking_id)
    rows = db.all(
        f"""SELECT {VOUCHER_COLUMNS} FROM voucher_details
        WHERE (:booking_id IS NULL OR booking_id = :booking_id)
          AND (:kind IS NULL OR kind = :kind)
          AND (:status IS NULL OR status = :status)
        ORDER BY issued_at, voucher_id""",
        booking_id=booking_id,
        kind=kind,
        status=status,
    )
    if passenger_name is not None:
        rows = _named(rows, passenger_name)
    return {"vouchers": [cast("Voucher", row) for row in rows]}


def find_hotel_nights(
    db: Database, *, place: str | None = None, night_on: str | None = None, only_free: bool = False
) -> HotelNights:
    """Find the hotels that hold rooms for us night by night, with the rooms still free.

    Args:
        place: Only hotels in this place: three-letter airport code or city.
        night_on: Only the night that begins on this day, `YYYY-MM-DD`.
        only_free: True shows only nights with a free room.
    """
    rows = db.all(
        """SELECT hotel_night_id, hotel, airport_id, city, night_on, rooms, rooms_free FROM hotel_night_details
        WHERE (:airport_id IS NULL OR airport_id = :airport_id)
          AND (:night_on IS NULL OR night_on = :night_on)
          AND (:only_free = 0 OR rooms_free > 0)
        ORDER BY night_on, hotel, hotel_night_id""",
        airport_id=None if place is None else _airport_id(db, place),
        night_on=None if night_on is None else _day(night_on),
        only_free=int(only_free),
    )
    return {"hotel_nights": [cast("HotelNight", row) for row in rows]}


def find_hotel_rooms(
    db: Database,
    *,
    hotel_night_id: str | None = None,
    booking_id: str | None = None,
    status: Literal["booked", "released"] | None = None,
) -> HotelRooms:
    """Find hotel rooms that were booked, with the names of their guests; void vouchers do not count.

    Args:
        hotel_night_id: Only rooms of this hotel and night, as `find_hotel_nights` shows it.
        booking_id: Only rooms with a guest of this booking, as `find_bookings` shows it.
        status: Only rooms in this status.
    """
    if hotel_night_id is not None:
        _hotel_night(db, hotel_night_id)
    if booking_id is not None:
        _booking(db, booking_id)
    rows = db.all(
        """SELECT hotel_rooms.id AS hotel_room_id, hotel_rooms.hotel_night_id, hotel_nights.hotel, hotel_nights.airport_id,
          hotel_nights.night_on, hotel_rooms.status, hotel_rooms.booked_at
        FROM hotel_rooms JOIN hotel_nights ON hotel_nights.id = hotel_rooms.hotel_night_id
        WHERE (:hotel_night_id IS NULL OR hotel_rooms.hotel_night_id = :hotel_night_id)
          AND (:status IS NULL OR hotel_rooms.status = :status)
          AND (:booking_id IS NULL OR EXISTS (
            SELECT 1 FROM voucher_details
            WHERE voucher_details.hotel_room_id = hotel_rooms.id AND voucher_details.booking_id = :booking_id
              AND voucher_details.status <> 'void'))
        ORDER BY hotel_nights.night_on, hotel_nights.hotel, hotel_rooms.booked_at, hotel_rooms.id""",
        hotel_night_id=hotel_night_id,
        status=status,
        booking_id=booking_id,
    )
    return {"hotel_rooms": [_with_guests(db, row) for row in rows]}


def find_refunds(
    db: Database,
    *,
    booking_id: str | None = None,
    passenger_name: str | None = None,
    status: Literal["requested", "approved", "refused", "paid"] | None = None,
) -> Refunds:
    """Find refund requests, the oldest first.

    Args:
        booking_id: Only requests of this booking, as `find_bookings` shows it.
        passenger_name: Only passengers with this in the name, in capitals or not.
        status: Only requests in this status.
    """
    if booking_id is not None:
        _booking(db, booking_id)
    rows = db.all(
        f"""SELECT {REFUND_COLUMNS} FROM refund_details
        WHERE (:booking_id IS NULL OR booking_id = :booking_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY requested_at, refund_request_id""",
        booking_id=booking_id,
        status=status,
    )
    if passenger_name is not None:
        rows = _named(rows, passenger_name)
    return {"refunds": [cast("Refund", row) for row in rows]}


def find_fees(
    db: Database,
    *,
    booking_id: str | None = None,
    passenger_name: str | None = None,
    status: Literal["due", "paid", "waived"] | None = None,
) -> Fees:
    """Find change fees, the oldest first. The flight shown is the one to which the passenger changed.

    Args:
        booking_id: Only fees of this booking, as `find_bookings` shows it.
        passenger_name: Only passengers with this in the name, in capitals or not.
        status: Only fees in this status.
    """
    if booking_id is not None:
        _booking(db, booking_id)
    rows = db.all(
        f"""SELECT {FEE_COLUMNS} FROM fee_details
        WHERE (:booking_id IS NULL OR booking_id = :booking_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY charged_at, fee_charge_id""",
        booking_id=booking_id,
        status=status,
    )
    if passenger_name is not None:
        rows = _named(rows, passenger_name)
    return {"fees": [cast("Fee", row) for row in rows]}


def move_passengers(db: Database, *, segment_ids: list[str], flight_id: str) -> Segments:
    """Move one or more passengers of one booking from a flight to another, all of them or none.

    It is free for those whose flight is disrupted; otherwise it is a voluntary change, and the fee of the fare is charged as due.
    Shows the new segments.

    Args:
        segment_ids: The segments to be replaced, all of one booking and on one flight, as `find_segments` or `show_booking` shows them.
        flight_id: The new flight, as `find_alternatives` or `find_flights` shows it.
    """
    if not segment_ids:
        raise ToolError("no segment is given; show_booking shows those of a booking")
    if len(set(segment_ids)) < len(segment_ids):
        raise ToolError("a segment is given twice; give each one once")
    segments = [_segment(db, segment_id) for segment_id in segment_ids]
    first = segments[0]
    for segment in segments:
        if (segment["booking_id"], segment["flight_id"]) != (first["booking_id"], first["flight_id"]):
            raise ToolError(
                f"{first['segment_id']} and {segment['segment_id']} are not of one booking and on one flight; "
                "move them in separate calls"
            )
    return {"segments": _moved(db, segments, _flight(db, flight_id))}


def undo_check_in(db: Database, *, segment_id: str) -> Segment:
    """Undo a passenger's check-in for a flight, so that the seat is only confirmed again.

    Args:
        segment_id: The segment, as `find_segments` or `show_booking` shows it.
    """
    segment = _segment(db, segment_id)
    if segment["status"] != "checked_in":
        raise ToolError(
            f"{segment['passenger_name']} is not checked in for {segment['flight_no']} but {segment['status']}; "
            "there is no check-in to undo"
        )
    db.run("UPDATE segments SET status = 'confirmed' WHERE id = :id", id=segment_id)
    return _segment(db, segment_id)


def split_booking(db: Database, *, passenger_ids: list[str]) -> Booking:
    """Take passengers out of their booking into a new one with the same fare and contact. Shows the new booking.

    Their segments, fees, vouchers and requests go with them.

    Args:
        passenger_ids: Those who leave, all of one booking, as `show_booking` shows them.
    """
    if not passenger_ids:
        raise ToolError("no passenger is given; show_booking shows those of a booking")
    if len(set(passenger_ids)) < len(passenger_ids):
        raise ToolError("a passenger is given twice; give each one once")
    leaving = []
    for passenger_id in passenger_ids:
        passenger = db.one("SELECT id, name, booking_id FROM passengers WHERE id = :id", id=passenger_id)
        if passenger is None:
            raise ToolError(f"no passenger {passenger_id!r}; show_booking shows those of a booking")
        leaving.append(passenger)
    old_id = leaving[0]["booking_id"]
    for passenger in leaving:
        if passenger["booking_id"] != old_id:
            raise ToolError(
                f"{leaving[0]['name']} is of booking {old_id} and {passenger['name']} of {passenger['booking_id']}; "
                "split one booking at a time"
            )
    booking = _booking(db, old_id)
    if booking["status"] != "active":
        raise ToolError(f"booking {old_id} is cancelled; only active bookings are split")
    if len(leaving) == booking["adults"] + booking["children"] + booking["infants"]:
        # rule: child_with_adult
        raise ToolError(f"nobody would stay in booking {old_id}; leave at least one passenger in it")
    new_id = db.new_id("bk")
    db.run(
        """INSERT INTO bookings (id, fare_type_id, contact_name, contact_email, booked_on, status, split_from_booking_id)
        VALUES (:id, :fare_type_id, :contact_name, :contact_email, :booked_on, 'active', :old_id)""",
        id=new_id,
        fare_type_id=booking["fare_type"],
        contact_name=booking["contact_name"],
        contact_email=booking["contact_email"],
        booked_on=booking["booked_on"],
        old_id=old_id,
    )
    for passenger_id in passenger_ids:
        db.run("UPDATE passengers SET booking_id = :new_id WHERE id = :id", new_id=new_id, id=passenger_id)
    for part in (_booking(db, old_id), _booking(db, new_id)):
        if part["adults"] == 0:
            # rule: child_with_adult
            raise ToolError(
                "one part of the split booking would have children or infants but no adult; "
                "keep an adult in each part"
            )
        flights = db.all(
            "SELECT DISTINCT flight_id FROM live_segments WHERE booking_id = :id ORDER BY flight_id", id=part["booking_id"]
        )
        for flight in flights:
            _check_party(db, part["booking_id"], flight["flight_id"])
    return _booking(db, new_id)


def join_waitlist(db: Database, *, segment_id: str, flight_id: str) -> WaitlistEntry:
    """Put a passenger on the waiting list of a full flight, in place of a flight now held. The seat held is kept meanwhile.

    Args:
        segment_id: The segment that would be given up, as `find_segments` or `show_booking` shows it.
        flight_id: The flight wanted, as `find_alternatives` shows it.
    """
    segment = _segment(db, segment_id)
    flight = _flight(db, flight_id)
    name = segment["passenger_name"]
    kind = _kind_of_move(db, segment)
    if kind == "voluntary" and not _booking(db, segment["booking_id"])["change_allowed"]:
        # rule: wait_only_for_full_flights
        raise ToolError(
            f"{name} could not be moved from {segment['flight_no']}, as the fare allows no voluntary change "
            "and the flight is not disrupted; so there is nothing to wait for"
        )
    asked = db.one(
        "SELECT id FROM refund_requests WHERE segment_id = :segment_id AND status = 'requested'", segment_id=segment_id
    )
    if asked is not None:
        raise ToolError(f"a refund of {segment_id} is requested ({asked['id']}); it must be decided before anybody waits")
    if flight["status"] in ("cancelled", "departed"):
        # rule: cancelling_clears_up
        raise ToolError(f"{flight['flight_no']} is {flight['status']}, so nobody can wait for it; choose a coming flight")
    same = db.one(
        "SELECT id FROM waitlist_entries WHERE segment_id = :segment_id AND flight_id = :flight_id AND status = 'waiting'",
        segment_id=segment_id,
        flight_id=flight_id,
    )
    if same is not None:
        raise ToolError(f"{name} waits for {flight['flight_no']} already, as entry {same['id']}")
    entry_id = db.new_id("wl")
    db.run(
        """INSERT INTO waitlist_entries (id, segment_id, flight_id, status, joined_at)
        VALUES (:id, :segment_id, :flight_id, 'waiting', :now)""",
        id=entry_id,
        segment_id=segment_id,
        flight_id=flight_id,
        now=db.now(),
    )
    for cabin in flight["cabins"]:
        if cabin["cabin"] == segment["cabin"] and cabin["free_seats"] > 0:
            # rule: wait_only_for_full_flights
            raise ToolError(
                f"{flight['flight_no']} still has seats free in {cabin['cabin']}: {cabin['free_seats']}; "
                "move the passenger with move_passengers instead of waiting"
            )
    return _waitlist_entry(db, entry_id)


def leave_waitlist(db: Database, *, entry_id: str) -> WaitlistEntry:
    """Take a passenger off a waiting list; the entry becomes withdrawn.

    Args:
        entry_id: The entry, as `find_waitlist_entries` shows it.
    """
    entry = _waitlist_entry(db, entry_id)
    if entry["status"] != "waiting":
        raise ToolError(f"{entry_id} is closed already: {entry['status']} at {entry['closed_at']}")
    db.run("UPDATE waitlist_entries SET status = 'withdrawn', closed_at = :now WHERE id = :id", now=db.now(), id=entry_id)
    return _waitlist_entry(db, entry_id)


def clear_waitlist_entry(db: Database, *, entry_id: str) -> WaitlistEntry:
    """Give a free seat to the first on a waiting list: moves the passenger as `move_passengers` does, with the fee if one is due.

    Args:
        entry_id: The entry that is first for its flight and cabin, as `find_waitlist_entries` shows it.
    """
    entry = _waitlist_entry(db, entry_id)
    if entry["status"] != "waiting":
        raise ToolError(f"{entry_id} is closed already: {entry['status']} at {entry['closed_at']}; only waiting entries are cleared")
    db.run("UPDATE waitlist_entries SET status = 'cleared', closed_at = :now WHERE id = :id", now=db.now(), id=entry_id)
    _moved(db, [_segment(db, entry["segment_id"])], _flight(db, entry["flight_id"]))
    return _waitlist_entry(db, entry_id)


def issue_meal_voucher(db: Database, *, segment_id: str) -> Voucher:
    """Issue one meal voucher to a passenger for a cancelled or late flight.

    Args:
        segment_id: The passenger's segment on that flight, which may have been moved since, as `find_segments` shows it.
    """
    segment = _segment(db, segment_id)
    name = segment["passenger_name"]
    if segment["status"] in ("flown", "cancelled", "no_show"):
        raise ToolError(
            f"{segment_id} of {name} on {segment['flight_no']} is {segment['status']}; "
            "meals are for passengers who hold a flight or were moved from it because of its disruption"
        )
    changed = db.one(
        "SELECT id FROM segments WHERE replaces_segment_id = :segment_id AND move_kind = 'voluntary'", segment_id=segment_id
    )
    if changed is not None:
        raise ToolError(f"{name} gave up {segment['flight_no']} by a voluntary change, so no meal is due for it")
    return _issued(db, segment_id, "meal", MEAL_CENTS, None)


def book_hotel_room(db: Database, *, segment_id: str, hotel_night_id: str) -> Voucher:
    """Book a new hotel room for a stranded passenger and issue the hotel voucher for it.

    Args:
        segment_id: The segment that was given up (status `moved`), not the new one, as `show_booking` shows it.
        hotel_night_id: Hotel and night, as `find_hotel_nights` shows it.
    """
    segment = _segment(db, segment_id)
    _hotel_night(db, hotel_night_id)
    _check_neither_bed_nor_taxi(db, segment)
    room_id = db.new_id("room")
    db.run(
        "INSERT INTO hotel_rooms (id, hotel_night_id, status, booked_at) VALUES (:id, :hotel_night_id, 'booked', :now)",
        id=room_id,
        hotel_night_id=hotel_night_id,
        now=db.now(),
    )
    return _issued(db, segment_id, "hotel", 0, room_id)


def share_hotel_room(db: Database, *, segment_id: str, hotel_room_id: str) -> Voucher:
    """Issue a hotel voucher to a stranded passenger for a room in which another guest already stays.

    Args:
        segment_id: The segment that was given up (status `moved`), not the new one, as `show_booking` shows it.
        hotel_room_id: The room, as `find_hotel_rooms` or `find_vouchers` shows it.
    """
    segment = _segment(db, segment_id)
    room = db.one("SELECT status FROM hotel_rooms WHERE id = :id", id=hotel_room_id)
    if room is None:
        raise ToolError(f"no hotel room {hotel_room_id!r}; find_hotel_rooms lists them")
    if room["status"] != "booked":
        raise ToolError(f"{hotel_room_id} was given back to the hotel; book another room with book_hotel_room")
    _check_neither_bed_nor_taxi(db, segment)
    return _issued(db, segment_id, "hotel", 0, hotel_room_id)


def issue_taxi_voucher(db: Database, *, segment_id: str, amount_cents: int) -> Voucher:
    """Issue a taxi voucher to a stranded passenger who lives in the city of departure.

    Args:
        segment_id: The segment that was given up (status `moved`), not the new one, as `show_booking` shows it.
        amount_cents: What the taxi may cost, in øre (100 to a krone).
    """
    segment = _segment(db, segment_id)
    if amount_cents < 1 or amount_cents > MOST_TAXI_CENTS:
        raise ToolError(
            f"a taxi voucher is worth between {_kroner(1)} and {_kroner(MOST_TAXI_CENTS)} NOK, not {_kroner(amount_cents)}"
        )
    _check_neither_bed_nor_taxi(db, segment)
    return _issued(db, segment_id, "taxi", amount_cents, None)


def void_voucher(db: Database, *, voucher_id: str) -> Voucher:
    """Make an issued voucher void. A hotel room that has no guest left is given back to the hotel.

    Args:
        voucher_id: The voucher, as `find_vouchers` shows it.
    """
    voucher = _voucher(db, voucher_id)
    if voucher["status"] != "issued":
        raise ToolError(f"{voucher_id} is {voucher['status']} since {voucher['closed_at']}; only issued vouchers can be made void")
    db.run("UPDATE vouchers SET status = 'void', closed_at = :now WHERE id = :id", now=db.now(), id=voucher_id)
    return _voucher(db, voucher_id)


def request_refund(db: Database, *, segment_id: str, reason: str) -> Refund:
    """Record that a passenger wants the fare of one flight back. It must then be decided.

    Args:
        segment_id: The segment to be given back, as `find_segments` or `show_booking` shows it.
        reason: What the passenger says, in a few words.
    """
    segment = _segment(db, segment_id)
    name = segment["passenger_name"]
    if not reason.strip():
        raise ToolError("the reason is blank; say in a few words what the passenger says")
    if segment["status"] == "checked_in":
        # rule: check_in_first
        raise ToolError(
            f"{name} is still checked in for {segment['flight_no']}; undo_check_in comes before a refund can be asked for"
        )
    if segment["fare_paid_cents"] == 0:
        raise ToolError(f"nothing was paid for {name} on {segment['flight_no']}, so there is nothing to refund")
    open_request = db.one(
        "SELECT id, status FROM refund_requests WHERE segment_id = :segment_id AND status <> 'refused'", segment_id=segment_id
    )
    if open_request is not None:
        raise ToolError(
            f"a refund of {segment['flight_no']} for {name} is {open_request['status']} already, as {open_request['id']}"
        )
    refund_id = db.new_id("rf")
    db.run(
        """INSERT INTO refund_requests (id, segment_id, amount_cents, reason, status, requested_at)
        VALUES (:id, :segment_id, :amount_cents, :reason, 'requested', :now)""",
        id=refund_id,
        segment_id=segment_id,
        amount_cents=segment["fare_paid_cents"],
        reason=reason.strip(),
        now=db.now(),
    )
    _check_nobody_stays_alone(db, segment)
    return _refund(db, refund_id)


def decide_refund(
    db: Database,
    *,
    refund_request_id: str,
    decision: Literal["approved", "refused"],
    decided_by: Literal["desk", "duty_manager"],
) -> Refund:
    """Approve or refuse a refund request. On approval the passenger's segment is cancelled and its seat is free.

    Args:
        refund_request_id: The request, as `find_refunds` shows it.
        decision: What was decided.
        decided_by: Who decided: the desk itself, or the duty manager, who then has said so.
    """
    refund = _refund(db, refund_request_id)
    if refund["status"] != "requested":
        raise ToolError(f"{refund_request_id} is decided already: {refund['status']}, at {refund['decided_at']}")
    segment = _segment(db, refund["segment_id"])
    db.run(
        "UPDATE refund_requests SET status = :decision, decided_at = :now, decided_by = :decided_by WHERE id = :id",
        decision=decision,
        now=db.now(),
        decided_by=decided_by,
        id=refund_request_id,
    )
    if decision == "approved":
        _end_free_infants(db, segment)
        _check_party(db, segment["booking_id"], segment["flight_id"])
    return _refund(db, refund_request_id)


def record_fee_payment(db: Database, *, fee_charge_id: str) -> Fee:
    """Record that a change fee has been paid in full.

    Args:
        fee_charge_id: The fee, as `find_fees` shows it.
    """
    _fee_due(db, fee_charge_id)
    db.run("UPDATE fee_charges SET status = 'paid', settled_at = :now WHERE id = :id", now=db.now(), id=fee_charge_id)
    return _fee(db, fee_charge_id)


def waive_fee(db: Database, *, fee_charge_id: str, reason: str) -> Fee:
    """Waive a change fee that is due.

    Args:
        fee_charge_id: The fee, as `find_fees` shows it.
        reason: Why, in words that can be understood later; at least 5 characters.
    """
    _fee_due(db, fee_charge_id)
    if len(reason.strip()) < LEAST_LETTERS_OF_A_REASON:
        raise ToolError(
            f"the reason {reason!r} is too short; write at least {LEAST_LETTERS_OF_A_REASON} characters that say why"
        )
    db.run(
        "UPDATE fee_charges SET status = 'waived', settled_at = :now, waive_reason = :reason WHERE id = :id",
        now=db.now(),
        reason=reason.strip(),
        id=fee_charge_id,
    )
    return _fee(db, fee_charge_id)


def delay_flight(
    db: Database,
    *,
    flight_id: str,
    delay_minutes: int,
    cause: Literal["airline", "weather", "air_traffic_control"],
) -> Flight:
    """Announce a delay, or a longer one, of a flight.

    Args:
        flight_id: The flight, as `find_flights` shows it.
        delay_minutes: The whole delay against the timetable, not what is added: 1 to 1440.
        cause: The cause of the delay.
    """
    flight = _flight_before_boarding(db, flight_id)
    if delay_minutes < 1 or delay_minutes > MOST_DELAY_MINUTES:
        raise ToolError(f"a delay is between 1 and {MOST_DELAY_MINUTES} minutes in all, not {delay_minutes}")
    if delay_minutes == flight["delay_minutes"]:
        raise ToolError(f"{flight['flight_no']} is announced {delay_minutes} minutes late already; give a longer delay")
    db.run(
        "UPDATE flights SET status = 'delayed', delay_minutes = :delay_minutes, cause = :cause WHERE id = :id",
        delay_minutes=delay_minutes,
        cause=cause,
        id=flight_id,
    )
    return _flight(db, flight_id)


def cancel_flight(
    db: Database, *, flight_id: str, cause: Literal["airline", "weather", "air_traffic_control"]
) -> Flight:
    """Cancel a flight for good. Its check-ins are undone and its waiting list ends; nobody is moved or refunded by it.

    Args:
        flight_id: The flight, as `find_flights` shows it.
        cause: The cause of the cancellation.
    """
    _flight_before_boarding(db, flight_id)
    db.run("UPDATE flights SET status = 'cancelled', cause = :cause WHERE id = :id", cause=cause, id=flight_id)
    return _flight(db, flight_id)


def _booking(db: Database, booking_id: str) -> Booking:
    row = db.one(f"SELECT {BOOKING_COLUMNS} FROM booking_details WHERE booking_id = :id", id=booking_id)
    if row is None:
        raise ToolError(f"no booking {booking_id!r}; find_bookings lists them")
    return _as_booking(row)


def _as_booking(row: dict[str, Any]) -> Booking:
    return cast("Booking", {**row, "change_allowed": bool(row["change_allowed"])})


def _segment(db: Database, segment_id: str) -> Segment:
    row = db.one(f"SELECT {SEGMENT_COLUMNS} FROM segment_details WHERE segment_id = :id", id=segment_id)
    if row is None:
        raise ToolError(f"no segment {segment_id!r}; find_segments lists them")
    return _as_segment(row)


def _as_segment(row: dict[str, Any]) -> Segment:
    return cast("Segment", {**row, "disrupted": bool(row["disrupted"])})


def _flight(db: Database, flight_id: str) -> Flight:
    row = db.one(f"SELECT {FLIGHT_COLUMNS} FROM flight_details WHERE flight_id = :id", id=flight_id)
    if row is None:
        raise ToolError(f"no flight {flight_id!r}; find_flights lists them")
    return _with_cabins(db, row)


def _with_cabins(db: Database, row: dict[str, Any]) -> Flight:
    cabins = db.all(
        """SELECT cabin, seats, crew_seats, taken, free_seats, waiting FROM cabin_details
        WHERE flight_id = :flight_id ORDER BY cabin""",
        flight_id=row["flight_id"],
    )
    return cast("Flight", {**row, "cabins": cabins})


def _airport_id(db: Database, place: str) -> str:
    wanted = place.strip().casefold()
    airports = db.all("SELECT id, city FROM airports ORDER BY id")
    for airport in airports:
        if wanted in (airport["id"].casefold(), airport["city"].casefold()):
            return str(airport["id"])
    known = ", ".join(f"{airport['id']} ({airport['city']})" for airport in airports)
    raise ToolError(f"no airport {place!r}; there are {known}")


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text).isoformat()
    except ValueError:
        day = ""
    if day != text:
        raise ToolError(f"{text!r} is no day; write it as YYYY-MM-DD, such as 2026-02-11")
    return day


def _part_of_a_name(text: str) -> str:
    part = text.strip().casefold()
    if not part:
        raise ToolError("the name to look for is blank; give a part of it, or leave it out")
    return part


def _named(rows: list[dict[str, Any]], passenger_name: str) -> list[dict[str, Any]]:
    part = _part_of_a_name(passenger_name)
    return [row for row in rows if part in row["passenger_name"].casefold()]


def _hotel_night(db: Database, hotel_night_id: str) -> HotelNight:
    row = db.one(
        """SELECT hotel_night_id, hotel, airport_id, city, night_on, rooms, rooms_free FROM hotel_night_details
        WHERE hotel_night_id = :id""",
        id=hotel_night_id,
    )
    if row is None:
        raise ToolError(f"no hotel night {hotel_night_id!r}; find_hotel_nights lists them")
    return cast("HotelNight", row)


def _with_guests(db: Database, row: dict[str, Any]) -> HotelRoom:
    guests = db.all(
        """SELECT passenger_name, booking_id FROM voucher_details
        WHERE hotel_room_id = :hotel_room_id AND status <> 'void'
        ORDER BY passenger_name, voucher_id""",
        hotel_room_id=row["hotel_room_id"],
    )
    return cast(
        "HotelRoom",
        {
            **row,
            "booking_id": guests[0]["booking_id"] if guests else None,
            "guests": [guest["passenger_name"] for guest in guests],
        },
    )


def _moved(db: Database, segments: list[Segment], flight: Flight) -> list[Segment]:
    """Move these segments, all of one booking and on one flight, to another flight; gives the new segments."""
    first = segments[0]
    booking = _booking(db, first["booking_id"])
    kinds = [_kind_of_move(db, segment) for segment in segments]
    if flight["status"] not in ("scheduled", "delayed") or flight["leaves_at"] < _later(
        db.now(), LEAST_MINUTES_BEFORE_LEAVING
    ):
        # rule: open_flights_only
        raise ToolError(
            f"nobody can be moved onto {flight['flight_no']} any more: it is {flight['status']} with departure expected at "
            f"{flight['leaves_at']}, and {LEAST_MINUTES_BEFORE_LEAVING} minutes are needed; find_alternatives shows others"
        )
    if first["cabin"] not in [cabin["cabin"] for cabin in flight["cabins"]]:
        raise ToolError(f"{flight['flight_no']} has no {first['cabin']} cabin; find_alternatives shows flights that do")
    new_ids = []
    for segment in segments:
        db.run("UPDATE segments SET status = 'moved' WHERE id = :id", id=segment["segment_id"])
    for segment, kind in zip(segments, kinds, strict=True):
        new_id = db.new_id("seg")
        db.run(
            """INSERT INTO segments (id, passenger_id, leg, flight_id, cabin, fare_paid_cents, status,
              replaces_segment_id, move_kind, booked_at)
            VALUES (:id, :passenger_id, :leg, :flight_id, :cabin, :fare_paid_cents, 'confirmed', :replaces, :kind, :now)""",
            id=new_id,
            passenger_id=segment["passenger_id"],
            leg=segment["leg"],
            flight_id=flight["flight_id"],
            cabin=segment["cabin"],
            fare_paid_cents=segment["fare_paid_cents"],
            replaces=segment["segment_id"],
            kind=kind,
            now=db.now(),
        )
        new_ids.append(new_id)
        _check_connections(db, segment, flight)
        if kind == "voluntary" and segment["kind"] != "infant" and booking["change_fee_cents"] > 0:
            db.run(
                """INSERT INTO fee_charges (id, segment_id, amount_cents, status, charged_at)
                VALUES (:id, :segment_id, :amount_cents, 'due', :now)""",
                id=db.new_id("fee"),
                segment_id=new_id,
                amount_cents=booking["change_fee_cents"],
                now=db.now(),
            )
    _check_party(db, first["booking_id"], first["flight_id"])
    _check_party(db, first["booking_id"], flight["flight_id"])
    return [_segment(db, new_id) for new_id in new_ids]


def _kind_of_move(db: Database, segment: Segment) -> str:
    """Tell how a passenger could now be moved from this flight; refuse if not at all. The fare is not looked at."""
    name = segment["passenger_name"]
    if segment["status"] in ("boarded", "flown", "moved", "cancelled"):
        raise ToolError(
            f"{segment['segment_id']} of {name} on {segment['flight_no']} is {segment['status']} and cannot be given up any more"
        )
    if segment["disrupted"]:
        return "disruption"
    if segment["status"] == "no_show":
        # rule: free_only_when_disrupted
        raise ToolError(
            f"{name} missed {segment['flight_no']}, which was not disrupted, so the ticket is used up and nobody is moved"
        )
    if segment["leaves_at"] < _later(db.now(), LEAST_MINUTES_FOR_A_VOLUNTARY_CHANGE):
        # rule: voluntary_deadline
        raise ToolError(
            f"it is too late for a voluntary change of {name}: {segment['flight_no']} leaves at {segment['leaves_at']}, "
            f"and changes end {LEAST_MINUTES_FOR_A_VOLUNTARY_CHANGE} minutes before"
        )
    return "voluntary"


def _check_connections(db: Database, segment: Segment, flight: Flight) -> None:
    others = db.all(
        """SELECT leg, flight_no, leaves_at, lands_at FROM segment_details
        WHERE passenger_id = :passenger_id AND leg <> :leg AND flight_status <> 'cancelled'
          AND status IN ('confirmed', 'checked_in', 'boarded', 'flown')
        ORDER BY leg, segment_id""",
        passenger_id=segment["passenger_id"],
        leg=segment["leg"],
    )
    for other in others:
        if other["leg"] < segment["leg"]:
            landing, leaving = other["lands_at"], flight["leaves_at"]
        else:
            landing, leaving = flight["lands_at"], other["leaves_at"]
        if _later(landing, LEAST_MINUTES_FOR_A_CONNECTION) > leaving:
            # rule: connection_45
            raise ToolError(
                f"the connection of {segment['passenger_name']} between {flight['flight_no']} and {other['flight_no']} is too "
                f"short: landing expected at {landing}, departure at {leaving}, and {LEAST_MINUTES_FOR_A_CONNECTION} minutes "
                "are needed; choose another flight or move the later flight first"
            )


def _check_party(db: Database, booking_id: str, flight_id: str) -> None:
    held = db.all(
        "SELECT kind, segment_id FROM live_segments WHERE booking_id = :booking_id AND flight_id = :flight_id ORDER BY segment_id",
        booking_id=booking_id,
        flight_id=flight_id,
    )
    kinds = [row["kind"] for row in held]
    adults, infants = kinds.count("adult"), kinds.count("infant")
    if kinds and adults == 0:
        # rule: child_with_adult
        raise ToolError(
            f"a child or an infant of booking {booking_id} would be on {flight_id} without an adult of the booking; "
            "keep them together with one"
        )
    if infants > adults:
        # rule: one_infant_per_adult
        raise ToolError(
            f"booking {booking_id} would have more infants than adults on {flight_id}: {infants} with {adults}; "
            "each infant needs an adult of its own"
        )


def _waitlist_entry(db: Database, entry_id: str) -> WaitlistEntry:
    row = db.one(f"SELECT {WAITLIST_COLUMNS} FROM waitlist_details WHERE entry_id = :id", id=entry_id)
    if row is None:
        raise ToolError(f"no waiting-list entry {entry_id!r}; find_waitlist_entries lists them")
    return cast("WaitlistEntry", row)


def _later(moment: str, minutes: int) -> str:
    return (datetime.fromisoformat(moment) + timedelta(minutes=minutes)).isoformat(sep=" ")


def _issued(db: Database, segment_id: str, kind: str, amount_cents: int, hotel_room_id: str | None) -> Voucher:
    voucher_id = db.new_id("vch")
    db.run(
        """INSERT INTO vouchers (id, segment_id, kind, amount_cents, hotel_room_id, status, issued_at)
        VALUES (:id, :segment_id, :kind, :amount_cents, :hotel_room_id, 'issued', :now)""",
        id=voucher_id,
        segment_id=segment_id,
        kind=kind,
        amount_cents=amount_cents,
        hotel_room_id=hotel_room_id,
        now=db.now(),
    )
    return _voucher(db, voucher_id)


def _voucher(db: Database, voucher_id: str) -> Voucher:
    row = db.one(f"SELECT {VOUCHER_COLUMNS} FROM voucher_details WHERE voucher_id = :id", id=voucher_id)
    if row is None:
        raise ToolError(f"no voucher {voucher_id!r}; find_vouchers lists them")
    return cast("Voucher", row)


def _check_neither_bed_nor_taxi(db: Database, segment: Segment) -> None:
    given = db.one(
        "SELECT id, kind FROM vouchers WHERE segment_id = :segment_id AND kind <> 'meal' AND status <> 'void'",
        segment_id=segment["segment_id"],
    )
    if given is not None:
        raise ToolError(
            f"{segment['passenger_name']} has a {given['kind']} voucher for {segment['flight_no']} already, {given['id']}; "
            "there is one hotel or taxi for each flight replaced"
        )


def _kroner(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _refund(db: Database, refund_request_id: str) -> Refund:
    row = db.one(f"SELECT {REFUND_COLUMNS} FROM refund_details WHERE refund_request_id = :id", id=refund_request_id)
    if row is None:
        raise ToolError(f"no refund request {refund_request_id!r}; find_refunds lists them")
    return cast("Refund", row)


def _fee(db: Database, fee_charge_id: str) -> Fee:
    row = db.one(f"SELECT {FEE_COLUMNS} FROM fee_details WHERE fee_charge_id = :id", id=fee_charge_id)
    if row is None:
        raise ToolError(f"no fee {fee_charge_id!r}; find_fees lists them")
    return cast("Fee", row)


def _fee_due(db: Database, fee_charge_id: str) -> Fee:
    fee = _fee(db, fee_charge_id)
    if fee["status"] != "due":
        raise ToolError(
            f"the fee of {_kroner(fee['amount_cents'])} NOK of {fee['passenger_name']} is {fee['status']} "
            f"since {fee['settled_at']}; only a fee that is due can be settled"
        )
    return fee


def _flight_before_boarding(db: Database, flight_id: str) -> Flight:
    flight = _flight(db, flight_id)
    if flight["status"] not in ("scheduled", "delayed"):
        raise ToolError(
            f"{flight['flight_no']} of {flight['departs_at']} is {flight['status']}; "
            "only a flight before boarding can be delayed or cancelled"
        )
    return flight


def _check_nobody_stays_alone(db: Database, segment: Segment) -> None:
    """Refuse when the refund of an adult would leave a child behind for whom no refund is asked.

    An infant that travels free has nothing to ask back and ends with the last adult.
    """
    others = db.all(
        """SELECT live_segments.kind, passengers.name FROM live_segments
        JOIN segments ON segments.id = live_segments.segment_id
        JOIN passengers ON passengers.id = live_segments.passenger_id
        WHERE live_segments.booking_id = :booking_id AND live_segments.flight_id = :flight_id
          AND live_segments.segment_id <> :segment_id
          AND NOT (live_segments.kind = 'infant' AND segments.fare_paid_cents = 0)
          AND (live_segments.kind = 'adult' OR NOT EXISTS (
            SELECT 1 FROM refund_requests
            WHERE refund_requests.segment_id = live_segments.segment_id AND refund_requests.status = 'requested'))
        ORDER BY live_segments.segment_id""",
        booking_id=segment["booking_id"],
        flight_id=segment["flight_id"],
        segment_id=segment["segment_id"],
    )
    if segment["kind"] == "adult" and others and not [other for other in others if other["kind"] == "adult"]:
        names = ", ".join(other["name"] for other in others)
        # rule: child_with_adult
        raise ToolError(
            f"the refund of {segment['passenger_name']} would leave {names} on {segment['flight_no']} with no adult; "
            "ask for the refund of the children first"
        )


def _end_free_infants(db: Database, segment: Segment) -> None:
    """When the last adult has given up the flight, the infants that travel free give it up too."""
    held = db.all(
        """SELECT live_segments.segment_id, live_segments.kind, segments.fare_paid_cents FROM live_segments
        JOIN segments ON segments.id = live_segments.segment_id
        WHERE live_segments.booking_id = :booking_id AND live_segments.flight_id = :flight_id
        ORDER BY live_segments.segment_id""",
        booking_id=segment["booking_id"],
        flight_id=segment["flight_id"],
    )
    if [row for row in held if row["kind"] == "adult"]:
        return
    for row in held:
        if row["kind"] == "infant" and row["fare_paid_cents"] == 0:
            db.run("UPDATE segments SET status = 'cancelled' WHERE id = :id", id=row["segment_id"])
