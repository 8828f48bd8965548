"""Tools of the repair desk of the Lindenhof Housing Cooperative."""

from datetime import date, timedelta
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

SLOTS = ("08-10", "10-12", "13-15", "15-17")
MOST_DAYS = 31
TICKET_SQL = """
SELECT ticket_id, title, description, status, priority_id AS priority, reported_at, accepted_on, resolved_on, closed_on,
  reopened_on, reopenings, rejection_reason, tenancy_id, tenant_name, apartment_label, building_id, building_name,
  first_visit_due_on, first_visit_on,
  (SELECT count(*) FROM work_orders WHERE work_orders.ticket_id = ticket_details.ticket_id) AS orders,
  (SELECT count(*) FROM work_orders WHERE work_orders.ticket_id = ticket_details.ticket_id
    AND work_orders.status IN ('draft', 'awaiting_approval', 'released')) AS open_orders
FROM ticket_details
"""
ORDER_SQL = """
SELECT work_order_id, summary, status, estimate_cents, trade_id, trade_name, tenant_parts, contractor_id, contractor_name,
  created_on, approved_by, approved_on, released_on, done_on, cancelled_on, ticket_id, ticket_title,
  priority_id AS priority, tenancy_id, tenant_name, apartment_label, building_id, building_name, manager_name,
  needs_approval, needs_quotes
FROM order_details
"""
CONTRACTOR_SQL = """
SELECT id AS contractor_id, name, email, phone, hourly_rate_cents, order_cap_cents, visits_per_day, insured_until
FROM contractors
"""
VISIT_SQL = """
SELECT visit_id, visit_on, slot, status, announced_on, tenant_consented, moves, note,
  (SELECT charges.amount_cents FROM charges WHERE charges.visit_id = visit_details.visit_id) AS fee_cents,
  work_order_id, summary, ticket_id, priority_id AS priority, contractor_id, contractor_name, tenant_name,
  apartment_label, building_name
FROM visit_details
"""
INVOICE_SQL = """
SELECT invoice_id, invoice_number, amount_cents, received_on, status, approved_on, paid_on, dispute_reason,
  work_order_id, summary, estimate_cents, over_limit, contractor_id, contractor_name, building_name
FROM invoice_details
"""
CHARGE_SQL = """
SELECT charge_id, kind, amount_cents, charged_on, reason, visit_id, invoice_id, work_order_id, ticket_id, tenancy_id,
  tenant_name
FROM charge_details
"""
NO_ACCESS_FEE_CENTS = 4500
DAYS_BEFORE_CLOSING = 7


class Tenancy(TypedDict):
    tenancy_id: str
    tenant_name: str
    email: str
    phone: str | None
    starts_on: str
    ends_on: str | None
    running: bool
    apartment_id: str
    apartment_label: str
    floor: int
    rooms: int
    building_id: str
    building_name: str
    caretaker_name: str
    caretaker_phone: str
    small_repairs_this_year_cents: int


class Tenancies(TypedDict):
    tenancies: list[Tenancy]


class Ticket(TypedDict):
    ticket_id: str
    title: str
    description: str
    status: str
    priority: str
    reported_at: str
    accepted_on: str | None
    resolved_on: str | None
    closed_on: str | None
    reopened_on: str | None
    reopenings: int
    rejection_reason: str | None
    tenancy_id: str
    tenant_name: str
    apartment_label: str
    building_id: str
    building_name: str
    first_visit_due_on: str
    first_visit_on: str | None
    orders: int
    open_orders: int


class Tickets(TypedDict):
    tickets: list[Ticket]


class Quote(TypedDict):
    quote_id: str
    contractor_id: str
    contractor_name: str
    amount_cents: int
    received_on: str
    valid_until: str
    status: str
    decided_on: str | None


class Order(TypedDict):
    work_order_id: str
    summary: str
    status: str
    estimate_cents: int
    trade_id: str
    trade_name: str
    tenant_parts: bool
    contractor_id: str | None
    contractor_name: str | None
    created_on: str
    approved_by: str | None
    approved_on: str | None
    released_on: str | None
    done_on: str | None
    cancelled_on: str | None
    ticket_id: str
    ticket_title: str
    priority: str
    tenancy_id: str
    tenant_name: str
    apartment_label: str
    building_id: str
    building_name: str
    manager_name: str
    needs_approval: bool
    needs_quotes: bool
    quotes: list[Quote]


class Orders(TypedDict):
    orders: list[Order]


class Trade(TypedDict):
    trade_id: str
    name: str
    tenant_parts: bool


class Contractor(TypedDict):
    contractor_id: str
    name: str
    email: str
    phone: str
    hourly_rate_cents: int
    order_cap_cents: int
    visits_per_day: int
    insured_until: str
    trades: list[Trade]


class Contractors(TypedDict):
    contractors: list[Contractor]


class Visit(TypedDict):
    visit_id: str
    visit_on: str
    slot: str
    status: str
    announced_on: str
    tenant_consented: bool
    moves: int
    note: str | None
    fee_cents: int | None
    work_order_id: str
    summary: str
    ticket_id: str
    priority: str
    contractor_id: str
    contractor_name: str
    tenant_name: str
    apartment_label: str
    building_name: str


class Visits(TypedDict):
    visits: list[Visit]


class FreeSlot(TypedDict):
    visit_on: str
    slot: str
    needs_consent: bool


class FreeSlots(TypedDict):
    work_order_id: str
    contractor_name: str
    latest_first_visit_on: str | None
    free_slots: list[FreeSlot]


class Invoice(TypedDict):
    invoice_id: str
    invoice_number: str
    amount_cents: int
    received_on: str
    status: str
    approved_on: str | None
    paid_on: str | None
    dispute_reason: str | None
    work_order_id: str
    summary: str
    estimate_cents: int
    over_limit: bool
    contractor_id: str
    contractor_name: str
    building_name: str


class Invoices(TypedDict):
    invoices: list[Invoice]


class Charge(TypedDict):
    charge_id: str
    kind: str
    amount_cents: int
    charged_on: str
    reason: str
    visit_id: str | None
    invoice_id: str | None
    work_order_id: str
    ticket_id: str
    tenancy_id: str
    tenant_name: str


class Charges(TypedDict):
    charges: list[Charge]


class Budget(TypedDict):
    building_id: str
    building_name: str
    street: str
    manager_name: str
    year: int
    yearly_budget_cents: int
    used_cents: int
    left_cents: int


class Budgets(TypedDict):
    budgets: list[Budget]


def find_tenancies(
    db: Database,
    *,
    tenant_name: str | None = None,
    apartment_label: str | None = None,
    building_name: str | None = None,
    running_only: bool = False,
) -> Tenancies:
    """Find tenancies with their apartment, building and caretaker, by the name of the tenant.

    Ended and coming tenancies are shown too, unless only running ones are asked for.

    Args:
        tenant_name: A part of the name of the tenant.
        apartment_label: The label of the apartment as on its door, such as "Flat 12".
        building_name: A part of the name of the building.
        running_only: Only tenancies that run today.
    """
    _search_text(tenant_name, "the name of the tenant")
    _search_text(apartment_label, "the label of the apartment")
    _search_text(building_name, "the name of the building")
    today = db.now()[:10]
    rows = db.all(
        """
        SELECT tenancies.id AS tenancy_id, tenancies.tenant_name, tenancies.email, tenancies.phone,
          tenancies.starts_on, tenancies.ends_on,
          (tenancies.starts_on <= :today AND coalesce(tenancies.ends_on, '9999-12-31') >= :today) AS running,
          apartments.id AS apartment_id, apartments.label AS apartment_label, apartments.floor, apartments.rooms,
          buildings.id AS building_id, buildings.name AS building_name, buildings.caretaker_name, buildings.caretaker_phone,
          coalesce((SELECT sum(charges.amount_cents) FROM charges
            JOIN work_orders ON work_orders.id = charges.work_order_id
            JOIN tickets ON tickets.id = work_orders.ticket_id
            WHERE tickets.tenancy_id = tenancies.id AND charges.kind = 'small_repair'
              AND strftime('%Y', charges.charged_on) = :year), 0) AS small_repairs_this_year_cents
        FROM tenancies
        JOIN apartments ON apartments.id = tenancies.apartment_id
        JOIN buildings ON buildings.id = apartments.building_id
        WHERE (:tenant_name IS NULL OR instr(lower(tenancies.tenant_name), lower(trim(:tenant_name))) > 0)
          AND (:apartment_label IS NULL OR lower(apartments.label) = lower(trim(:apartment_label)))
          AND (:building_name IS NULL OR instr(lower(buildings.name), lower(trim(:building_name))) > 0)
          AND (:running_only = 0
            OR (tenancies.starts_on <= :today AND coalesce(tenancies.ends_on, '9999-12-31') >= :today))
        ORDER BY tenancies.tenant_name, tenancies.starts_on, tenancies.id
        """,
        today=today,
        year=today[:4],
        tenant_name=tenant_name,
        apartment_label=apartment_label,
        building_name=building_name,
        running_only=int(running_only),
    )
    return {"tenancies": [cast("Tenancy", {**row, "running": bool(row["running"])}) for row in rows]}


def find_tickets(
    db: Database,
    *,
    tenancy_id: str | None = None,
    building_id: str | None = None,
    word: str | None = None,
    status: Literal["reported", "accepted", "in_work", "resolved", "closed", "rejected"] | None = None,
    priority: Literal["emergency", "urgent", "normal", "low"] | None = None,
) -> Tickets:
    """Find repair tickets, the latest report first, with the day until which the first visit is due.

    `first_visit_on` counts from the report or the last reopening; it is null while no visit is planned or held.

    Args:
        tenancy_id: Only tickets of this tenancy, as `find_tenancies` shows it.
        building_id: Only tickets in this building, as `find_tenancies` or `list_budgets` shows it.
        word: A part of the title or the description.
        status: Only tickets in this status.
        priority: Only tickets of this priority.
    """
    if tenancy_id is not None:
        _check_tenancy(db, tenancy_id)
    if building_id is not None:
        _check_building(db, building_id)
    _search_text(word, "the word")
    rows = db.all(
        f"""{TICKET_SQL}
        WHERE (:tenancy_id IS NULL OR tenancy_id = :tenancy_id)
          AND (:building_id IS NULL OR building_id = :building_id)
          AND (:word IS NULL OR instr(lower(title), lower(trim(:word))) > 0
            OR instr(lower(description), lower(trim(:word))) > 0)
          AND (:status IS NULL OR status = :status)
          AND (:priority IS NULL OR priority_id = :priority)
        ORDER BY reported_at DESC, ticket_id
        """,
        tenancy_id=tenancy_id,
        building_id=building_id,
        word=word,
        status=status,
        priority=priority,
    )
    return {"tickets": [cast("Ticket", row) for row in rows]}


def find_orders(
    db: Database,
    *,
    ticket_id: str | None = None,
    tenancy_id: str | None = None,
    building_id: str | None = None,
    contractor_id: str | None = None,
    word: str | None = None,
    status: Literal["draft", "awaiting_approval", "released", "done", "cancelled"] | None = None,
) -> Orders:
    """Find work orders with their quotes, by id in descending order.

    `needs_approval` and `needs_quotes` tell whether the estimate is over the limits for the priority of the ticket.

    Args:
        ticket_id: Only orders of this ticket, as `find_tickets` shows it.
        tenancy_id: Only orders of this tenancy, as `find_tenancies` shows it.
        building_id: Only orders in this building, as `find_tenancies` or `list_budgets` shows it.
        contractor_id: Only orders of this contractor, as `find_contractors` shows it.
        word: A part of the summary of the order or of the title of its ticket.
        status: Only orders in this status.
    """
    if ticket_id is not None:
        _ticket(db, ticket_id)
    if tenancy_id is not None:
        _check_tenancy(db, tenancy_id)
    if building_id is not None:
        _check_building(db, building_id)
    if contractor_id is not None:
        _contractor(db, contractor_id)
    _search_text(word, "the word")
    rows = db.all(
        f"""{ORDER_SQL}
        WHERE (:ticket_id IS NULL OR ticket_id = :ticket_id)
          AND (:tenancy_id IS NULL OR tenancy_id = :tenancy_id)
          AND (:building_id IS NULL OR building_id = :building_id)
          AND (:contractor_id IS NULL OR contractor_id = :contractor_id)
          AND (:word IS NULL OR instr(lower(summary), lower(trim(:word))) > 0
            OR instr(lower(ticket_title), lower(trim(:word))) > 0)
          AND (:status IS NULL OR status = :status)
        ORDER BY work_order_id DESC
        """,
        ticket_id=ticket_id,
        tenancy_id=tenancy_id,
        building_id=building_id,
        contractor_id=contractor_id,
        word=word,
        status=status,
    )
    return {"orders": [_with_quotes(db, row) for row in rows]}


def find_contractors(db: Database, *, name: str | None = None, trade: str | None = None) -> Contractors:
    """Find contractors with their trades, rates, limits and the last day of their insurance.

    Args:
        name: A part of the name of the contractor.
        trade: A part of the name of a trade, such as "lock", or its id. All trades of each contractor are shown.
    """
    _search_text(name, "the name of the contractor")
    _search_text(trade, "the trade")
    rows = db.all(
        f"""{CONTRACTOR_SQL}
        WHERE (:name IS NULL OR instr(lower(contractors.name), lower(trim(:name))) > 0)
          AND (:trade IS NULL OR EXISTS (
            SELECT 1 FROM contractor_trades JOIN trades ON trades.id = contractor_trades.trade_id
            WHERE contractor_trades.contractor_id = contractors.id
              AND (trades.id = trim(:trade) OR instr(lower(trades.name), lower(trim(:trade))) > 0)))
        ORDER BY contractors.name, contractors.id
        """,
        name=name,
        trade=trade,
    )
    return {"contractors": [_with_trades(db, row) for row in rows]}


def find_visits(
    db: Database,
    *,
    work_order_id: str | None = None,
    ticket_id: str | None = None,
    tenancy_id: str | None = None,
    contractor_id: str | None = None,
    status: Literal["planned", "completed", "no_access", "cancelled"] | None = None,
    from_on: str | None = None,
    to_on: str | None = None,
) -> Visits:
    """Find visits in the order of their dates and slots.

    `fee_cents` is what the tenant was charged for that visit, null if nothing.

    Args:
        work_order_id: Only visits of this order, as `find_orders` shows it.
        ticket_id: Only visits of this ticket, as `find_tickets` shows it.
        tenancy_id: Only visits at this tenancy, as `find_tenancies` shows it.
        contractor_id: Only visits of this contractor, as `find_contractors` shows it.
        status: Only visits in this status.
        from_on: Only visits on this day or later, YYYY-MM-DD.
        to_on: Only visits on this day or earlier, YYYY-MM-DD.
    """
    if work_order_id is not None:
        _order(db, work_order_id)
    if ticket_id is not None:
        _ticket(db, ticket_id)
    if tenancy_id is not None:
        _check_tenancy(db, tenancy_id)
    if contractor_id is not None:
        _contractor(db, contractor_id)
    if from_on is not None:
        _day(from_on)
    if to_on is not None:
        _day(to_on)
    if from_on is not None and to_on is not None and to_on < from_on:
        raise ToolError(f"the last day {to_on} is before the first day {from_on}; exchange them")
    rows = db.all(
        f"""{VISIT_SQL}
        WHERE (:work_order_id IS NULL OR work_order_id = :work_order_id)
          AND (:ticket_id IS NULL OR ticket_id = :ticket_id)
          AND (:tenancy_id IS NULL OR ticket_id IN (SELECT tickets.id FROM tickets WHERE tickets.tenancy_id = :tenancy_id))
          AND (:contractor_id IS NULL OR contractor_id = :contractor_id)
          AND (:status IS NULL OR status = :status)
          AND (:from_on IS NULL OR visit_on >= :from_on)
          AND (:to_on IS NULL OR visit_on <= :to_on)
        ORDER BY visit_on, slot, visit_id
        """,
        work_order_id=work_order_id,
        ticket_id=ticket_id,
        tenancy_id=tenancy_id,
        contractor_id=contractor_id,
        status=status,
        from_on=from_on,
        to_on=to_on,
    )
    return {"visits": [_as_visit(row) for row in rows]}


def list_free_slots(db: Database, *, work_order_id: str, from_on: str | None = None, days: int = 7) -> FreeSlots:
    """List the slots in which the contractor of an order and the apartment are both free.

    Days on which the contractor is full or no longer insured and slots that have begun are left out. `needs_consent` marks the days that
    are too near for a visit announced today. `latest_first_visit_on` is null when the ticket has a visit already.

    Args:
        work_order_id: The order, as `find_orders` shows it; a contractor must be assigned.
        from_on: The first day to look at, YYYY-MM-DD; today if left out.
        days: The number of days to look at, 1 to 31.
    """
    order = _order(db, work_order_id)
    contractor_id, contractor_name = order["contractor_id"], order["contractor_name"]
    if contractor_id is None or contractor_name is None:
        raise ToolError(f"{work_order_id} has no contractor yet; assign one with revise_order first")
    if not 1 <= days <= MOST_DAYS:
        raise ToolError(f"{days} days cannot be looked at; give 1 to {MOST_DAYS}")
    now = db.now()
    today = date.fromisoformat(now[:10])
    first = today if from_on is None else _day(from_on)
    if first > today + timedelta(days=366):
        raise ToolError(f"{first.isoformat()} is more than a year away; look at an earlier day")
    contractor = _contractor(db, contractor_id)
    place = db.one(
        "SELECT apartment_id, notice_days FROM order_details WHERE work_order_id = :id ORDER BY work_order_id",
        id=work_order_id,
    )
    if place is None:
        raise ToolError(f"no order {work_order_id!r}; find_orders lists them")
    busy = db.all(
        """
        SELECT visit_on, slot, contractor_id, apartment_id FROM visits
        WHERE status <> 'cancelled' AND visit_on >= :first
          AND (contractor_id = :contractor_id OR apartment_id = :apartment_id)
        ORDER BY visit_on, slot, id
        """,
        first=first.isoformat(),
        contractor_id=contractor_id,
        apartment_id=place["apartment_id"],
    )
    taken = {(visit["visit_on"], visit["slot"]) for visit in busy}
    days_of_contractor = [visit["visit_on"] for visit in busy if visit["contractor_id"] == contractor_id]
    without_consent_from = (today + timedelta(days=place["notice_days"])).isoformat()
    free: list[FreeSlot] = []
    for offset in range(days):
        day = (first + timedelta(days=offset)).isoformat()
        if day > contractor["insured_until"] or days_of_contractor.count(day) >= contractor["visits_per_day"]:
            continue
        for slot in SLOTS:
            if (day, slot) not in taken and not _has_begun(now, day, slot):
                free.append({"visit_on": day, "slot": slot, "needs_consent": day < without_consent_from})
    ticket = _ticket(db, order["ticket_id"])
    return {
        "work_order_id": work_order_id,
        "contractor_name": contractor_name,
        "latest_first_visit_on": _first_visit_limit(db, order["ticket_id"]) if ticket["first_visit_on"] is None else None,
        "free_slots": free,
    }


def find_invoices(
    db: Database,
    *,
    work_order_id: str | None = None,
    contractor_id: str | None = None,
    invoice_number: str | None = None,
    status: Literal["received", "approved", "disputed", "paid"] | None = None,
) -> Invoices:
    """Find invoices of contractors with the estimates of their orders, the latest received first.

    `over_limit` tells that the invoice is over 110 % of the estimate.

    Args:
        work_order_id: Only the invoice of this order, as `find_orders` shows it.
        contractor_id: Only invoices of this contractor, as `find_contractors` shows it.
        invoice_number: A part of the number that the contractor gave the invoice.
        status: Only invoices in this status.
    """
    if work_order_id is not None:
        _order(db, work_order_id)
    if contractor_id is not None:
        _contractor(db, contractor_id)
    _search_text(invoice_number, "the number of the invoice")
    rows = db.all(
        f"""{INVOICE_SQL}
        WHERE (:work_order_id IS NULL OR work_order_id = :work_order_id)
          AND (:contractor_id IS NULL OR contractor_id = :contractor_id)
          AND (:invoice_number IS NULL OR instr(lower(invoice_number), lower(trim(:invoice_number))) > 0)
          AND (:status IS NULL OR status = :status)
        ORDER BY received_on DESC, invoice_id
        """,
        work_order_id=work_order_id,
        contractor_id=contractor_id,
        invoice_number=invoice_number,
        status=status,
    )
    return {"invoices": [_as_invoice(row) for row in rows]}


def list_charges(
    db: Database,
    *,
    tenancy_id: str | None = None,
    work_order_id: str | None = None,
    kind: Literal["small_repair", "no_access", "damage"] | None = None,
    year: int | None = None,
) -> Charges:
    """List what tenants were charged, the latest first.

    Args:
        tenancy_id: Only charges of this tenancy, as `find_tenancies` shows it.
        work_order_id: Only charges from this order, as `find_orders` shows it.
        kind: Only charges of this kind.
        year: Only charges made in this calendar year, such as 2026.
    """
    if tenancy_id is not None:
        _check_tenancy(db, tenancy_id)
    if work_order_id is not None:
        _order(db, work_order_id)
    rows = db.all(
        f"""{CHARGE_SQL}
        WHERE (:tenancy_id IS NULL OR tenancy_id = :tenancy_id)
          AND (:work_order_id IS NULL OR work_order_id = :work_order_id)
          AND (:kind IS NULL OR kind = :kind)
          AND (:year IS NULL OR strftime('%Y', charged_on) = :year)
        ORDER BY charged_on DESC, charge_id
        """,
        tenancy_id=tenancy_id,
        work_order_id=work_order_id,
        kind=kind,
        year=None if year is None else _year(year),
    )
    return {"charges": [cast("Charge", row) for row in rows]}


def list_budgets(db: Database, *, building_name: str | None = None, year: int | None = None) -> Budgets:
    """List the buildings with their property managers and what is used and left of the repair budget of a year.

    Args:
        building_name: A part of the name of the building; all buildings if left out.
        year: The calendar year, such as 2025; the present one if left out.
    """
    _search_text(building_name, "the name of the building")
    asked = db.now()[:4] if year is None else _year(year)
    rows = db.all(
        """
        SELECT buildings.id AS building_id, buildings.name AS building_name, buildings.street, buildings.manager_name,
          buildings.yearly_budget_cents,
          coalesce((SELECT sum(order_costs.cost_cents) FROM order_costs
            WHERE order_costs.building_id = buildings.id AND order_costs.year = :year), 0) AS used_cents
        FROM buildings
        WHERE :building_name IS NULL OR instr(lower(buildings.name), lower(trim(:building_name))) > 0
        ORDER BY buildings.name, buildings.id
        """,
        year=asked,
        building_name=building_name,
    )
    return {
        "budgets": [
            cast("Budget", {**row, "year": int(asked), "left_cents": row["yearly_budget_cents"] - row["used_cents"]})
            for row in rows
        ]
    }


def report_defect(
    db: Database,
    *,
    tenancy_id: str,
    title: str,
    description: str,
    priority: Literal["emergency", "urgent", "normal", "low"] = "normal",
) -> Ticket:
    """Open a ticket for a defect that a tenant reports now.

    Args:
        tenancy_id: The tenancy of the tenant who reports, as `find_tenancies` shows it.
        title: A few words that name the defect.
        description: What the tenant tells about it.
        priority: How soon somebody must come, judged from the description.
    """
    _check_tenancy(db, tenancy_id)
    ticket_id = db.new_id("tkt")
    db.run(
        """
        INSERT INTO tickets (id, tenancy_id, title, description, priority_id, status, reported_at)
        VALUES (:id, :tenancy_id, :title, :description, :priority, 'reported', :now)
        """,
        id=ticket_id,
        tenancy_id=tenancy_id,
        title=_filled(title, "the title"),
        description=_filled(description, "the description"),
        priority=priority,
        now=db.now(),
    )
    return _ticket(db, ticket_id)


def decide_ticket(
    db: Database, *, ticket_id: str, decision: Literal["accept", "reject"], reason: str | None = None
) -> Ticket:
    """Accept a reported ticket, or reject one that is reported, accepted or in work.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
        decision: Whether it is accepted or rejected.
        reason: Why it is rejected, in words for the tenant; only and always with a rejection.
    """
    ticket = _ticket(db, ticket_id)
    if decision == "accept":
        if reason is not None:
            raise ToolError("a reason is given only with a rejection; leave it out to accept the ticket")
        if ticket["status"] != "reported":
            raise ToolError(f"{ticket_id} is {ticket['status']}; only a reported ticket is accepted")
        db.run("UPDATE tickets SET status = 'accepted', accepted_on = :today WHERE id = :id", today=db.now()[:10], id=ticket_id)
        return _ticket(db, ticket_id)
    if reason is None or not reason.strip():
        # rule: rejection_has_a_reason
        raise ToolError(f"a rejection needs a reason; say why {ticket_id} is rejected, in words for the tenant")
    if ticket["status"] not in ("reported", "accepted", "in_work"):
        raise ToolError(f"{ticket_id} is {ticket['status']}; a ticket is rejected only while reported, accepted or in work")
    if ticket["open_orders"] > 0:
        # rule: open_orders_on_open_tickets, rejection_without_work
        raise ToolError(
            f"{ticket_id} still has open orders ({ticket['open_orders']}); they must be cancelled before a rejection"
        )
    db.run(
        "UPDATE tickets SET status = 'rejected', rejection_reason = :reason WHERE id = :id",
        reason=reason.strip(),
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def change_priority(
    db: Database, *, ticket_id: str, priority: Literal["emergency", "urgent", "normal", "low"]
) -> Ticket:
    """Change the priority of an open ticket, and with it the due day of its first visit.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
        priority: The new priority.
    """
    ticket = _ticket(db, ticket_id)
    if ticket["priority"] == priority:
        raise ToolError(f"{ticket_id} has the priority {priority} already")
    db.run("UPDATE tickets SET priority_id = :priority WHERE id = :id", priority=priority, id=ticket_id)
    return _ticket(db, ticket_id)


def open_order(db: Database, *, ticket_id: str, trade_id: str, summary: str, estimate_cents: int) -> Order:
    """Open a draft order for a ticket, without a contractor.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
        trade_id: The trade of the work, as `find_contractors` shows it.
        summary: What is to be done.
        estimate_cents: The expected cost in cents.
    """
    _ticket(db, ticket_id)
    if db.one("SELECT id FROM trades WHERE id = :id ORDER BY id", id=trade_id) is None:
        raise ToolError(f"no trade {trade_id!r}; find_contractors shows the trades")
    _positive(estimate_cents, "the estimate")
    work_order_id = db.new_id("wo")
    db.run(
        """
        INSERT INTO work_orders (id, ticket_id, trade_id, summary, estimate_cents, status, created_on)
        VALUES (:id, :ticket_id, :trade_id, :summary, :estimate_cents, 'draft', :today)
        """,
        id=work_order_id,
        ticket_id=ticket_id,
        trade_id=trade_id,
        summary=_filled(summary, "the summary"),
        estimate_cents=estimate_cents,
        today=db.now()[:10],
    )
    return _order(db, work_order_id)


def revise_order(
    db: Database, *, work_order_id: str, contractor_id: str | None = None, estimate_cents: int | None = None
) -> Order:
    """Assign a contractor to a draft order or change its estimate; take an order that awaits approval back to draft.

    An order that awaits approval becomes a draft again in any case, with the changes given, if any. A draft needs at least one change.

    Args:
        work_order_id: The order, as `find_orders` shows it.
        contractor_id: The new contractor, as `find_contractors` shows it; unchanged if left out.
        estimate_cents: The new estimate in cents; unchanged if left out.
    """
    order = _order(db, work_order_id)
    if contractor_id is not None:
        _contractor(db, contractor_id)
    if estimate_cents is not None:
        _positive(estimate_cents, "the estimate")
    contractor_after = order["contractor_id"] if contractor_id is None else contractor_id
    estimate_after = order["estimate_cents"] if estimate_cents is None else estimate_cents
    changed = contractor_after != order["contractor_id"] or estimate_after != order["estimate_cents"]
    if order["status"] == "awaiting_approval":
        db.run("UPDATE work_orders SET status = 'draft' WHERE id = :id", id=work_order_id)
    elif not changed:
        raise ToolError(
            f"nothing would change in {work_order_id}, which is {order['status']}; give another contractor or estimate"
        )
    if changed:
        db.run(
            "UPDATE work_orders SET contractor_id = :contractor_id, estimate_cents = :estimate_cents WHERE id = :id",
            contractor_id=contractor_after,
            estimate_cents=estimate_after,
            id=work_order_id,
        )
    return _order(db, work_order_id)


def record_quote(
    db: Database, *, work_order_id: str, contractor_id: str, amount_cents: int, valid_until: str
) -> Order:
    """Record a quote that a contractor sent today for a draft order.

    Args:
        work_order_id: The order, as `find_orders` shows it.
        contractor_id: The contractor who quotes, as `find_contractors` shows it.
        amount_cents: The amount quoted, in cents.
        valid_until: The last day on which the quote can be accepted, YYYY-MM-DD.
    """
    order = _order(db, work_order_id)
    contractor = _contractor(db, contractor_id)
    _positive(amount_cents, "the amount of the quote")
    today = db.now()[:10]
    if _day(valid_until).isoformat() < today:
        raise ToolError(f"the quote was valid until {valid_until}, which is past; ask for a new one")
    if order["trade_id"] not in [trade["trade_id"] for trade in contractor["trades"]]:
        # rule: contractor_in_trade
        raise ToolError(
            f"{contractor['name']} does not do the work of {work_order_id}, which is {order['trade_name']}; "
            "a quote must come from a contractor of that trade"
        )
    if contractor_id in [quote["contractor_id"] for quote in order["quotes"]]:
        raise ToolError(f"{contractor['name']} has quoted for {work_order_id} already; a contractor quotes once")
    db.run(
        """
        INSERT INTO quotes (id, work_order_id, contractor_id, amount_cents, received_on, valid_until, status)
        VALUES (:id, :work_order_id, :contractor_id, :amount_cents, :today, :valid_until, 'received')
        """,
        id=db.new_id("quo"),
        work_order_id=work_order_id,
        contractor_id=contractor_id,
        amount_cents=amount_cents,
        today=today,
        valid_until=valid_until,
    )
    return _order(db, work_order_id)


def accept_quote(db: Database, *, quote_id: str) -> Order:
    """Accept a quote; its contractor and amount become those of the order, its other quotes are declined.

    Args:
        quote_id: The quote, as `find_orders` shows it among the quotes of an order.
    """
    quote = db.one(
        "SELECT work_order_id, contractor_name, valid_until, status FROM quote_details WHERE quote_id = :id ORDER BY quote_id",
        id=quote_id,
    )
    if quote is None:
        raise ToolError(f"no quote {quote_id!r}; find_orders shows the quotes of each order")
    today = db.now()[:10]
    if quote["status"] == "received" and quote["valid_until"] < today:
        # rule: quote_still_valid
        raise ToolError(
            f"the quote {quote_id} of {quote['contractor_name']} has expired on {quote['valid_until']}; accept another one"
        )
    db.run("UPDATE quotes SET status = 'accepted', decided_on = :today WHERE id = :id", today=today, id=quote_id)
    return _order(db, quote["work_order_id"])


def submit_order(db: Database, *, work_order_id: str) -> Order:
    """Hand in a draft order: it is released at once, or awaits approval if its estimate needs that.

    With the first release the ticket is in work. Quotes still undecided are declined.

    Args:
        work_order_id: The order, as `find_orders` shows it; a contractor must be assigned.
    """
    order = _order(db, work_order_id)
    if order["status"] != "draft":
        raise ToolError(f"{work_order_id} is {order['status']}; only a draft is handed in")
    if order["contractor_id"] is None:
        raise ToolError(f"{work_order_id} has no contractor; assign one with revise_order or accept a quote first")
    if order["needs_approval"]:
        db.run("UPDATE work_orders SET status = 'awaiting_approval' WHERE id = :id", id=work_order_id)
    else:
        db.run(
            "UPDATE work_orders SET status = 'released', released_on = :today WHERE id = :id",
            today=db.now()[:10],
            id=work_order_id,
        )
    return _order(db, work_order_id)


def approve_order(db: Database, *, work_order_id: str, approved_by: str) -> Order:
    """Note the approval of an order that awaits it, and release the order.

    Args:
        work_order_id: The order, as `find_orders` shows it.
        approved_by: The full name of the person who approves it.
    """
    order = _order(db, work_order_id)
    if order["status"] != "awaiting_approval":
        raise ToolError(f"{work_order_id} is {order['status']}; only an order that awaits approval is approved")
    if _filled(approved_by, "the name of the person who approves").lower() != order["manager_name"].lower():
        # rule: manager_approves
        raise ToolError(
            f"{approved_by.strip()} cannot approve {work_order_id}; that is up to {order['manager_name']}, "
            f"the property manager of {order['building_name']}"
        )
    db.run(
        """
        UPDATE work_orders SET status = 'released', approved_by = :manager, approved_on = :today, released_on = :today
        WHERE id = :id
        """,
        manager=order["manager_name"],
        today=db.now()[:10],
        id=work_order_id,
    )
    return _order(db, work_order_id)


def cancel_order(db: Database, *, work_order_id: str) -> Order:
    """Cancel an order that is not done, together with its planned visits.

    Args:
        work_order_id: The order, as `find_orders` shows it.
    """
    order = _order(db, work_order_id)
    if order["status"] in ("done", "cancelled"):
        raise ToolError(f"{work_order_id} is {order['status']} already; it cannot be cancelled any more")
    db.run(
        "UPDATE work_orders SET status = 'cancelled', cancelled_on = :today WHERE id = :id",
        today=db.now()[:10],
        id=work_order_id,
    )
    return _order(db, work_order_id)


def plan_visit(
    db: Database,
    *,
    work_order_id: str,
    visit_on: str,
    slot: Literal["08-10", "10-12", "13-15", "15-17"],
    tenant_consented: bool = False,
    note: str | None = None,
) -> Visit:
    """Plan a visit for a released order and announce it to the tenant today.

    The contractor is that of the order, the apartment that of its ticket.

    Args:
        work_order_id: The order, as `find_orders` shows it.
        visit_on: The day, YYYY-MM-DD; `list_free_slots` shows what is free.
        slot: The part of the day.
        tenant_consented: Whether the tenant expressly agreed to a visit at shorter notice.
        note: What the contractor should know.
    """
    order = _order(db, work_order_id)
    contractor_id = order["contractor_id"]
    if order["status"] != "released" or contractor_id is None:
        raise ToolError(f"{work_order_id} is {order['status']}; visits are planned only for a released order")
    _check_not_begun(db, visit_on, slot)
    ticket = _ticket(db, order["ticket_id"])
    if ticket["first_visit_on"] is None:
        _check_first_visit(db, order["ticket_id"], visit_on)
    visit_id = db.new_id("vis")
    apartment_id = _apartment_of_order(db, work_order_id)
    _check_slot_free(db, visit_id, contractor_id, apartment_id, visit_on, slot)
    db.run(
        """
        INSERT INTO visits (id, work_order_id, contractor_id, apartment_id, visit_on, slot, announced_on, tenant_consented,
          status, note)
        VALUES (:id, :work_order_id, :contractor_id, :apartment_id, :visit_on, :slot, :today, :consented, 'planned', :note)
        """,
        id=visit_id,
        work_order_id=work_order_id,
        contractor_id=contractor_id,
        apartment_id=apartment_id,
        visit_on=visit_on,
        slot=slot,
        today=db.now()[:10],
        consented=int(tenant_consented),
        note=None if note is None else _filled(note, "the note"),
    )
    return _visit(db, visit_id)


def move_visit(
    db: Database,
    *,
    visit_id: str,
    visit_on: str,
    slot: Literal["08-10", "10-12", "13-15", "15-17"],
    tenant_consented: bool = False,
) -> Visit:
    """Move a planned visit to another day or slot and announce that to the tenant today.

    Consent to the former date does not hold for the new one.

    Args:
        visit_id: The visit, as `find_visits` shows it.
        visit_on: The new day, YYYY-MM-DD; `list_free_slots` shows what is free.
        slot: The new part of the day.
        tenant_consented: Whether the tenant expressly agreed to the new date at shorter notice.
    """
    visit = _visit(db, visit_id)
    today = db.now()[:10]
    if visit["status"] != "planned":
        raise ToolError(f"{visit_id} is {visit['status']}; only a planned visit is moved")
    if visit["visit_on"] <= today:
        # rule: moves_and_outcomes_in_time
        raise ToolError(f"{visit_id} was due on {visit['visit_on']}; a visit is moved no later than the day before it")
    if (visit["visit_on"], visit["slot"]) == (visit_on, slot):
        raise ToolError(f"{visit_id} is planned for {visit_on} {slot} already; nothing would be moved")
    _check_not_begun(db, visit_on, slot)
    if _ticket(db, visit["ticket_id"])["first_visit_on"] == visit["visit_on"]:
        others = db.one(
            """
            SELECT min(visits.visit_on) AS first_on
            FROM visits
            JOIN work_orders ON work_orders.id = visits.work_order_id
            JOIN tickets ON tickets.id = work_orders.ticket_id
            WHERE tickets.id = :ticket_id AND visits.id <> :visit_id AND visits.status <> 'cancelled'
              AND visits.visit_on >= date(coalesce(tickets.reopened_on, tickets.reported_at))
            ORDER BY first_on
            """,
            ticket_id=visit["ticket_id"],
            visit_id=visit_id,
        )
        first_of_others = None if others is None else others["first_on"]
        _check_first_visit(
            db, visit["ticket_id"], visit_on if first_of_others is None else min(visit_on, first_of_others)
        )
    _check_slot_free(
        db, visit_id, visit["contractor_id"], _apartment_of_order(db, visit["work_order_id"]), visit_on, slot
    )
    db.run(
        """
        UPDATE visits SET visit_on = :visit_on, slot = :slot, announced_on = :today, tenant_consented = :consented
        WHERE id = :id
        """,
        visit_on=visit_on,
        slot=slot,
        today=today,
        consented=int(tenant_consented),
        id=visit_id,
    )
    return _visit(db, visit_id)


def record_outcome(
    db: Database, *, visit_id: str, outcome: Literal["completed", "no_access", "cancelled"], note: str | None = None
) -> Visit:
    """Record how a planned visit ended, or that it is cancelled.

    The fee for repeated visits without access is charged by the system; `fee_cents` shows it. A visit can be cancelled before its day too.

    Args:
        visit_id: The visit, as `find_visits` shows it.
        outcome: What became of the visit.
        note: What the contractor or the tenant said; the former note stays if left out.
    """
    visit = _visit(db, visit_id)
    today = db.now()[:10]
    if outcome != "cancelled" and visit["status"] == "planned" and visit["visit_on"] > today:
        # rule: moves_and_outcomes_in_time
        raise ToolError(
            f"{visit_id} takes place on {visit['visit_on']}; its outcome is recorded on that day at the earliest"
        )
    db.run(
        "UPDATE visits SET status = :outcome, note = coalesce(:note, note) WHERE id = :id",
        outcome=outcome,
        note=None if note is None else _filled(note, "the note"),
        id=visit_id,
    )
    if outcome == "no_access":
        _charge_failed_visit(db, visit, today)
    return _visit(db, visit_id)


def finish_order(db: Database, *, work_order_id: str) -> Order:
    """Mark a released order as done today, when its work is completed.

    Args:
        work_order_id: The order, as `find_orders` shows it.
    """
    order = _order(db, work_order_id)
    if order["status"] != "released":
        raise ToolError(f"{work_order_id} is {order['status']}; only a released order can be done")
    db.run(
        "UPDATE work_orders SET status = 'done', done_on = :today WHERE id = :id", today=db.now()[:10], id=work_order_id
    )
    return _order(db, work_order_id)


def resolve_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Mark a ticket in work as resolved today.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    if ticket["status"] != "in_work":
        raise ToolError(f"{ticket_id} is {ticket['status']}; only a ticket in work is resolved")
    db.run(
        "UPDATE tickets SET status = 'resolved', resolved_on = :today WHERE id = :id", today=db.now()[:10], id=ticket_id
    )
    return _ticket(db, ticket_id)


def close_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Close a resolved ticket today.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    if ticket["status"] != "resolved" or ticket["resolved_on"] is None:
        raise ToolError(f"{ticket_id} is {ticket['status']}; only a resolved ticket is closed")
    today = db.now()[:10]
    first_day = (_day(ticket["resolved_on"]) + timedelta(days=DAYS_BEFORE_CLOSING)).isoformat()
    if today < first_day:
        raise ToolError(f"{ticket_id} was resolved on {ticket['resolved_on']}; it is closed on {first_day} at the earliest")
    db.run("UPDATE tickets SET status = 'closed', closed_on = :today WHERE id = :id", today=today, id=ticket_id)
    return _ticket(db, ticket_id)


def reopen_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Put a resolved or closed ticket in work again, because its defect came back.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    if ticket["status"] not in ("resolved", "closed"):
        raise ToolError(f"{ticket_id} is {ticket['status']}; only a resolved or closed ticket is reopened")
    db.run(
        """
        UPDATE tickets SET status = 'in_work', resolved_on = NULL, closed_on = NULL, reopened_on = :today,
          reopenings = reopenings + 1
        WHERE id = :id
        """,
        today=db.now()[:10],
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def book_invoice(db: Database, *, work_order_id: str, invoice_number: str, amount_cents: int) -> Invoice:
    """Book the invoice that came in today for a done order, or the corrected one in place of a disputed one.

    Args:
        work_order_id: The order, as `find_orders` shows it.
        invoice_number: The number that the contractor gave the invoice.
        amount_cents: The amount of the invoice in cents.
    """
    _order(db, work_order_id)
    number = _filled(invoice_number, "the number of the invoice")
    _positive(amount_cents, "the amount of the invoice")
    today = db.now()[:10]
    earlier = db.one(
        "SELECT id, invoice_number, status FROM invoices WHERE work_order_id = :id ORDER BY id", id=work_order_id
    )
    if earlier is not None:
        if earlier["status"] != "disputed":
            raise ToolError(
                f"{work_order_id} has the invoice {earlier['id']} ({earlier['invoice_number']}) already, which is "
                f"{earlier['status']}; only a disputed one is replaced by a corrected one"
            )
        db.run(
            """
            UPDATE invoices SET invoice_number = :number, amount_cents = :amount_cents, received_on = :today,
              status = 'received', dispute_reason = NULL
            WHERE id = :id
            """,
            number=number,
            amount_cents=amount_cents,
            today=today,
            id=earlier["id"],
        )
        return _invoice(db, earlier["id"])
    invoice_id = db.new_id("inv")
    db.run(
        """
        INSERT INTO invoices (id, work_order_id, invoice_number, amount_cents, received_on, status)
        VALUES (:id, :work_order_id, :number, :amount_cents, :today, 'received')
        """,
        id=invoice_id,
        work_order_id=work_order_id,
        number=number,
        amount_cents=amount_cents,
        today=today,
    )
    return _invoice(db, invoice_id)


def decide_invoice(
    db: Database, *, invoice_id: str, decision: Literal["approve", "dispute"], reason: str | None = None
) -> Invoice:
    """Approve or dispute an invoice that was received.

    Args:
        invoice_id: The invoice, as `find_invoices` shows it.
        decision: Whether it is approved or disputed.
        reason: Why it is disputed; only and always with a dispute.
    """
    invoice = _invoice(db, invoice_id)
    if invoice["status"] != "received":
        raise ToolError(f"{invoice_id} is {invoice['status']}; only an invoice in the status received is decided")
    if decision == "approve":
        if reason is not None:
            raise ToolError("a reason is given only with a dispute; leave it out to approve the invoice")
        db.run(
            "UPDATE invoices SET status = 'approved', approved_on = :today WHERE id = :id",
            today=db.now()[:10],
            id=invoice_id,
        )
        return _invoice(db, invoice_id)
    if reason is None or not reason.strip():
        raise ToolError(f"a dispute needs a reason; say what is wrong with {invoice_id}")
    db.run(
        "UPDATE invoices SET status = 'disputed', dispute_reason = :reason WHERE id = :id",
        reason=reason.strip(),
        id=invoice_id,
    )
    return _invoice(db, invoice_id)


def charge_repair(
    db: Database,
    *,
    invoice_id: str,
    kind: Literal["small_repair", "damage"],
    reason: str,
    amount_cents: int | None = None,
) -> Charge:
    """Charge the tenant of an order with its repair, from an approved or paid invoice.

    Args:
        invoice_id: The invoice of the repair, as `find_invoices` shows it.
        kind: Whether it is a small repair or damage that the tenant caused.
        reason: What is charged, in a few words for the tenant.
        amount_cents: The amount to charge in cents; the whole invoice if left out.
    """
    invoice = _invoice(db, invoice_id)
    amount = invoice["amount_cents"] if amount_cents is None else amount_cents
    _positive(amount, "the charge")
    earlier = db.one(
        "SELECT id, amount_cents, charged_on FROM charges WHERE work_order_id = :id AND kind <> 'no_access' ORDER BY id",
        id=invoice["work_order_id"],
    )
    if earlier is not None:
        raise ToolError(
            f"the repair of {invoice['work_order_id']} was charged already: {earlier['id']}, "
            f"{_money(earlier['amount_cents'])} euros on {earlier['charged_on']}; there is one such charge for an order"
        )
    charge_id = db.new_id("chg")
    db.run(
        """
        INSERT INTO charges (id, work_order_id, kind, invoice_id, amount_cents, charged_on, reason)
        VALUES (:id, :work_order_id, :kind, :invoice_id, :amount_cents, :today, :reason)
        """,
        id=charge_id,
        work_order_id=invoice["work_order_id"],
        kind=kind,
        invoice_id=invoice_id,
        amount_cents=amount,
        today=db.now()[:10],
        reason=_filled(reason, "the reason"),
    )
    return _charge(db, charge_id)


def extend_insurance(db: Database, *, contractor_id: str, insured_until: str) -> Contractor:
    """Note the new last day of the insurance of a contractor, who has sent the certificate.

    Args:
        contractor_id: The contractor, as `find_contractors` shows it.
        insured_until: The new last day, YYYY-MM-DD, later than the present one.
    """
    contractor = _contractor(db, contractor_id)
    if _day(insured_until).isoformat() <= contractor["insured_until"]:
        raise ToolError(
            f"{contractor['name']} is insured until {contractor['insured_until']}; the new day {insured_until} must be later"
        )
    db.run(
        "UPDATE contractors SET insured_until = :insured_until WHERE id = :id",
        insured_until=insured_until,
        id=contractor_id,
    )
    return _contractor(db, contractor_id)


def _search_text(text: str | None, what: str) -> None:
    if text is not None and not text.strip():
        raise ToolError(f"{what} is blank; give a part of it or leave it out")


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise ToolError(f"{text!r} is no date; write it as YYYY-MM-DD")
    return day


def _has_begun(now: str, day: str, slot: str) -> bool:
    return f"{day} {slot[:2]}:00:00" <= now


def _check_tenancy(db: Database, tenancy_id: str) -> None:
    if db.one("SELECT id FROM tenancies WHERE id = :id ORDER BY id", id=tenancy_id) is None:
        raise ToolError(f"no tenancy {tenancy_id!r}; find_tenancies lists them")


def _check_building(db: Database, building_id: str) -> None:
    if db.one("SELECT id FROM buildings WHERE id = :id ORDER BY id", id=building_id) is None:
        raise ToolError(f"no building {building_id!r}; list_budgets lists them")


def _ticket(db: Database, ticket_id: str) -> Ticket:
    row = db.one(f"{TICKET_SQL} WHERE ticket_id = :id ORDER BY ticket_id", id=ticket_id)
    if row is None:
        raise ToolError(f"no ticket {ticket_id!r}; find_tickets lists them")
    return cast("Ticket", row)


def _first_visit_limit(db: Database, ticket_id: str) -> str:
    row = db.one(
        """
        SELECT CASE WHEN first_visit_due_on >= :today THEN first_visit_due_on
          ELSE date(:today, '+' || first_visit_days || ' days') END AS limit_on
        FROM ticket_details WHERE ticket_id = :id ORDER BY ticket_id
        """,
        today=db.now()[:10],
        id=ticket_id,
    )
    if row is None:
        raise ToolError(f"no ticket {ticket_id!r}; find_tickets lists them")
    return cast("str", row["limit_on"])


def _order(db: Database, work_order_id: str) -> Order:
    row = db.one(f"{ORDER_SQL} WHERE work_order_id = :id ORDER BY work_order_id", id=work_order_id)
    if row is None:
        raise ToolError(f"no order {work_order_id!r}; find_orders lists them")
    return _with_quotes(db, row)


def _with_quotes(db: Database, row: dict) -> Order:
    quotes = db.all(
        """
        SELECT quote_id, contractor_id, contractor_name, amount_cents, received_on, valid_until, status, decided_on
        FROM quote_details WHERE work_order_id = :id ORDER BY amount_cents, quote_id
        """,
        id=row["work_order_id"],
    )
    return cast(
        "Order",
        {
            **row,
            "tenant_parts": bool(row["tenant_parts"]),
            "needs_approval": bool(row["needs_approval"]),
            "needs_quotes": bool(row["needs_quotes"]),
            "quotes": quotes,
        },
    )


def _contractor(db: Database, contractor_id: str) -> Contractor:
    row = db.one(f"{CONTRACTOR_SQL} WHERE id = :id ORDER BY id", id=contractor_id)
    if row is None:
        raise ToolError(f"no contractor {contractor_id!r}; find_contractors lists them")
    return _with_trades(db, row)


def _with_trades(db: Database, row: dict) -> Contractor:
    trades = db.all(
        """
        SELECT trades.id AS trade_id, trades.name, trades.tenant_parts
        FROM contractor_trades JOIN trades ON trades.id = contractor_trades.trade_id
        WHERE contractor_trades.contractor_id = :id ORDER BY trades.id
        """,
        id=row["contractor_id"],
    )
    return cast(
        "Contractor",
        {**row, "trades": [{**trade, "tenant_parts": bool(trade["tenant_parts"])} for trade in trades]},
    )


def _as_visit(row: dict) -> Visit:
    return cast("Visit", {**row, "tenant_consented": bool(row["tenant_consented"])})


def _as_invoice(row: dict) -> Invoice:
    return cast("Invoice", {**row, "over_limit": bool(row["over_limit"])})


def _year(year: int) -> str:
    if not 2000 <= year <= 2100:
        raise ToolError(f"{year} is no year that is kept here; give one such as 2026")
    return str(year)


def _filled(text: str, what: str) -> str:
    if not text.strip():
        raise ToolError(f"{what} is empty; it must be told in words")
    return text.strip()


def _money(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _positive(cents: int, what: str) -> None:
    if cents <= 0:
        raise ToolError(f"{what} is {_money(cents)} euros; it must be more than nothing")


def _visit(db: Database, visit_id: str) -> Visit:
    row = db.one(f"{VISIT_SQL} WHERE visit_id = :id ORDER BY visit_id", id=visit_id)
    if row is None:
        raise ToolError(f"no visit {visit_id!r}; find_visits lists them")
    return _as_visit(row)


def _apartment_of_order(db: Database, work_order_id: str) -> str:
    row = db.one(
        "SELECT apartment_id FROM order_details WHERE work_order_id = :id ORDER BY work_order_id", id=work_order_id
    )
    if row is None:
        raise ToolError(f"no order {work_order_id!r}; find_orders lists them")
    return cast("str", row["apartment_id"])


def _check_not_begun(db: Database, visit_on: str, slot: str) -> None:
    _day(visit_on)
    now = db.now()
    if _has_begun(now, visit_on, slot):
        # rule: moves_and_outcomes_in_time
        raise ToolError(f"the slot {slot} on {visit_on} has begun or is past, it is {now[:16]} now; choose a later one")


def _check_first_visit(db: Database, ticket_id: str, first_on: str) -> None:
    limit_on = _first_visit_limit(db, ticket_id)
    if first_on > limit_on:
        # rule: first_visit_in_time
        raise ToolError(
            f"the first visit of {ticket_id} would be on {first_on}, but its priority allows {limit_on} at the latest; "
            "choose an earlier day"
        )


def _check_slot_free(
    db: Database, visit_id: str, contractor_id: str, apartment_id: str, visit_on: str, slot: str
) -> None:
    busy = db.all(
        """
        SELECT contractor_id, apartment_id FROM visits
        WHERE visit_on = :visit_on AND slot = :slot AND status <> 'cancelled' AND id <> :visit_id
          AND (contractor_id = :contractor_id OR apartment_id = :apartment_id)
        ORDER BY id
        """,
        visit_on=visit_on,
        slot=slot,
        visit_id=visit_id,
        contractor_id=contractor_id,
        apartment_id=apartment_id,
    )
    if apartment_id in [visit["apartment_id"] for visit in busy]:
        # rule: apartment_slot
        raise ToolError(
            f"the apartment has a visit on {visit_on} {slot} already; list_free_slots shows when it has none"
        )
    if contractor_id in [visit["contractor_id"] for visit in busy]:
        # rule: contractor_slot
        raise ToolError(
            f"the contractor is elsewhere on {visit_on} {slot}; list_free_slots shows what is free"
        )


def _charge_failed_visit(db: Database, visit: Visit, today: str) -> None:
    failed = db.one(
        "SELECT count(*) AS failed FROM visits WHERE work_order_id = :id AND status = 'no_access' ORDER BY failed",
        id=visit["work_order_id"],
    )
    if failed is None or failed["failed"] < 2:
        return
    db.run(
        """
        INSERT INTO charges (id, work_order_id, kind, visit_id, amount_cents, charged_on, reason)
        VALUES (:id, :work_order_id, 'no_access', :visit_id, :amount_cents, :today, :reason)
        """,
        id=db.new_id("chg"),
        work_order_id=visit["work_order_id"],
        visit_id=visit["visit_id"],
        amount_cents=NO_ACCESS_FEE_CENTS,
        today=today,
        reason=f"Visit on {visit['visit_on']} without access, number {failed['failed']} of this order",
    )


def _invoice(db: Database, invoice_id: str) -> Invoice:
    row = db.one(f"{INVOICE_SQL} WHERE invoice_id = :id ORDER BY invoice_id", id=invoice_id)
    if row is None:
        raise ToolError(f"no invoice {invoice_id!r}; find_invoices lists them")
    return _as_invoice(row)


def _charge(db: Database, charge_id: str) -> Charge:
    row = db.one(f"{CHARGE_SQL} WHERE charge_id = :id ORDER BY charge_id", id=charge_id)
    if row is None:
        raise ToolError(f"no charge {charge_id!r}; list_charges lists them")
    return cast("Charge", row)
