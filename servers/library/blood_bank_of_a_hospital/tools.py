"""Tools of the blood bank's desk at St. Brigid's Hospital."""

import re
from datetime import date, datetime
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

PLAIN_LETTERS = str.maketrans("áàâäãåčćçéèêëíìîïñńóòôöõøśšúùûüýźžżł", "aaaaaaccceeeeiiiinnoooooossuuuuyzzzl")
PATIENTS = (
    "SELECT patient_id, name, sex, born_on, ward_id, ward_name, needs_irradiated, needs_cmv_negative, abo, rh_d,"
    " group_confirmed, reserved_units FROM patient_details"
)
SAMPLES = (
    "SELECT samples.id AS sample_id, samples.patient_id, patients.name AS patient_name, samples.taken_by,"
    " staff.name AS taken_by_name, samples.taken_at, samples.received_at, samples.status, samples.closed_at,"
    " samples.abo, samples.rh_d, samples.reject_reason"
    " FROM samples JOIN patients ON patients.id = samples.patient_id JOIN staff ON staff.id = samples.taken_by"
)
REQUESTS = (
    "SELECT request_id, patient_id, patient_name, ward_id, ward_name, component_id AS component, units, haemoglobin,"
    " urgency, requested_by, requested_by_name, requested_at, needed_at, status, decided_by, decided_at, closed_at,"
    " reserved, issued, transfused, still_to_reserve FROM request_details"
)
UNITS = (
    "SELECT unit_id, component_id AS component, abo, rh_d, irradiated, cmv_negative, received_on, expires_on,"
    " supply_order_id AS order_id, status, device_id, device_name, request_id, quarantined_by, quarantine_reason,"
    " discard_reason FROM unit_details"
)
RESERVATIONS = (
    "SELECT allocation_id AS reservation_id, request_id, unit_id, sample_id, patient_id, patient_name, ward_id,"
    " component_id AS component, status, reserved_at, lapses_at, sample_valid_until, issued_at, collected_by,"
    " return_until, seal_intact, ended_at FROM allocation_details"
)
ORDERS = (
    "SELECT supply_order_id AS order_id, component_id AS component, abo, rh_d, quantity, received, kind, request_id,"
    " placed_at, status, closed_at FROM order_details"
)
MOST_UNITS_ASKED = 12
LOWEST_HAEMOGLOBIN = 20
HIGHEST_HAEMOGLOBIN = 250
MOST_UNITS_ORDERED = 20
ROUTINE_ORDERS_CLOSE = "14:00:00"


class Patient(TypedDict):
    patient_id: str
    name: str
    sex: str
    born_on: str
    ward_id: str
    ward_name: str
    needs_irradiated: bool
    needs_cmv_negative: bool
    abo: str | None
    rh_d: str | None
    group_confirmed: bool
    antibodies: list[str]
    reserved_units: int


class Patients(TypedDict):
    patients: list[Patient]


class StaffMember(TypedDict):
    staff_id: str
    name: str
    role: str
    ward_id: str | None
    ward_name: str | None


class StaffMembers(TypedDict):
    staff: list[StaffMember]


class Ward(TypedDict):
    ward_id: str
    name: str
    cost_code: str
    month: str
    monthly_budget_cents: int
    spent_cents: int


class Wards(TypedDict):
    wards: list[Ward]


class Device(TypedDict):
    device_id: str
    name: str
    places: int
    used: int


class Store(TypedDict):
    component: str
    name: str
    price_cents: int
    urgent_fee_cents: int
    return_minutes: int
    places: int
    stored: int
    on_order: int
    devices: list[Device]


class Stores(TypedDict):
    components: list[Store]


class Sample(TypedDict):
    sample_id: str
    patient_id: str
    patient_name: str
    taken_by: str
    taken_by_name: str
    taken_at: str
    received_at: str
    status: str
    closed_at: str | None
    abo: str | None
    rh_d: str | None
    reject_reason: str | None


class Samples(TypedDict):
    samples: list[Sample]


class Request(TypedDict):
    request_id: str
    patient_id: str
    patient_name: str
    ward_id: str
    ward_name: str
    component: str
    units: int
    haemoglobin: int | None
    urgency: str
    requested_by: str
    requested_by_name: str
    requested_at: str
    needed_at: str
    status: str
    decided_by: str | None
    decided_at: str | None
    closed_at: str | None
    reserved: int
    issued: int
    transfused: int
    still_to_reserve: int


class Requests(TypedDict):
    requests: list[Request]


class Unit(TypedDict):
    unit_id: str
    component: str
    abo: str
    rh_d: str
    irradiated: bool
    cmv_negative: bool
    negative_for: list[str]
    received_on: str
    expires_on: str
    order_id: str | None
    status: str
    device_id: str | None
    device_name: str | None
    request_id: str | None
    quarantined_by: str | None
    quarantine_reason: str | None
    discard_reason: str | None


class Units(TypedDict):
    units: list[Unit]


class FittingUnit(TypedDict):
    unit_id: str
    abo: str
    rh_d: str
    own_group: bool
    expires_on: str
    device_id: str | None


class FittingUnits(TypedDict):
    request_id: str
    units: list[FittingUnit]


class Reservation(TypedDict):
    reservation_id: str
    request_id: str
    unit_id: str
    sample_id: str | None
    patient_id: str
    patient_name: str
    ward_id: str
    component: str
    status: str
    reserved_at: str
    lapses_at: str
    sample_valid_until: str | None
    issued_at: str | None
    collected_by: str | None
    return_until: str | None
    seal_intact: bool | None
    ended_at: str | None


class Reservations(TypedDict):
    reservations: list[Reservation]


class Order(TypedDict):
    order_id: str
    component: str
    abo: str
    rh_d: str
    quantity: int
    received: int
    kind: str
    request_id: str | None
    placed_at: str
    status: str
    closed_at: str | None


class Orders(TypedDict):
    orders: list[Order]


class Charge(TypedDict):
    charge_id: str
    ward_id: str
    kind: str
    amount_cents: int
    charged_at: str
    request_id: str
    reservation_id: str | None
    order_id: str | None


class Charges(TypedDict):
    charges: list[Charge]


def find_patients(db: Database, *, name: str | None = None, ward_id: str | None = None) -> Patients:
    """Find patients, with group, antibodies and special needs, by name.

    The group is that of the tested samples; it is empty as long as there is none.

    Args:
        name: Only patients whose name contains this, in upper or lower case.
        ward_id: Only patients of this ward, as `list_wards` shows it.
    """
    _check_ward(db, ward_id)
    rows = db.all(
        f"{PATIENTS} WHERE :ward_id IS NULL OR ward_id = :ward_id ORDER BY name, patient_id",
        ward_id=ward_id,
    )
    return {"patients": [_as_patient(db, row) for row in _named(rows, name)]}


def find_staff(
    db: Database,
    *,
    name: str | None = None,
    role: Literal["nurse", "doctor", "haematologist", "technician"] | None = None,
    ward_id: str | None = None,
) -> StaffMembers:
    """Find people who work in the hospital, by name. Only nurses and doctors belong to a ward.

    Args:
        name: Only people whose name contains this, in upper or lower case.
        role: Only people in this role.
        ward_id: Only people of this ward, as `list_wards` shows it.
    """
    _check_ward(db, ward_id)
    rows = db.all(
        "SELECT staff.id AS staff_id, staff.name, staff.role, staff.ward_id, wards.name AS ward_name"
        " FROM staff LEFT JOIN wards ON wards.id = staff.ward_id"
        " WHERE (:role IS NULL OR staff.role = :role) AND (:ward_id IS NULL OR staff.ward_id = :ward_id)"
        " ORDER BY staff.name, staff.id",
        role=role,
        ward_id=ward_id,
    )
    return {"staff": [cast("StaffMember", row) for row in _named(rows, name)]}


def list_wards(db: Database, *, name: str | None = None) -> Wards:
    """List the wards with their budget and what they have spent in the current month.

    Args:
        name: Only wards whose name contains this, in upper or lower case.
    """
    rows = db.all(
        "SELECT wards.id AS ward_id, wards.name, wards.cost_code, :month AS month, wards.monthly_budget_cents,"
        " (SELECT COALESCE(sum(charge_details.amount_cents), 0) FROM charge_details"
        " WHERE charge_details.ward_id = wards.id AND charge_details.month = :month) AS spent_cents"
        " FROM wards ORDER BY wards.name, wards.id",
        month=db.now()[:7],
    )
    return {"wards": [cast("Ward", row) for row in _named(rows, name)]}


def list_components(db: Database) -> Stores:
    """List red cells, platelets and plasma with prices, stock, open orders and the devices that store them."""
    stores = db.all(
        "SELECT components.id AS component, components.name, components.price_cents, components.urgent_fee_cents,"
        " components.return_minutes, component_stock.places, component_stock.stored, component_stock.on_order"
        " FROM components JOIN component_stock ON component_stock.component_id = components.id ORDER BY components.id"
    )
    devices = db.all("SELECT device_id, name, component_id, places, used FROM device_details ORDER BY name, device_id")
    result: list[Store] = []
    for store in stores:
        held = [
            {"device_id": device["device_id"], "name": device["name"], "places": device["places"], "used": device["used"]}
            for device in devices
            if device["component_id"] == store["component"]
        ]
        result.append(cast("Store", {**store, "devices": held}))
    return {"components": result}


def find_samples(
    db: Database, *, patient_id: str | None = None, status: Literal["received", "tested", "rejected"] | None = None
) -> Samples:
    """Find blood samples, those taken last at the top.

    Args:
        patient_id: Only samples of this patient, as `find_patients` shows it.
        status: Only samples in this status.
    """
    _check_patient(db, patient_id)
    rows = db.all(
        f"{SAMPLES} WHERE (:patient_id IS NULL OR samples.patient_id = :patient_id)"
        " AND (:status IS NULL OR samples.status = :status) ORDER BY samples.taken_at DESC, samples.id",
        patient_id=patient_id,
        status=status,
    )
    return {"samples": [cast("Sample", row) for row in rows]}


def find_requests(
    db: Database,
    *,
    patient_id: str | None = None,
    ward_id: str | None = None,
    component: Literal["red_cells", "platelets", "plasma"] | None = None,
    status: Literal["awaiting_approval", "open", "completed", "refused", "cancelled"] | None = None,
) -> Requests:
    """Find requests for blood, those needed first at the top.

    Args:
        patient_id: Only requests for this patient, as `find_patients` shows it.
        ward_id: Only requests of this ward, as `list_wards` shows it.
        component: Only requests for this component.
        status: Only requests in this status.
    """
    _check_patient(db, patient_id)
    _check_ward(db, ward_id)
    rows = db.all(
        f"{REQUESTS} WHERE (:patient_id IS NULL OR patient_id = :patient_id) AND (:ward_id IS NULL OR ward_id = :ward_id)"
        " AND (:component IS NULL OR component_id = :component) AND (:status IS NULL OR status = :status)"
        " ORDER BY needed_at, request_id",
        patient_id=patient_id,
        ward_id=ward_id,
        component=component,
        status=status,
    )
    return {"requests": [cast("Request", row) for row in rows]}


def find_units(
    db: Database,
    *,
    component: Literal["red_cells", "platelets", "plasma"] | None = None,
    abo: Literal["O", "A", "B", "AB"] | None = None,
    rh_d: Literal["positive", "negative"] | None = None,
    status: Literal["available", "reserved", "issued", "transfused", "quarantined", "discarded"] | None = None,
    device_id: str | None = None,
    expires_until: str | None = None,
) -> Units:
    """Find blood units, those that expire first at the top. An available unit may have expired.

    Args:
        component: Only units of this component.
        abo: Only units of this ABO group.
        rh_d: Only units of this D group.
        status: Only units in this status.
        device_id: Only units in this device, as `list_components` shows it.
        expires_until: Only units that expire on this day (YYYY-MM-DD) or before.
    """
    if device_id is not None:
        _device(db, device_id)
    if expires_until is not None:
        _check_day(expires_until)
    rows = db.all(
        f"{UNITS} WHERE (:component IS NULL OR component_id = :component) AND (:abo IS NULL OR abo = :abo)"
        " AND (:rh_d IS NULL OR rh_d = :rh_d) AND (:status IS NULL OR status = :status)"
        " AND (:device_id IS NULL OR device_id = :device_id)"
        " AND (:expires_until IS NULL OR expires_on <= :expires_until) ORDER BY expires_on, unit_id",
        component=component,
        abo=abo,
        rh_d=rh_d,
        status=status,
        device_id=device_id,
        expires_until=expires_until,
    )
    return {"units": [_as_unit(db, row) for row in rows]}


def find_fitting_units(db: Database, *, request_id: str) -> FittingUnits:
    """Find the available units that fit a request, in the order in which they are to be taken.

    Units that may have to stay in stock for emergencies are shown too.

    Args:
        request_id: The request, as `find_requests` shows it.
    """
    _request(db, request_id)
    return {"request_id": request_id, "units": _fitting(db, request_id)}


def find_reservations(
    db: Database,
    *,
    request_id: str | None = None,
    patient_id: str | None = None,
    unit_id: str | None = None,
    status: Literal["reserved", "issued", "transfused", "returned", "released", "wasted"] | None = None,
) -> Reservations:
    """Find reservations of units for requests and what became of them, the latest at the top.

    Args:
        request_id: Only reservations for this request, as `find_requests` shows it.
        patient_id: Only reservations for this patient, as `find_patients` shows it.
        unit_id: Only reservations of this unit, as `find_units` shows it.
        status: Only reservations in this status.
    """
    if request_id is not None:
        _request(db, request_id)
    _check_patient(db, patient_id)
    if unit_id is not None:
        _unit(db, unit_id)
    rows = db.all(
        f"{RESERVATIONS} WHERE (:request_id IS NULL OR request_id = :request_id)"
        " AND (:patient_id IS NULL OR patient_id = :patient_id) AND (:unit_id IS NULL OR unit_id = :unit_id)"
        " AND (:status IS NULL OR status = :status) ORDER BY reserved_at DESC, allocation_id",
        request_id=request_id,
        patient_id=patient_id,
        unit_id=unit_id,
        status=status,
    )
    return {"reservations": [_as_reservation(row) for row in rows]}


def find_orders(
    db: Database,
    *,
    component: Literal["red_cells", "platelets", "plasma"] | None = None,
    status: Literal["placed", "delivered", "cancelled"] | None = None,
) -> Orders:
    """Find orders at the blood service, the latest at the top.

    Args:
        component: Only orders for this component.
        status: Only orders in this status.
    """
    rows = db.all(
        f"{ORDERS} WHERE (:component IS NULL OR component_id = :component) AND (:status IS NULL OR status = :status)"
        " ORDER BY placed_at DESC, supply_order_id",
        component=component,
        status=status,
    )
    return {"orders": [cast("Order", row) for row in rows]}


def list_charges(db: Database, *, ward_id: str, month: str | None = None) -> Charges:
    """List what a ward was charged and credited in a month, the latest at the top. Credits are negative.

    Args:
        ward_id: The ward, as `list_wards` shows it.
        month: The month as YYYY-MM; the current one if left out.
    """
    _check_ward(db, ward_id)
    if month is not None and re.fullmatch("[0-9]{4}-(0[1-9]|1[0-2])", month) is None:
        raise ToolError(f"{month!r} is not a month; write it as YYYY-MM, such as {db.now()[:7]}")
    rows = db.all(
        "SELECT charge_id, ward_id, kind, amount_cents, charged_at, request_id, allocation_id AS reservation_id,"
        " supply_order_id AS order_id FROM charge_details WHERE ward_id = :ward_id AND month = :month"
        " ORDER BY charged_at DESC, charge_id",
        ward_id=ward_id,
        month=month if month is not None else db.now()[:7],
    )
    return {"charges": [cast("Charge", row) for row in rows]}


def register_sample(db: Database, *, patient_id: str, taken_by: str, taken_at: str) -> Sample:
    """Register a sample that has just arrived at the desk.

    Args:
        patient_id: Whose blood it is, as `find_patients` shows it.
        taken_by: Who took it, as `find_staff` shows it.
        taken_at: When it was taken, YYYY-MM-DD HH:MM:SS.
    """
    _check_patient(db, patient_id)
    _staff_member(db, taken_by)
    _check_moment(taken_at)
    now = db.now()
    if taken_at > now:
        raise ToolError(f"it is {now}; a sample taken at {taken_at} cannot have arrived yet")
    sample_id = db.new_id("smp")
    db.run(
        "INSERT INTO samples (id, patient_id, taken_by, taken_at, received_at, status)"
        " VALUES (:id, :patient_id, :taken_by, :taken_at, :now, 'received')",
        id=sample_id,
        patient_id=patient_id,
        taken_by=taken_by,
        taken_at=taken_at,
        now=now,
    )
    return _sample(db, sample_id)


def record_sample_result(
    db: Database, *, sample_id: str, abo: Literal["O", "A", "B", "AB"], rh_d: Literal["positive", "negative"]
) -> Sample:
    """Record the group found in a received sample, which is tested with that.

    Args:
        sample_id: The sample, as `find_samples` shows it.
        abo: The ABO group found.
        rh_d: The D group found.
    """
    _check_received(_sample(db, sample_id))
    db.run(
        "UPDATE samples SET status = 'tested', abo = :abo, rh_d = :rh_d, closed_at = :now WHERE id = :id",
        abo=abo,
        rh_d=rh_d,
        now=db.now(),
        id=sample_id,
    )
    return _sample(db, sample_id)


def reject_sample(db: Database, *, sample_id: str, reason: str) -> Sample:
    """Reject a received sample.

    Args:
        sample_id: The sample, as `find_samples` shows it.
        reason: Why, in a few words.
    """
    _check_received(_sample(db, sample_id))
    _check_reason(reason)
    db.run(
        "UPDATE samples SET status = 'rejected', reject_reason = :reason, closed_at = :now WHERE id = :id",
        reason=reason.strip(),
        now=db.now(),
        id=sample_id,
    )
    return _sample(db, sample_id)


def record_antibody(
    db: Database,
    *,
    patient_id: str,
    antigen: Literal["C", "c", "E", "e", "K", "Fya", "Fyb", "Jka", "Jkb", "S", "s"],
) -> Patient:
    """Record that a patient has an antibody.

    Args:
        patient_id: The patient, as `find_patients` shows it.
        antigen: The antigen against which it is; C and c, E and e, S and s are different ones.
    """
    patient = _patient(db, patient_id)
    if antigen in patient["antibodies"]:
        raise ToolError(f"the antibody against {antigen} is recorded already for {patient['name']}")
    db.run(
        "INSERT INTO patient_antibodies (patient_id, antigen, found_at) VALUES (:patient_id, :antigen, :now)",
        patient_id=patient_id,
        antigen=antigen,
        now=db.now(),
    )
    return _patient(db, patient_id)


def enter_request(
    db: Database,
    *,
    patient_id: str,
    component: Literal["red_cells", "platelets", "plasma"],
    units: int,
    requested_by: str,
    needed_at: str,
    urgency: Literal["routine", "urgent", "emergency"] = "routine",
    haemoglobin: int | None = None,
) -> Request:
    """Enter a request for the ward on which the patient lies. It is open at once or waits for approval.

    Args:
        patient_id: The patient, as `find_patients` shows it.
        component: What is asked for.
        units: How many units.
        requested_by: The doctor or haematologist who asks, as `find_staff` shows it.
        needed_at: When the blood is needed, YYYY-MM-DD HH:MM:SS, not in the past.
        urgency: How urgent it is.
        haemoglobin: The haemoglobin in g/L; needed for red cells unless it is an emergency.
    """
    patient = _patient(db, patient_id)
    asker = _staff_member(db, requested_by)
    if asker["role"] != "haematologist" and (asker["role"] != "doctor" or asker["ward_id"] != patient["ward_id"]):
        # rule: who_asks
        raise ToolError(
            f"{asker['name']} cannot ask for blood for {patient['name']}; a doctor of {patient['ward_name']}"
            " or a haematologist must ask for it"
        )
    if not 1 <= units <= MOST_UNITS_ASKED:
        raise ToolError(f"{units} units cannot be asked for; a request is for 1 to {MOST_UNITS_ASKED} units")
    if haemoglobin is None and component == "red_cells" and urgency != "emergency":
        raise ToolError("a request for red cells needs the haemoglobin in g/L unless it is an emergency; ask the ward for it")
    if haemoglobin is not None and not LOWEST_HAEMOGLOBIN <= haemoglobin <= HIGHEST_HAEMOGLOBIN:
        raise ToolError(
            f"a haemoglobin of {haemoglobin} g/L is not possible;"
            f" it lies between {LOWEST_HAEMOGLOBIN} and {HIGHEST_HAEMOGLOBIN} g/L"
        )
    _check_moment(needed_at)
    now = db.now()
    if needed_at < now:
        raise ToolError(f"the needed time {needed_at} is past, it is {now} now; give a later time")
    request_id = db.new_id("req")
    db.run(
        "INSERT INTO requests (id, patient_id, ward_id, component_id, units, haemoglobin, urgency, requested_by,"
        " requested_at, needed_at, status) VALUES (:id, :patient_id, :ward_id, :component, :units, :haemoglobin,"
        " :urgency, :requested_by, :now, :needed_at, :status)",
        id=request_id,
        patient_id=patient_id,
        ward_id=patient["ward_id"],
        component=component,
        units=units,
        haemoglobin=haemoglobin,
        urgency=urgency,
        requested_by=requested_by,
        now=now,
        needed_at=needed_at,
        status="awaiting_approval" if _waits(db, component, units, urgency, haemoglobin) else "open",
    )
    return _request(db, request_id)


def decide_request(
    db: Database, *, request_id: str, decided_by: str, decision: Literal["approve", "refuse"]
) -> Request:
    """Approve or refuse a request that waits for approval.

    Args:
        request_id: The request, as `find_requests` shows it.
        decided_by: Who decides, as `find_staff` shows it.
        decision: What was decided.
    """
    request = _request(db, request_id)
    decider = _staff_member(db, decided_by)
    if request["status"] != "awaiting_approval":
        raise ToolError(f"{request_id} is {request['status']} and does not wait for approval")
    if decided_by == request["requested_by"]:
        # rule: not_own_request
        raise ToolError(f"{decider['name']} asked for the blood of {request_id}; another haematologist must decide on it")
    now = db.now()
    db.run(
        "UPDATE requests SET status = :status, decided_by = :decided_by, decided_at = :now, closed_at = :closed_at"
        " WHERE id = :id",
        status="open" if decision == "approve" else "refused",
        decided_by=decided_by,
        now=now,
        closed_at=None if decision == "approve" else now,
        id=request_id,
    )
    return _request(db, request_id)


def close_request(db: Database, *, request_id: str) -> Request:
    """Close a request that is no longer needed; its reservations are released with it.

    Args:
        request_id: The request, as `find_requests` shows it.
    """
    request = _request(db, request_id)
    if request["status"] not in ("awaiting_approval", "open"):
        raise ToolError(f"{request_id} is {request['status']} already; there is nothing to close")
    if request["issued"] > 0:
        # rule: request_completes
        raise ToolError(
            f"{request['issued']} units are still out for {request_id};"
            " they must be reported as transfused or brought back before it is closed"
        )
    now = db.now()
    db.run(
        "UPDATE units SET status = 'available' WHERE id IN"
        " (SELECT unit_id FROM allocations WHERE request_id = :id AND status = 'reserved')",
        id=request_id,
    )
    db.run(
        "UPDATE allocations SET status = 'released', ended_at = :now WHERE request_id = :id AND status = 'reserved'",
        now=now,
        id=request_id,
    )
    db.run(
        "UPDATE requests SET status = :status, closed_at = :now WHERE id = :id",
        status="completed" if request["transfused"] > 0 else "cancelled",
        now=now,
        id=request_id,
    )
    return _request(db, request_id)


def reserve_unit(db: Database, *, request_id: str, unit_id: str, sample_id: str | None = None) -> Reservation:
    """Reserve one available unit for a request.

    Args:
        request_id: The request, as `find_requests` shows it.
        unit_id: The unit, as `find_fitting_units` shows it.
        sample_id: For red cells the tested sample of the patient, as `find_samples` shows it. Leave it out for
            platelets and plasma, and for red cells that an emergency gets without a sample.
    """
    request = _request(db, request_id)
    unit = _unit(db, unit_id)
    if sample_id is not None:
        _sample(db, sample_id)
    now = db.now()
    terms = _terms(db, request_id, sample_id)
    if request["status"] == "awaiting_approval":
        # rule: approval_needed
        raise ToolError(f"{request_id} still waits for approval by a haematologist; nothing is reserved before that")
    if request["status"] != "open":
        raise ToolError(f"{request_id} is {request['status']}; units are reserved for open requests only")
    if now > terms["lapses_at"]:
        # rule: reservation_lapses
        raise ToolError(
            f"{request_id} was needed at {request['needed_at']} and a reservation for it would have lapsed at"
            f" {terms['lapses_at']}; a new request is needed"
        )
    if unit["request_id"] is not None:
        # rule: one_request_a_unit
        raise ToolError(f"{unit_id} is {unit['status']} for {unit['request_id']} already; find_fitting_units shows others")
    if unit["status"] != "available":
        # rule: states_agree
        raise ToolError(f"{unit_id} is {unit['status']}, so it cannot become reserved; find_fitting_units shows others")
    if unit["expires_on"] < now[:10]:
        raise ToolError(f"{unit_id} expired on {unit['expires_on']}; find_fitting_units shows others")
    if sample_id is not None and terms["sample_hours"] is None:
        raise ToolError(f"{request['component']} are reserved without a sample; leave {sample_id} out")
    if sample_id is not None and now > terms["sample_valid_until"]:
        # rule: fresh_sample
        raise ToolError(
            f"{sample_id} was taken more than {terms['sample_hours']} hours ago, it served until"
            f" {terms['sample_valid_until']}; a new sample must be taken and tested"
        )
    first = _first_to_take(db, request, unit_id, sample_id, terms)
    if first is not None:
        # rule: first_expiring_first
        raise ToolError(
            f"{first['unit_id']} goes first: it fits {request_id} too and expires on {first['expires_on']},"
            f" {'of' if first['own_group'] else 'not of'} the patient's own confirmed group; reserve that one"
        )
    reservation_id = db.new_id("alc")
    db.run(
        "INSERT INTO allocations (id, request_id, unit_id, sample_id, status, reserved_at)"
        " VALUES (:id, :request_id, :unit_id, :sample_id, 'reserved', :now)",
        id=reservation_id,
        request_id=request_id,
        unit_id=unit_id,
        sample_id=sample_id,
        now=now,
    )
    db.run("UPDATE units SET status = 'reserved' WHERE id = :id", id=unit_id)
    return _reservation(db, reservation_id)


def release_unit(db: Database, *, reservation_id: str) -> Reservation:
    """Release a reserved unit, which is available again.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
    """
    reservation = _reservation(db, reservation_id)
    _check_state(reservation, "reserved")
    db.run(
        "UPDATE allocations SET status = 'released', ended_at = :now WHERE id = :id", now=db.now(), id=reservation_id
    )
    db.run("UPDATE units SET status = 'available' WHERE id = :id", id=reservation["unit_id"])
    return _reservation(db, reservation_id)


def issue_unit(db: Database, *, reservation_id: str, collected_by: str) -> Reservation:
    """Hand out a reserved unit and charge the ward for it.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
        collected_by: The nurse or doctor who takes it, as `find_staff` shows it.
    """
    reservation = _reservation(db, reservation_id)
    collector = _staff_member(db, collected_by)
    _check_state(reservation, "reserved")
    if collector["ward_id"] != reservation["ward_id"]:
        # rule: collector
        raise ToolError(
            f"{collector['name']} cannot collect {reservation['unit_id']};"
            f" it is handed to a nurse or doctor of {reservation['ward_id']} only"
        )
    now = db.now()
    db.run(
        "UPDATE allocations SET status = 'issued', issued_at = :now, collected_by = :collected_by WHERE id = :id",
        now=now,
        collected_by=collected_by,
        id=reservation_id,
    )
    db.run("UPDATE units SET status = 'issued', device_id = NULL WHERE id = :id", id=reservation["unit_id"])
    db.run(
        "INSERT INTO ward_charges (id, request_id, allocation_id, kind, amount_cents, charged_at)"
        " SELECT :id, :request_id, :reservation_id, 'unit', price_cents, :now FROM components WHERE id = :component",
        id=db.new_id("chg"),
        request_id=reservation["request_id"],
        reservation_id=reservation_id,
        now=now,
        component=reservation["component"],
    )
    return _reservation(db, reservation_id)


def record_transfusion(db: Database, *, reservation_id: str) -> Reservation:
    """Record that an issued unit was transfused; the last one completes the request.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
    """
    reservation = _reservation(db, reservation_id)
    _check_state(reservation, "issued")
    now = db.now()
    db.run("UPDATE allocations SET status = 'transfused', ended_at = :now WHERE id = :id", now=now, id=reservation_id)
    db.run("UPDATE units SET status = 'transfused' WHERE id = :id", id=reservation["unit_id"])
    request = _request(db, reservation["request_id"])
    if request["transfused"] >= request["units"]:
        db.run(
            "UPDATE requests SET status = 'completed', closed_at = :now WHERE id = :id", now=now, id=request["request_id"]
        )
    return _reservation(db, reservation_id)


def take_back_unit(
    db: Database, *, reservation_id: str, seal_intact: bool, device_id: str | None = None
) -> Reservation:
    """Take back an issued unit at this moment: into stock and credited, or wasted and discarded.

    Args:
        reservation_id: The reservation, as `find_reservations` shows it.
        seal_intact: Whether the seal is intact.
        device_id: Where it is put, as `list_components` shows it; needed if it goes back to stock.
    """
    reservation = _reservation(db, reservation_id)
    if device_id is not None:
        _device(db, device_id)
    _check_state(reservation, "issued")
    now = db.now()
    until = reservation["return_until"]
    fit = seal_intact and until is not None and now <= until
    if fit and device_id is None:
        raise ToolError(
            f"{reservation['unit_id']} goes back to stock, so a device for it must be named; list_components shows them"
        )
    db.run(
        "UPDATE allocations SET status = :status, seal_intact = :seal, ended_at = :now WHERE id = :id",
        status="returned" if fit else "wasted",
        seal=1 if seal_intact else 0,
        now=now,
        id=reservation_id,
    )
    if fit:
        db.run(
            "UPDATE units SET status = 'available', device_id = :device_id WHERE id = :id",
            device_id=device_id,
            id=reservation["unit_id"],
        )
        db.run(
            "INSERT INTO ward_charges (id, request_id, allocation_id, kind, amount_cents, charged_at)"
            " SELECT :id, request_id, allocation_id, 'credit', -amount_cents, :now FROM ward_charges"
            " WHERE allocation_id = :reservation_id AND kind = 'unit'",
            id=db.new_id("chg"),
            now=now,
            reservation_id=reservation_id,
        )
    else:
        db.run(
            "UPDATE units SET status = 'discarded', discard_reason = 'wasted' WHERE id = :id", id=reservation["unit_id"]
        )
    return _reservation(db, reservation_id)


def quarantine_unit(db: Database, *, unit_id: str, reported_by: str, reason: str) -> Unit:
    """Put an available or reserved unit into quarantine; it stays in its device, and a reservation is released.

    Args:
        unit_id: The unit, as `find_units` shows it.
        reported_by: Who wants it quarantined, as `find_staff` shows it.
        reason: Why, in a few words.
    """
    unit = _unit(db, unit_id)
    _staff_member(db, reported_by)
    _check_reason(reason)
    if unit["status"] not in ("available", "reserved"):
        # rule: states_agree
        raise ToolError(f"{unit_id} is {unit['status']}; only an available or reserved unit goes into quarantine")
    db.run(
        "UPDATE allocations SET status = 'released', ended_at = :now WHERE unit_id = :id AND status = 'reserved'",
        now=db.now(),
        id=unit_id,
    )
    db.run(
        "UPDATE units SET status = 'quarantined', quarantined_by = :reported_by, quarantine_reason = :reason"
        " WHERE id = :id",
        reported_by=reported_by,
        reason=reason.strip(),
        id=unit_id,
    )
    return _unit(db, unit_id)


def clear_unit(db: Database, *, unit_id: str, cleared_by: str) -> Unit:
    """Clear a quarantined unit, which is available again.

    Args:
        unit_id: The unit, as `find_units` shows it.
        cleared_by: Who clears it, as `find_staff` shows it.
    """
    unit = _unit(db, unit_id)
    clearer = _staff_member(db, cleared_by)
    if unit["status"] != "quarantined":
        raise ToolError(f"{unit_id} is {unit['status']}; only a quarantined unit can be cleared")
    if clearer["role"] not in ("technician", "haematologist"):
        # rule: second_person_clears
        raise ToolError(f"{clearer['name']} is a {clearer['role']}; a technician or haematologist must clear {unit_id}")
    if unit["quarantined_by"] == cleared_by:
        # rule: second_person_clears
        raise ToolError(f"{clearer['name']} had {unit_id} quarantined; a second person must clear it")
    db.run(
        "UPDATE units SET status = 'available', quarantined_by = NULL, quarantine_reason = NULL WHERE id = :id",
        id=unit_id,
    )
    return _unit(db, unit_id)


def discard_unit(db: Database, *, unit_id: str) -> Unit:
    """Discard a quarantined unit, or an available one that has expired.

    Args:
        unit_id: The unit, as `find_units` shows it.
    """
    unit = _unit(db, unit_id)
    if unit["status"] not in ("available", "quarantined"):
        # rule: states_agree
        raise ToolError(f"{unit_id} is {unit['status']} and cannot be discarded so; a reserved unit is released first")
    if unit["status"] == "available" and unit["expires_on"] >= db.now()[:10]:
        raise ToolError(
            f"{unit_id} is available and lasts until {unit['expires_on']};"
            " only expired, quarantined and wasted units are discarded"
        )
    db.run(
        "UPDATE units SET status = 'discarded', device_id = NULL, quarantined_by = NULL, quarantine_reason = NULL,"
        " discard_reason = :reason WHERE id = :id",
        reason="quarantine" if unit["status"] == "quarantined" else "expired",
        id=unit_id,
    )
    return _unit(db, unit_id)


def move_unit(db: Database, *, unit_id: str, device_id: str) -> Unit:
    """Move a stored unit into another device.

    Args:
        unit_id: The unit, as `find_units` shows it.
        device_id: The device, as `list_components` shows it.
    """
    unit = _unit(db, unit_id)
    device = _device(db, device_id)
    if unit["device_id"] is None:
        raise ToolError(f"{unit_id} is {unit['status']} and in no device, so it cannot be moved")
    if unit["device_id"] == device_id:
        raise ToolError(f"{unit_id} is in {device['name']} already")
    db.run("UPDATE units SET device_id = :device_id WHERE id = :id", device_id=device_id, id=unit_id)
    return _unit(db, unit_id)


def place_order(
    db: Database,
    *,
    component: Literal["red_cells", "platelets", "plasma"],
    abo: Literal["O", "A", "B", "AB"],
    rh_d: Literal["positive", "negative"],
    quantity: int,
    request_id: str | None = None,
) -> Order:
    """Order units from the blood service: routinely, or urgently for a request, whose ward is charged the fee.

    Args:
        component: What to order.
        abo: The ABO group of the units.
        rh_d: The D group of the units.
        quantity: How many units.
        request_id: For an urgent order the request that it is for, as `find_requests` shows it; a routine order has none.
    """
    now = db.now()
    if not 1 <= quantity <= MOST_UNITS_ORDERED:
        raise ToolError(f"{quantity} units cannot be ordered; an order is for 1 to {MOST_UNITS_ORDERED} units")
    if request_id is None:
        if now[11:] >= ROUTINE_ORDERS_CLOSE:
            # rule: routine_before_two
            raise ToolError(
                f"it is {now}, and routine orders are placed before {ROUTINE_ORDERS_CLOSE};"
                " order tomorrow, or urgently for an open request"
            )
    else:
        request = _request(db, request_id)
        if request["status"] != "open":
            raise ToolError(f"{request_id} is {request['status']}; an urgent order is placed for an open request only")
        if request["component"] != component:
            raise ToolError(f"{request_id} asks for {request['component']}; an urgent order for it cannot be for {component}")
    order_id = db.new_id("ord")
    db.run(
        "INSERT INTO supply_orders (id, component_id, abo, rh_d, quantity, kind, request_id, placed_at, status)"
        " VALUES (:id, :component, :abo, :rh_d, :quantity, :kind, :request_id, :now, 'placed')",
        id=order_id,
        component=component,
        abo=abo,
        rh_d=rh_d,
        quantity=quantity,
        kind="routine" if request_id is None else "urgent",
        request_id=request_id,
        now=now,
    )
    if request_id is not None:
        db.run(
            "INSERT INTO ward_charges (id, request_id, supply_order_id, kind, amount_cents, charged_at)"
            " SELECT :id, :request_id, :order_id, 'delivery', urgent_fee_cents, :now FROM components"
            " WHERE id = :component",
            id=db.new_id("chg"),
            request_id=request_id,
            order_id=order_id,
            now=now,
            component=component,
        )
    return _order(db, order_id)


def cancel_order(db: Database, *, order_id: str) -> Order:
    """Cancel a routine order of today.

    Args:
        order_id: The order, as `find_orders` shows it.
    """
    order = _order(db, order_id)
    _check_placed(order)
    now = db.now()
    if order["kind"] == "urgent":
        raise ToolError(f"{order_id} is an urgent order; urgent orders are not cancelled")
    if order["received"] > 0:
        raise ToolError(f"{order['received']} units of {order_id} have arrived already; it cannot be cancelled any more")
    until = f"{order['placed_at'][:10]} {ROUTINE_ORDERS_CLOSE}"
    if now >= until:
        # rule: routine_before_two
        raise ToolError(f"{order_id} could be cancelled before {until} only, and it is {now}; it will be delivered")
    db.run("UPDATE supply_orders SET status = 'cancelled', closed_at = :now WHERE id = :id", now=now, id=order_id)
    return _order(db, order_id)


def receive_unit(
    db: Database,
    *,
    order_id: str,
    expires_on: str,
    device_id: str,
    irradiated: bool = False,
    cmv_negative: bool = False,
    negative_for: list[Literal["C", "c", "E", "e", "K", "Fya", "Fyb", "Jka", "Jkb", "S", "s"]] | None = None,
) -> Unit:
    """Receive one unit of an order into stock; the last one completes the delivery.

    Args:
        order_id: The order, as `find_orders` shows it.
        expires_on: The expiry day on the label, YYYY-MM-DD.
        device_id: Where it is put, as `list_components` shows it.
        irradiated: Whether it is irradiated.
        cmv_negative: Whether it is CMV-negative.
        negative_for: The antigens for which the label says that it is negative.
    """
    order = _order(db, order_id)
    _device(db, device_id)
    _check_placed(order)
    _check_day(expires_on)
    now = db.now()
    if expires_on < now[:10]:
        raise ToolError(f"a unit that expired on {expires_on} is not received; today is {now[:10]}")
    antigens = negative_for if negative_for is not None else []
    if len(set(antigens)) < len(antigens):
        raise ToolError(f"an antigen is named twice in {', '.join(antigens)}; name each once")
    unit_id = db.new_id("unit")
    db.run(
        "INSERT INTO units (id, component_id, abo, rh_d, irradiated, cmv_negative, received_on, expires_on,"
        " supply_order_id, status, device_id) VALUES (:id, :component, :abo, :rh_d, :irradiated, :cmv_negative,"
        " :today, :expires_on, :order_id, 'available', :device_id)",
        id=unit_id,
        component=order["component"],
        abo=order["abo"],
        rh_d=order["rh_d"],
        irradiated=1 if irradiated else 0,
        cmv_negative=1 if cmv_negative else 0,
        today=now[:10],
        expires_on=expires_on,
        order_id=order_id,
        device_id=device_id,
    )
    for antigen in antigens:
        db.run("INSERT INTO unit_negatives (unit_id, antigen) VALUES (:id, :antigen)", id=unit_id, antigen=antigen)
    if order["received"] + 1 >= order["quantity"]:
        db.run("UPDATE supply_orders SET status = 'delivered', closed_at = :now WHERE id = :id", now=now, id=order_id)
    return _unit(db, unit_id)


def _plain(text: str) -> str:
    return " ".join(text.casefold().translate(PLAIN_LETTERS).split())


def _named(rows: list[dict[str, Any]], name: str | None) -> list[dict[str, Any]]:
    if name is None:
        return rows
    wanted = _plain(name)
    if not wanted:
        raise ToolError("the name to look for is blank; give a part of it, or leave it out")
    return [row for row in rows if wanted in _plain(row["name"])]


def _check_ward(db: Database, ward_id: str | None) -> None:
    if ward_id is not None and db.one("SELECT id FROM wards WHERE id = :id", id=ward_id) is None:
        raise ToolError(f"no ward {ward_id!r}; list_wards shows them")


def _check_patient(db: Database, patient_id: str | None) -> None:
    if patient_id is not None and db.one("SELECT id FROM patients WHERE id = :id", id=patient_id) is None:
        raise ToolError(f"no patient {patient_id!r}; find_patients lists them")


def _as_patient(db: Database, row: dict[str, Any]) -> Patient:
    antibodies = db.all(
        "SELECT antigen FROM patient_antibodies WHERE patient_id = :id ORDER BY antigen", id=row["patient_id"]
    )
    return cast(
        "Patient",
        {
            **row,
            "needs_irradiated": bool(row["needs_irradiated"]),
            "needs_cmv_negative": bool(row["needs_cmv_negative"]),
            "group_confirmed": bool(row["group_confirmed"]),
            "antibodies": [antibody["antigen"] for antibody in antibodies],
        },
    )


def _check_day(text: str) -> None:
    try:
        right = date.fromisoformat(text).isoformat() == text
    except ValueError:
        right = False
    if not right:
        raise ToolError(f"{text!r} is not a date; write it as YYYY-MM-DD")


def _check_moment(text: str) -> None:
    try:
        right = datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M:%S") == text
    except ValueError:
        right = False
    if not right:
        raise ToolError(f"{text!r} is not a time; write it as YYYY-MM-DD HH:MM:SS")


def _staff_member(db: Database, staff_id: str) -> StaffMember:
    row = db.one(
        "SELECT staff.id AS staff_id, staff.name, staff.role, staff.ward_id, wards.name AS ward_name"
        " FROM staff LEFT JOIN wards ON wards.id = staff.ward_id WHERE staff.id = :id",
        id=staff_id,
    )
    if row is None:
        raise ToolError(f"no member of staff {staff_id!r}; find_staff lists them")
    return cast("StaffMember", row)


def _device(db: Database, device_id: str) -> dict[str, Any]:
    row = db.one(
        "SELECT device_id, name, component_id, places, used FROM device_details WHERE device_id = :id", id=device_id
    )
    if row is None:
        raise ToolError(f"no device {device_id!r}; list_components shows them")
    return row


def _sample(db: Database, sample_id: str) -> Sample:
    row = db.one(f"{SAMPLES} WHERE samples.id = :id", id=sample_id)
    if row is None:
        raise ToolError(f"no sample {sample_id!r}; find_samples lists them")
    return cast("Sample", row)


def _request(db: Database, request_id: str) -> Request:
    row = db.one(f"{REQUESTS} WHERE request_id = :id", id=request_id)
    if row is None:
        raise ToolError(f"no request {request_id!r}; find_requests lists them")
    return cast("Request", row)


def _unit(db: Database, unit_id: str) -> Unit:
    row = db.one(f"{UNITS} WHERE unit_id = :id", id=unit_id)
    if row is None:
        raise ToolError(f"no unit {unit_id!r}; find_units lists them")
    return _as_unit(db, row)


def _as_unit(db: Database, row: dict[str, Any]) -> Unit:
    negatives = db.all("SELECT antigen FROM unit_negatives WHERE unit_id = :id ORDER BY antigen", id=row["unit_id"])
    return cast(
        "Unit",
        {
            **row,
            "irradiated": bool(row["irradiated"]),
            "cmv_negative": bool(row["cmv_negative"]),
            "negative_for": [negative["antigen"] for negative in negatives],
        },
    )


def _as_reservation(row: dict[str, Any]) -> Reservation:
    seal = row["seal_intact"]
    return cast("Reservation", {**row, "seal_intact": None if seal is None else bool(seal)})


def _fitting(db: Database, request_id: str) -> list[FittingUnit]:
    rows = db.all(
        "SELECT unit_id, abo, rh_d, own_group, expires_on, device_id FROM unit_fit"
        " WHERE request_id = :id AND unit_status = 'available' AND group_fits = 1 AND antibodies_fit = 1"
        " AND needs_fit = 1 AND lasts = 1 AND expires_on >= :today ORDER BY own_group DESC, expires_on, unit_id",
        id=request_id,
        today=db.now()[:10],
    )
    return [cast("FittingUnit", {**row, "own_group": bool(row["own_group"])}) for row in rows]


def _check_received(sample: Sample) -> None:
    if sample["status"] != "received":
        raise ToolError(
            f"{sample['sample_id']} was {sample['status']} on {sample['closed_at']} and stays as it is;"
            " a new sample must be registered"
        )


def _check_reason(reason: str) -> None:
    if not reason.strip():
        raise ToolError("the reason is blank; say in a few words why")


def _patient(db: Database, patient_id: str) -> Patient:
    row = db.one(f"{PATIENTS} WHERE patient_id = :id", id=patient_id)
    if row is None:
        raise ToolError(f"no patient {patient_id!r}; find_patients lists them")
    return _as_patient(db, row)


def _waits(db: Database, component: str, units: int, urgency: str, haemoglobin: int | None) -> bool:
    if urgency == "emergency":
        return False
    row = db.one(
        "SELECT id FROM components WHERE id = :component AND (:units > approval_units OR :haemoglobin >= approval_hb)",
        component=component,
        units=units,
        haemoglobin=haemoglobin,
    )
    return row is not None


def _reservation(db: Database, reservation_id: str) -> Reservation:
    row = db.one(f"{RESERVATIONS} WHERE allocation_id = :id", id=reservation_id)
    if row is None:
        raise ToolError(f"no reservation {reservation_id!r}; find_reservations lists them")
    return _as_reservation(row)


def _check_state(reservation: Reservation, wanted: str) -> None:
    if reservation["status"] != wanted:
        # rule: states_agree
        raise ToolError(
            f"{reservation['reservation_id']} of {reservation['unit_id']} is {reservation['status']}, not {wanted};"
            " this step is not possible any more, or not yet"
        )


def _terms(db: Database, request_id: str, sample_id: str | None) -> dict[str, Any]:
    row = db.one(
        "SELECT datetime(requests.needed_at, '+24 hours') AS lapses_at, components.sample_hours,"
        " components.o_negative_reserve,"
        " datetime(samples.taken_at, '+' || components.sample_hours || ' hours') AS sample_valid_until,"
        " (SELECT count(*) FROM units WHERE units.component_id = requests.component_id AND units.abo = 'O'"
        " AND units.rh_d = 'negative' AND units.status = 'available' AND units.expires_on >= :today) AS o_negatives"
        " FROM requests JOIN components ON components.id = requests.component_id"
        " LEFT JOIN samples ON samples.id = :sample_id WHERE requests.id = :request_id",
        today=db.now()[:10],
        sample_id=sample_id,
        request_id=request_id,
    )
    if row is None:
        raise ToolError(f"no request {request_id!r}; find_requests lists them")
    return row


def _first_to_take(
    db: Database, request: Request, unit_id: str, sample_id: str | None, terms: dict[str, Any]
) -> FittingUnit | None:
    """The unit that goes before the one named, if there is one."""
    kept = request["urgency"] != "emergency" and terms["o_negatives"] <= terms["o_negative_reserve"]
    o_negative_only = sample_id is None and terms["sample_hours"] is not None
    choice: list[FittingUnit] = []
    for unit in _fitting(db, request["request_id"]):
        o_negative = unit["abo"] == "O" and unit["rh_d"] == "negative"
        if (o_negative and kept) or (o_negative_only and not o_negative):
            continue
        choice.append(unit)
    for named in choice:
        if named["unit_id"] == unit_id:
            first = choice[0]
            if (not first["own_group"], first["expires_on"]) < (not named["own_group"], named["expires_on"]):
                return first
    return None


def _order(db: Database, order_id: str) -> Order:
    row = db.one(f"{ORDERS} WHERE supply_order_id = :id", id=order_id)
    if row is None:
        raise ToolError(f"no order {order_id!r}; find_orders lists them")
    return cast("Order", row)


def _check_placed(order: Order) -> None:
    if order["status"] != "placed":
        raise ToolError(f"{order['order_id']} was {order['status']} on {order['closed_at']}; it is closed")
