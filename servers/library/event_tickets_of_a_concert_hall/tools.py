"""Tools of the box office of the Lindenhof Concert Hall."""

from datetime import date, datetime, timedelta
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

RESERVED_DAYS = 7
PAID_AT_ONCE_DAYS = 3
SALE_ENDS_HOURS = 1
WHEELCHAIR_HOURS = 48
GIVE_BACK_DAYS = 14
KEPT_PERCENT = 10
EXCHANGE_DAYS = 2
OFFER_HOURS = 24
VOUCHER_YEARS = 3
MOST_VOUCHER_CENTS = 1_000_000_00


class Customer(TypedDict):
    customer_id: str
    name: str
    email: str
    kind: str
    days_ahead: int
    ticket_limit: int
    status: str
    blocked_for: str | None


class Customers(TypedDict):
    customers: list[Customer]


class Concert(TypedDict):
    concert_id: str
    title: str
    performers: str
    starts_at: str
    status: str


class Concerts(TypedDict):
    concerts: list[Concert]


class Seat(TypedDict):
    seat_id: str
    row_label: str
    number: int
    category_id: str
    category: str
    price_cents: int
    concession_cents: int
    wheelchair: bool
    status: str


class Seats(TypedDict):
    seats: list[Seat]


class Payment(TypedDict):
    payment_id: str
    kind: str
    voucher_id: str | None
    amount_cents: int
    booked_at: str


class Order(TypedDict):
    order_id: str
    customer_id: str
    customer: str
    concert_id: str
    concert: str
    starts_at: str
    ordered_at: str
    lapses_at: str
    status: str
    paid_at: str | None
    tickets: int
    total_cents: int
    paid_cents: int
    payments: list[Payment]


class Orders(TypedDict):
    orders: list[Order]


class Ticket(TypedDict):
    ticket_id: str
    order_id: str
    customer_id: str
    customer: str
    concert_id: str
    concert: str
    starts_at: str
    seat_id: str
    row_label: str
    number: int
    category: str
    wheelchair: bool
    concession: bool
    price_cents: int
    status: str
    exchanges: int
    used_at: str | None


class Tickets(TypedDict):
    tickets: list[Ticket]


class Voucher(TypedDict):
    voucher_id: str
    customer_id: str
    customer: str
    amount_cents: int
    left_cents: int
    issued_on: str
    valid_until: str
    status: str


class Vouchers(TypedDict):
    vouchers: list[Voucher]


class WaitingEntry(TypedDict):
    entry_id: str
    customer_id: str
    customer: str
    concert_id: str
    concert: str
    category_id: str
    category: str
    since_at: str
    status: str
    seat_id: str | None
    offered_until: str | None


class WaitingEntries(TypedDict):
    entries: list[WaitingEntry]


def find_customers(
    db: Database, *, text: str | None = None, status: Literal["active", "blocked"] | None = None
) -> Customers:
    """Find customers, in order of their names, with the limits of their kind.

    Args:
        text: Only customers with this in their name or e-mail address; upper and lower case are the same.
        status: Only customers in this status.
    """
    wanted = _wanted(text)
    rows = db.all(
        """
        SELECT customers.id AS customer_id, customers.name, customers.email, customer_kinds.name AS kind,
          customer_kinds.days_ahead, customer_kinds.ticket_limit, customers.status, customers.blocked_for
        FROM customers JOIN customer_kinds ON customer_kinds.id = customers.kind_id
        WHERE :status IS NULL OR customers.status = :status
        ORDER BY customers.name, customers.id
        """,
        status=status,
    )
    return {
        "customers": [
            cast("Customer", row)
            for row in rows
            if wanted in row["name"].casefold() or wanted in row["email"].casefold()
        ]
    }


def find_concerts(
    db: Database,
    *,
    text: str | None = None,
    status: Literal["planned", "on_sale", "closed", "held", "cancelled"] | None = None,
    from_day: str | None = None,
    until_day: str | None = None,
) -> Concerts:
    """Find concerts, the earliest first.

    Args:
        text: Only concerts with this in their title or among the performers; upper and lower case are the same.
        status: Only concerts in this status.
        from_day: Only concerts on this day or later, `YYYY-MM-DD`.
        until_day: Only concerts on this day or earlier, `YYYY-MM-DD`.
    """
    wanted = _wanted(text)
    _check_day("from_day", from_day)
    _check_day("until_day", until_day)
    if from_day is not None and until_day is not None and until_day < from_day:
        raise ToolError(f"until_day {until_day} is before from_day {from_day}; give them the other way round")
    rows = db.all(
        """
        SELECT id AS concert_id, title, performers, starts_at, status
        FROM concerts
        WHERE (:status IS NULL OR status = :status)
          AND (:from_day IS NULL OR date(starts_at) >= :from_day)
          AND (:until_day IS NULL OR date(starts_at) <= :until_day)
        ORDER BY starts_at, id
        """,
        status=status,
        from_day=from_day,
        until_day=until_day,
    )
    return {
        "concerts": [
            cast("Concert", row)
            for row in rows
            if wanted in row["title"].casefold() or wanted in row["performers"].casefold()
        ]
    }


def find_seats(
    db: Database,
    *,
    concert_id: str,
    category_id: str | None = None,
    wheelchair: bool | None = None,
    status: Literal["free", "offered", "taken"] | None = None,
) -> Seats:
    """Find the seats of the hall with their prices, and whether they are free for a concert, row by row.

    A seat is taken when a ticket for it is held, sold or used, and offered while an offer to somebody who waits still runs.

    Args:
        concert_id: The concert, as `find_concerts` shows it.
        category_id: Only seats of this category, as this query shows it without the filter.
        wheelchair: True for wheelchair seats only, false for the others only.
        status: Only seats in this status for the concert.
    """
    _concert(db, concert_id)
    if category_id is not None:
        _category(db, category_id)
    rows = db.all(
        """
        SELECT seats.id AS seat_id, seats.row_label, seats.number, seats.category_id, categories.name AS category,
          categories.price_cents, categories.concession_cents, seats.wheelchair,
          CASE
            WHEN EXISTS (
              SELECT 1 FROM tickets
              WHERE tickets.concert_id = :concert AND tickets.seat_id = seats.id AND tickets.status <> 'given_back'
            ) THEN 'taken'
            WHEN EXISTS (
              SELECT 1 FROM waiting_entries
              WHERE waiting_entries.concert_id = :concert AND waiting_entries.seat_id = seats.id
                AND waiting_entries.status = 'offered' AND waiting_entries.offered_until >= :now
            ) THEN 'offered'
            ELSE 'free'
          END AS status
        FROM seats JOIN categories ON categories.id = seats.category_id
        WHERE (:category IS NULL OR seats.category_id = :category)
          AND (:wheelchair IS NULL OR seats.wheelchair = :wheelchair)
        ORDER BY seats.row_label, seats.number, seats.id
        """,
        concert=concert_id,
        now=db.now(),
        category=category_id,
        wheelchair=None if wheelchair is None else int(wheelchair),
    )
    return {
        "seats": [
            cast("Seat", row | {"wheelchair": bool(row["wheelchair"])})
            for row in rows
            if status is None or row["status"] == status
        ]
    }


def find_orders(
    db: Database,
    *,
    order_id: str | None = None,
    customer_id: str | None = None,
    concert_id: str | None = None,
    status: Literal["reserved", "paid", "cancelled", "lapsed"] | None = None,
) -> Orders:
    """Find orders with their payments and refunds, the oldest first.

    `tickets` and `total_cents` leave out tickets that were given back; `paid_cents` is what was paid less what was refunded.
    An order stays reserved after its `lapses_at` until it is released, but it cannot be paid any more.

    Args:
        order_id: Only this order, as `find_tickets` shows it.
        customer_id: Only orders of this customer, as `find_customers` shows it.
        concert_id: Only orders for this concert, as `find_concerts` shows it.
        status: Only orders in this status.
    """
    if order_id is not None:
        _order(db, order_id)
    if customer_id is not None:
        _known_customer(db, customer_id)
    if concert_id is not None:
        _concert(db, concert_id)
    rows = db.all(
        """
        SELECT order_id FROM order_details
        WHERE (:order_id IS NULL OR order_id = :order_id)
          AND (:customer_id IS NULL OR customer_id = :customer_id)
          AND (:concert_id IS NULL OR concert_id = :concert_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY ordered_at, order_id
        """,
        order_id=order_id,
        customer_id=customer_id,
        concert_id=concert_id,
        status=status,
    )
    return {"orders": [_order(db, row["order_id"]) for row in rows]}


def find_tickets(
    db: Database,
    *,
    order_id: str | None = None,
    customer_id: str | None = None,
    concert_id: str | None = None,
    status: Literal["held", "sold", "given_back", "used"] | None = None,
) -> Tickets:
    """Find tickets, by concert and seat.

    Args:
        order_id: Only tickets of this order, as `find_orders` shows it.
        customer_id: Only tickets of this customer, as `find_customers` shows it.
        concert_id: Only tickets for this concert, as `find_concerts` shows it.
        status: Only tickets in this status.
    """
    if order_id is not None:
        _order_row(db, order_id)
    if customer_id is not None:
        _known_customer(db, customer_id)
    if concert_id is not None:
        _concert(db, concert_id)
    rows = db.all(
        """
        SELECT ticket_id FROM ticket_details
        WHERE (:order_id IS NULL OR order_id = :order_id)
          AND (:customer_id IS NULL OR customer_id = :customer_id)
          AND (:concert_id IS NULL OR concert_id = :concert_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY starts_at, concert_id, row_label, number, ticket_id
        """,
        order_id=order_id,
        customer_id=customer_id,
        concert_id=concert_id,
        status=status,
    )
    return {"tickets": [_ticket(db, row["ticket_id"]) for row in rows]}


def find_vouchers(
    db: Database,
    *,
    customer_id: str | None = None,
    status: Literal["open", "used_up", "expired"] | None = None,
) -> Vouchers:
    """Find vouchers, those that end first at the top.

    Args:
        customer_id: Only vouchers that were issued to this customer, as `find_customers` shows it.
        status: Only vouchers in this status.
    """
    if customer_id is not None:
        _known_customer(db, customer_id)
    rows = db.all(
        """
        SELECT id FROM vouchers
        WHERE (:customer_id IS NULL OR customer_id = :customer_id) AND (:status IS NULL OR status = :status)
        ORDER BY valid_until, id
        """,
        customer_id=customer_id,
        status=status,
    )
    return {"vouchers": [_voucher(db, row["id"]) for row in rows]}


def find_waiting_entries(
    db: Database,
    *,
    concert_id: str | None = None,
    category_id: str | None = None,
    customer_id: str | None = None,
    status: Literal["waiting", "offered", "served", "withdrawn"] | None = None,
) -> WaitingEntries:
    """Find entries of the waiting list, those who wait longest first.

    Args:
        concert_id: Only entries for this concert, as `find_concerts` shows it.
        category_id: Only entries for this category, as `find_seats` shows it.
        customer_id: Only entries of this customer, as `find_customers` shows it.
        status: Only entries in this status.
    """
    if concert_id is not None:
        _concert(db, concert_id)
    if category_id is not None:
        _category(db, category_id)
    if customer_id is not None:
        _known_customer(db, customer_id)
    rows = db.all(
        """
        SELECT id FROM waiting_entries
        WHERE (:concert_id IS NULL OR concert_id = :concert_id)
          AND (:category_id IS NULL OR category_id = :category_id)
          AND (:customer_id IS NULL OR customer_id = :customer_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY since_at, id
        """,
        concert_id=concert_id,
        category_id=category_id,
        customer_id=customer_id,
        status=status,
    )
    return {"entries": [_entry(db, row["id"]) for row in rows]}


def put_concert_on_sale(db: Database, *, concert_id: str) -> Concert:
    """Put a planned concert on sale, or a closed one on sale again.

    Args:
        concert_id: The concert, as `find_concerts` shows it.
    """
    concert = _concert(db, concert_id)
    if concert["status"] == "on_sale":
        raise ToolError(f"{concert['title']!r} is on sale already; there is nothing to do")
    db.run("UPDATE concerts SET status = 'on_sale' WHERE id = :id", id=concert_id)
    return _concert(db, concert_id)


def close_concert(db: Database, *, concert_id: str) -> Concert:
    """Close the sale of a concert; its tickets stay as they are.

    Args:
        concert_id: The concert, as `find_concerts` shows it.
    """
    concert = _concert(db, concert_id)
    if concert["status"] == "closed":
        raise ToolError(f"{concert['title']!r} is closed already; there is nothing to do")
    db.run("UPDATE concerts SET status = 'closed' WHERE id = :id", id=concert_id)
    return _concert(db, concert_id)


def cancel_concert(db: Database, *, concert_id: str) -> Concert:
    """Cancel a concert for good, with everything that hangs on it.

    Its reserved and paid orders are cancelled, what is left paid on them is refunded in money, held and sold tickets are given
    back, and whoever waits or has an offer is taken off the waiting list.

    Args:
        concert_id: The concert, as `find_concerts` shows it.
    """
    concert = _concert(db, concert_id)
    if concert["status"] == "cancelled":
        raise ToolError(f"{concert['title']!r} is cancelled already, and its orders with it")
    db.run("UPDATE concerts SET status = 'cancelled' WHERE id = :id", id=concert_id)
    paid = db.all(
        """
        SELECT order_id, paid_cents FROM order_details
        WHERE concert_id = :id AND status = 'paid' AND paid_cents > 0
        ORDER BY order_id
        """,
        id=concert_id,
    )
    for order in paid:
        _book(db, order["order_id"], "refund", order["paid_cents"])
    db.run(
        "UPDATE tickets SET status = 'given_back' WHERE concert_id = :id AND status IN ('held', 'sold')", id=concert_id
    )
    db.run(
        "UPDATE orders SET status = 'cancelled' WHERE concert_id = :id AND status IN ('reserved', 'paid')", id=concert_id
    )
    db.run(
        """
        UPDATE waiting_entries SET status = 'withdrawn', seat_id = NULL, offered_until = NULL
        WHERE concert_id = :id AND status IN ('waiting', 'offered')
        """,
        id=concert_id,
    )
    return _concert(db, concert_id)


def reserve_seats(
    db: Database,
    *,
    customer_id: str,
    concert_id: str,
    seat_ids: list[str],
    concession_seat_ids: list[str] | None = None,
    wheelchair_user: bool = False,
) -> Order:
    """Reserve free seats for a customer in a new order, to be paid later.

    A seat that is on offer to this customer can be reserved too; the offer is served by it.

    Args:
        customer_id: The customer, as `find_customers` shows it.
        concert_id: The concert, as `find_concerts` shows it.
        seat_ids: All seats of the order, as `find_seats` shows them, each once.
        concession_seat_ids: Those of `seat_ids` that are taken at the concession price; without it none.
        wheelchair_user: True if a wheelchair seat among them is for somebody with a wheelchair.
    """
    customer = _known_customer(db, customer_id)
    concert = _concert(db, concert_id)
    _check_seat_lists(seat_ids, concession_seat_ids)
    _check_window(db, customer, concert)
    now = db.now()
    last = _moved(concert["starts_at"], days=-PAID_AT_ONCE_DAYS)
    if now >= last:
        # rule: lapsing
        raise ToolError(
            f"{concert['title']!r} begins at {concert['starts_at']}; reservations were taken until {last}, now seats are"
            " only sold and paid at once"
        )
    order_id = _new_order(db, customer_id, concert_id, min(_moved(now, days=RESERVED_DAYS), last))
    _take_seats(db, order_id, seat_ids, concession_seat_ids, wheelchair_user)
    return _order(db, order_id)


def sell_seats(
    db: Database,
    *,
    customer_id: str,
    concert_id: str,
    seat_ids: list[str],
    concession_seat_ids: list[str] | None = None,
    wheelchair_user: bool = False,
    voucher_ids: list[str] | None = None,
) -> Order:
    """Sell free seats to a customer in a new order that is paid at once.

    Vouchers are used up one after the other, whoever they were issued to; a card pays the rest. A seat that is on offer to this
    customer can be sold too; the offer is served by it.

    Args:
        customer_id: The customer, as `find_customers` shows it.
        concert_id: The concert, as `find_concerts` shows it.
        seat_ids: All seats of the order, as `find_seats` shows them, each once.
        concession_seat_ids: Those of `seat_ids` that are sold at the concession price; without it none.
        wheelchair_user: True if a wheelchair seat among them is for somebody with a wheelchair.
        voucher_ids: Vouchers to pay with, as `find_vouchers` shows them, in this order; without them a card pays everything.
    """
    customer = _known_customer(db, customer_id)
    concert = _concert(db, concert_id)
    _check_seat_lists(seat_ids, concession_seat_ids)
    _check_window(db, customer, concert)
    order_id = _new_order(db, customer_id, concert_id, db.now())
    _take_seats(db, order_id, seat_ids, concession_seat_ids, wheelchair_user)
    _pay(db, order_id, voucher_ids)
    return _order(db, order_id)


def add_seat(
    db: Database, *, order_id: str, seat_id: str, concession: bool = False, wheelchair_user: bool = False
) -> Ticket:
    """Add a free seat to a reserved order, for the same concert; the order lapses when it would have lapsed before.

    A seat that is on offer to the customer of the order can be added too; the offer is served by it.

    Args:
        order_id: The reserved order, as `find_orders` shows it.
        seat_id: The seat, as `find_seats` shows it.
        concession: True for the concession price.
        wheelchair_user: True if the seat is for somebody with a wheelchair.
    """
    order = _order_row(db, order_id)
    if order["status"] != "reserved":
        # rule: order_steps
        raise ToolError(f"{order_id} is {order['status']}; seats are added to a reserved order, so make a new one")
    _check_not_lapsed(db, order)
    customer = _known_customer(db, order["customer_id"])
    _check_not_blocked(customer)
    concert = _concert(db, order["concert_id"])
    _check_on_sale(concert)
    _check_window(db, customer, concert)
    return _ticket(db, _take_seat(db, order_id, seat_id, concession, wheelchair_user))


def drop_seat(db: Database, *, ticket_id: str) -> Ticket:
    """Drop one held ticket from a reserved order that keeps others. The last one goes with `release_reservation`.

    Args:
        ticket_id: The held ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    if ticket["status"] != "held":
        raise ToolError(f"{ticket_id} is {ticket['status']}; only held tickets are dropped from a reservation")
    others = db.one(
        "SELECT count(*) AS n FROM tickets WHERE order_id = :order_id AND id <> :id AND status <> 'given_back'",
        order_id=ticket["order_id"],
        id=ticket_id,
    )
    if others is None or others["n"] == 0:
        raise ToolError(f"{ticket_id} is the last ticket of {ticket['order_id']}; release_reservation gives it up whole")
    db.run("UPDATE tickets SET status = 'given_back' WHERE id = :id", id=ticket_id)
    return _ticket(db, ticket_id)


def pay_order(db: Database, *, order_id: str, voucher_ids: list[str] | None = None) -> Order:
    """Pay a reserved order in full; its tickets are sold by it.

    Vouchers are used up one after the other, whoever they were issued to; a card pays the rest.

    Args:
        order_id: The reserved order, as `find_orders` shows it.
        voucher_ids: Vouchers to pay with, as `find_vouchers` shows them, in this order; without them a card pays everything.
    """
    order = _order_row(db, order_id)
    if order["status"] == "paid":
        raise ToolError(f"{order_id} was paid at {order['paid_at']}; there is nothing to pay")
    if order["status"] != "reserved":
        # rule: order_steps
        raise ToolError(f"{order_id} is {order['status']} for good and cannot be paid; make a new order")
    _check_not_lapsed(db, order)
    _check_not_blocked(_known_customer(db, order["customer_id"]))
    _pay(db, order_id, voucher_ids)
    return _order(db, order_id)


def release_reservation(db: Database, *, order_id: str) -> Order:
    """Give up a reserved order and set its seats free. It is lapsed then if its time is over, and cancelled otherwise.

    Args:
        order_id: The reserved order, as `find_orders` shows it.
    """
    order = _order_row(db, order_id)
    if order["status"] == "paid":
        raise ToolError(f"{order_id} is paid; its tickets are taken back one by one with give_back_ticket")
    if order["status"] != "reserved":
        # rule: order_steps
        raise ToolError(f"{order_id} is {order['status']} already, which is final; its seats are free")
    db.run("UPDATE tickets SET status = 'given_back' WHERE order_id = :id AND status = 'held'", id=order_id)
    db.run(
        "UPDATE orders SET status = :status WHERE id = :id",
        status="lapsed" if db.now() > order["lapses_at"] else "cancelled",
        id=order_id,
    )
    return _order(db, order_id)


def give_back_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Take a sold ticket back and refund its price in money, less what is kept.

    The order is cancelled with its last ticket. The seat is not offered to anybody by this; `offer_seat` does that.

    Args:
        ticket_id: The sold ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    if ticket["status"] != "sold":
        # rule: admitted_once
        raise ToolError(f"{ticket_id} is {ticket['status']}; only sold tickets that were not used are taken back")
    last = _moved(ticket["starts_at"], days=-GIVE_BACK_DAYS)
    if db.now() > last:
        # rule: given_back_in_time
        raise ToolError(f"tickets for {ticket['concert']!r} were taken back until {last}; that time is over")
    price = ticket["price_cents"]
    db.run("UPDATE tickets SET status = 'given_back' WHERE id = :id", id=ticket_id)
    _book(db, ticket["order_id"], "refund", price - price * KEPT_PERCENT // 100)
    _cancel_empty_order(db, ticket["order_id"])
    return _ticket(db, ticket_id)


def exchange_seat(db: Database, *, ticket_id: str, seat_id: str) -> Ticket:
    """Exchange a sold ticket for another free seat in the same concert.

    Args:
        ticket_id: The sold ticket, as `find_tickets` shows it.
        seat_id: The new seat, as `find_seats` shows it.
    """
    ticket = _ticket(db, ticket_id)
    seat = _seat(db, seat_id)
    concert = _concert(db, ticket["concert_id"])
    _check_exchange(db, ticket, concert, seat)
    _claim_seat(db, ticket["concert_id"], seat, ticket["customer_id"])
    db.run("UPDATE tickets SET seat_id = :seat_id, exchanges = exchanges + 1 WHERE id = :id", seat_id=seat_id, id=ticket_id)
    return _ticket(db, ticket_id)


def exchange_concert(db: Database, *, ticket_id: str, concert_id: str, seat_id: str) -> Ticket:
    """Exchange a sold ticket for a free seat in another concert.

    The ticket moves into a new paid order of the same customer, and its price is booked over: as a refund on the old order and a
    card payment on the new one. An old order without tickets is cancelled.

    Args:
        ticket_id: The sold ticket, as `find_tickets` shows it.
        concert_id: The other concert, as `find_concerts` shows it.
        seat_id: The new seat, as `find_seats` shows it.
    """
    ticket = _ticket(db, ticket_id)
    concert = _concert(db, concert_id)
    seat = _seat(db, seat_id)
    if concert_id == ticket["concert_id"]:
        raise ToolError(f"{ticket_id} is for {concert['title']!r} already; exchange_seat gives another seat in it")
    _check_exchange(db, ticket, concert, seat)
    if ticket["concession"]:
        # rule: concessions
        raise ToolError(f"{ticket_id} is a concession and would stand alone in its new order; it can only change its seat")
    customer = _known_customer(db, ticket["customer_id"])
    _check_window(db, customer, concert)
    _check_room_for_one(db, customer, concert)
    order_id = _new_order(db, ticket["customer_id"], concert_id, db.now())
    _claim_seat(db, concert_id, seat, ticket["customer_id"])
    db.run(
        """
        UPDATE tickets
        SET order_id = :order_id, concert_id = :concert_id, seat_id = :seat_id, exchanges = exchanges + 1
        WHERE id = :id
        """,
        order_id=order_id,
        concert_id=concert_id,
        seat_id=seat_id,
        id=ticket_id,
    )
    _book(db, ticket["order_id"], "refund", ticket["price_cents"])
    _book(db, order_id, "card", ticket["price_cents"])
    db.run("UPDATE orders SET status = 'paid', paid_at = :now WHERE id = :id", id=order_id, now=db.now())
    _cancel_empty_order(db, ticket["order_id"])
    return _ticket(db, ticket_id)


def admit_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Admit the holder of a sold ticket to the hall now.

    Args:
        ticket_id: The sold ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    if ticket["status"] != "sold":
        # rule: admitted_once
        raise ToolError(f"{ticket_id} is {ticket['status']}; a ticket is admitted when it is sold, and only once")
    if ticket["starts_at"][:10] != db.now()[:10]:
        # rule: on_the_day
        raise ToolError(f"{ticket_id} is for {ticket['starts_at'][:10]} and is admitted on that day only")
    db.run("UPDATE tickets SET status = 'used', used_at = :now WHERE id = :id", now=db.now(), id=ticket_id)
    return _ticket(db, ticket_id)


def join_waiting_list(db: Database, *, customer_id: str, concert_id: str, category_id: str) -> WaitingEntry:
    """Put a customer at the end of the waiting list for a category of a concert.

    Args:
        customer_id: The customer, as `find_customers` shows it.
        concert_id: The concert, as `find_concerts` shows it.
        category_id: The category, as `find_seats` shows it.
    """
    customer = _known_customer(db, customer_id)
    concert = _concert(db, concert_id)
    category = _category(db, category_id)
    if concert["status"] in ("held", "cancelled"):
        raise ToolError(f"{concert['title']!r} is {concert['status']}; nobody waits for it any more")
    live = db.one(
        """
        SELECT id, status FROM waiting_entries
        WHERE customer_id = :customer_id AND concert_id = :concert_id AND category_id = :category_id
          AND status IN ('waiting', 'offered')
        """,
        customer_id=customer_id,
        concert_id=concert_id,
        category_id=category_id,
    )
    if live is not None:
        # rule: waits_once
        raise ToolError(
            f"{customer['name']} is on the waiting list for {category['name']!r} of this concert already, with {live['id']}"
            f" ({live['status']})"
        )
    entry_id = db.new_id("wai")
    db.run(
        """
        INSERT INTO waiting_entries (id, customer_id, concert_id, category_id, since_at, status)
        VALUES (:id, :customer_id, :concert_id, :category_id, :since_at, 'waiting')
        """,
        id=entry_id,
        customer_id=customer_id,
        concert_id=concert_id,
        category_id=category_id,
        since_at=db.now(),
    )
    return _entry(db, entry_id)


def offer_seat(db: Database, *, concert_id: str, seat_id: str) -> WaitingEntry:
    """Offer a free seat to whoever waits longest for its category of a concert on sale.

    An offer of this seat whose time is over is withdrawn by it.

    Args:
        concert_id: The concert, as `find_concerts` shows it.
        seat_id: The free seat, as `find_seats` shows it.
    """
    concert = _concert(db, concert_id)
    seat = _seat(db, seat_id)
    if concert["status"] != "on_sale":
        raise ToolError(f"{concert['title']!r} is {concert['status']}; seats are offered while it is on sale")
    taken = db.one(
        "SELECT id FROM tickets WHERE concert_id = :concert_id AND seat_id = :seat_id AND status <> 'given_back'",
        concert_id=concert_id,
        seat_id=seat_id,
    )
    if taken is not None:
        raise ToolError(f"seat {seat_id} is not free for {concert['title']!r}; find_seats shows the free ones")
    _end_offer(db, concert, seat)
    first = db.one(
        """
        SELECT id FROM waiting_entries
        WHERE concert_id = :concert_id AND category_id = :category_id AND status = 'waiting'
        ORDER BY since_at, id
        LIMIT 1
        """,
        concert_id=concert_id,
        category_id=seat["category_id"],
    )
    if first is None:
        raise ToolError(f"nobody waits for {seat['category']!r} of {concert['title']!r}; the seat can be sold to anybody")
    db.run(
        "UPDATE waiting_entries SET status = 'offered', seat_id = :seat_id, offered_until = :until WHERE id = :id",
        seat_id=seat_id,
        until=_moved(db.now(), hours=OFFER_HOURS),
        id=first["id"],
    )
    return _entry(db, first["id"])


def leave_waiting_list(db: Database, *, entry_id: str) -> WaitingEntry:
    """Withdraw an entry of the waiting list, and with it the seat that is on offer to it.

    Args:
        entry_id: The entry that waits or has an offer, as `find_waiting_entries` shows it.
    """
    entry = _entry(db, entry_id)
    if entry["status"] not in ("waiting", "offered"):
        raise ToolError(f"{entry_id} is {entry['status']} already; only entries that wait or have an offer are withdrawn")
    _withdraw(db, entry_id)
    return _entry(db, entry_id)


def issue_voucher(db: Database, *, customer_id: str, amount_cents: int) -> Voucher:
    """Issue a voucher to a customer from today on.

    Args:
        customer_id: The customer, as `find_customers` shows it.
        amount_cents: What it is worth, in cents.
    """
    _known_customer(db, customer_id)
    if amount_cents <= 0:
        raise ToolError(f"amount_cents {amount_cents} is not above zero; say what the voucher is worth")
    if amount_cents > MOST_VOUCHER_CENTS:
        raise ToolError(f"amount_cents {amount_cents} is too much; {_euros(MOST_VOUCHER_CENTS)} is the most that can be booked")
    voucher_id = db.new_id("vou")
    db.run(
        """
        INSERT INTO vouchers (id, customer_id, amount_cents, left_cents, issued_on, valid_until, status)
        VALUES (:id, :customer_id, :amount_cents, :amount_cents, :today, date(:today, :years), 'open')
        """,
        id=voucher_id,
        customer_id=customer_id,
        amount_cents=amount_cents,
        today=db.now()[:10],
        years=f"+{VOUCHER_YEARS} years",
    )
    return _voucher(db, voucher_id)


def block_customer(db: Database, *, customer_id: str, reason: str) -> Customer:
    """Block a customer. Orders and tickets that exist stay as they are.

    Args:
        customer_id: The active customer, as `find_customers` shows it.
        reason: Why the customer is blocked, in a few words.
    """
    customer = _known_customer(db, customer_id)
    if not reason.strip():
        raise ToolError("reason is blank; say in a few words why the customer is blocked")
    if customer["status"] == "blocked":
        raise ToolError(f"{customer['name']} is blocked already, for: {customer['blocked_for']}")
    db.run(
        "UPDATE customers SET status = 'blocked', blocked_for = :reason WHERE id = :id",
        reason=reason.strip(),
        id=customer_id,
    )
    return _customer(db, customer_id)


def unblock_customer(db: Database, *, customer_id: str) -> Customer:
    """Lift the block of a customer.

    Args:
        customer_id: The blocked customer, as `find_customers` shows it.
    """
    customer = _known_customer(db, customer_id)
    if customer["status"] != "blocked":
        raise ToolError(f"{customer['name']} is not blocked; there is no block to lift")
    db.run("UPDATE customers SET status = 'active', blocked_for = NULL WHERE id = :id", id=customer_id)
    return _customer(db, customer_id)


def _wanted(text: str | None) -> str:
    if text is None:
        return ""
    if not text.strip():
        raise ToolError("text is blank; leave it out to see all")
    return text.strip().casefold()


def _check_day(name: str, day: str | None) -> None:
    if day is None:
        return
    try:
        good = date.fromisoformat(day).isoformat() == day
    except ValueError:
        good = False
    if not good:
        raise ToolError(f"{name} {day!r} is no day; give it as YYYY-MM-DD")


def _known_customer(db: Database, customer_id: str) -> dict:
    row = db.one("SELECT id, name, kind_id, status, blocked_for FROM customers WHERE id = :id", id=customer_id)
    if row is None:
        raise ToolError(f"no customer {customer_id!r}; find_customers lists them")
    return row


def _concert(db: Database, concert_id: str) -> Concert:
    row = db.one(
        "SELECT id AS concert_id, title, performers, starts_at, status FROM concerts WHERE id = :id", id=concert_id
    )
    if row is None:
        raise ToolError(f"no concert {concert_id!r}; find_concerts lists them")
    return cast("Concert", row)


def _category(db: Database, category_id: str) -> dict:
    row = db.one("SELECT id, name, price_cents, concession_cents FROM categories WHERE id = :id", id=category_id)
    if row is None:
        raise ToolError(f"no category {category_id!r}; find_seats shows them")
    return row


def _order_row(db: Database, order_id: str) -> dict:
    row = db.one("SELECT * FROM orders WHERE id = :id", id=order_id)
    if row is None:
        raise ToolError(f"no order {order_id!r}; find_orders lists them")
    return row


def _order(db: Database, order_id: str) -> Order:
    _order_row(db, order_id)
    row = db.one(
        """
        SELECT order_id, customer_id, customer, concert_id, concert, starts_at, ordered_at, lapses_at, status, paid_at,
          tickets, total_cents, paid_cents
        FROM order_details WHERE order_id = :id
        """,
        id=order_id,
    )
    payments = db.all(
        """
        SELECT id AS payment_id, kind, voucher_id, amount_cents, booked_at
        FROM payments WHERE order_id = :id
        ORDER BY booked_at, id
        """,
        id=order_id,
    )
    return cast("Order", (row or {}) | {"payments": payments})


def _ticket(db: Database, ticket_id: str) -> Ticket:
    row = db.one(
        """
        SELECT ticket_id, order_id, customer_id, customer, concert_id, concert, starts_at, seat_id, row_label, number,
          category, wheelchair, concession, price_cents, status, exchanges, used_at
        FROM ticket_details WHERE ticket_id = :id
        """,
        id=ticket_id,
    )
    if row is None:
        raise ToolError(f"no ticket {ticket_id!r}; find_tickets lists them")
    return cast("Ticket", row | {"wheelchair": bool(row["wheelchair"]), "concession": bool(row["concession"])})


def _voucher(db: Database, voucher_id: str) -> Voucher:
    row = db.one(
        """
        SELECT vouchers.id AS voucher_id, vouchers.customer_id, customers.name AS customer, vouchers.amount_cents,
          vouchers.left_cents, vouchers.issued_on, vouchers.valid_until, vouchers.status
        FROM vouchers JOIN customers ON customers.id = vouchers.customer_id
        WHERE vouchers.id = :id
        """,
        id=voucher_id,
    )
    if row is None:
        raise ToolError(f"no voucher {voucher_id!r}; find_vouchers lists them")
    return cast("Voucher", row)


def _entry(db: Database, entry_id: str) -> WaitingEntry:
    row = db.one(
        """
        SELECT waiting_entries.id AS entry_id, waiting_entries.customer_id, customers.name AS customer,
          waiting_entries.concert_id, concerts.title AS concert, waiting_entries.category_id,
          categories.name AS category, waiting_entries.since_at, waiting_entries.status, waiting_entries.seat_id,
          waiting_entries.offered_until
        FROM waiting_entries
        JOIN customers ON customers.id = waiting_entries.customer_id
        JOIN concerts ON concerts.id = waiting_entries.concert_id
        JOIN categories ON categories.id = waiting_entries.category_id
        WHERE waiting_entries.id = :id
        """,
        id=entry_id,
    )
    if row is None:
        raise ToolError(f"no entry {entry_id!r}; find_waiting_entries lists them")
    return cast("WaitingEntry", row)


def _book(
    db: Database,
    order_id: str,
    kind: Literal["card", "voucher", "refund"],
    amount_cents: int,
    voucher_id: str | None = None,
) -> None:
    db.run(
        """
        INSERT INTO payments (id, order_id, kind, voucher_id, amount_cents, booked_at)
        VALUES (:id, :order_id, :kind, :voucher_id, :amount_cents, :booked_at)
        """,
        id=db.new_id("pay"),
        order_id=order_id,
        kind=kind,
        voucher_id=voucher_id,
        amount_cents=amount_cents,
        booked_at=db.now(),
    )


def _moved(moment: str, *, days: int = 0, hours: int = 0) -> str:
    return (datetime.fromisoformat(moment) + timedelta(days=days, hours=hours)).strftime("%Y-%m-%d %H:%M:%S")


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _check_seat_lists(seat_ids: list[str], concession_seat_ids: list[str] | None) -> None:
    if not seat_ids:
        raise ToolError("seat_ids is empty; find_seats shows the free seats")
    if len(set(seat_ids)) < len(seat_ids):
        raise ToolError("seat_ids holds a seat twice; give each once")
    concessions = concession_seat_ids or []
    if len(set(concessions)) < len(concessions):
        raise ToolError("concession_seat_ids holds a seat twice; give each once")
    for seat_id in concessions:
        if seat_id not in seat_ids:
            raise ToolError(f"concession seat {seat_id!r} is not among seat_ids; name it there too")


def _check_window(db: Database, customer: dict, concert: Concert) -> None:
    kind = db.one("SELECT name, days_ahead FROM customer_kinds WHERE id = :id", id=customer["kind_id"])
    days = kind["days_ahead"] if kind else 0
    now = db.now()
    first_day = _moved(concert["starts_at"], days=-days)[:10]
    if now[:10] < first_day:
        # rule: sale_window
        raise ToolError(f"too early: {customer['name']} buys for {concert['title']!r} from {first_day} on")
    end = _moved(concert["starts_at"], hours=-SALE_ENDS_HOURS)
    if now > end:
        # rule: sale_window
        raise ToolError(f"too late: sales for {concert['title']!r} ended at {end}")


def _check_not_lapsed(db: Database, order: dict) -> None:
    if db.now() > order["lapses_at"]:
        # rule: lapsing
        raise ToolError(
            f"the reservation {order['id']} lapsed at {order['lapses_at']}; release it and make a new order"
        )


def _check_not_blocked(customer: dict) -> None:
    if customer["status"] == "blocked":
        # rule: no_blocked
        raise ToolError(f"{customer['name']} is blocked and buys nothing until the block is lifted")


def _check_on_sale(concert: Concert) -> None:
    if concert["status"] != "on_sale":
        # rule: on_sale_only
        raise ToolError(f"{concert['title']!r} is {concert['status']}, not on sale; choose another concert")


def _new_order(db: Database, customer_id: str, concert_id: str, lapses_at: str) -> str:
    order_id = db.new_id("ord")
    db.run(
        """
        INSERT INTO orders (id, customer_id, concert_id, ordered_at, lapses_at, status)
        VALUES (:id, :customer_id, :concert_id, :ordered_at, :lapses_at, 'reserved')
        """,
        id=order_id,
        customer_id=customer_id,
        concert_id=concert_id,
        ordered_at=db.now(),
        lapses_at=lapses_at,
    )
    return order_id


def _take_seats(
    db: Database, order_id: str, seat_ids: list[str], concession_seat_ids: list[str] | None, wheelchair_user: bool
) -> None:
    concessions = concession_seat_ids or []
    for seat_id in seat_ids:
        if seat_id not in concessions:
            _take_seat(db, order_id, seat_id, False, wheelchair_user)
    for seat_id in concessions:
        _take_seat(db, order_id, seat_id, True, wheelchair_user)


def _take_seat(db: Database, order_id: str, seat_id: str, concession: bool, wheelchair_user: bool) -> str:
    order = _order_row(db, order_id)
    seat = _seat(db, seat_id)
    _check_wheelchair(db, _concert(db, order["concert_id"]), seat, wheelchair_user)
    _claim_seat(db, order["concert_id"], seat, order["customer_id"])
    ticket_id = db.new_id("tik")
    db.run(
        """
        INSERT INTO tickets (id, order_id, concert_id, seat_id, concession, price_cents, status)
        VALUES (:id, :order_id, :concert_id, :seat_id, :concession, :price_cents, 'held')
        """,
        id=ticket_id,
        order_id=order_id,
        concert_id=order["concert_id"],
        seat_id=seat_id,
        concession=int(concession),
        price_cents=seat["concession_cents"] if concession else seat["price_cents"],
    )
    return ticket_id


def _seat(db: Database, seat_id: str) -> dict:
    row = db.one(
        """
        SELECT seats.id, seats.row_label, seats.number, seats.category_id, categories.name AS category,
          categories.price_cents, categories.concession_cents, seats.wheelchair
        FROM seats JOIN categories ON categories.id = seats.category_id
        WHERE seats.id = :id
        """,
        id=seat_id,
    )
    if row is None:
        raise ToolError(f"no seat {seat_id!r}; find_seats lists them")
    return row


def _check_wheelchair(db: Database, concert: Concert, seat: dict, wheelchair_user: bool) -> None:
    opens = _moved(concert["starts_at"], hours=-WHEELCHAIR_HOURS)
    if seat["wheelchair"] and not wheelchair_user and db.now() < opens:
        # rule: wheelchair_seats
        raise ToolError(f"{seat['id']} is kept for people with a wheelchair; others get it from {opens} on")


def _claim_seat(db: Database, concert_id: str, seat: dict, customer_id: str) -> None:
    taken = db.one(
        "SELECT id FROM tickets WHERE concert_id = :concert_id AND seat_id = :seat_id AND status <> 'given_back'",
        concert_id=concert_id,
        seat_id=seat["id"],
    )
    if taken is not None:
        # rule: one_ticket_a_seat
        raise ToolError(f"seat {seat['id']} is taken already for this concert; find_seats shows the free ones")
    offer = db.one(
        """
        SELECT id, customer_id, offered_until FROM waiting_entries
        WHERE concert_id = :concert_id AND seat_id = :seat_id AND status = 'offered' AND offered_until >= :now
        """,
        concert_id=concert_id,
        seat_id=seat["id"],
        now=db.now(),
    )
    if offer is not None and offer["customer_id"] != customer_id:
        # rule: longest_first
        raise ToolError(f"seat {seat['id']} is on offer to somebody else until {offer['offered_until']}; choose another")
    if offer is not None:
        db.run("UPDATE waiting_entries SET status = 'served' WHERE id = :id", id=offer["id"])
        return
    waiting = db.one(
        """
        SELECT count(*) AS n FROM waiting_entries
        WHERE concert_id = :concert_id AND category_id = :category_id AND status = 'waiting'
          AND customer_id <> :customer_id
        """,
        concert_id=concert_id,
        category_id=seat["category_id"],
        customer_id=customer_id,
    )
    if waiting is not None and waiting["n"] > 0:
        # rule: longest_first
        raise ToolError(
            f"others wait for the category {seat['category']!r} of this concert; offer_seat offers {seat['id']} to them first"
        )


def _pay(db: Database, order_id: str, voucher_ids: list[str] | None) -> None:
    vouchers = voucher_ids or []
    if len(set(vouchers)) < len(vouchers):
        raise ToolError("voucher_ids holds a voucher twice; give each once")
    total = _order(db, order_id)["total_cents"]
    rest = total
    for voucher_id in vouchers:
        rest -= _pay_by_voucher(db, order_id, voucher_id, rest, total)
    if rest > 0:
        _book(db, order_id, "card", rest)
    db.run("UPDATE tickets SET status = 'sold' WHERE order_id = :id AND status = 'held'", id=order_id)
    db.run("UPDATE orders SET status = 'paid', paid_at = :now WHERE id = :id", id=order_id, now=db.now())


def _pay_by_voucher(db: Database, order_id: str, voucher_id: str, rest: int, total: int) -> int:
    voucher = _voucher(db, voucher_id)
    if voucher["left_cents"] == 0:
        # rule: voucher_rest
        raise ToolError(f"{voucher_id} is used up, nothing is left on it; leave it out")
    if voucher["status"] == "expired" or voucher["valid_until"] < db.now()[:10]:
        # rule: voucher_valid
        raise ToolError(f"{voucher_id} was valid until {voucher['valid_until']} and pays no more; leave it out")
    if rest == 0:
        raise ToolError(f"{voucher_id} is not needed, the vouchers before it pay all {_euros(total)}; leave it out")
    amount = min(voucher["left_cents"], rest)
    db.run(
        """
        UPDATE vouchers
        SET left_cents = left_cents - :amount, status = CASE WHEN left_cents = :amount THEN 'used_up' ELSE status END
        WHERE id = :id
        """,
        id=voucher_id,
        amount=amount,
    )
    _book(db, order_id, "voucher", amount, voucher_id)
    return amount


def _cancel_empty_order(db: Database, order_id: str) -> None:
    live = db.one(
        "SELECT count(*) AS n FROM tickets WHERE order_id = :id AND status <> 'given_back'",
        id=order_id,
    )
    if live is not None and live["n"] == 0:
        db.run("UPDATE orders SET status = 'cancelled' WHERE id = :id", id=order_id)


def _check_exchange(db: Database, ticket: Ticket, concert: Concert, seat: dict) -> None:
    if ticket["status"] != "sold":
        raise ToolError(f"{ticket['ticket_id']} is {ticket['status']}; only sold tickets are exchanged")
    if ticket["exchanges"] > 0:
        # rule: exchanged_once
        raise ToolError(f"{ticket['ticket_id']} was exchanged once, which is the most; it stays as it is")
    last = _moved(min(ticket["starts_at"], concert["starts_at"]), days=-EXCHANGE_DAYS)
    if db.now() > last:
        # rule: exchanged_in_time
        raise ToolError(f"{ticket['ticket_id']} could be exchanged until {last}, two days before; that time is over")
    price = seat["concession_cents"] if ticket["concession"] else seat["price_cents"]
    if price != ticket["price_cents"]:
        # rule: category_price, exchanged_in_time
        raise ToolError(
            f"seat {seat['id']} costs {_euros(price)} and {ticket['ticket_id']} {_euros(ticket['price_cents'])};"
            " a seat of the same price is needed"
        )
    _check_wheelchair(db, concert, seat, False)


def _check_room_for_one(db: Database, customer: dict, concert: Concert) -> None:
    kind = db.one("SELECT ticket_limit FROM customer_kinds WHERE id = :id", id=customer["kind_id"])
    has = db.one(
        """
        SELECT count(*) AS n FROM ticket_details
        WHERE customer_id = :customer_id AND concert_id = :concert_id AND status <> 'given_back'
        """,
        customer_id=customer["id"],
        concert_id=concert["concert_id"],
    )
    if kind is not None and has is not None and has["n"] >= kind["ticket_limit"]:
        # rule: ticket_limit
        raise ToolError(
            f"{customer['name']} has {has['n']} tickets for {concert['title']!r}, the most allowed; give one back first"
        )


def _end_offer(db: Database, concert: Concert, seat: dict) -> None:
    offer = db.one(
        """
        SELECT id, offered_until FROM waiting_entries
        WHERE concert_id = :concert_id AND seat_id = :seat_id AND status = 'offered'
        """,
        concert_id=concert["concert_id"],
        seat_id=seat["id"],
    )
    if offer is None:
        return
    if offer["offered_until"] >= db.now():
        # rule: longest_first
        raise ToolError(f"seat {seat['id']} is on offer already, until {offer['offered_until']}; wait for the answer")
    _withdraw(db, offer["id"])


def _withdraw(db: Database, entry_id: str) -> None:
    db.run(
        "UPDATE waiting_entries SET status = 'withdrawn', seat_id = NULL, offered_until = NULL WHERE id = :id",
        id=entry_id,
    )


def _customer(db: Database, customer_id: str) -> Customer:
    row = db.one(
        """
        SELECT customers.id AS customer_id, customers.name, customers.email, customer_kinds.name AS kind,
          customer_kinds.days_ahead, customer_kinds.ticket_limit, customers.status, customers.blocked_for
        FROM customers JOIN customer_kinds ON customer_kinds.id = customers.kind_id
        WHERE customers.id = :id
        """,
        id=customer_id,
    )
    if row is None:
        raise ToolError(f"no customer {customer_id!r}; find_customers lists them")
    return cast("Customer", row)
