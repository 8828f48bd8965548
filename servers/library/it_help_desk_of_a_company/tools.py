"""Tools of the IT help desk of Brandt & Keller."""

from datetime import date, datetime, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

EMPLOYEE_ROWS = """
SELECT employee_id, name, email, job_title, department_id, department, manager_id, manager, is_head_of_it, status, last_day,
  permanent_devices, open_loans,
  (SELECT count(*) FROM assignments
   WHERE assignments.employee_id = employee_details.employee_id AND assignments.status = 'open'
     AND assignments.due_on < :today) AS overdue_loans,
  active_seats
FROM employee_details
"""
TICKET_ROWS = """
SELECT ticket_id, summary, category, priority_id AS priority, priorities.meaning AS priority_meaning, affected_people, status,
  requester_id, requester, technician_id, technician, opened_at, deadline_at, waiting_for, reopened, resolved_at, resolution,
  closed_at, pending_approvals
FROM ticket_details JOIN priorities ON priorities.id = ticket_details.priority_id
"""
DEVICE_ROWS = """
SELECT device_id, serial, model_id, model, lower(device_kinds.name) AS kind, price_cents, bought_on, warranty_until, status,
  (status = 'in_stock' OR (status = 'reserved' AND reserved_until < :today)) AS is_free, is_used,
  reserved_for, reserved_until, holder_id, holder
FROM device_details JOIN device_kinds ON device_kinds.id = device_details.kind_id
"""
ASSIGNMENT_ROWS = """
SELECT assignment_id, device_id, model, kind, employee_id, employee, ticket_id, handed_out_on, due_on, extensions, charged_cents,
  status, returned_on
FROM assignment_details
"""
PRODUCT_ROWS = """
SELECT product_id, name, yearly_price_cents, paid_seats, active_seats
FROM product_use
"""
SEAT_ROWS = """
SELECT seats.id AS seat_id, seats.product_id AS product_id, products.name AS product, seats.employee_id AS employee_id,
  employees.name AS employee, seats.ticket_id AS ticket_id, seats.granted_on AS granted_on, seats.status AS status,
  seats.released_on AS released_on
FROM seats
JOIN products ON products.id = seats.product_id
JOIN employees ON employees.id = seats.employee_id
"""
APPROVAL_ROWS = """
SELECT approval_id, ticket_id, employee_id, employee, approver_id, approver, level, model_id, product_id, item, price_cents,
  asked_on, expires_on, status, decided_on, used_on
FROM approval_details
"""
P1_PEOPLE = 5
OPEN_STATES = ("new", "assigned", "waiting")
MOST_REOPENINGS = 2
REOPENING_DAYS = 7
RESERVATION_DAYS = 3
LOAN_DAYS = 14
EXTENSION_DAYS = 7
MOST_EXTENSIONS = 1
APPROVAL_DAYS = 14
DEVICE_LIMIT_CENTS = 80000
HEAD_LIMIT_CENTS = 200000
LICENCE_LIMIT_CENTS = 30000


class Employee(TypedDict):
    employee_id: str
    name: str
    email: str
    job_title: str
    department_id: str
    department: str
    manager_id: str | None
    manager: str | None
    is_head_of_it: bool
    status: str
    last_day: str | None
    permanent_devices: int
    open_loans: int
    overdue_loans: int
    active_seats: int


class Employees(TypedDict):
    employees: list[Employee]


class Department(TypedDict):
    department_id: str
    name: str
    budget_year: int
    budget_cents: int
    spent_cents: int
    left_cents: int


class Departments(TypedDict):
    departments: list[Department]


class Technician(TypedDict):
    technician_id: str
    employee_id: str
    name: str
    status: str
    skills: list[str]
    open_tickets: int
    open_p1: int


class Technicians(TypedDict):
    technicians: list[Technician]


class Ticket(TypedDict):
    ticket_id: str
    summary: str
    category: str
    priority: str
    priority_meaning: str
    affected_people: int
    status: str
    requester_id: str
    requester: str
    technician_id: str | None
    technician: str | None
    opened_at: str
    deadline_at: str
    waiting_for: str | None
    reopened: int
    resolved_at: str | None
    resolution: str | None
    closed_at: str | None
    pending_approvals: int


class Tickets(TypedDict):
    tickets: list[Ticket]


class Model(TypedDict):
    model_id: str
    name: str
    kind: str
    permanent_limit: int
    price_cents: int
    free_devices: int


class Models(TypedDict):
    models: list[Model]


class Repair(TypedDict):
    repair_id: str
    fault: str
    quote_cents: int
    sent_on: str
    status: str
    back_on: str | None


class Device(TypedDict):
    device_id: str
    serial: str
    model_id: str
    model: str
    kind: str
    price_cents: int
    bought_on: str
    warranty_until: str
    status: str
    is_free: bool
    is_used: bool
    reserved_for: str | None
    reserved_until: str | None
    holder_id: str | None
    holder: str | None
    repairs: list[Repair]


class Devices(TypedDict):
    devices: list[Device]


class Assignment(TypedDict):
    assignment_id: str
    device_id: str
    model: str
    kind: str
    employee_id: str
    employee: str
    ticket_id: str | None
    handed_out_on: str
    due_on: str | None
    extensions: int
    charged_cents: int
    status: str
    returned_on: str | None


class Assignments(TypedDict):
    assignments: list[Assignment]


class Product(TypedDict):
    product_id: str
    name: str
    yearly_price_cents: int
    paid_seats: int
    active_seats: int


class Products(TypedDict):
    products: list[Product]


class Seat(TypedDict):
    seat_id: str
    product_id: str
    product: str
    employee_id: str
    employee: str
    ticket_id: str | None
    granted_on: str
    status: str
    released_on: str | None


class Seats(TypedDict):
    seats: list[Seat]


class Approval(TypedDict):
    approval_id: str
    ticket_id: str
    employee_id: str
    employee: str
    approver_id: str
    approver: str
    level: str
    model_id: str | None
    product_id: str | None
    item: str
    price_cents: int
    asked_on: str
    expires_on: str
    status: str
    decided_on: str | None
    used_on: str | None


class Approvals(TypedDict):
    approvals: list[Approval]


def find_employees(
    db: Database,
    *,
    name: str | None = None,
    department_id: str | None = None,
    manager_id: str | None = None,
    status: Literal["active", "on_leave", "leaving", "left"] | None = None,
) -> Employees:
    """Find employees, by name in alphabetical order, with their manager and how much they hold.

    Args:
        name: Only those whose name or e-mail address contains this, in any case.
        department_id: Only those of this department, as `list_departments` shows it.
        manager_id: Only those whose manager is this employee, as `find_employees` shows it.
        status: Only those in this status.
    """
    if department_id is not None and db.one("SELECT id FROM departments WHERE id = :id", id=department_id) is None:
        raise ToolError(f"no department {department_id!r}; list_departments lists them")
    if manager_id is not None:
        _employee(db, manager_id)
    rows = db.all(
        EMPLOYEE_ROWS
        + """
        WHERE (:name IS NULL OR instr(lower(name), lower(:name)) > 0 OR instr(lower(email), lower(:name)) > 0)
          AND (:department_id IS NULL OR department_id = :department_id)
          AND (:manager_id IS NULL OR manager_id = :manager_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY name, employee_id
        """,
        today=db.now()[:10],
        name=name,
        department_id=department_id,
        manager_id=manager_id,
        status=status,
    )
    return {"employees": [_as_employee(row) for row in rows]}


def list_departments(db: Database) -> Departments:
    """List the departments with their equipment budget of the year, what is spent and what is left, in cents."""
    rows = db.all(
        """
        SELECT department_id, name, budget_year, budget_cents, spent_cents, left_cents
        FROM department_budgets ORDER BY name, department_id
        """
    )
    return {"departments": [cast("Department", row) for row in rows]}


def find_technicians(
    db: Database, *, category: Literal["hardware", "software", "network", "printing", "accounts"] | None = None
) -> Technicians:
    """Find technicians, those with the fewest open tickets first. Waiting tickets count as open.

    Args:
        category: Only technicians who have the skill for this category.
    """
    rows = db.all(
        """
        SELECT technician_id, employee_id, name, status, open_tickets, open_p1 FROM technician_load
        WHERE :category IS NULL OR EXISTS (
          SELECT 1 FROM technician_skills
          WHERE technician_skills.technician_id = technician_load.technician_id AND technician_skills.category = :category)
        ORDER BY open_tickets, name, technician_id
        """,
        category=category,
    )
    return {"technicians": [_as_technician(db, row) for row in rows]}


def find_tickets(
    db: Database,
    *,
    text: str | None = None,
    requester_id: str | None = None,
    technician_id: str | None = None,
    status: Literal["new", "assigned", "waiting", "resolved", "closed", "cancelled"] | None = None,
    category: Literal["hardware", "software", "network", "printing", "accounts"] | None = None,
    priority: Literal["P1", "P2", "P3", "P4"] | None = None,
    overdue: bool = False,
) -> Tickets:
    """Find tickets, the earliest deadline first.

    Args:
        text: Only tickets whose summary or id contains this, in any case.
        requester_id: Only tickets of this employee, as `find_employees` shows it.
        technician_id: Only tickets that lie with this technician, as `find_technicians` shows it.
        status: Only tickets in this status.
        category: Only tickets of this category.
        priority: Only tickets of this priority.
        overdue: Only new, assigned and waiting tickets whose deadline has passed.
    """
    if requester_id is not None:
        _employee(db, requester_id)
    if technician_id is not None and db.one("SELECT id FROM technicians WHERE id = :id", id=technician_id) is None:
        raise ToolError(f"no technician {technician_id!r}; find_technicians lists them")
    rows = db.all(
        TICKET_ROWS
        + """
        WHERE (:text IS NULL OR instr(lower(summary), lower(:text)) > 0 OR instr(lower(ticket_id), lower(:text)) > 0)
          AND (:requester_id IS NULL OR requester_id = :requester_id)
          AND (:technician_id IS NULL OR technician_id = :technician_id)
          AND (:status IS NULL OR status = :status)
          AND (:category IS NULL OR category = :category)
          AND (:priority IS NULL OR priority_id = :priority)
          AND (:overdue = 0 OR (status IN ('new', 'assigned', 'waiting') AND deadline_at < :now))
        ORDER BY deadline_at, ticket_id
        """,
        text=text,
        requester_id=requester_id,
        technician_id=technician_id,
        status=status,
        category=category,
        priority=priority,
        overdue=1 if overdue else 0,
        now=db.now(),
    )
    return {"tickets": [cast("Ticket", row) for row in rows]}


def find_models(
    db: Database,
    *,
    name: str | None = None,
    device_kind: Literal["laptop", "monitor", "phone", "tablet", "projector"] | None = None,
) -> Models:
    """Find device models with list price and the number of devices that are free now, the cheapest first.

    Args:
        name: Only models whose name contains this, in any case.
        device_kind: Only models of this kind.
    """
    rows = db.all(
        """
        SELECT device_models.id AS model_id, device_models.name AS name, lower(device_kinds.name) AS kind,
          device_kinds.permanent_limit AS permanent_limit, device_models.price_cents AS price_cents,
          (SELECT count(*) FROM devices
           WHERE devices.model_id = device_models.id
             AND (devices.status = 'in_stock' OR (devices.status = 'reserved' AND devices.reserved_until < :today))
          ) AS free_devices
        FROM device_models JOIN device_kinds ON device_kinds.id = device_models.kind_id
        WHERE (:name IS NULL OR instr(lower(device_models.name), lower(:name)) > 0)
          AND (:device_kind IS NULL OR lower(device_kinds.name) = :device_kind)
        ORDER BY device_models.price_cents, device_models.name, device_models.id
        """,
        today=db.now()[:10],
        name=name,
        device_kind=device_kind,
    )
    return {"models": [cast("Model", row) for row in rows]}


def find_devices(
    db: Database,
    *,
    text: str | None = None,
    model_id: str | None = None,
    device_kind: Literal["laptop", "monitor", "phone", "tablet", "projector"] | None = None,
    status: Literal["in_stock", "reserved", "handed_out", "in_repair", "retired"] | None = None,
    free_only: bool = False,
) -> Devices:
    """Find single devices, in the order of their ids, with holder, reservation and repairs.

    A device whose reservation has lapsed still shows the status `reserved`, but `is_free` is true.

    Args:
        text: Only devices whose id, serial number or model name contains this, in any case.
        model_id: Only devices of this model, as `find_models` shows it.
        device_kind: Only devices of this kind.
        status: Only devices in this status.
        free_only: Only devices that anybody could get now.
    """
    if model_id is not None and db.one("SELECT id FROM device_models WHERE id = :id", id=model_id) is None:
        raise ToolError(f"no model {model_id!r}; find_models lists them")
    rows = db.all(
        DEVICE_ROWS
        + """
        WHERE (:text IS NULL OR instr(lower(device_id), lower(:text)) > 0 OR instr(lower(serial), lower(:text)) > 0
            OR instr(lower(model), lower(:text)) > 0)
          AND (:model_id IS NULL OR model_id = :model_id)
          AND (:device_kind IS NULL OR lower(device_kinds.name) = :device_kind)
          AND (:status IS NULL OR status = :status)
        ORDER BY device_id
        """,
        today=db.now()[:10],
        text=text,
        model_id=model_id,
        device_kind=device_kind,
        status=status,
    )
    return {"devices": [_as_device(db, row) for row in rows if row["is_free"] or not free_only]}


def find_assignments(
    db: Database,
    *,
    employee_id: str | None = None,
    device_id: str | None = None,
    kind: Literal["permanent", "loan"] | None = None,
    status: Literal["open", "overdue", "returned"] | None = None,
) -> Assignments:
    """Find who holds or held which device, open ones first and those due first at the top. Overdue loans are open too.

    Args:
        employee_id: Only what this employee holds or held, as `find_employees` shows it.
        device_id: Only the history of this device, as `find_devices` shows it.
        kind: Only permanent ones or only loans.
        status: Only those in this status.
    """
    if employee_id is not None:
        _employee(db, employee_id)
    if device_id is not None:
        _device(db, device_id)
    rows = db.all(
        ASSIGNMENT_ROWS
        + """
        WHERE (:employee_id IS NULL OR employee_id = :employee_id)
          AND (:device_id IS NULL OR device_id = :device_id)
          AND (:kind IS NULL OR kind = :kind)
          AND (:status IS NULL OR status = :status
            OR (:status = 'overdue' AND status = 'open' AND due_on < :today))
        ORDER BY status = 'returned', due_on IS NULL, due_on, handed_out_on DESC, assignment_id
        """,
        employee_id=employee_id,
        device_id=device_id,
        kind=kind,
        status=status,
        today=db.now()[:10],
    )
    return {"assignments": [cast("Assignment", row) for row in rows]}


def find_products(db: Database, *, name: str | None = None) -> Products:
    """Find software products with the price of a seat a year, paid and active seats, in alphabetical order.

    Args:
        name: Only products whose name contains this, in any case.
    """
    rows = db.all(
        PRODUCT_ROWS + "WHERE :name IS NULL OR instr(lower(name), lower(:name)) > 0 ORDER BY name, product_id", name=name
    )
    return {"products": [cast("Product", row) for row in rows]}


def find_seats(
    db: Database,
    *,
    product_id: str | None = None,
    employee_id: str | None = None,
    status: Literal["active", "released"] | None = None,
) -> Seats:
    """Find licence seats, those granted last first.

    Args:
        product_id: Only seats of this product, as `find_products` shows it.
        employee_id: Only seats of this employee, as `find_employees` shows it.
        status: Only seats in this status.
    """
    if product_id is not None:
        _product(db, product_id)
    if employee_id is not None:
        _employee(db, employee_id)
    rows = db.all(
        SEAT_ROWS
        + """
        WHERE (:product_id IS NULL OR seats.product_id = :product_id)
          AND (:employee_id IS NULL OR seats.employee_id = :employee_id)
          AND (:status IS NULL OR seats.status = :status)
        ORDER BY seats.granted_on DESC, seats.id
        """,
        product_id=product_id,
        employee_id=employee_id,
        status=status,
    )
    return {"seats": [cast("Seat", row) for row in rows]}


def find_approvals(
    db: Database,
    *,
    ticket_id: str | None = None,
    employee_id: str | None = None,
    approver_id: str | None = None,
    status: Literal["pending", "approved", "rejected", "expired"] | None = None,
) -> Approvals:
    """Find approvals, those asked last first. One can be decided and used up to and including `expires_on`.

    Args:
        ticket_id: Only approvals on this ticket, as `find_tickets` shows it.
        employee_id: Only approvals of what this employee is to get, as `find_employees` shows it.
        approver_id: Only approvals asked of this employee, as `find_employees` shows it.
        status: Only approvals in this status.
    """
    if ticket_id is not None:
        _ticket(db, ticket_id)
    if employee_id is not None:
        _employee(db, employee_id)
    if approver_id is not None:
        _employee(db, approver_id)
    rows = db.all(
        APPROVAL_ROWS
        + """
        WHERE (:ticket_id IS NULL OR ticket_id = :ticket_id)
          AND (:employee_id IS NULL OR employee_id = :employee_id)
          AND (:approver_id IS NULL OR approver_id = :approver_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY asked_on DESC, approval_id
        """,
        ticket_id=ticket_id,
        employee_id=employee_id,
        approver_id=approver_id,
        status=status,
    )
    return {"approvals": [cast("Approval", row) for row in rows]}


def open_ticket(
    db: Database,
    *,
    requester_id: str,
    category: Literal["hardware", "software", "network", "printing", "accounts"],
    summary: str,
    priority: Literal["P1", "P2", "P3", "P4"],
    affected_people: int = 1,
) -> Ticket:
    """Open a new ticket; its deadline follows from the priority.

    Args:
        requester_id: The employee it is for, as `find_employees` shows it.
        category: What it is about; it decides which technicians may work on it.
        summary: The trouble or the wish in one sentence.
        priority: How urgent it is.
        affected_people: How many people the fault stops, at least 1.
    """
    requester = _employee(db, requester_id)
    if requester["status"] == "left":
        raise ToolError(
            f"{requester['name']} has left on {requester['last_day']}; no tickets are opened for people who have left"
        )
    _check_text(summary, "summary")
    _check_people(priority, affected_people)
    ticket_id = db.new_id("tic")
    db.run(
        """
        INSERT INTO tickets (id, requester_id, category, summary, priority_id, affected_people, status, opened_at, deadline_at)
        SELECT :id, :requester_id, :category, :summary, priorities.id, :affected_people, 'new', :now,
          datetime(:now, '+' || priorities.hours || ' hours')
        FROM priorities WHERE priorities.id = :priority
        """,
        id=ticket_id,
        requester_id=requester_id,
        category=category,
        summary=summary.strip(),
        affected_people=affected_people,
        now=db.now(),
        priority=priority,
    )
    return _ticket(db, ticket_id)


def assign_ticket(db: Database, *, ticket_id: str, technician_id: str) -> Ticket:
    """Give a ticket to a technician: a new one, one that is handed over, or a waiting one, which is thereby taken up again.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
        technician_id: The technician, as `find_technicians` shows it; for a waiting ticket it may be the same as before.
    """
    ticket = _ticket(db, ticket_id)
    technician = _technician(db, technician_id)
    if ticket["status"] == "assigned" and ticket["technician_id"] == technician_id:
        raise ToolError(f"{ticket_id} lies with {technician['name']} already; nothing is to be done")
    if technician["status"] in ("on_leave", "left"):
        # rule: active_people_only
        raise ToolError(
            f"{technician['name']} is away ({technician['status']}) and gets no tickets; find_technicians shows who could take it"
        )
    db.run(
        "UPDATE tickets SET status = 'assigned', technician_id = :technician_id, waiting_for = NULL WHERE id = :id",
        technician_id=technician_id,
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def change_priority(
    db: Database, *, ticket_id: str, priority: Literal["P1", "P2", "P3", "P4"], affected_people: int | None = None
) -> Ticket:
    """Change the priority of a new, assigned or waiting ticket; the deadline is set anew from its opening.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
        priority: The new priority.
        affected_people: How many people the fault stops, if that is to be corrected as well.
    """
    ticket = _ticket(db, ticket_id)
    _check_step(ticket, OPEN_STATES, "is given another priority")
    people = ticket["affected_people"] if affected_people is None else affected_people
    if ticket["priority"] == priority and ticket["affected_people"] == people:
        raise ToolError(f"{ticket_id} has {priority} with {people} affected already; nothing is to be changed")
    _check_people(priority, people)
    db.run(
        """
        UPDATE tickets SET priority_id = :priority, affected_people = :people,
          deadline_at = datetime(opened_at, '+' || (SELECT hours FROM priorities WHERE priorities.id = :priority) || ' hours')
        WHERE id = :id
        """,
        priority=priority,
        people=people,
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def hold_ticket(db: Database, *, ticket_id: str, waiting_for: str) -> Ticket:
    """Put an assigned ticket on hold until the requester answers. `assign_ticket` takes it up again.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
        waiting_for: What is awaited, in a few words.
    """
    ticket = _ticket(db, ticket_id)
    _check_step(ticket, ("assigned",), "is put on hold")
    _check_text(waiting_for, "thing that is awaited")
    db.run(
        "UPDATE tickets SET status = 'waiting', waiting_for = :waiting_for WHERE id = :id",
        waiting_for=waiting_for.strip(),
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def resolve_ticket(db: Database, *, ticket_id: str, resolution: str) -> Ticket:
    """Mark an assigned ticket as resolved. Approvals on it that have lapsed undecided are marked as expired.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
        resolution: What was done, in one sentence.
    """
    ticket = _ticket(db, ticket_id)
    _check_step(ticket, ("assigned",), "is resolved")
    _check_text(resolution, "resolution")
    _expire_approvals(db, ticket_id)
    db.run(
        "UPDATE tickets SET status = 'resolved', resolved_at = :now, resolution = :resolution WHERE id = :id",
        now=db.now(),
        resolution=resolution.strip(),
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def close_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Close a resolved ticket for good.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    _check_step(ticket, ("resolved",), "is closed")
    db.run("UPDATE tickets SET status = 'closed', closed_at = :now WHERE id = :id", now=db.now(), id=ticket_id)
    return _ticket(db, ticket_id)


def reopen_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Make a resolved ticket new again, without technician and resolution.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    _check_step(ticket, ("resolved",), "is reopened")
    resolved_at = str(ticket["resolved_at"])
    last = str(datetime.fromisoformat(resolved_at) + timedelta(days=REOPENING_DAYS))
    if db.now() > last:
        # rule: reopened_in_time
        raise ToolError(
            f"{ticket_id} was resolved at {resolved_at} and could be reopened until {last}, which is over; open a new ticket"
        )
    if ticket["reopened"] >= MOST_REOPENINGS:
        # rule: reopened_twice
        raise ToolError(f"{ticket_id} was reopened {MOST_REOPENINGS} times already, which is the most; open a new ticket")
    db.run(
        """
        UPDATE tickets SET status = 'new', technician_id = NULL, resolved_at = NULL, resolution = NULL, reopened = reopened + 1
        WHERE id = :id
        """,
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def cancel_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Cancel a new, assigned or waiting ticket for good. Approvals on it that have lapsed undecided are marked as expired.

    Args:
        ticket_id: The ticket, as `find_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    _check_step(ticket, OPEN_STATES, "is cancelled")
    _expire_approvals(db, ticket_id)
    db.run(
        "UPDATE tickets SET status = 'cancelled', waiting_for = NULL, closed_at = :now WHERE id = :id",
        now=db.now(),
        id=ticket_id,
    )
    return _ticket(db, ticket_id)


def ask_approval(
    db: Database,
    *,
    ticket_id: str,
    approver_id: str,
    level: Literal["manager", "head_of_it"],
    model_id: str | None = None,
    product_id: str | None = None,
) -> Approval:
    """Ask somebody to approve a device model or a software product for the requester of a ticket. Give exactly one of the two.

    Args:
        ticket_id: The open ticket of the person who is to get it, as `find_tickets` shows it.
        approver_id: The employee who is asked, as `find_employees` shows it.
        level: Whether the own manager is asked, or the head of IT for the second approval.
        model_id: The device model, as `find_models` shows it.
        product_id: The software product, as `find_products` shows it.
    """
    ticket = _ticket(db, ticket_id)
    approver = _employee(db, approver_id)
    if (model_id is None) == (product_id is None):
        raise ToolError("give either the device model or the software product that is to be approved, and not both")
    if model_id is not None and db.one("SELECT id FROM device_models WHERE id = :id", id=model_id) is None:
        raise ToolError(f"no model {model_id!r}; find_models lists them")
    if product_id is not None:
        _product(db, product_id)
    if approver_id == ticket["requester_id"]:
        # rule: no_self_approval
        raise ToolError(f"{approver['name']} cannot approve for themselves; {ticket_id} is their own ticket")
    today = db.now()[:10]
    pending = db.one(
        """
        SELECT approval_id, approver, expires_on FROM approval_details
        WHERE ticket_id = :ticket_id AND level = :level AND status = 'pending' AND expires_on >= :today
          AND model_id IS :model_id AND product_id IS :product_id
        ORDER BY approval_id LIMIT 1
        """,
        ticket_id=ticket_id,
        level=level,
        today=today,
        model_id=model_id,
        product_id=product_id,
    )
    if pending is not None:
        raise ToolError(
            f"{pending['approval_id']} asks the same of {pending['approver']} already and can be decided until {pending['expires_on']}"
        )
    approval_id = db.new_id("app")
    db.run(
        """
        INSERT INTO approvals (id, ticket_id, employee_id, approver_id, level, model_id, product_id, asked_on, expires_on, status)
        VALUES (:id, :ticket_id, :employee_id, :approver_id, :level, :model_id, :product_id, :today,
          date(:today, '+' || :days || ' days'), 'pending')
        """,
        id=approval_id,
        ticket_id=ticket_id,
        employee_id=ticket["requester_id"],
        approver_id=approver_id,
        level=level,
        model_id=model_id,
        product_id=product_id,
        today=today,
        days=APPROVAL_DAYS,
    )
    return _approval(db, approval_id)


def decide_approval(
    db: Database, *, approval_id: str, decided_by: str, decision: Literal["approved", "rejected"]
) -> Approval:
    """Record what the person asked has decided on a pending approval.

    Args:
        approval_id: The approval, as `find_approvals` shows it.
        decided_by: The employee who decides, as `find_employees` shows it.
        decision: What was decided.
    """
    approval = _approval(db, approval_id)
    person = _employee(db, decided_by)
    if approval["status"] != "pending":
        raise ToolError(f"{approval_id} is {approval['status']} already; ask for a new approval if it is still needed")
    if approval["approver_id"] != decided_by:
        # rule: approval_in_time
        raise ToolError(f"{approval['approver']} was asked, so {person['name']} cannot decide on {approval_id}")
    today = db.now()[:10]
    if approval["expires_on"] < today:
        # rule: approval_in_time
        raise ToolError(f"{approval_id} could be decided until {approval['expires_on']}, which is over; ask for a new one")
    db.run(
        "UPDATE approvals SET status = :decision, decided_on = :today WHERE id = :id",
        decision=decision,
        today=today,
        id=approval_id,
    )
    return _approval(db, approval_id)


def reserve_device(db: Database, *, device_id: str, employee_id: str) -> Device:
    """Reserve a free device for somebody, from today.

    Args:
        device_id: The device, as `find_devices` shows it.
        employee_id: The employee it is kept for, as `find_employees` shows it.
    """
    device = _device(db, device_id)
    employee = _employee(db, employee_id)
    if employee["status"] in ("on_leave", "left"):
        # rule: active_people_only
        raise ToolError(f"{employee['name']} is {employee['status']}, and nothing is reserved for people who are away")
    _check_overdue(db, employee)
    today = db.now()[:10]
    if device["status"] == "reserved" and not device["is_free"]:
        # rule: reservation_days
        raise ToolError(
            f"{device_id} is kept for {device['reserved_for']} up to and including {device['reserved_until']}; choose another one"
        )
    if not device["is_free"]:
        raise ToolError(f"{device_id} is {device['status']} and not free; find_devices shows those that are")
    db.run(
        """
        UPDATE devices SET status = 'reserved', reserved_for = :employee_id, reserved_on = :today,
          reserved_until = date(:today, '+' || :days || ' days')
        WHERE id = :id
        """,
        employee_id=employee_id,
        today=today,
        days=RESERVATION_DAYS,
        id=device_id,
    )
    return _device(db, device_id)


def hand_out_device(
    db: Database, *, device_id: str, employee_id: str, loan_until: str | None = None, ticket_id: str | None = None
) -> Assignment:
    """Hand out a device today, on loan when `loan_until` is given, else permanently.

    A permanent device that needs approval takes the approvals on the ticket, which are used up by it.
    What is to be charged to the department is charged.

    Args:
        device_id: The device, as `find_devices` shows it.
        employee_id: The employee who gets it, as `find_employees` shows it.
        loan_until: The day on which a loan is due, YYYY-MM-DD.
        ticket_id: The ticket of this employee that it is for, as `find_tickets` shows it; must be given where approvals are needed.
    """
    device = _device(db, device_id)
    employee = _employee(db, employee_id)
    _check_own_ticket(db, ticket_id, employee)
    today = db.now()[:10]
    if employee["status"] == "on_leave" or (employee["status"] == "leaving" and loan_until is None):
        # rule: active_people_only
        raise ToolError(
            f"{employee['name']} is {employee['status']}; people on leave are handed nothing, and people who are leaving only loans"
        )
    _check_overdue(db, employee)
    charged = 0
    if loan_until is not None:
        _check_loan(db, loan_until)
    else:
        _use_approvals(db, employee, ticket_id, device["model_id"], device["price_cents"], DEVICE_LIMIT_CENTS)
        charged = 0 if device["is_used"] else device["price_cents"]
    assignment_id = db.new_id("asg")
    db.run(
        """
        INSERT INTO assignments (id, device_id, employee_id, ticket_id, kind, handed_out_on, due_on, charged_cents, status)
        VALUES (:id, :device_id, :employee_id, :ticket_id, :kind, :today, :due_on, :charged, 'open')
        """,
        id=assignment_id,
        device_id=device_id,
        employee_id=employee_id,
        ticket_id=ticket_id,
        kind="permanent" if loan_until is None else "loan",
        today=today,
        due_on=loan_until,
        charged=charged,
    )
    db.run(
        """
        UPDATE devices SET status = 'handed_out', reserved_for = NULL, reserved_on = NULL, reserved_until = NULL
        WHERE id = :id
        """,
        id=device_id,
    )
    return _assignment(db, assignment_id)


def extend_loan(db: Database, *, assignment_id: str) -> Assignment:
    """Prolong an open loan by the seven days of an extension, from its due date.

    Args:
        assignment_id: The loan, as `find_assignments` shows it.
    """
    loan = _assignment(db, assignment_id)
    due_on = loan["due_on"]
    if due_on is None:
        raise ToolError(f"{assignment_id} is permanent; only loans are extended")
    if loan["status"] != "open":
        raise ToolError(f"{assignment_id} was taken back on {loan['returned_on']}; only open loans are extended")
    if due_on < db.now()[:10]:
        # rule: extension_week
        raise ToolError(f"{assignment_id} was due on {due_on} and could be extended until then; the device must come back")
    _check_overdue(db, _employee(db, loan["employee_id"]))
    if loan["extensions"] >= MOST_EXTENSIONS:
        # rule: extended_once
        raise ToolError(f"{assignment_id} was extended before, which is allowed once; the device must come back by {due_on}")
    db.run(
        """
        UPDATE assignments SET due_on = date(due_on, '+' || :days || ' days'), extensions = extensions + 1
        WHERE id = :id
        """,
        days=EXTENSION_DAYS,
        id=assignment_id,
    )
    return _assignment(db, assignment_id)


def take_back_device(db: Database, *, device_id: str) -> Assignment:
    """Take a device back from whoever holds it, today; it lies in stock again.

    Args:
        device_id: The device, as `find_devices` shows it.
    """
    device = _device(db, device_id)
    held = db.one("SELECT id FROM assignments WHERE device_id = :id AND status = 'open' ORDER BY id LIMIT 1", id=device_id)
    if held is None:
        raise ToolError(f"nobody holds {device_id}, it is {device['status']}; find_assignments shows what is handed out")
    db.run(
        "UPDATE assignments SET status = 'returned', returned_on = :today WHERE id = :id", today=db.now()[:10], id=held["id"]
    )
    db.run("UPDATE devices SET status = 'in_stock' WHERE id = :id", id=device_id)
    return _assignment(db, str(held["id"]))


def send_to_repair(db: Database, *, device_id: str, fault: str, quote_cents: int) -> Device:
    """Send a device that lies in stock to repair, today.

    Args:
        device_id: The device, as `find_devices` shows it.
        fault: What is wrong with it, in a few words.
        quote_cents: What the workshop asks for, in cents; 0 when it costs nothing.
    """
    device = _device(db, device_id)
    _check_text(fault, "fault")
    if quote_cents < 0:
        raise ToolError(f"a quote of {quote_cents} cents is negative; give 0 when the repair costs nothing")
    if device["status"] == "in_repair":
        raise ToolError(f"{device_id} is in repair already; it must be booked in before it is sent again")
    if device["status"] == "reserved" and device["is_free"]:
        _set_status(db, device_id, "in_stock")
    db.run(
        """
        INSERT INTO repairs (id, device_id, fault, quote_cents, sent_on, status)
        VALUES (:id, :device_id, :fault, :quote_cents, :today, 'open')
        """,
        id=db.new_id("rep"),
        device_id=device_id,
        fault=fault.strip(),
        quote_cents=quote_cents,
        today=db.now()[:10],
    )
    _set_status(db, device_id, "in_repair")
    return _device(db, device_id)


def book_in_repaired(db: Database, *, device_id: str) -> Device:
    """Book in a device that came back from repair today; it lies in stock again.

    Args:
        device_id: The device, as `find_devices` shows it.
    """
    device = _device(db, device_id)
    if device["status"] != "in_repair":
        raise ToolError(f"{device_id} is {device['status']}; only a device that is in repair is booked in")
    db.run(
        "UPDATE repairs SET status = 'done', back_on = :today WHERE device_id = :id AND status = 'open'",
        today=db.now()[:10],
        id=device_id,
    )
    _set_status(db, device_id, "in_stock")
    return _device(db, device_id)


def retire_device(db: Database, *, device_id: str) -> Device:
    """Retire a device that lies in stock, for good.

    Args:
        device_id: The device, as `find_devices` shows it.
    """
    device = _device(db, device_id)
    if device["status"] == "retired":
        raise ToolError(f"{device_id} is retired already; nothing is to be done")
    if not device["is_free"]:
        # rule: free_device
        raise ToolError(
            f"{device_id} is {device['status']}, and only a device that lies in stock is retired; take it back or book it in first"
        )
    _set_status(db, device_id, "retired")
    return _device(db, device_id)


def grant_seat(db: Database, *, product_id: str, employee_id: str, ticket_id: str | None = None) -> Seat:
    """Grant somebody a licence seat, from today. A product that needs approval uses up the approvals on the ticket.

    Args:
        product_id: The product, as `find_products` shows it.
        employee_id: The employee who gets it, as `find_employees` shows it.
        ticket_id: The ticket of this employee that it is for, as `find_tickets` shows it; must be given where approvals are needed.
    """
    product = _product(db, product_id)
    employee = _employee(db, employee_id)
    _check_own_ticket(db, ticket_id, employee)
    if employee["status"] != "active":
        # rule: active_people_only
        raise ToolError(f"{employee['name']} is {employee['status']}, and licences are granted to active people only")
    _check_overdue(db, employee)
    held = db.one(
        """
        SELECT id, granted_on FROM seats
        WHERE product_id = :product_id AND employee_id = :employee_id AND status = 'active' ORDER BY id LIMIT 1
        """,
        product_id=product_id,
        employee_id=employee_id,
    )
    if held is not None:
        # rule: one_seat
        raise ToolError(
            f"{employee['name']} has the seat {held['id']} of {product['name']} since {held['granted_on']}; a second one is not granted"
        )
    _use_approvals(db, employee, ticket_id, product_id, product["yearly_price_cents"], LICENCE_LIMIT_CENTS)
    seat_id = db.new_id("sea")
    db.run(
        """
        INSERT INTO seats (id, product_id, employee_id, ticket_id, granted_on, status)
        VALUES (:id, :product_id, :employee_id, :ticket_id, :today, 'active')
        """,
        id=seat_id,
        product_id=product_id,
        employee_id=employee_id,
        ticket_id=ticket_id,
        today=db.now()[:10],
    )
    return _seat(db, seat_id)


def release_seat(db: Database, *, seat_id: str) -> Seat:
    """Release an active licence seat today, so that somebody else can get it.

    Args:
        seat_id: The seat, as `find_seats` shows it.
    """
    seat = _seat(db, seat_id)
    if seat["status"] != "active":
        raise ToolError(f"{seat_id} of {seat['employee']} was released on {seat['released_on']} already")
    db.run("UPDATE seats SET status = 'released', released_on = :today WHERE id = :id", today=db.now()[:10], id=seat_id)
    return _seat(db, seat_id)


def record_departure(db: Database, *, employee_id: str, last_day: str) -> Employee:
    """Record that somebody is leaving the company, or correct the last working day of somebody who is.

    Args:
        employee_id: The employee, as `find_employees` shows it.
        last_day: The last working day, YYYY-MM-DD, today at the earliest.
    """
    employee = _employee(db, employee_id)
    _check_day(last_day)
    today = db.now()[:10]
    if employee["status"] == "left":
        raise ToolError(f"{employee['name']} has left on {employee['last_day']} already")
    if last_day < today:
        raise ToolError(f"{last_day} lies in the past; the last working day is today, {today}, at the earliest")
    if employee["last_day"] == last_day:
        raise ToolError(f"{last_day} is recorded as the last working day of {employee['name']} already")
    late = db.one(
        """
        SELECT device_id, due_on FROM assignments
        WHERE employee_id = :id AND status = 'open' AND due_on > :last_day ORDER BY due_on DESC, id LIMIT 1
        """,
        id=employee_id,
        last_day=last_day,
    )
    if late is not None:
        # rule: leaving_last_day
        raise ToolError(
            f"{employee['name']} has {late['device_id']} on loan until {late['due_on']}, after the last working day {last_day}; "
            "it must be taken back first"
        )
    db.run(
        "UPDATE employees SET status = 'leaving', last_day = :last_day WHERE id = :id", last_day=last_day, id=employee_id
    )
    return _employee(db, employee_id)


def _as_employee(row: dict[str, Any]) -> Employee:
    return cast("Employee", {**row, "is_head_of_it": bool(row["is_head_of_it"])})


def _employee(db: Database, employee_id: str) -> Employee:
    row = db.one(EMPLOYEE_ROWS + "WHERE employee_id = :id", id=employee_id, today=db.now()[:10])
    if row is None:
        raise ToolError(f"no employee {employee_id!r}; find_employees lists them")
    return _as_employee(row)


def _as_technician(db: Database, row: dict[str, Any]) -> Technician:
    skills = db.all(
        "SELECT category FROM technician_skills WHERE technician_id = :id ORDER BY category", id=row["technician_id"]
    )
    return cast("Technician", {**row, "skills": [skill["category"] for skill in skills]})


def _as_device(db: Database, row: dict[str, Any]) -> Device:
    repairs = db.all(
        """
        SELECT id AS repair_id, fault, quote_cents, sent_on, status, back_on
        FROM repairs WHERE device_id = :id ORDER BY sent_on, id
        """,
        id=row["device_id"],
    )
    return cast(
        "Device",
        {
            **row,
            "is_free": bool(row["is_free"]),
            "is_used": bool(row["is_used"]),
            "repairs": [cast("Repair", repair) for repair in repairs],
        },
    )


def _check_text(text: str, what: str) -> None:
    if not text.strip():
        raise ToolError(f"the {what} is empty; say it in a few words")


def _check_people(priority: str, affected_people: int) -> None:
    if affected_people < 1:
        raise ToolError(f"{affected_people} affected people are too few; at least one person is affected")
    if priority == "P1" and affected_people < P1_PEOPLE:
        # rule: p1_five_people
        raise ToolError(
            f"P1 is for faults that stop at least {P1_PEOPLE} people, and {affected_people} are affected; choose P2 or lower"
        )


def _ticket(db: Database, ticket_id: str) -> Ticket:
    row = db.one(TICKET_ROWS + "WHERE ticket_id = :id", id=ticket_id)
    if row is None:
        raise ToolError(f"no ticket {ticket_id!r}; find_tickets lists them")
    return cast("Ticket", row)


def _technician(db: Database, technician_id: str) -> Technician:
    row = db.one(
        """
        SELECT technician_id, employee_id, name, status, open_tickets, open_p1
        FROM technician_load WHERE technician_id = :id
        """,
        id=technician_id,
    )
    if row is None:
        raise ToolError(f"no technician {technician_id!r}; find_technicians lists them")
    return _as_technician(db, row)


def _device(db: Database, device_id: str) -> Device:
    row = db.one(DEVICE_ROWS + "WHERE device_id = :id", id=device_id, today=db.now()[:10])
    if row is None:
        raise ToolError(f"no device {device_id!r}; find_devices lists them")
    return _as_device(db, row)


def _product(db: Database, product_id: str) -> Product:
    row = db.one(PRODUCT_ROWS + "WHERE product_id = :id", id=product_id)
    if row is None:
        raise ToolError(f"no product {product_id!r}; find_products lists them")
    return cast("Product", row)


def _check_step(ticket: Ticket, states: tuple[str, ...], what: str) -> None:
    if ticket["status"] not in states:
        # rule: ticket_steps
        raise ToolError(
            f"{ticket['ticket_id']} is {ticket['status']}, and only a ticket that is {' or '.join(states)} {what}"
        )


def _expire_approvals(db: Database, ticket_id: str) -> None:
    db.run(
        "UPDATE approvals SET status = 'expired' WHERE ticket_id = :id AND status = 'pending' AND expires_on < :today",
        id=ticket_id,
        today=db.now()[:10],
    )


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _check_day(text: str) -> None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ToolError(f"{text!r} is no date; write it as YYYY-MM-DD") from None
    if day.isoformat() != text:
        raise ToolError(f"{text!r} is not written as YYYY-MM-DD")


def _check_loan(db: Database, loan_until: str) -> None:
    _check_day(loan_until)
    today = db.now()[:10]
    if loan_until < today:
        raise ToolError(f"{loan_until} lies in the past; a loan is due today, {today}, at the earliest")
    days = (date.fromisoformat(loan_until) - date.fromisoformat(today)).days
    if days > LOAN_DAYS:
        # rule: loan_days
        raise ToolError(f"until {loan_until} a loan would run {days} days, and {LOAN_DAYS} days are the most")


def _check_overdue(db: Database, employee: Employee) -> None:
    if employee["overdue_loans"] == 0:
        return
    late = db.all(
        """
        SELECT device_id, due_on FROM assignments
        WHERE employee_id = :id AND status = 'open' AND due_on < :today ORDER BY due_on, id
        """,
        id=employee["employee_id"],
        today=db.now()[:10],
    )
    names = ", ".join(f"{loan['device_id']} since {loan['due_on']}" for loan in late)
    # rule: overdue_gets_nothing
    raise ToolError(f"{employee['name']} has overdue loans ({names}) and gets nothing new until they are back")


def _check_own_ticket(db: Database, ticket_id: str | None, employee: Employee) -> None:
    if ticket_id is None:
        return
    ticket = _ticket(db, ticket_id)
    if ticket["requester_id"] != employee["employee_id"]:
        raise ToolError(f"{ticket_id} is a ticket of {ticket['requester']}, not of {employee['name']}")


def _use_approvals(
    db: Database, employee: Employee, ticket_id: str | None, item_id: str, price_cents: int, limit_cents: int
) -> None:
    today = db.now()[:10]
    levels: list[str] = []
    if price_cents > limit_cents and employee["manager_id"] is not None:
        levels.append("manager")
    if price_cents > HEAD_LIMIT_CENTS and not employee["is_head_of_it"]:
        levels.append("head_of_it")
    for level in levels:
        given = db.all(
            """
            SELECT id, expires_on, used_on FROM approvals
            WHERE ticket_id IS :ticket_id AND level = :level AND status = 'approved'
              AND (model_id = :item_id OR product_id = :item_id)
            ORDER BY expires_on, id
            """,
            ticket_id=ticket_id,
            level=level,
            item_id=item_id,
        )
        if not given:
            # rule: approval_needed
            raise ToolError(
                f"{item_id} costs {_euros(price_cents)} euros and needs an approval of the level {level} for {employee['name']}, "
                "which is not there; ask for it on their ticket and name that ticket"
            )
        usable = [row for row in given if row["used_on"] is None and row["expires_on"] >= today]
        if not usable:
            # rule: approval_in_time
            raise ToolError(
                f"the approval {given[-1]['id']} of {item_id} was used already or lapsed after {given[-1]['expires_on']}; "
                "ask for a new one"
            )
        db.run("UPDATE approvals SET used_on = :today WHERE id = :id", today=today, id=usable[0]["id"])


def _approval(db: Database, approval_id: str) -> Approval:
    row = db.one(APPROVAL_ROWS + "WHERE approval_id = :id", id=approval_id)
    if row is None:
        raise ToolError(f"no approval {approval_id!r}; find_approvals lists them")
    return cast("Approval", row)


def _assignment(db: Database, assignment_id: str) -> Assignment:
    row = db.one(ASSIGNMENT_ROWS + "WHERE assignment_id = :id", id=assignment_id)
    if row is None:
        raise ToolError(f"no assignment {assignment_id!r}; find_assignments lists them")
    return cast("Assignment", row)


def _set_status(db: Database, device_id: str, status: str) -> None:
    db.run(
        """
        UPDATE devices SET status = :status, reserved_for = NULL, reserved_on = NULL, reserved_until = NULL WHERE id = :id
        """,
        status=status,
        id=device_id,
    )


def _seat(db: Database, seat_id: str) -> Seat:
    row = db.one(SEAT_ROWS + "WHERE seats.id = :id", id=seat_id)
    if row is None:
        raise ToolError(f"no seat {seat_id!r}; find_seats lists them")
    return cast("Seat", row)
