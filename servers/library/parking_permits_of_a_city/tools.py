"""Tools of the parking office of Weidenau."""

import calendar
from datetime import date, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

RESIDENTS = """
SELECT id AS resident_id, name, email, phone, zone_id, address, from_on, until_on
FROM residents
"""
VEHICLES = """
SELECT vehicles.id AS vehicle_id, vehicles.plate, vehicles.model, vehicles.resident_id,
  residents.name AS resident_name, vehicles.weight_kg, vehicles.own_vehicle, vehicles.employer_letter
FROM vehicles JOIN residents ON residents.id = vehicles.resident_id
"""
APPLICATIONS = """
SELECT application_id, vehicle_id, plate, resident_name, zone_name, kind_id, received_at, status, missing, asked_on,
  decided_on, refusal_reason
FROM application_details
"""
PERMITS = """
SELECT permit_id, application_id, vehicle_id, plate, resident_name, zone_name, kind_id, granted_on, status, starts_on,
  ends_on, closed_on, revoke_reason,
  (SELECT coalesce(sum(fees.amount_cents), 0) FROM fees
    WHERE fees.permit_id = permit_details.permit_id AND fees.status = 'open') AS open_fee_cents
FROM permit_details
"""
FEES = """
SELECT fee_id, permit_id, resident_name, plate, reason, amount_cents, charged_on, due_on, status, settled_on,
  refunded_cents
FROM fee_details
"""
LIGHTEST_KG = 300
HEAVIEST_KG = 20000
TICKETS = """
SELECT visitor_tickets.id AS ticket_id, visitor_tickets.resident_id, residents.name AS resident_name,
  visitor_tickets.plate, visitor_tickets.valid_on, visitor_tickets.issued_on, visitor_tickets.status,
  visitor_tickets.voided_on
FROM visitor_tickets JOIN residents ON residents.id = visitor_tickets.resident_id
"""
PAPERS_DAYS = 21
PAYMENT_DAYS = 14
MISUSE_MONTHS = 6
RENEWAL_DAYS = 42
HEAVIEST_WITH_PERMIT_KG = 3500
VEHICLE_CHANGE_CENTS = 1200
FEWEST_MONTHS_REFUNDED = 3
KEPT_OF_REFUND_CENTS = 1500


class Resident(TypedDict):
    resident_id: str
    name: str
    email: str
    phone: str | None
    zone_id: str
    address: str
    from_on: str
    until_on: str | None


class Residents(TypedDict):
    residents: list[Resident]


class Vehicle(TypedDict):
    vehicle_id: str
    plate: str
    model: str
    resident_id: str
    resident_name: str
    weight_kg: int
    own_vehicle: bool
    employer_letter: bool


class Vehicles(TypedDict):
    vehicles: list[Vehicle]


class Application(TypedDict):
    application_id: str
    vehicle_id: str
    plate: str
    resident_name: str
    zone_name: str
    kind_id: str
    received_at: str
    status: str
    missing: str | None
    asked_on: str | None
    decided_on: str | None
    refusal_reason: str | None


class Applications(TypedDict):
    applications: list[Application]


class Permit(TypedDict):
    permit_id: str
    application_id: str
    vehicle_id: str
    plate: str
    resident_name: str
    zone_name: str
    kind_id: str
    granted_on: str
    status: str
    starts_on: str | None
    ends_on: str | None
    closed_on: str | None
    revoke_reason: str | None
    open_fee_cents: int


class Permits(TypedDict):
    permits: list[Permit]


class Fee(TypedDict):
    fee_id: str
    permit_id: str
    resident_name: str
    plate: str
    reason: str
    amount_cents: int
    charged_on: str
    due_on: str
    status: str
    settled_on: str | None
    refunded_cents: int


class Fees(TypedDict):
    fees: list[Fee]


class Ticket(TypedDict):
    ticket_id: str
    resident_id: str
    resident_name: str
    plate: str
    valid_on: str
    issued_on: str
    status: str
    voided_on: str | None


class Tickets(TypedDict):
    tickets: list[Ticket]


class ZoneUse(TypedDict):
    zone_id: str
    zone_name: str
    streets: str
    kind_id: str
    months: int
    fee_cents: int
    cap: int
    used: int
    waiting: int


class ZoneUses(TypedDict):
    zones: list[ZoneUse]


def find_residents(db: Database, *, name: str | None = None, zone_id: str | None = None) -> Residents:
    """Find residents and businesses by name.

    Args:
        name: A part of the name.
        zone_id: Only those in this zone, as `list_zones` shows it.
    """
    if name is not None and not name.strip():
        raise ToolError("name is blank; leave it out to see all")
    if zone_id is not None:
        _check_zone(db, zone_id)
    rows = db.all(
        RESIDENTS + " WHERE :zone_id IS NULL OR zone_id = :zone_id ORDER BY name, id",
        zone_id=zone_id,
    )
    found = [row for row in rows if name is None or name.strip().casefold() in row["name"].casefold()]
    return {"residents": cast("list[Resident]", found)}


def find_vehicles(db: Database, *, plate: str | None = None, resident_id: str | None = None) -> Vehicles:
    """Find vehicles by plate or keeper.

    Args:
        plate: A part of the plate.
        resident_id: The person, as `find_residents` shows it.
    """
    if plate is not None and not plate.strip():
        raise ToolError("plate is blank; leave it out to see all")
    if resident_id is not None:
        _resident(db, resident_id)
    rows = db.all(
        VEHICLES
        + " WHERE :resident_id IS NULL OR vehicles.resident_id = :resident_id ORDER BY vehicles.plate, vehicles.id",
        resident_id=resident_id,
    )
    return {"vehicles": [_as_vehicle(row) for row in rows if plate is None or _plain(plate) in _plain(row["plate"])]}


def find_applications(
    db: Database,
    *,
    resident_id: str | None = None,
    zone_id: str | None = None,
    kind: Literal["kind_resident", "kind_business", "kind_carer"] | None = None,
    status: Literal["received", "incomplete", "waiting", "approved", "refused", "withdrawn"] | None = None,
) -> Applications:
    """Find applications, those received first at the top.

    Args:
        resident_id: The person, as `find_residents` shows it.
        zone_id: Only for this zone, as `list_zones` shows it.
        kind: Only for this kind of permit.
        status: Only applications in this status.
    """
    if resident_id is not None:
        _resident(db, resident_id)
    if zone_id is not None:
        _check_zone(db, zone_id)
    rows = db.all(
        APPLICATIONS
        + """
        WHERE (:resident_id IS NULL OR resident_id = :resident_id)
          AND (:zone_id IS NULL OR zone_id = :zone_id)
          AND (:kind IS NULL OR kind_id = :kind)
          AND (:status IS NULL OR status = :status)
        ORDER BY received_at, application_id
        """,
        resident_id=resident_id,
        zone_id=zone_id,
        kind=kind,
        status=status,
    )
    return {"applications": cast("list[Application]", rows)}


def find_permits(
    db: Database,
    *,
    resident_id: str | None = None,
    plate: str | None = None,
    status: Literal["awaiting_payment", "valid", "lapsed", "returned", "revoked", "expired"] | None = None,
) -> Permits:
    """Find permits, those granted last at the top.

    Args:
        resident_id: The person, as `find_residents` shows it.
        plate: A part of the plate.
        status: Only permits in this status.
    """
    if plate is not None and not plate.strip():
        raise ToolError("plate is blank; leave it out to see all")
    if resident_id is not None:
        _resident(db, resident_id)
    rows = db.all(
        PERMITS
        + """
        WHERE (:resident_id IS NULL OR resident_id = :resident_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY granted_on DESC, permit_id
        """,
        resident_id=resident_id,
        status=status,
    )
    found = [row for row in rows if plate is None or _plain(plate) in _plain(row["plate"])]
    return {"permits": cast("list[Permit]", found)}


def list_fees(
    db: Database,
    *,
    permit_id: str | None = None,
    status: Literal["open", "paid", "cancelled", "refunded"] | None = None,
) -> Fees:
    """List fees by their due day.

    Args:
        permit_id: The permit, as `find_permits` shows it.
        status: Only fees in this status.
    """
    if permit_id is not None:
        _permit(db, permit_id)
    rows = db.all(
        FEES
        + """
        WHERE (:permit_id IS NULL OR permit_id = :permit_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY due_on, fee_id
        """,
        permit_id=permit_id,
        status=status,
    )
    return {"fees": cast("list[Fee]", rows)}


def list_tickets(db: Database, *, resident_id: str | None = None, valid_on: str | None = None) -> Tickets:
    """List visitor tickets by their day.

    Args:
        resident_id: The person, as `find_residents` shows it.
        valid_on: Only tickets for this day, YYYY-MM-DD.
    """
    if resident_id is not None:
        _resident(db, resident_id)
    if valid_on is not None:
        _check_day(valid_on, "valid_on")
    rows = db.all(
        TICKETS
        + """
        WHERE (:resident_id IS NULL OR visitor_tickets.resident_id = :resident_id)
          AND (:valid_on IS NULL OR visitor_tickets.valid_on = :valid_on)
        ORDER BY visitor_tickets.valid_on, visitor_tickets.id
        """,
        resident_id=resident_id,
        valid_on=valid_on,
    )
    return {"tickets": cast("list[Ticket]", rows)}


def list_zones(db: Database) -> ZoneUses:
    """List the zones with caps, running permits, waiting applications and fees of each kind."""
    rows = db.all(
        """
        SELECT zone_use.zone_id, zone_use.zone_name, zones.streets, zone_use.kind_id, permit_kinds.months,
          permit_kinds.fee_cents, zone_use.cap, zone_use.used, zone_use.waiting
        FROM zone_use
        JOIN zones ON zones.id = zone_use.zone_id
        JOIN permit_kinds ON permit_kinds.id = zone_use.kind_id
        ORDER BY zone_use.zone_name, zone_use.zone_id, zone_use.kind_id
        """
    )
    return {"zones": cast("list[ZoneUse]", rows)}


def register_resident(
    db: Database,
    *,
    name: str,
    email: str,
    zone_id: str,
    address: str,
    from_on: str,
    phone: str | None = None,
) -> Resident:
    """Register a person or business with the address.

    Args:
        name: The full name.
        email: The e-mail address.
        zone_id: The zone, as `list_zones` shows it.
        address: Street and number.
        from_on: The first day there, YYYY-MM-DD.
        phone: The telephone number, if any.
    """
    _check_text(name, "name")
    _check_text(email, "email")
    _check_text(address, "address")
    if phone is not None and not phone.strip():
        raise ToolError("phone is blank; leave it out if there is none")
    _check_zone(db, zone_id)
    _check_day(from_on, "from_on")
    resident_id = db.new_id("res")
    db.run(
        """
        INSERT INTO residents (id, name, email, phone, zone_id, address, from_on)
        VALUES (:resident_id, :name, :email, :phone, :zone_id, :address, :from_on)
        """,
        resident_id=resident_id,
        name=name.strip(),
        email=email.strip(),
        phone=None if phone is None else phone.strip(),
        zone_id=zone_id,
        address=address.strip(),
        from_on=from_on,
    )
    return _resident(db, resident_id)


def register_vehicle(
    db: Database,
    *,
    resident_id: str,
    plate: str,
    model: str,
    weight_kg: int,
    own_vehicle: bool = True,
    employer_letter: bool = False,
) -> Vehicle:
    """Register a vehicle of a person.

    Args:
        resident_id: The person, as `find_residents` shows it.
        plate: The plate.
        model: Make and model.
        weight_kg: The weight in kilogrammes.
        own_vehicle: Whether it is the keeper's own.
        employer_letter: Whether the employer's letter is there.
    """
    _resident(db, resident_id)
    _check_text(plate, "plate")
    _check_text(model, "model")
    if not _plain(plate):
        raise ToolError(f"plate {plate!r} has neither letters nor digits; give the plate as it is on the vehicle")
    if weight_kg < LIGHTEST_KG or weight_kg > HEAVIEST_KG:
        raise ToolError(
            f"a weight of {weight_kg} kg is not possible; vehicles weigh from {LIGHTEST_KG} to {HEAVIEST_KG} kg"
        )
    for known in db.all("SELECT id, plate FROM vehicles ORDER BY id"):
        if _plain(known["plate"]) == _plain(plate):
            raise ToolError(
                f"the plate {known['plate']} is registered already as {known['id']}; find_vehicles shows its keeper"
            )
    vehicle_id = db.new_id("veh")
    db.run(
        """
        INSERT INTO vehicles (id, plate, model, resident_id, weight_kg, own_vehicle, employer_letter)
        VALUES (:vehicle_id, :plate, :model, :resident_id, :weight_kg, :own_vehicle, :employer_letter)
        """,
        vehicle_id=vehicle_id,
        plate=plate.strip(),
        model=model.strip(),
        resident_id=resident_id,
        weight_kg=weight_kg,
        own_vehicle=int(own_vehicle),
        employer_letter=int(employer_letter),
    )
    return _vehicle(db, vehicle_id)


def take_application(
    db: Database,
    *,
    vehicle_id: str,
    kind: Literal["kind_resident", "kind_business", "kind_carer"],
) -> Application:
    """Take an application for a permit in the zone of the keeper.

    Args:
        vehicle_id: The vehicle, as `find_vehicles` shows it.
        kind: The kind of permit.
    """
    vehicle = _vehicle(db, vehicle_id)
    zone_id = _resident(db, vehicle["resident_id"])["zone_id"]
    cap = db.one(
        "SELECT cap FROM zone_caps WHERE zone_id = :zone_id AND kind_id = :kind",
        zone_id=zone_id,
        kind=kind,
    )
    if cap is None:
        raise ToolError(f"the zone {zone_id} has no permits of the kind {kind}; list_zones shows which it has")
    pending = db.one(
        """
        SELECT id, status FROM applications
        WHERE vehicle_id = :vehicle_id AND status IN ('received', 'incomplete', 'waiting')
        ORDER BY id
        """,
        vehicle_id=vehicle_id,
    )
    if pending is not None:
        # rule: one_application_a_vehicle
        raise ToolError(
            f"{vehicle['plate']} has an open application already, {pending['id']}, which is {pending['status']}; "
            "it must be decided or withdrawn first"
        )
    application_id = db.new_id("app")
    db.run(
        """
        INSERT INTO applications (id, vehicle_id, zone_id, kind_id, received_at, status)
        VALUES (:application_id, :vehicle_id, :zone_id, :kind, :received_at, 'received')
        """,
        application_id=application_id,
        vehicle_id=vehicle_id,
        zone_id=zone_id,
        kind=kind,
        received_at=db.now(),
    )
    return _application(db, application_id)


def ask_papers(db: Database, *, application_id: str, missing: str) -> Application:
    """Ask for papers that are missing.

    Args:
        application_id: The application, as `find_applications` shows it.
        missing: What is missing.
    """
    application = _application(db, application_id)
    _check_text(missing, "missing")
    if application["decided_on"] is None and application["asked_on"] is not None:
        raise ToolError(
            f"papers for {application_id} were asked for already on {application['asked_on']}: "
            f"{application['missing']}; they are asked for only once"
        )
    db.run(
        """
        UPDATE applications SET status = 'incomplete', missing = :missing, asked_on = :today
        WHERE id = :application_id
        """,
        missing=missing.strip(),
        today=db.now()[:10],
        application_id=application_id,
    )
    return _application(db, application_id)


def take_papers(db: Database, *, application_id: str, employer_letter: bool = False) -> Application:
    """Note that the missing papers have come.

    Args:
        application_id: The application, as `find_applications` shows it.
        employer_letter: Whether the employer's letter is among them.
    """
    application = _application(db, application_id)
    asked_on = application["asked_on"]
    if application["status"] != "incomplete" or asked_on is None:
        raise ToolError(
            f"{application_id} is {application['status']}; papers are taken only for an incomplete application"
        )
    latest = _days_later(asked_on, PAPERS_DAYS)
    if db.now()[:10] > latest:
        # rule: papers_in_time
        raise ToolError(
            f"the papers for {application_id} were asked for on {asked_on} and had to come by {latest}; "
            "they come too late, and the application is to be refused"
        )
    db.run("UPDATE applications SET status = 'received' WHERE id = :application_id", application_id=application_id)
    if employer_letter:
        db.run(
            "UPDATE vehicles SET employer_letter = 1 WHERE id = :vehicle_id AND employer_letter = 0",
            vehicle_id=application["vehicle_id"],
        )
    return _application(db, application_id)


def approve_application(db: Database, *, application_id: str) -> Application:
    """Approve an application and grant the permit, or let it wait when the zone is full.

    Args:
        application_id: The application, as `find_applications` shows it.
    """
    application = _undecided(db, application_id)
    if application["status"] == "incomplete":
        raise ToolError(
            f"{application_id} is incomplete, this is missing: {application['missing']}; take the papers first"
        )
    today = db.now()[:10]
    facts = db.all(
        """
        SELECT application_details.resident_id, application_details.zone_id, application_details.received_at,
          vehicles.own_vehicle, vehicles.employer_letter, permit_kinds.months, permit_kinds.fee_cents,
          permit_kinds.further_fee_cents, permit_kinds.most_a_person, zone_use.cap, zone_use.used
        FROM application_details
        JOIN vehicles ON vehicles.id = application_details.vehicle_id
        JOIN permit_kinds ON permit_kinds.id = application_details.kind_id
        JOIN zone_use ON zone_use.zone_id = application_details.zone_id
          AND zone_use.kind_id = application_details.kind_id
        WHERE application_details.application_id = :application_id
        ORDER BY application_details.application_id
        """,
        application_id=application_id,
    )[0]
    if not facts["own_vehicle"] and not facts["employer_letter"]:
        # rule: employer_letter
        raise ToolError(
            f"{application['plate']} is not the keeper's own and the letter of the employer is missing; ask for it"
        )
    running = db.one(
        """
        SELECT id, status FROM permits
        WHERE vehicle_id = :vehicle_id AND status IN ('awaiting_payment', 'valid')
        ORDER BY id
        """,
        vehicle_id=application["vehicle_id"],
    )
    if running is not None:
        # rule: one_permit_a_vehicle
        raise ToolError(
            f"{application['plate']} has a running permit already, {running['id']}, which is {running['status']}; "
            "a vehicle has only one"
        )
    own_permits = db.all(
        """
        SELECT permit_id FROM permit_details
        WHERE resident_id = :resident_id AND kind_id = :kind_id AND status IN ('awaiting_payment', 'valid')
        ORDER BY permit_id
        """,
        resident_id=facts["resident_id"],
        kind_id=application["kind_id"],
    )
    if len(own_permits) >= facts["most_a_person"]:
        # rule: permits_a_person
        raise ToolError(
            f"{application['resident_name']} has {len(own_permits)} running permits of the kind "
            f"{application['kind_id']}, and one person may have {facts['most_a_person']}; one must be returned first"
        )
    misused = db.all(
        """
        SELECT permit_id, closed_on FROM permit_details
        WHERE resident_id = :resident_id AND misuse = 1
        ORDER BY closed_on DESC, permit_id
        """,
        resident_id=facts["resident_id"],
    )
    for permit in misused:
        blocked_until = _last_day(permit["closed_on"], MISUSE_MONTHS)
        if today <= blocked_until:
            # rule: misuse_block
            raise ToolError(
                f"{permit['permit_id']} of {application['resident_name']} was revoked for misuse on "
                f"{permit['closed_on']}; there is no permit for this person until {blocked_until}"
            )
    if facts["used"] >= facts["cap"] and application["status"] == "received":
        db.run("UPDATE applications SET status = 'waiting' WHERE id = :application_id", application_id=application_id)
        return _application(db, application_id)
    if facts["used"] < facts["cap"]:
        earlier = db.one(
            """
            SELECT id, received_at FROM applications
            WHERE zone_id = :zone_id AND kind_id = :kind_id AND status = 'waiting' AND id <> :application_id
              AND (received_at < :received_at OR (received_at = :received_at AND id < :application_id))
            ORDER BY received_at, id
            """,
            zone_id=facts["zone_id"],
            kind_id=application["kind_id"],
            application_id=application_id,
            received_at=facts["received_at"],
        )
        if earlier is not None:
            # rule: waiting_order
            raise ToolError(
                f"{earlier['id']} waits for a place in {application['zone_name']} since {earlier['received_at']}, "
                f"longer than {application_id}; it comes first"
            )
    db.run(
        "UPDATE applications SET status = 'approved', decided_on = :today WHERE id = :application_id",
        today=today,
        application_id=application_id,
    )
    amount_cents = facts["further_fee_cents"] if own_permits else facts["fee_cents"]
    permit_id = db.new_id("per")
    db.run(
        """
        INSERT INTO permits (id, application_id, vehicle_id, granted_on, status, starts_on, ends_on)
        VALUES (:permit_id, :application_id, :vehicle_id, :today, :status, :starts_on, :ends_on)
        """,
        permit_id=permit_id,
        application_id=application_id,
        vehicle_id=application["vehicle_id"],
        today=today,
        status="awaiting_payment" if amount_cents > 0 else "valid",
        starts_on=None if amount_cents > 0 else today,
        ends_on=None if amount_cents > 0 else _last_day(today, facts["months"]),
    )
    if amount_cents > 0:
        _charge(db, permit_id, "grant", amount_cents)
    return _application(db, application_id)


def close_application(
    db: Database,
    *,
    application_id: str,
    decision: Literal["refuse", "withdraw"],
    refusal_reason: str | None = None,
) -> Application:
    """Refuse an application or note that it was withdrawn.

    Args:
        application_id: The application, as `find_applications` shows it.
        decision: What becomes of it.
        refusal_reason: Why it is refused; only and always with a refusal.
    """
    _undecided(db, application_id)
    if decision == "withdraw" and refusal_reason is not None:
        raise ToolError("a withdrawal has no reason of refusal; leave refusal_reason out")
    if decision == "refuse" and (refusal_reason is None or not refusal_reason.strip()):
        # rule: refusal_has_a_reason
        raise ToolError(f"the reason for refusing {application_id} is missing or blank; a refusal needs one")
    db.run(
        """
        UPDATE applications SET status = :status, decided_on = :today, refusal_reason = :refusal_reason
        WHERE id = :application_id
        """,
        status="refused" if decision == "refuse" else "withdrawn",
        today=db.now()[:10],
        refusal_reason=None if refusal_reason is None else refusal_reason.strip(),
        application_id=application_id,
    )
    return _application(db, application_id)


def take_payment(db: Database, *, fee_id: str) -> Fee:
    """Note that a fee is paid today; a permit that awaits it becomes valid.

    Args:
        fee_id: The fee, as `list_fees` shows it.
    """
    fee = _fee(db, fee_id)
    today = db.now()[:10]
    if fee["status"] != "open":
        raise ToolError(f"{fee_id} is {fee['status']} since {fee['settled_on']}; only an open fee is paid")
    permit = _permit(db, fee["permit_id"])
    grants = fee["reason"] == "grant" and permit["status"] == "awaiting_payment"
    if grants and today > fee["due_on"]:
        # rule: payment_in_time
        raise ToolError(
            f"the fee of {_euros(fee['amount_cents'])} for {fee['permit_id']} was due until {fee['due_on']}; "
            "it is too late to pay it, and the permit lapses"
        )
    db.run("UPDATE fees SET status = 'paid', settled_on = :today WHERE id = :fee_id", today=today, fee_id=fee_id)
    if grants:
        kinds = db.all("SELECT months FROM permit_kinds WHERE id = :kind_id ORDER BY id", kind_id=permit["kind_id"])
        db.run(
            """
            UPDATE permits SET status = 'valid', starts_on = :today, ends_on = :ends_on
            WHERE id = :permit_id
            """,
            today=today,
            ends_on=_last_day(today, kinds[0]["months"]),
            permit_id=fee["permit_id"],
        )
    return _fee(db, fee_id)


def lapse_permit(db: Database, *, permit_id: str) -> Permit:
    """Let a permit lapse whose fee was not paid in time.

    Args:
        permit_id: The permit, as `find_permits` shows it.
    """
    permit = _permit(db, permit_id)
    today = db.now()[:10]
    if permit["status"] != "awaiting_payment":
        raise ToolError(f"{permit_id} is {permit['status']}; only a permit that awaits payment lapses")
    fee = db.one(
        """
        SELECT id, amount_cents, due_on FROM fees
        WHERE permit_id = :permit_id AND reason = 'grant' AND status = 'open'
        ORDER BY due_on, id
        """,
        permit_id=permit_id,
    )
    if fee is None:
        raise ToolError(f"{permit_id} has no open fee for its grant; list_fees shows its fees")
    if today <= fee["due_on"]:
        raise ToolError(
            f"the fee of {_euros(fee['amount_cents'])} for {permit_id} can be paid until {fee['due_on']}; "
            "the permit does not lapse before"
        )
    db.run(
        "UPDATE permits SET status = 'lapsed', closed_on = :today WHERE id = :permit_id",
        today=today,
        permit_id=permit_id,
    )
    db.run(
        "UPDATE fees SET status = 'cancelled', settled_on = :today WHERE id = :fee_id",
        today=today,
        fee_id=fee["id"],
    )
    return _permit(db, permit_id)


def renew_permit(db: Database, *, permit_id: str) -> Permit:
    """Renew a valid permit by the months of its kind.

    Args:
        permit_id: The permit, as `find_permits` shows it.
    """
    permit = _permit(db, permit_id)
    ends_on = permit["ends_on"]
    today = db.now()[:10]
    if permit["status"] != "valid" or ends_on is None:
        raise ToolError(f"{permit_id} is {permit['status']}; only a valid permit is renewed")
    if today > ends_on:
        # rule: renewal_window
        raise ToolError(f"{permit_id} ended on {ends_on} and can not be renewed any more; a new application is needed")
    first_day = _days_later(ends_on, -RENEWAL_DAYS)
    if today < first_day:
        # rule: renewal_window
        raise ToolError(f"{permit_id} ends on {ends_on}; it can be renewed from {first_day} on, not earlier")
    if permit["open_fee_cents"] > 0:
        # rule: renewal_window
        raise ToolError(
            f"{permit_id} has open fees of {_euros(permit['open_fee_cents'])}; they must be paid before it is renewed"
        )
    kind = _kind(db, permit["kind_id"])
    db.run(
        "UPDATE permits SET ends_on = :ends_on WHERE id = :permit_id",
        ends_on=_last_day(_days_later(ends_on, 1), kind["months"]),
        permit_id=permit_id,
    )
    if kind["fee_cents"] > 0:
        _charge(db, permit_id, "renewal", kind["fee_cents"])
    return _permit(db, permit_id)


def change_vehicle(db: Database, *, permit_id: str, vehicle_id: str) -> Permit:
    """Put another vehicle of the same person on a valid permit.

    Args:
        permit_id: The permit, as `find_permits` shows it.
        vehicle_id: The vehicle, as `find_vehicles` shows it.
    """
    permit = _permit(db, permit_id)
    vehicle = _vehicle(db, vehicle_id)
    if permit["status"] != "valid":
        raise ToolError(f"{permit_id} is {permit['status']}; the vehicle of a valid permit only is changed")
    if vehicle["resident_id"] != _vehicle(db, permit["vehicle_id"])["resident_id"]:
        raise ToolError(
            f"{vehicle['plate']} is registered for somebody other than {permit['resident_name']}; "
            "the permit goes only to another vehicle of the same person"
        )
    if vehicle["weight_kg"] > HEAVIEST_WITH_PERMIT_KG:
        # rule: light_vehicle
        raise ToolError(
            f"{vehicle['plate']} weighs {vehicle['weight_kg']} kg, and with a permit at most "
            f"{HEAVIEST_WITH_PERMIT_KG} kg are possible"
        )
    if not vehicle["own_vehicle"] and not vehicle["employer_letter"]:
        # rule: employer_letter
        raise ToolError(
            f"{vehicle['plate']} is not the keeper's own and the letter of the employer is missing; it is needed first"
        )
    running = db.one(
        """
        SELECT id, status FROM permits
        WHERE vehicle_id = :vehicle_id AND status IN ('awaiting_payment', 'valid')
        ORDER BY id
        LIMIT 1
        """,
        vehicle_id=vehicle_id,
    )
    if running is not None:
        # rule: one_permit_a_vehicle
        raise ToolError(
            f"{vehicle['plate']} has the permit {running['id']} already, which is {running['status']}; "
            "one running permit a vehicle is the most"
        )
    _charge(db, permit_id, "vehicle_change", VEHICLE_CHANGE_CENTS)
    db.run(
        "UPDATE permits SET vehicle_id = :vehicle_id WHERE id = :permit_id",
        vehicle_id=vehicle_id,
        permit_id=permit_id,
    )
    return _permit(db, permit_id)


def return_permit(db: Database, *, permit_id: str) -> Permit:
    """Take back a valid permit and refund what is due.

    Args:
        permit_id: The permit, as `find_permits` shows it.
    """
    permit = _permit(db, permit_id)
    ends_on = permit["ends_on"]
    if permit["status"] != "valid" or ends_on is None:
        raise ToolError(f"{permit_id} is {permit['status']}; only a valid permit is returned")
    today = db.now()[:10]
    db.run(
        "UPDATE permits SET status = 'returned', closed_on = :today WHERE id = :permit_id",
        today=today,
        permit_id=permit_id,
    )
    _refund(db, permit, ends_on)
    return _permit(db, permit_id)


def revoke_permit(db: Database, *, permit_id: str, revoke_reason: str, misuse: bool = False) -> Permit:
    """Revoke a valid permit.

    Args:
        permit_id: The permit, as `find_permits` shows it.
        revoke_reason: Why it is revoked.
        misuse: Whether it is for misuse.
    """
    permit = _permit(db, permit_id)
    _check_text(revoke_reason, "revoke_reason")
    if permit["status"] != "valid":
        raise ToolError(f"{permit_id} is {permit['status']}; only a valid permit is revoked")
    db.run(
        """
        UPDATE permits SET status = 'revoked', closed_on = :today, revoke_reason = :revoke_reason, misuse = :misuse
        WHERE id = :permit_id
        """,
        today=db.now()[:10],
        revoke_reason=revoke_reason.strip(),
        misuse=int(misuse),
        permit_id=permit_id,
    )
    return _permit(db, permit_id)


def issue_ticket(db: Database, *, resident_id: str, plate: str, valid_on: str) -> Ticket:
    """Issue a visitor ticket for a day.

    Args:
        resident_id: The person, as `find_residents` shows it.
        plate: The plate of the visitor.
        valid_on: The day, YYYY-MM-DD.
    """
    resident = _resident(db, resident_id)
    _check_text(plate, "plate")
    if not _plain(plate):
        raise ToolError(f"plate {plate!r} has neither letters nor digits; give the plate as it is on the vehicle")
    _check_day(valid_on, "valid_on")
    today = db.now()[:10]
    if valid_on < today:
        raise ToolError(f"{valid_on} is past; a visitor ticket is for today, {today}, or a later day")
    known = db.all(
        """
        SELECT id, plate, status FROM visitor_tickets
        WHERE resident_id = :resident_id AND valid_on = :valid_on
        ORDER BY id
        """,
        resident_id=resident_id,
        valid_on=valid_on,
    )
    for ticket in known:
        if _plain(ticket["plate"]) == _plain(plate):
            raise ToolError(
                f"{resident['name']} has the ticket {ticket['id']} for {ticket['plate']} on {valid_on} already, "
                f"which is {ticket['status']}; there is only one for a plate and a day"
            )
    ticket_id = db.new_id("vt")
    db.run(
        """
        INSERT INTO visitor_tickets (id, resident_id, plate, valid_on, issued_on, status)
        VALUES (:ticket_id, :resident_id, :plate, :valid_on, :today, 'issued')
        """,
        ticket_id=ticket_id,
        resident_id=resident_id,
        plate=plate.strip(),
        valid_on=valid_on,
        today=today,
    )
    return _ticket(db, ticket_id)


def void_ticket(db: Database, *, ticket_id: str) -> Ticket:
    """Make a visitor ticket void.

    Args:
        ticket_id: The ticket, as `list_tickets` shows it.
    """
    ticket = _ticket(db, ticket_id)
    today = db.now()[:10]
    if ticket["status"] != "issued":
        raise ToolError(f"{ticket_id} is void already since {ticket['voided_on']}")
    if today >= ticket["valid_on"]:
        # rule: void_before_the_day
        raise ToolError(
            f"{ticket_id} is for {ticket['valid_on']}; a visitor ticket is made void until the day before its day"
        )
    db.run(
        "UPDATE visitor_tickets SET status = 'void', voided_on = :today WHERE id = :ticket_id",
        today=today,
        ticket_id=ticket_id,
    )
    return _ticket(db, ticket_id)


def _resident(db: Database, resident_id: str) -> Resident:
    row = db.one(RESIDENTS + " WHERE id = :resident_id", resident_id=resident_id)
    if row is None:
        raise ToolError(f"no person {resident_id!r}; find_residents lists them")
    return cast("Resident", row)


def _check_zone(db: Database, zone_id: str) -> None:
    if db.one("SELECT id FROM zones WHERE id = :zone_id", zone_id=zone_id) is None:
        raise ToolError(f"no zone {zone_id!r}; list_zones lists them")


def _permit(db: Database, permit_id: str) -> Permit:
    row = db.one(PERMITS + " WHERE permit_id = :permit_id", permit_id=permit_id)
    if row is None:
        raise ToolError(f"no permit {permit_id!r}; find_permits lists them")
    return cast("Permit", row)


def _as_vehicle(row: dict[str, Any]) -> Vehicle:
    return cast(
        "Vehicle",
        {**row, "own_vehicle": bool(row["own_vehicle"]), "employer_letter": bool(row["employer_letter"])},
    )


def _plain(plate: str) -> str:
    return "".join(letter for letter in plate.casefold() if letter.isalnum())


def _vehicle(db: Database, vehicle_id: str) -> Vehicle:
    row = db.one(VEHICLES + " WHERE vehicles.id = :vehicle_id", vehicle_id=vehicle_id)
    if row is None:
        raise ToolError(f"no vehicle {vehicle_id!r}; find_vehicles lists them")
    return _as_vehicle(row)


def _application(db: Database, application_id: str) -> Application:
    row = db.one(APPLICATIONS + " WHERE application_id = :application_id", application_id=application_id)
    if row is None:
        raise ToolError(f"no application {application_id!r}; find_applications lists them")
    return cast("Application", row)


def _check_text(text: str, name: str) -> None:
    if not text.strip():
        raise ToolError(f"{name} is blank; say what it is")


def _check_day(day: str, name: str) -> None:
    try:
        parsed = date.fromisoformat(day)
    except ValueError:
        raise ToolError(f"{name} {day!r} is no date; write it as YYYY-MM-DD") from None
    if parsed.isoformat() != day:
        raise ToolError(f"{name} {day!r} is not written as YYYY-MM-DD; write {parsed.isoformat()}")


def _undecided(db: Database, application_id: str) -> Application:
    application = _application(db, application_id)
    if application["decided_on"] is not None:
        # rule: decided_stays
        raise ToolError(
            f"{application_id} was {application['status']} on {application['decided_on']}; "
            "a decided application does not change, a new one is needed"
        )
    return application


def _fee(db: Database, fee_id: str) -> Fee:
    row = db.one(FEES + " WHERE fee_id = :fee_id", fee_id=fee_id)
    if row is None:
        raise ToolError(f"no fee {fee_id!r}; list_fees lists them")
    return cast("Fee", row)


def _charge(db: Database, permit_id: str, reason: str, amount_cents: int) -> None:
    today = db.now()[:10]
    db.run(
        """
        INSERT INTO fees (id, permit_id, reason, amount_cents, charged_on, due_on, status)
        VALUES (:fee_id, :permit_id, :reason, :amount_cents, :today, :due_on, 'open')
        """,
        fee_id=db.new_id("fee"),
        permit_id=permit_id,
        reason=reason,
        amount_cents=amount_cents,
        today=today,
        due_on=_days_later(today, PAYMENT_DAYS),
    )


def _days_later(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def _last_day(first_day: str, months: int) -> str:
    first = date.fromisoformat(first_day)
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    length = calendar.monthrange(year, month + 1)[1]
    if first.day > length:
        return date(year, month + 1, length).isoformat()
    return (date(year, month + 1, first.day) - timedelta(days=1)).isoformat()


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _ticket(db: Database, ticket_id: str) -> Ticket:
    row = db.one(TICKETS + " WHERE visitor_tickets.id = :ticket_id", ticket_id=ticket_id)
    if row is None:
        raise ToolError(f"no ticket {ticket_id!r}; list_tickets lists them")
    return cast("Ticket", row)


def _kind(db: Database, kind_id: str) -> dict[str, Any]:
    kinds = db.all("SELECT id, months, fee_cents FROM permit_kinds WHERE id = :kind_id ORDER BY id", kind_id=kind_id)
    return kinds[0]


def _refund(db: Database, permit: Permit, ends_on: str) -> None:
    today = db.now()[:10]
    months = _kind(db, permit["kind_id"])["months"]
    fee = db.one(
        """
        SELECT id, amount_cents FROM fees
        WHERE permit_id = :permit_id AND reason IN ('grant', 'renewal') AND status = 'paid'
        ORDER BY charged_on DESC, id DESC
        LIMIT 1
        """,
        permit_id=permit["permit_id"],
    )
    if fee is None:
        return
    unpaid = db.all(
        """
        SELECT id FROM fees
        WHERE permit_id = :permit_id AND reason = 'renewal' AND status = 'open'
        ORDER BY id
        """,
        permit_id=permit["permit_id"],
    )
    paid_until = _last_day(_days_later(ends_on, 1), -months) if unpaid else ends_on
    months_left = 0
    while months_left < months and _last_day(_days_later(today, 1), months_left + 1) <= paid_until:
        months_left += 1
    refund_cents = fee["amount_cents"] * months_left // months - KEPT_OF_REFUND_CENTS
    if months_left < FEWEST_MONTHS_REFUNDED or refund_cents <= 0:
        return
    db.run(
        """
        UPDATE fees SET status = 'refunded', settled_on = :today, refunded_cents = :refund_cents
        WHERE id = :fee_id
        """,
        today=today,
        refund_cents=refund_cents,
        fee_id=fee["id"],
    )
