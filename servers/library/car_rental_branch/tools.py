"""Tools of the counter desk of the Harbour Road car rental branch."""

from datetime import date, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

MOST_DAYS = 28
CUSTOMER_SQL = """
SELECT d.customer_id, d.name, d.email, d.born_on, c.licence_number, d.licence_issued_on, d.licence_expires_on,
  d.tier_name, d.blocked, d.booking_limit, d.open_count AS open_bookings, d.owed_cents
FROM customer_details AS d JOIN customers AS c ON c.id = d.customer_id
"""
BOOKING_SQL = """
SELECT booking_id, customer_id, customer_name, class_id, class_name, booked_on, pickup_on, return_on, days, status,
  ended_on, rental_status, plate, price_cents, balance_cents, deposit_held_cents
FROM booking_details
"""
CAR_SQL = """
SELECT car_id, plate, model, class_id, class_name, status, odometer_km, km_to_service, next_workshop_on
FROM car_details
"""
MOST_DAYS_AHEAD = 180
MOST_OWED_CENTS = 5000
RENTAL_SQL = """
SELECT r.id AS rental_id, r.booking_id, b.customer_id, cu.name AS customer_name, r.car_id, c.plate, r.status,
  r.handed_out_on, b.return_on, r.returned_on, r.odometer_out_km, r.odometer_in_km, r.fuel_in_eighths, r.closed_on
FROM rentals AS r
JOIN bookings AS b ON b.id = r.booking_id
JOIN customers AS cu ON cu.id = b.customer_id
JOIN cars AS c ON c.id = r.car_id
"""
DAMAGE_SQL = """
SELECT d.id AS report_id, r.booking_id, cu.name AS customer_name, c.plate, d.description, d.amount_cents,
  d.reported_on, d.status, d.decided_on, m.name AS approved_by
FROM damage_reports AS d
JOIN rentals AS r ON r.id = d.rental_id
JOIN bookings AS b ON b.id = r.booking_id
JOIN customers AS cu ON cu.id = b.customer_id
JOIN cars AS c ON c.id = r.car_id
LEFT JOIN managers AS m ON m.id = d.approved_by
"""
ORDER_SQL = """
SELECT w.id AS order_id, w.car_id, c.plate, w.kind, w.from_on, w.to_on, w.status, w.finished_on
FROM workshop_orders AS w JOIN cars AS c ON c.id = w.car_id
"""
DAYS_OF_FREE_CHANGE = 2
DAYS_FOR_HANDOUT = 1
SERVICE_DISTANCE_KM = 300
MOST_KM = 2_000_000
MOST_CENTS = 100_000_000
FULL_TANK_EIGHTHS = 8
WAIVER_WITHOUT_CODE_CENTS = 25000
MOST_WORKSHOP_DAYS = 14


class Customer(TypedDict):
    customer_id: str
    name: str
    email: str
    born_on: str
    licence_number: str
    licence_issued_on: str
    licence_expires_on: str
    tier_name: str
    blocked: bool
    booking_limit: int
    open_bookings: int
    owed_cents: int


class Customers(TypedDict):
    customers: list[Customer]


class Booking(TypedDict):
    booking_id: str
    customer_id: str
    customer_name: str
    class_id: str
    class_name: str
    booked_on: str
    pickup_on: str
    return_on: str
    days: int
    status: str
    ended_on: str | None
    rental_status: str | None
    plate: str | None
    price_cents: int
    balance_cents: int
    deposit_held_cents: int


class Bookings(TypedDict):
    bookings: list[Booking]


class Driver(TypedDict):
    customer_id: str
    name: str
    part: str
    under_25: bool


class BookedExtra(TypedDict):
    extra_id: str
    name: str
    quantity: int
    daily_price_cents: int


class BookingSheet(TypedDict):
    booking: Booking
    drivers: list[Driver]
    extras: list[BookedExtra]
    rent_cents: int
    extras_cents: int
    young_driver_cents: int


class Offer(TypedDict):
    class_id: str
    name: str
    class_rank: int
    daily_rate_cents: int
    deposit_cents: int
    min_age: int
    km_per_day: int
    days: int
    rent_cents: int
    free_places: int


class Offers(TypedDict):
    offers: list[Offer]


class Extra(TypedDict):
    extra_id: str
    name: str
    daily_price_cents: int
    min_class_rank: int
    max_per_booking: int
    stock: int
    free_pieces: int


class Extras(TypedDict):
    extras: list[Extra]


class Car(TypedDict):
    car_id: str
    plate: str
    model: str
    class_id: str
    class_name: str
    status: str
    odometer_km: int
    km_to_service: int
    next_workshop_on: str | None


class Cars(TypedDict):
    cars: list[Car]


class Rental(TypedDict):
    rental_id: str
    booking_id: str
    customer_id: str
    customer_name: str
    car_id: str
    plate: str
    status: str
    handed_out_on: str
    return_on: str
    returned_on: str | None
    odometer_out_km: int
    odometer_in_km: int | None
    fuel_in_eighths: int | None
    closed_on: str | None


class Rentals(TypedDict):
    rentals: list[Rental]


class DamageReport(TypedDict):
    report_id: str
    booking_id: str
    customer_name: str
    plate: str
    description: str
    amount_cents: int
    reported_on: str
    status: str
    decided_on: str | None
    approved_by: str | None


class DamageReports(TypedDict):
    reports: list[DamageReport]


class WorkshopOrder(TypedDict):
    order_id: str
    car_id: str
    plate: str
    kind: str
    from_on: str
    to_on: str
    status: str
    finished_on: str | None


class WorkshopOrders(TypedDict):
    orders: list[WorkshopOrder]


class Entry(TypedDict):
    entry_id: int
    kind: str
    reason: str | None
    amount_cents: int
    entered_on: str


class Account(TypedDict):
    booking_id: str
    customer_name: str
    charged_cents: int
    paid_cents: int
    refunded_cents: int
    balance_cents: int
    deposit_held_cents: int
    entries: list[Entry]


def find_customers(db: Database, *, name: str | None = None, email: str | None = None) -> Customers:
    """Find customers by a part of the name or the e-mail address, in order of name.

    `owed_cents` is what is unpaid over all bookings; `open_bookings` counts those booked or with the car out.

    Args:
        name: A part of the name, in capitals or not.
        email: A part of the e-mail address.
    """
    rows = db.all(
        CUSTOMER_SQL
        + """
        WHERE (:name IS NULL OR instr(lower(d.name), lower(:name)) > 0)
          AND (:email IS NULL OR instr(lower(d.email), lower(:email)) > 0)
        ORDER BY d.name, d.customer_id
        """,
        name=_part(name, "name"),
        email=_part(email, "email"),
    )
    return {"customers": [_as_customer(row) for row in rows]}


def find_bookings(
    db: Database,
    *,
    customer_id: str | None = None,
    class_id: str | None = None,
    status: Literal["booked", "picked_up", "no_show", "cancelled"] | None = None,
    pickup_from: str | None = None,
    pickup_to: str | None = None,
) -> Bookings:
    """Find bookings, in order of pickup day. A negative balance is a surplus.

    Args:
        customer_id: Only bookings of this customer, as `find_customers` shows it.
        class_id: Only bookings of this class, as `check_availability` shows it.
        status: Only bookings in this status; `picked_up` also once the car is back.
        pickup_from: Only with a pickup day on this day or later, `YYYY-MM-DD`.
        pickup_to: Only with a pickup day on this day or earlier, `YYYY-MM-DD`.
    """
    if customer_id is not None:
        _customer(db, customer_id)
    if class_id is not None:
        _check_class(db, class_id)
    if pickup_from is not None:
        _day(pickup_from)
    if pickup_to is not None:
        _day(pickup_to)
    if pickup_from is not None and pickup_to is not None and pickup_to < pickup_from:
        raise ToolError(f"the period ends on {pickup_to}, before it begins on {pickup_from}; exchange the two days")
    rows = db.all(
        BOOKING_SQL
        + """
        WHERE (:customer_id IS NULL OR customer_id = :customer_id)
          AND (:class_id IS NULL OR class_id = :class_id)
          AND (:status IS NULL OR status = :status)
          AND (:pickup_from IS NULL OR pickup_on >= :pickup_from)
          AND (:pickup_to IS NULL OR pickup_on <= :pickup_to)
        ORDER BY pickup_on, booking_id
        """,
        customer_id=customer_id,
        class_id=class_id,
        status=status,
        pickup_from=pickup_from,
        pickup_to=pickup_to,
    )
    return {"bookings": [cast("Booking", row) for row in rows]}


def get_booking(db: Database, *, booking_id: str) -> BookingSheet:
    """Show one booking with its drivers, its extras and the parts of its price.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    return _sheet(db, booking_id)


def check_availability(db: Database, *, pickup_on: str, return_on: str, class_id: str | None = None) -> Offers:
    """Show for each class what a booking would cost and how many places are free on all of its days.

    The rent is without extras and without the surcharge for young drivers.

    Args:
        pickup_on: The pickup day, `YYYY-MM-DD`.
        return_on: The return day, `YYYY-MM-DD`, 1 to 28 days after the pickup day.
        class_id: Only this class, as this tool shows it without the argument.
    """
    _check_length(pickup_on, return_on)
    if class_id is not None:
        _check_class(db, class_id)
    first = _day(pickup_on)
    length = (_day(return_on) - first).days
    days = [(first + timedelta(days=number)).isoformat() for number in range(length + 1)]
    classes = db.all(
        """
        SELECT id AS class_id, name, class_rank, daily_rate_cents, deposit_cents, min_age, km_per_day
        FROM car_classes WHERE :class_id IS NULL OR id = :class_id ORDER BY class_rank, id
        """,
        class_id=class_id,
    )
    cars = db.all("SELECT class_id FROM cars WHERE status <> 'retired' ORDER BY id")
    taken = db.all(
        """
        SELECT class_id, pickup_on AS from_on, return_on AS to_on FROM open_bookings
        WHERE pickup_on <= :to_on AND return_on >= :from_on ORDER BY booking_id
        """,
        from_on=pickup_on,
        to_on=return_on,
    )
    away = db.all(
        """
        SELECT cars.class_id, w.from_on, w.to_on FROM workshop_orders AS w JOIN cars ON cars.id = w.car_id
        WHERE w.status IN ('planned', 'in_work') AND cars.status <> 'retired'
          AND w.from_on <= :to_on AND w.to_on >= :from_on
        ORDER BY w.id
        """,
        from_on=pickup_on,
        to_on=return_on,
    )
    offers: list[Offer] = []
    for row in classes:
        fleet = sum(1 for car in cars if car["class_id"] == row["class_id"])
        uses = [use for use in taken + away if use["class_id"] == row["class_id"]]
        free = min(fleet - sum(1 for use in uses if use["from_on"] <= day <= use["to_on"]) for day in days)
        offers.append(
            {
                "class_id": row["class_id"],
                "name": row["name"],
                "class_rank": row["class_rank"],
                "daily_rate_cents": row["daily_rate_cents"],
                "deposit_cents": row["deposit_cents"],
                "min_age": row["min_age"],
                "km_per_day": row["km_per_day"],
                "days": length,
                "rent_cents": length * row["daily_rate_cents"],
                "free_places": max(0, free),
            }
        )
    return {"offers": offers}


def list_extras(db: Database, *, from_on: str, to_on: str) -> Extras:
    """List the extras, with the pieces free on every day of a period.

    Args:
        from_on: The first day, `YYYY-MM-DD`.
        to_on: The last day, `YYYY-MM-DD`.
    """
    _day(from_on)
    _day(to_on)
    if to_on < from_on:
        raise ToolError(f"the period ends on {to_on}, before it begins on {from_on}; exchange the two days")
    demands = db.all(
        """
        SELECT be.extra_id, be.quantity, o.pickup_on, o.return_on
        FROM booking_extras AS be JOIN open_bookings AS o ON o.booking_id = be.booking_id
        WHERE o.pickup_on <= :to_on AND o.return_on >= :from_on
        ORDER BY be.extra_id, be.booking_id
        """,
        from_on=from_on,
        to_on=to_on,
    )
    rows = db.all(
        """
        SELECT id AS extra_id, name, daily_price_cents, min_class_rank, max_per_booking, stock
        FROM extras ORDER BY name, id
        """
    )
    extras: list[Extra] = []
    for row in rows:
        wanted = [demand for demand in demands if demand["extra_id"] == row["extra_id"]]
        days = [from_on] + [demand["pickup_on"] for demand in wanted if demand["pickup_on"] > from_on]
        most = max(
            sum(demand["quantity"] for demand in wanted if demand["pickup_on"] <= day <= demand["return_on"])
            for day in days
        )
        extras.append(
            {
                "extra_id": row["extra_id"],
                "name": row["name"],
                "daily_price_cents": row["daily_price_cents"],
                "min_class_rank": row["min_class_rank"],
                "max_per_booking": row["max_per_booking"],
                "stock": row["stock"],
                "free_pieces": max(0, row["stock"] - most),
            }
        )
    return {"extras": extras}


def find_cars(
    db: Database,
    *,
    plate: str | None = None,
    model: str | None = None,
    class_id: str | None = None,
    status: Literal["ready", "rented", "cleaning", "workshop", "retired"] | None = None,
) -> Cars:
    """Find cars, in order of class rank and plate.

    `next_workshop_on` is the first day of the next unfinished workshop order.

    Args:
        plate: A part of the number plate.
        model: A part of the make or model.
        class_id: Only cars of this class, as `check_availability` shows it.
        status: Only cars in this status.
    """
    if class_id is not None:
        _check_class(db, class_id)
    rows = db.all(
        CAR_SQL
        + """
        WHERE (:plate IS NULL OR instr(lower(plate), lower(:plate)) > 0)
          AND (:model IS NULL OR instr(lower(model), lower(:model)) > 0)
          AND (:class_id IS NULL OR class_id = :class_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY class_rank, plate, car_id
        """,
        plate=_part(plate, "plate"),
        model=_part(model, "model"),
        class_id=class_id,
        status=status,
    )
    return {"cars": [cast("Car", row) for row in rows]}


def find_rentals(
    db: Database,
    *,
    customer_id: str | None = None,
    car_id: str | None = None,
    status: Literal["out", "overdue", "returned", "closed"] | None = None,
) -> Rentals:
    """Find rentals, those due first at the top. Overdue rentals are out too.

    Args:
        customer_id: Only rentals of this customer, as `find_customers` shows it.
        car_id: Only rentals of this car, as `find_cars` shows it.
        status: Only rentals in this status.
    """
    if customer_id is not None:
        _customer(db, customer_id)
    if car_id is not None:
        _car(db, car_id)
    rows = db.all(
        RENTAL_SQL
        + """
        WHERE (:customer_id IS NULL OR b.customer_id = :customer_id)
          AND (:car_id IS NULL OR r.car_id = :car_id)
          AND (:status IS NULL OR r.status = :status
            OR (:status = 'overdue' AND r.status = 'out' AND b.return_on < :today))
        ORDER BY b.return_on, r.id
        """,
        customer_id=customer_id,
        car_id=car_id,
        status=status,
        today=db.now()[:10],
    )
    return {"rentals": [cast("Rental", row) for row in rows]}


def find_damage_reports(
    db: Database,
    *,
    booking_id: str | None = None,
    status: Literal["open", "charged", "waived"] | None = None,
) -> DamageReports:
    """Find damage reports, the oldest first. `approved_by` is the name of a manager.

    Args:
        booking_id: Only reports on the rental of this booking, as `find_bookings` shows it.
        status: Only reports in this status.
    """
    if booking_id is not None:
        _booking(db, booking_id)
    rows = db.all(
        DAMAGE_SQL
        + """
        WHERE (:booking_id IS NULL OR r.booking_id = :booking_id)
          AND (:status IS NULL OR d.status = :status)
        ORDER BY d.reported_on, d.id
        """,
        booking_id=booking_id,
        status=status,
    )
    return {"reports": [cast("DamageReport", row) for row in rows]}


def find_workshop_orders(
    db: Database,
    *,
    car_id: str | None = None,
    status: Literal["planned", "in_work", "done"] | None = None,
) -> WorkshopOrders:
    """Find workshop orders, in order of their first day.

    Args:
        car_id: Only orders for this car, as `find_cars` shows it.
        status: Only orders in this status.
    """
    if car_id is not None:
        _car(db, car_id)
    rows = db.all(
        ORDER_SQL
        + """
        WHERE (:car_id IS NULL OR w.car_id = :car_id)
          AND (:status IS NULL OR w.status = :status)
        ORDER BY w.from_on, w.id
        """,
        car_id=car_id,
        status=status,
    )
    return {"orders": [cast("WorkshopOrder", row) for row in rows]}


def show_account(db: Database, *, booking_id: str) -> Account:
    """Show the charges, payments, refunds and the deposit of a booking, oldest entry first.

    A positive balance is owed; a negative one is a surplus.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    return _account(db, booking_id)


def register_customer(
    db: Database,
    *,
    name: str,
    email: str,
    born_on: str,
    licence_number: str,
    licence_issued_on: str,
    licence_expires_on: str,
) -> Customer:
    """Register a new customer or driver, as a standard member.

    Args:
        name: The full name.
        email: The e-mail address, which no other customer has.
        born_on: The date of birth, `YYYY-MM-DD`.
        licence_number: The number of the driving licence, which no other customer has.
        licence_issued_on: The day on which the licence was first issued, `YYYY-MM-DD`.
        licence_expires_on: The last day of the licence, `YYYY-MM-DD`.
    """
    full_name = _text(name, "name")
    address = _text(email, "email")
    number = _text(licence_number, "licence number")
    if "@" not in address:
        raise ToolError(f"{address!r} is not an e-mail address; ask for the right one")
    _day(born_on)
    _day(licence_issued_on)
    _day(licence_expires_on)
    if licence_issued_on <= born_on:
        raise ToolError(f"the licence cannot be issued on {licence_issued_on}, with a birth on {born_on}; check the dates")
    if licence_issued_on > db.now()[:10]:
        raise ToolError(f"the licence cannot be issued on {licence_issued_on}, which is still to come; check the date")
    if licence_expires_on <= licence_issued_on:
        raise ToolError(
            f"the licence cannot end on {licence_expires_on}, being issued on {licence_issued_on}; check the dates"
        )
    if db.one("SELECT id FROM customers WHERE lower(email) = lower(:email)", email=address) is not None:
        raise ToolError(f"a customer with the e-mail address {address} is registered already; find_customers shows who")
    if db.one("SELECT id FROM customers WHERE lower(licence_number) = lower(:number)", number=number) is not None:
        raise ToolError(f"the licence {number} is registered already; look for the customer with find_customers")
    customer_id = db.new_id("cus")
    db.run(
        """
        INSERT INTO customers
          (id, name, email, born_on, licence_number, licence_issued_on, licence_expires_on, tier_id, blocked)
        VALUES (:id, :name, :email, :born_on, :number, :issued_on, :expires_on,
          (SELECT id FROM member_tiers ORDER BY booking_limit, id LIMIT 1), 0)
        """,
        id=customer_id,
        name=full_name,
        email=address,
        born_on=born_on,
        number=number,
        issued_on=licence_issued_on,
        expires_on=licence_expires_on,
    )
    return _customer(db, customer_id)


def make_booking(db: Database, *, customer_id: str, class_id: str, pickup_on: str, return_on: str) -> Booking:
    """Book a class for a customer. Nothing is charged before handout.

    Args:
        customer_id: The customer, as `find_customers` shows it.
        class_id: The class, as `check_availability` shows it.
        pickup_on: The pickup day, `YYYY-MM-DD`.
        return_on: The return day, `YYYY-MM-DD`.
    """
    customer = _customer(db, customer_id)
    _check_class(db, class_id)
    today = db.now()[:10]
    _check_pickup(pickup_on, today, today)
    _check_length(pickup_on, return_on)
    _check_standing(customer)
    booking_id = db.new_id("bkg")
    db.run(
        """
        INSERT INTO bookings (id, customer_id, class_id, booked_on, pickup_on, return_on, status)
        VALUES (:id, :customer_id, :class_id, :today, :pickup_on, :return_on, 'booked')
        """,
        id=booking_id,
        customer_id=customer_id,
        class_id=class_id,
        today=today,
        pickup_on=pickup_on,
        return_on=return_on,
    )
    return _booking(db, booking_id)


def change_booking(
    db: Database,
    *,
    booking_id: str,
    class_id: str | None = None,
    pickup_on: str | None = None,
    return_on: str | None = None,
) -> Booking:
    """Change the class or the days of a booking before handout. What is not given stays as it is.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        class_id: The new class, as `check_availability` shows it.
        pickup_on: The new pickup day, `YYYY-MM-DD`.
        return_on: The new return day, `YYYY-MM-DD`.
    """
    booking = _booking(db, booking_id)
    new_class = booking["class_id"] if class_id is None else class_id
    new_pickup = booking["pickup_on"] if pickup_on is None else pickup_on
    new_return = booking["return_on"] if return_on is None else return_on
    _check_class(db, new_class)
    _day(new_pickup)
    _day(new_return)
    _check_booked(booking)
    today = db.now()[:10]
    if (_day(booking["pickup_on"]) - _day(today)).days < DAYS_OF_FREE_CHANGE:
        # rule: change_in_time
        raise ToolError(
            f"{booking_id} has its pickup day on {booking['pickup_on']}, and a change is possible only until "
            f"{DAYS_OF_FREE_CHANGE} days before; it can still be cancelled or handed out in its time"
        )
    if (new_class, new_pickup, new_return) == (booking["class_id"], booking["pickup_on"], booking["return_on"]):
        raise ToolError(f"{booking_id} has this class and these days already; say what is to be changed")
    _check_pickup(new_pickup, today, booking["booked_on"])
    _check_length(new_pickup, new_return)
    db.run(
        "UPDATE bookings SET class_id = :class_id, pickup_on = :pickup_on, return_on = :return_on WHERE id = :id",
        id=booking_id,
        class_id=new_class,
        pickup_on=new_pickup,
        return_on=new_return,
    )
    return _booking(db, booking_id)


def cancel_booking(db: Database, *, booking_id: str) -> Booking:
    """Cancel a booking. The fee, if one is due, is charged and a deposit that is held is released.

    What was paid beyond the fee stays as a surplus until `refund_surplus`.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    _check_booked(booking)
    ahead = (_day(booking["pickup_on"]) - _day(db.now()[:10])).days
    if ahead < -DAYS_FOR_HANDOUT:
        raise ToolError(
            f"{booking_id} had its pickup day on {booking['pickup_on']} and can no longer be cancelled; "
            "staff can mark it as a no-show"
        )
    fee = "cancellation" if ahead < DAYS_OF_FREE_CHANGE else None
    _end_booking(db, booking, "cancelled", fee)
    return _booking(db, booking_id)


def mark_no_show(db: Database, *, booking_id: str) -> Booking:
    """Make a no-show of a booking that nobody came for. The fee is charged and a deposit that is held is released.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    _check_booked(booking)
    ahead = (_day(booking["pickup_on"]) - _day(db.now()[:10])).days
    if ahead >= -DAYS_FOR_HANDOUT:
        raise ToolError(
            f"{booking_id} has its pickup day on {booking['pickup_on']}; it is a no-show only from the second day after that"
        )
    _end_booking(db, booking, "no_show", "no_show")
    return _booking(db, booking_id)


def add_driver(db: Database, *, booking_id: str, customer_id: str) -> BookingSheet:
    """Add a driver to a booking before handout.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        customer_id: The driver, as `find_customers` shows it; a new one is registered first.
    """
    booking = _booking(db, booking_id)
    driver = _customer(db, customer_id)
    if booking["status"] != "booked":
        # rule: drivers_before_handout
        raise ToolError(f"{booking_id} is {booking['status']}; drivers are added only before handout")
    if driver["blocked"]:
        # rule: drivers_before_handout
        raise ToolError(f"{driver['name']} is blocked and cannot become a driver; choose somebody else")
    known = db.one(
        "SELECT part FROM booking_driver_details WHERE booking_id = :id AND driver_id = :driver_id",
        id=booking_id,
        driver_id=customer_id,
    )
    if known is not None:
        raise ToolError(f"{driver['name']} is a driver of {booking_id} already; nothing is to be done")
    db.run(
        "INSERT INTO additional_drivers (booking_id, customer_id) VALUES (:booking_id, :customer_id)",
        booking_id=booking_id,
        customer_id=customer_id,
    )
    return _sheet(db, booking_id)


def set_extra(db: Database, *, booking_id: str, extra_id: str, quantity: int) -> BookingSheet:
    """Set how many pieces of an extra a booking has, before handout.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        extra_id: The extra, as `list_extras` shows it.
        quantity: The pieces wanted in all, not those to add; 0 drops the extra.
    """
    booking = _booking(db, booking_id)
    extra = db.one("SELECT name FROM extras WHERE id = :id", id=extra_id)
    if extra is None:
        raise ToolError(f"no extra {extra_id!r}; list_extras lists them")
    if booking["status"] != "booked":
        raise ToolError(f"{booking_id} is {booking['status']}; extras are added or dropped only before handout")
    if quantity < 0:
        raise ToolError(f"{quantity} is no number of pieces; give 0 to drop the extra, or how many are wanted in all")
    present = db.one(
        "SELECT quantity FROM booking_extras WHERE booking_id = :booking_id AND extra_id = :extra_id",
        booking_id=booking_id,
        extra_id=extra_id,
    )
    had = 0 if present is None else present["quantity"]
    if quantity == had:
        raise ToolError(f"{booking_id} has {had} of {extra['name']} already; nothing is to be done")
    if quantity == 0:
        db.run(
            "DELETE FROM booking_extras WHERE booking_id = :booking_id AND extra_id = :extra_id",
            booking_id=booking_id,
            extra_id=extra_id,
        )
    elif had == 0:
        db.run(
            "INSERT INTO booking_extras (booking_id, extra_id, quantity) VALUES (:booking_id, :extra_id, :quantity)",
            booking_id=booking_id,
            extra_id=extra_id,
            quantity=quantity,
        )
    else:
        db.run(
            "UPDATE booking_extras SET quantity = :quantity WHERE booking_id = :booking_id AND extra_id = :extra_id",
            booking_id=booking_id,
            extra_id=extra_id,
            quantity=quantity,
        )
    return _sheet(db, booking_id)


def hold_deposit(db: Database, *, booking_id: str) -> Account:
    """Hold the deposit of a booking that is about to be handed out.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    _check_booked(booking)
    ahead = (_day(booking["pickup_on"]) - _day(db.now()[:10])).days
    if not -DAYS_FOR_HANDOUT <= ahead <= 0:
        # rule: deposit_first
        raise ToolError(
            f"the deposit of {booking_id} is held only on the pickup day, {booking['pickup_on']}, or the day after it"
        )
    if booking["deposit_held_cents"] > 0:
        raise ToolError(f"a deposit of {_money(booking['deposit_held_cents'])} is held for {booking_id} already")
    amount = _class_row(db, booking["class_id"])["deposit_cents"]
    _enter(db, booking_id, "deposit_hold", None, amount)
    return _account(db, booking_id)


def hand_out_car(db: Database, *, booking_id: str, car_id: str) -> Rental:
    """Hand out a car for a booking. The price is charged, not paid, by this.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        car_id: The car, as `find_cars` shows it.
    """
    booking = _booking(db, booking_id)
    car = _car(db, car_id)
    _check_booked(booking)
    _check_standing(_customer(db, booking["customer_id"]))
    booked_class = _class_row(db, booking["class_id"])
    if booking["deposit_held_cents"] != booked_class["deposit_cents"]:
        # rule: deposit_first
        raise ToolError(
            f"the deposit of {_money(booked_class['deposit_cents'])} for {booking_id} is not held; hold it before handout"
        )
    if _class_row(db, car["class_id"])["class_rank"] == booked_class["class_rank"] + 1:
        _check_upgrade(db, booking)
    db.run(
        """
        INSERT INTO rentals (id, booking_id, car_id, status, handed_out_on, odometer_out_km)
        VALUES (:id, :booking_id, :car_id, 'out', :today, :odometer_km)
        """,
        id=db.new_id("rent"),
        booking_id=booking_id,
        car_id=car_id,
        today=db.now()[:10],
        odometer_km=car["odometer_km"],
    )
    sheet = _sheet(db, booking_id)
    _enter(db, booking_id, "charge", "rental", sheet["rent_cents"])
    _enter(db, booking_id, "charge", "extras", sheet["extras_cents"])
    _enter(db, booking_id, "charge", "young_driver", sheet["young_driver_cents"])
    return _rental(db, booking_id)


def extend_rental(db: Database, *, booking_id: str, return_on: str) -> Booking:
    """Move the return day of a rental whose car is out, and charge the added days.

    Args:
        booking_id: The booking of the rental, as `find_rentals` shows it.
        return_on: The new return day, `YYYY-MM-DD`.
    """
    booking = _booking(db, booking_id)
    _day(return_on)
    if booking["rental_status"] != "out":
        raise ToolError(f"{booking_id} has no car out with the customer; only a running rental is extended")
    today = db.now()[:10]
    if booking["return_on"] < today:
        # rule: extension_in_time
        raise ToolError(
            f"the return day of {booking_id}, {booking['return_on']}, has passed, and it is too late to extend; "
            "the car must come back"
        )
    _check_standing(_customer(db, booking["customer_id"]))
    _check_length(booking["pickup_on"], return_on)
    before = _sheet(db, booking_id)
    db.run("UPDATE bookings SET return_on = :return_on WHERE id = :id", id=booking_id, return_on=return_on)
    after = _sheet(db, booking_id)
    _enter(db, booking_id, "charge", "rental", after["rent_cents"] - before["rent_cents"])
    _enter(db, booking_id, "charge", "extras", after["extras_cents"] - before["extras_cents"])
    _enter(db, booking_id, "charge", "young_driver", after["young_driver_cents"] - before["young_driver_cents"])
    return _booking(db, booking_id)


def take_back_car(db: Database, *, booking_id: str, odometer_km: int, fuel_in_eighths: int) -> Rental:
    """Take a car back today. Late days, extra kilometres and missing fuel are charged; `show_account` shows them.

    Args:
        booking_id: The booking of the rental, as `find_rentals` shows it.
        odometer_km: The odometer reading at the return.
        fuel_in_eighths: The fuel in the tank in eighths, 0 for empty to 8 for full.
    """
    rental = _rental(db, booking_id)
    if rental["status"] != "out":
        raise ToolError(f"the car of {booking_id} came back on {rental['returned_on']} already")
    if odometer_km < rental["odometer_out_km"]:
        raise ToolError(
            f"the odometer of {rental['plate']} was at {rental['odometer_out_km']} km at handout and cannot be at "
            f"{odometer_km} km now; read it again"
        )
    if odometer_km > MOST_KM:
        raise ToolError(f"{odometer_km} km is more than a car ever drives; read the odometer again")
    if not 0 <= fuel_in_eighths <= FULL_TANK_EIGHTHS:
        raise ToolError(f"{fuel_in_eighths} eighths is no fuel level; it goes from 0 to {FULL_TANK_EIGHTHS}")
    db.run(
        """
        UPDATE rentals
        SET status = 'returned', returned_on = :today, odometer_in_km = :odometer_km, fuel_in_eighths = :fuel
        WHERE id = :id
        """,
        id=rental["rental_id"],
        today=db.now()[:10],
        odometer_km=odometer_km,
        fuel=fuel_in_eighths,
    )
    due = db.all(
        "SELECT late_cents, extra_km_cents, fuel_cents FROM rental_settlements WHERE booking_id = :id ORDER BY rental_id",
        id=booking_id,
    )[0]
    _enter(db, booking_id, "charge", "late", due["late_cents"])
    _enter(db, booking_id, "charge", "extra_km", due["extra_km_cents"])
    _enter(db, booking_id, "charge", "fuel", due["fuel_cents"])
    return _rental(db, booking_id)


def release_car(db: Database, *, car_id: str) -> Car:
    """Make a car ready whose cleaning is done.

    Args:
        car_id: The car, as `find_cars` shows it.
    """
    car = _car(db, car_id)
    if car["status"] != "cleaning":
        raise ToolError(f"{car['plate']} is {car['status']}; only a car in cleaning is released")
    db.run("UPDATE cars SET status = 'ready' WHERE id = :id", id=car_id)
    return _car(db, car_id)


def report_damage(db: Database, *, booking_id: str, description: str, amount_cents: int) -> DamageReport:
    """Report a damage on a rental that is not closed. Nothing is charged yet.

    Args:
        booking_id: The booking of the rental, as `find_rentals` shows it.
        description: What is damaged, in a few words.
        amount_cents: What the repair costs, in cents.
    """
    rental = _rental(db, booking_id)
    words = _text(description, "description")
    if not 0 < amount_cents <= MOST_CENTS:
        raise ToolError(f"{amount_cents} cents is no cost of a repair; give a positive number of cents")
    if rental["status"] == "closed":
        raise ToolError(f"the rental of {booking_id} was closed on {rental['closed_on']}; no damage is reported after that")
    report_id = db.new_id("dmg")
    db.run(
        """
        INSERT INTO damage_reports (id, rental_id, description, amount_cents, reported_on, status)
        VALUES (:id, :rental_id, :description, :amount_cents, :today, 'open')
        """,
        id=report_id,
        rental_id=rental["rental_id"],
        description=words,
        amount_cents=amount_cents,
        today=db.now()[:10],
    )
    return _report(db, report_id)


def decide_damage(
    db: Database,
    *,
    report_id: str,
    decision: Literal["charged", "waived"],
    manager_code: str | None = None,
) -> DamageReport:
    """Charge an open damage report to the booking, at the amount reported, or waive it.

    Args:
        report_id: The report, as `find_damage_reports` shows it.
        decision: Whether the damage is charged or waived.
        manager_code: The code that a manager gave for this waiver, where one is needed.
    """
    report = _report(db, report_id)
    if report["status"] != "open":
        raise ToolError(f"{report_id} was {report['status']} on {report['decided_on']}; a decision stays")
    manager_id = None
    if decision == "waived":
        manager_id = _manager_for_waiver(db, report, manager_code)
    db.run(
        "UPDATE damage_reports SET status = :decision, decided_on = :today, approved_by = :manager_id WHERE id = :id",
        id=report_id,
        decision=decision,
        today=db.now()[:10],
        manager_id=manager_id,
    )
    if decision == "charged":
        _enter(db, report["booking_id"], "charge", "damage", report["amount_cents"])
    return _report(db, report_id)


def take_payment(db: Database, *, booking_id: str, amount_cents: int) -> Account:
    """Enter a payment of the customer for a booking.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
        amount_cents: What was paid, in cents.
    """
    booking = _booking(db, booking_id)
    if amount_cents <= 0:
        raise ToolError(f"{amount_cents} cents is no payment; give what was paid as a positive number of cents")
    if booking["status"] == "booked":
        due = max(0, booking["price_cents"] + booking["balance_cents"])
        if amount_cents > due:
            raise ToolError(
                f"{_money(amount_cents)} is too much for {booking_id}, of whose price {_money(due)} is not paid yet; "
                "take no more than that before handout"
            )
    else:
        owed = max(0, booking["balance_cents"])
        if amount_cents > owed:
            raise ToolError(
                f"{_money(amount_cents)} is more than is owed on {booking_id}, which is {_money(owed)}; take at most that"
            )
    _enter(db, booking_id, "payment", None, amount_cents)
    return _account(db, booking_id)


def refund_surplus(db: Database, *, booking_id: str) -> Account:
    """Pay back all that was paid beyond the charges of a booking.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    if booking["status"] == "booked" or booking["rental_status"] == "out":
        raise ToolError(f"{booking_id} still stands; a refund is possible only once it is cancelled or the car is back")
    surplus = -booking["balance_cents"]
    if surplus <= 0:
        raise ToolError(f"nothing was paid beyond the charges of {booking_id}; there is no surplus to refund")
    _enter(db, booking_id, "refund", None, surplus)
    return _account(db, booking_id)


def close_rental(db: Database, *, booking_id: str) -> Rental:
    """Close a rental whose car is back, and release its deposit.

    Args:
        booking_id: The booking of the rental, as `find_rentals` shows it.
    """
    rental = _rental(db, booking_id)
    if rental["status"] == "out":
        raise ToolError(f"{rental['plate']} is still out on {booking_id}; take it back before the rental is closed")
    if rental["status"] == "closed":
        raise ToolError(f"the rental of {booking_id} was closed on {rental['closed_on']} already")
    deposit = _booking(db, booking_id)["deposit_held_cents"]
    db.run(
        "UPDATE rentals SET status = 'closed', closed_on = :today WHERE id = :id",
        id=rental["rental_id"],
        today=db.now()[:10],
    )
    _enter(db, booking_id, "deposit_release", None, deposit)
    return _rental(db, booking_id)


def plan_workshop_order(
    db: Database, *, car_id: str, kind: Literal["service", "repair", "tyres"], from_on: str, to_on: str
) -> WorkshopOrder:
    """Plan a workshop order for a car.

    Args:
        car_id: The car, as `find_cars` shows it.
        kind: What is to be done.
        from_on: The first day, `YYYY-MM-DD`.
        to_on: The last day, `YYYY-MM-DD`.
    """
    _car(db, car_id)
    length = (_day(to_on) - _day(from_on)).days + 1
    today = db.now()[:10]
    if from_on < today:
        raise ToolError(f"the order cannot begin on {from_on}, for today is {today}; choose today or a later day")
    if not 1 <= length <= MOST_WORKSHOP_DAYS:
        raise ToolError(f"from {from_on} to {to_on} is no length for an order; it lasts 1 to {MOST_WORKSHOP_DAYS} days")
    order_id = db.new_id("wo")
    db.run(
        """
        INSERT INTO workshop_orders (id, car_id, kind, from_on, to_on, status)
        VALUES (:id, :car_id, :kind, :from_on, :to_on, 'planned')
        """,
        id=order_id,
        car_id=car_id,
        kind=kind,
        from_on=from_on,
        to_on=to_on,
    )
    return _order(db, order_id)


def start_workshop_order(db: Database, *, order_id: str) -> WorkshopOrder:
    """Start a planned workshop order; its car goes to the workshop.

    Args:
        order_id: The order, as `find_workshop_orders` shows it.
    """
    order = _order(db, order_id)
    if order["status"] != "planned":
        raise ToolError(f"{order_id} is {order['status']}; only a planned order is started")
    today = db.now()[:10]
    if not order["from_on"] <= today <= order["to_on"]:
        raise ToolError(
            f"{order_id} is planned from {order['from_on']} to {order['to_on']} and is started only within these days"
        )
    car = _car(db, order["car_id"])
    if car["status"] not in ("ready", "cleaning"):
        raise ToolError(f"{car['plate']} is {car['status']} and not in the yard; {order_id} cannot be started")
    db.run("UPDATE workshop_orders SET status = 'in_work' WHERE id = :id", id=order_id)
    return _order(db, order_id)


def finish_workshop_order(db: Database, *, order_id: str) -> WorkshopOrder:
    """Finish a workshop order that is in work; its car goes to cleaning.

    Args:
        order_id: The order, as `find_workshop_orders` shows it.
    """
    order = _order(db, order_id)
    if order["status"] != "in_work":
        raise ToolError(f"{order_id} is {order['status']}; only an order in work is finished")
    db.run(
        "UPDATE workshop_orders SET status = 'done', finished_on = :today WHERE id = :id",
        id=order_id,
        today=db.now()[:10],
    )
    return _order(db, order_id)


def _part(text: str | None, what: str) -> str | None:
    if text is None:
        return None
    return _text(text, what)


def _text(text: str, what: str) -> str:
    if not text.strip():
        raise ToolError(f"the {what} is blank; give some text")
    return text.strip()


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ToolError(f"{text!r} is not a date; write it as YYYY-MM-DD") from None
    if day.isoformat() != text:
        raise ToolError(f"{text!r} is not a date as asked for; write it as YYYY-MM-DD")
    return day


def _check_length(pickup_on: str, return_on: str) -> None:
    length = (_day(return_on) - _day(pickup_on)).days
    if not 1 <= length <= MOST_DAYS:
        raise ToolError(
            f"from {pickup_on} to {return_on} is not a length for a booking; it lasts 1 to {MOST_DAYS} days"
        )  # rule: booking_length


def _check_class(db: Database, class_id: str) -> None:
    if db.one("SELECT id FROM car_classes WHERE id = :id", id=class_id) is None:
        raise ToolError(f"no class {class_id!r}; check_availability lists them")


def _as_customer(row: dict) -> Customer:
    row["blocked"] = bool(row["blocked"])
    return cast("Customer", row)


def _customer(db: Database, customer_id: str) -> Customer:
    row = db.one(CUSTOMER_SQL + "WHERE d.customer_id = :id", id=customer_id)
    if row is None:
        raise ToolError(f"no customer {customer_id!r}; find_customers lists them")
    return _as_customer(row)


def _booking(db: Database, booking_id: str) -> Booking:
    row = db.one(BOOKING_SQL + "WHERE booking_id = :id", id=booking_id)
    if row is None:
        raise ToolError(f"no booking {booking_id!r}; find_bookings lists them")
    return cast("Booking", row)


def _sheet(db: Database, booking_id: str) -> BookingSheet:
    booking = _booking(db, booking_id)
    drivers = db.all(
        """
        SELECT driver_id AS customer_id, driver_name AS name, part, under_25 FROM booking_driver_details
        WHERE booking_id = :id ORDER BY part DESC, driver_name, driver_id
        """,
        id=booking_id,
    )
    extras = db.all(
        """
        SELECT extras.id AS extra_id, extras.name, be.quantity, extras.daily_price_cents
        FROM booking_extras AS be JOIN extras ON extras.id = be.extra_id
        WHERE be.booking_id = :id ORDER BY extras.name, extras.id
        """,
        id=booking_id,
    )
    price = db.all(
        "SELECT rent_cents, extras_cents, young_driver_cents FROM booking_quotes WHERE booking_id = :id ORDER BY booking_id",
        id=booking_id,
    )[0]
    return {
        "booking": booking,
        "drivers": [
            {
                "customer_id": row["customer_id"],
                "name": row["name"],
                "part": row["part"],
                "under_25": bool(row["under_25"]),
            }
            for row in drivers
        ],
        "extras": [cast("BookedExtra", row) for row in extras],
        "rent_cents": price["rent_cents"],
        "extras_cents": price["extras_cents"],
        "young_driver_cents": price["young_driver_cents"],
    }


def _check_pickup(pickup_on: str, today: str, booked_on: str) -> None:
    ahead = (_day(pickup_on) - _day(booked_on)).days
    if pickup_on < today:
        # rule: no_past_pickup
        raise ToolError(f"the pickup day {pickup_on} is past, for today is {today}; choose today or a later day")
    if ahead > MOST_DAYS_AHEAD:
        # rule: lead_time
        raise ToolError(
            f"the pickup day {pickup_on} is {ahead} days after the booking on {booked_on}; "
            f"at most {MOST_DAYS_AHEAD} days ahead are possible"
        )


def _check_standing(customer: Customer) -> None:
    if customer["blocked"]:
        # rule: blocked_or_owing
        raise ToolError(f"{customer['name']} is blocked and gets no booking, handout or extension; only the manager can help")
    if customer["owed_cents"] > MOST_OWED_CENTS:
        # rule: blocked_or_owing
        raise ToolError(
            f"{customer['name']} owes {_money(customer['owed_cents'])}, which is more than {_money(MOST_OWED_CENTS)}; "
            "a payment must come first"
        )


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _car(db: Database, car_id: str) -> Car:
    row = db.one(CAR_SQL + "WHERE car_id = :id", id=car_id)
    if row is None:
        raise ToolError(f"no car {car_id!r}; find_cars lists them")
    return cast("Car", row)


def _account(db: Database, booking_id: str) -> Account:
    booking = _booking(db, booking_id)
    sums = db.all(
        """
        SELECT charged_cents, paid_cents, refunded_cents, balance_cents, deposit_held_cents
        FROM booking_accounts WHERE booking_id = :id ORDER BY booking_id
        """,
        id=booking_id,
    )[0]
    entries = db.all(
        """
        SELECT id AS entry_id, kind, reason, amount_cents, entered_on FROM ledger_entries
        WHERE booking_id = :id ORDER BY entered_on, id
        """,
        id=booking_id,
    )
    return {
        "booking_id": booking_id,
        "customer_name": booking["customer_name"],
        "charged_cents": sums["charged_cents"],
        "paid_cents": sums["paid_cents"],
        "refunded_cents": sums["refunded_cents"],
        "balance_cents": sums["balance_cents"],
        "deposit_held_cents": sums["deposit_held_cents"],
        "entries": [cast("Entry", row) for row in entries],
    }


def _check_booked(booking: Booking) -> None:
    if booking["status"] == "picked_up":
        raise ToolError(f"the car of {booking['booking_id']} was handed out; that is possible only before handout")
    if booking["status"] != "booked":
        raise ToolError(
            f"{booking['booking_id']} is {booking['status']} since {booking['ended_on']} and stays so; make a new booking"
        )


def _end_booking(db: Database, booking: Booking, status: str, fee: str | None) -> None:
    booking_id = booking["booking_id"]
    db.run(
        "UPDATE bookings SET status = :status, ended_on = :today WHERE id = :id",
        id=booking_id,
        status=status,
        today=db.now()[:10],
    )
    if fee is not None:
        _enter(db, booking_id, "charge", fee, _class_row(db, booking["class_id"])["daily_rate_cents"])
    if booking["deposit_held_cents"] > 0:
        _enter(db, booking_id, "deposit_release", None, booking["deposit_held_cents"])


def _class_row(db: Database, class_id: str) -> dict[str, Any]:
    row = db.one(
        "SELECT id, name, class_rank, daily_rate_cents, deposit_cents, min_age, km_per_day FROM car_classes WHERE id = :id",
        id=class_id,
    )
    if row is None:
        raise ToolError(f"there is no class {class_id!r}; check_availability lists them")
    return row


def _enter(db: Database, booking_id: str, kind: str, reason: str | None, amount_cents: int) -> None:
    if amount_cents > 0:
        db.run(
            """
            INSERT INTO ledger_entries (booking_id, kind, reason, amount_cents, entered_on)
            VALUES (:booking_id, :kind, :reason, :amount_cents, :today)
            """,
            booking_id=booking_id,
            kind=kind,
            reason=reason,
            amount_cents=amount_cents,
            today=db.now()[:10],
        )


def _check_upgrade(db: Database, booking: Booking) -> None:
    spare = db.one(
        """
        SELECT c.plate, c.model FROM cars AS c
        WHERE c.class_id = :class_id AND c.status = 'ready' AND c.next_service_km - c.odometer_km >= :distance
          AND NOT EXISTS (SELECT 1 FROM workshop_orders AS w
            WHERE w.car_id = c.id AND w.status IN ('planned', 'in_work')
              AND w.from_on <= :return_on AND w.to_on >= :today)
        ORDER BY c.plate, c.id LIMIT 1
        """,
        class_id=booking["class_id"],
        distance=SERVICE_DISTANCE_KM,
        return_on=booking["return_on"],
        today=db.now()[:10],
    )
    if spare is not None:
        # rule: upgrade_only_in_need
        raise ToolError(
            f"no upgrade for {booking['booking_id']}: {spare['model']} {spare['plate']} of the booked class can go out; "
            "hand out that one"
        )


def _rental(db: Database, booking_id: str) -> Rental:
    _booking(db, booking_id)
    row = db.one(RENTAL_SQL + "WHERE r.booking_id = :id", id=booking_id)
    if row is None:
        raise ToolError(f"no car was handed out for {booking_id}; find_rentals lists the rentals")
    return cast("Rental", row)


def _report(db: Database, report_id: str) -> DamageReport:
    row = db.one(DAMAGE_SQL + "WHERE d.id = :id", id=report_id)
    if row is None:
        raise ToolError(f"no damage report {report_id!r}; find_damage_reports lists them")
    return cast("DamageReport", row)


def _manager_for_waiver(db: Database, report: DamageReport, manager_code: str | None) -> str | None:
    if manager_code is None:
        if report["amount_cents"] > WAIVER_WITHOUT_CODE_CENTS:
            # rule: waiver_approved
            raise ToolError(
                f"{report['report_id']} is over {_money(report['amount_cents'])}; waiving more than "
                f"{_money(WAIVER_WITHOUT_CODE_CENTS)} needs the code of a manager"
            )
        return None
    manager = db.one("SELECT id FROM managers WHERE approval_code = :code", code=manager_code.strip())
    if manager is None:
        # rule: waiver_approved
        raise ToolError("this is not the code of a manager; the manager must give the right one")
    return cast("str", manager["id"])


def _order(db: Database, order_id: str) -> WorkshopOrder:
    row = db.one(ORDER_SQL + "WHERE w.id = :id", id=order_id)
    if row is None:
        raise ToolError(f"no workshop order {order_id!r}; find_workshop_orders lists them")
    return cast("WorkshopOrder", row)
