"""Tools of the dispensary of Elmgate Pharmacy."""

from datetime import date
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

RX_COLUMNS = (
    "prescription_id, status, patient_id, patient_name, surgery, dated_on, received_on, taken_in_by, hold_reason, "
    "checked_by, checked_on, closed_on"
)
FILL_COLUMNS = (
    "fill_id, status, line_id, prescription_id, patient_name, medicine_name, class_id, batch_id, packs, prepared_by, "
    "prepared_on, pickup_until, handed_by, collected_by, closed_on"
)
BATCH_COLUMNS = (
    "batch_id, status, status_reason, medicine_id, medicine_name, received_on, expires_on, received_packs, packs_left, "
    "prepared_fills"
)
MOST_PACKS = 6
MOST_REPEATS = 5
DAYS_TO_EXPIRY = 30
MOST_RECEIVED = 1000000


class StaffMember(TypedDict):
    staff_id: str
    name: str
    role: str


class Medicine(TypedDict):
    medicine_id: str
    name: str
    substance_id: str
    substance_name: str
    class_id: str
    valid_days: int
    pickup_days: int
    may_repeat: bool
    min_packs: int
    usable_packs: int


class Shop(TypedDict):
    staff: list[StaffMember]
    medicines: list[Medicine]


class Patient(TypedDict):
    patient_id: str
    name: str
    born_on: str
    phone: str | None
    collectors: list[str]
    not_tolerated: list[str]


class Patients(TypedDict):
    patients: list[Patient]


class Line(TypedDict):
    line_id: str
    medicine_id: str
    medicine_name: str
    class_id: str
    packs: int
    repeats: int
    fills: int
    last_handed_on: str | None


class Prescription(TypedDict):
    prescription_id: str
    status: str
    patient_id: str
    patient_name: str
    surgery: str
    dated_on: str
    received_on: str
    taken_in_by: str
    hold_reason: str | None
    checked_by: str | None
    checked_on: str | None
    closed_on: str | None
    lines: list[Line]


class Prescriptions(TypedDict):
    prescriptions: list[Prescription]


class Fill(TypedDict):
    fill_id: str
    status: str
    line_id: str
    prescription_id: str
    patient_name: str
    medicine_name: str
    class_id: str
    batch_id: str
    packs: int
    prepared_by: str
    prepared_on: str
    pickup_until: str
    handed_by: str | None
    collected_by: str | None
    closed_on: str | None


class Fills(TypedDict):
    fills: list[Fill]


class Batch(TypedDict):
    batch_id: str
    status: str
    status_reason: str | None
    medicine_id: str
    medicine_name: str
    received_on: str
    expires_on: str
    received_packs: int
    packs_left: int
    prepared_fills: int


class Batches(TypedDict):
    batches: list[Batch]


def list_shop(db: Database) -> Shop:
    """List the staff, and the medicines with their class, its days and the usable packs in stock."""
    staff = db.all("SELECT id AS staff_id, name, role FROM staff ORDER BY name, id")
    rows = db.all(
        """
        SELECT m.id AS medicine_id, m.name AS name, m.substance_id AS substance_id, s.name AS substance_name,
          m.class_id AS class_id, k.valid_days AS valid_days, k.pickup_days AS pickup_days, k.may_repeat AS may_repeat,
          m.min_packs AS min_packs,
          (SELECT coalesce(sum(b.packs_left), 0) FROM batch_details b
            WHERE b.medicine_id = m.id AND b.status = 'usable') AS usable_packs
        FROM medicines m JOIN substances s ON s.id = m.substance_id JOIN classes k ON k.id = m.class_id
        ORDER BY m.name, m.id
        """
    )
    medicines = [{**row, "may_repeat": bool(row["may_repeat"])} for row in rows]
    return cast("Shop", {"staff": staff, "medicines": medicines})


def find_patients(db: Database, *, name: str | None = None) -> Patients:
    """Find patients with those who may collect for them and the substances that they do not tolerate.

    Args:
        name: A part of the patient's name.
    """
    if name is not None and not name.strip():
        raise ToolError("name is blank; leave it out to see all")
    rows = db.all("SELECT id, name FROM patients ORDER BY name, id")
    if name is not None:
        part = name.strip().casefold()
        rows = [row for row in rows if part in row["name"].casefold()]
    return cast("Patients", {"patients": [_patient(db, row["id"]) for row in rows]})


def find_prescriptions(db: Database, *, prescription_id: str | None = None, patient_id: str | None = None, status: Literal["received", "on_hold", "checked", "completed", "cancelled"] | None = None) -> Prescriptions:
    """Find prescriptions with their lines, those received first at the top.

    Args:
        prescription_id: Only this prescription.
        patient_id: Only prescriptions of this patient, as `find_patients` shows it.
        status: Only prescriptions in this status.
    """
    if prescription_id is not None:
        _prescription(db, prescription_id)
    if patient_id is not None:
        _patient(db, patient_id)
    rows = db.all(
        """
        SELECT id FROM prescriptions
        WHERE (:prescription_id IS NULL OR id = :prescription_id)
          AND (:patient_id IS NULL OR patient_id = :patient_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY received_on, id
        """,
        prescription_id=prescription_id,
        patient_id=patient_id,
        status=status,
    )
    return cast("Prescriptions", {"prescriptions": [_prescription(db, row["id"]) for row in rows]})


def find_fills(db: Database, *, prescription_id: str | None = None, batch_id: str | None = None, status: Literal["prepared", "handed_out", "put_back", "lost"] | None = None) -> Fills:
    """Find fills, those prepared first at the top.

    Args:
        prescription_id: Only fills of this prescription, as `find_prescriptions` shows it.
        batch_id: Only fills from this batch, as `find_batches` shows it.
        status: Only fills in this status.
    """
    if prescription_id is not None:
        _prescription(db, prescription_id)
    if batch_id is not None:
        _batch(db, batch_id)
    fills = db.all(
        f"""
        SELECT {FILL_COLUMNS} FROM fill_details
        WHERE (:prescription_id IS NULL OR prescription_id = :prescription_id)
          AND (:batch_id IS NULL OR batch_id = :batch_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY prepared_on, fill_id
        """,
        prescription_id=prescription_id,
        batch_id=batch_id,
        status=status,
    )
    return cast("Fills", {"fills": fills})


def find_batches(db: Database, *, medicine_id: str | None = None, expires_by: str | None = None, status: Literal["usable", "quarantined", "destroyed"] | None = None) -> Batches:
    """Find batches, those that expire first at the top.

    Args:
        medicine_id: Only batches of this medicine, as `list_shop` shows it.
        expires_by: Only batches that expire on or before this day, `YYYY-MM-DD`.
        status: Only batches in this status.
    """
    if medicine_id is not None:
        _require_medicine(db, medicine_id)
    if expires_by is not None:
        _check_date("expires_by", expires_by)
    batches = db.all(
        f"""
        SELECT {BATCH_COLUMNS} FROM batch_details
        WHERE (:medicine_id IS NULL OR medicine_id = :medicine_id)
          AND (:expires_by IS NULL OR expires_on <= :expires_by)
          AND (:status IS NULL OR status = :status)
        ORDER BY expires_on, batch_id
        """,
        medicine_id=medicine_id,
        expires_by=expires_by,
        status=status,
    )
    return cast("Batches", {"batches": batches})


def register_patient(db: Database, *, name: str, born_on: str, phone: str | None = None) -> Patient:
    """Register a new patient. Look with `find_patients` first whether the patient is known.

    Args:
        name: The full name.
        born_on: The day of birth, `YYYY-MM-DD`.
        phone: The phone number, if told.
    """
    full_name = _words("name", name)
    _check_past("born_on", born_on, db.now()[:10])
    if phone is not None and not phone.strip():
        raise ToolError("phone is blank; leave it out when none was told")
    same_day = db.all("SELECT id, name FROM patients WHERE born_on = :born_on ORDER BY id", born_on=born_on)
    for known in same_day:
        if known["name"].casefold() == full_name.casefold():
            raise ToolError(f"{known['name']}, born on {born_on}, is known already as {known['id']}")
    patient_id = db.new_id("pat")
    db.run(
        "INSERT INTO patients (id, name, born_on, phone) VALUES (:id, :name, :born_on, :phone)",
        id=patient_id,
        name=full_name,
        born_on=born_on,
        phone=None if phone is None else phone.strip(),
    )
    return _patient(db, patient_id)


def add_collector(db: Database, *, patient_id: str, collector_name: str) -> Patient:
    """Put on record somebody who may collect for a patient.

    Args:
        patient_id: The patient, as `find_patients` shows it.
        collector_name: The full name of the person.
    """
    patient = _patient(db, patient_id)
    full_name = _words("collector_name", collector_name)
    for known in patient["collectors"]:
        if known.casefold() == full_name.casefold():
            raise ToolError(f"{known} is on record already as a collector of {patient['name']}")
    db.run(
        "INSERT INTO collectors (patient_id, name) VALUES (:patient_id, :name)", patient_id=patient_id, name=full_name
    )
    return _patient(db, patient_id)


def note_intolerance(db: Database, *, patient_id: str, substance_id: str) -> Patient:
    """Note a substance that a patient does not tolerate.

    Args:
        patient_id: The patient, as `find_patients` shows it.
        substance_id: The substance, as `list_shop` shows it with the medicines.
    """
    patient = _patient(db, patient_id)
    substance = db.one("SELECT name FROM substances WHERE id = :id", id=substance_id)
    if substance is None:
        raise ToolError(f"no substance {substance_id!r}; list_shop shows them with the medicines")
    noted = db.one(
        "SELECT noted_on FROM intolerances WHERE patient_id = :patient_id AND substance_id = :substance_id",
        patient_id=patient_id,
        substance_id=substance_id,
    )
    if noted is not None:
        raise ToolError(f"{substance['name']} is noted already for {patient['name']}, since {noted['noted_on']}")
    db.run(
        """
        INSERT INTO intolerances (patient_id, substance_id, noted_on)
        VALUES (:patient_id, :substance_id, :today)
        """,
        patient_id=patient_id,
        substance_id=substance_id,
        today=db.now()[:10],
    )
    return _patient(db, patient_id)


def take_in_prescription(db: Database, *, patient_id: str, surgery: str, dated_on: str, staff_id: str) -> Prescription:
    """Take in a prescription today. Its lines are added with `add_line`.

    Args:
        patient_id: The patient, as `find_patients` shows it.
        surgery: The surgery or doctor who wrote it.
        dated_on: The date on it, `YYYY-MM-DD`.
        staff_id: Who takes it in, as `list_shop` shows it.
    """
    _patient(db, patient_id)
    _staff_member(db, staff_id)
    today = db.now()[:10]
    _check_past("dated_on", dated_on, today)
    prescription_id = db.new_id("rx")
    db.run(
        """
        INSERT INTO prescriptions (id, patient_id, surgery, dated_on, received_on, taken_in_by)
        VALUES (:id, :patient_id, :surgery, :dated_on, :today, :staff_id)
        """,
        id=prescription_id,
        patient_id=patient_id,
        surgery=_words("surgery", surgery),
        dated_on=dated_on,
        today=today,
        staff_id=staff_id,
    )
    return _prescription(db, prescription_id)


def add_line(db: Database, *, prescription_id: str, medicine_id: str, packs: int, repeats: int = 0) -> Prescription:
    """Add a medicine to a received prescription.

    Args:
        prescription_id: The prescription, as `find_prescriptions` shows it.
        medicine_id: The medicine, as `list_shop` shows it.
        packs: How many packs for each fill.
        repeats: How often it may be repeated.
    """
    prescription = _prescription(db, prescription_id)
    medicine = _require_medicine(db, medicine_id)
    if not 1 <= packs <= MOST_PACKS:
        raise ToolError(f"packs {packs} is out of range; a line has 1 to {MOST_PACKS} packs")
    if not 0 <= repeats <= MOST_REPEATS:
        raise ToolError(f"repeats {repeats} is out of range; a line has 0 to {MOST_REPEATS} repeats")
    if prescription["status"] != "received":
        # rule: lines_before_the_check
        raise ToolError(
            f"{prescription_id} is {prescription['status']}; lines are added only while a prescription is received"
        )
    for line in prescription["lines"]:
        if line["medicine_id"] == medicine_id:
            # rule: a_medicine_once
            raise ToolError(
                f"{medicine['name']} is on {prescription_id} already as {line['line_id']}; each medicine is on it once"
            )
    db.run(
        """
        INSERT INTO lines (id, prescription_id, medicine_id, packs, repeats)
        VALUES (:id, :prescription_id, :medicine_id, :packs, :repeats)
        """,
        id=db.new_id("lin"),
        prescription_id=prescription_id,
        medicine_id=medicine_id,
        packs=packs,
        repeats=repeats,
    )
    return _prescription(db, prescription_id)


def check_prescription(db: Database, *, prescription_id: str, staff_id: str) -> Prescription:
    """Record that a prescription has been checked.

    Args:
        prescription_id: The prescription, as `find_prescriptions` shows it.
        staff_id: Who checked it, as `list_shop` shows it.
    """
    prescription = _prescription(db, prescription_id)
    _staff_member(db, staff_id)
    if prescription["status"] in ("checked", "completed", "cancelled"):
        raise ToolError(f"{prescription_id} is {prescription['status']} already; only received prescriptions are checked")
    db.run(
        """
        UPDATE prescriptions SET status = 'checked', checked_by = :staff_id, checked_on = :today
        WHERE id = :id
        """,
        id=prescription_id,
        staff_id=staff_id,
        today=db.now()[:10],
    )
    return _prescription(db, prescription_id)


def hold_prescription(db: Database, *, prescription_id: str, hold_reason: str) -> Prescription:
    """Put a received prescription on hold.

    Args:
        prescription_id: The prescription, as `find_prescriptions` shows it.
        hold_reason: Why, in a few words.
    """
    prescription = _prescription(db, prescription_id)
    reason = _words("hold_reason", hold_reason)
    if prescription["status"] != "received":
        raise ToolError(f"{prescription_id} is {prescription['status']}; only received prescriptions are put on hold")
    db.run(
        "UPDATE prescriptions SET status = 'on_hold', hold_reason = :reason WHERE id = :id",
        id=prescription_id,
        reason=reason,
    )
    return _prescription(db, prescription_id)


def resume_prescription(db: Database, *, prescription_id: str) -> Prescription:
    """Take a prescription off hold, so that it can be checked.

    Args:
        prescription_id: The prescription, as `find_prescriptions` shows it.
    """
    prescription = _prescription(db, prescription_id)
    if prescription["status"] != "on_hold":
        raise ToolError(f"{prescription_id} is {prescription['status']}, not on hold; there is nothing to resume")
    db.run(
        "UPDATE prescriptions SET status = 'received', hold_reason = NULL WHERE id = :id",
        id=prescription_id,
    )
    return _prescription(db, prescription_id)


def cancel_prescription(db: Database, *, prescription_id: str) -> Prescription:
    """Cancel a prescription.

    Args:
        prescription_id: The prescription, as `find_prescriptions` shows it.
    """
    prescription = _prescription(db, prescription_id)
    if prescription["status"] in ("completed", "cancelled"):
        raise ToolError(
            f"{prescription_id} was {prescription['status']} on {prescription['closed_on']} and stays so; "
            "it cannot be cancelled"
        )
    db.run(
        "UPDATE prescriptions SET status = 'cancelled', hold_reason = NULL, closed_on = :today WHERE id = :id",
        id=prescription_id,
        today=db.now()[:10],
    )
    return _prescription(db, prescription_id)


def prepare_fill(db: Database, *, line_id: str, staff_id: str) -> Fill:
    """Prepare the next fill of a line. The batch is chosen by the system.

    Args:
        line_id: The line, as `find_prescriptions` shows it.
        staff_id: Who prepares it, as `list_shop` shows it.
    """
    line = _line(db, line_id)
    _staff_member(db, staff_id)
    today = db.now()[:10]
    prepared = db.one("SELECT id FROM fills WHERE line_id = :line_id AND status = 'prepared'", line_id=line_id)
    if prepared is not None:
        # rule: one_prepared_fill
        raise ToolError(
            f"{prepared['id']} is prepared for {line_id} already; it must be handed out or put back before the next fill"
        )
    batches = db.all(
        """
        SELECT batch_id, packs_left FROM batch_details
        WHERE medicine_id = :medicine_id AND status = 'usable' AND expires_on >= date(:today, '+' || :days || ' days')
        ORDER BY expires_on, batch_id
        """,
        medicine_id=line["medicine_id"],
        today=today,
        days=DAYS_TO_EXPIRY,
    )
    if not batches:
        # rule: first_to_expire
        raise ToolError(
            f"no usable batch of {line['medicine_name']} has {DAYS_TO_EXPIRY} days or more to its expiry; "
            "a delivery is needed, or a quarantined batch must be freed"
        )
    full_enough = [batch for batch in batches if batch["packs_left"] >= line["packs"]]
    if not full_enough:
        # rule: whole_fill
        most = max(batch["packs_left"] for batch in batches)
        raise ToolError(
            f"{line_id} needs {line['packs']} packs of {line['medicine_name']} from a single batch, and no usable one "
            f"has more than {most}; a delivery is needed"
        )
    fill_id = db.new_id("fil")
    db.run(
        """
        INSERT INTO fills (id, line_id, batch_id, packs, prepared_by, prepared_on)
        VALUES (:id, :line_id, :batch_id, :packs, :staff_id, :today)
        """,
        id=fill_id,
        line_id=line_id,
        batch_id=full_enough[0]["batch_id"],
        packs=line["packs"],
        staff_id=staff_id,
        today=today,
    )
    return _fill(db, fill_id)


def hand_out_fill(db: Database, *, fill_id: str, staff_id: str, collected_by: str) -> Fill:
    """Hand out a prepared fill. The prescription is completed when nothing is left to come.

    Args:
        fill_id: The fill, as `find_fills` shows it.
        staff_id: Who hands it out, as `list_shop` shows it.
        collected_by: The full name of the person at the counter.
    """
    fill = _prepared_fill(db, fill_id)
    _staff_member(db, staff_id)
    wanted = _words("collected_by", collected_by)
    patient = _patient(db, fill["patient_id"])
    allowed = [name for name in (patient["name"], *patient["collectors"]) if name.casefold() == wanted.casefold()]
    if not allowed:
        # rule: known_collector
        raise ToolError(
            f"{wanted} is neither {patient['name']} nor on record to collect for this patient; "
            "hand it to somebody who is, or have the patient put the name on record first"
        )
    today = db.now()[:10]
    db.run(
        """
        UPDATE fills SET status = 'handed_out', handed_by = :staff_id, collected_by = :collected_by, closed_on = :today
        WHERE id = :id
        """,
        id=fill_id,
        staff_id=staff_id,
        collected_by=allowed[0],
        today=today,
    )
    to_come = db.one(
        """
        SELECT count(*) AS lines FROM line_details d
        WHERE d.prescription_id = :prescription_id
          AND (d.fills < 1 + d.repeats
            OR EXISTS (SELECT 1 FROM fills f WHERE f.line_id = d.line_id AND f.status = 'prepared'))
        """,
        prescription_id=fill["prescription_id"],
    )
    if to_come is not None and to_come["lines"] == 0:
        db.run(
            "UPDATE prescriptions SET status = 'completed', closed_on = :today WHERE id = :id",
            id=fill["prescription_id"],
            today=today,
        )
    return _fill(db, fill_id)


def put_back_fill(db: Database, *, fill_id: str) -> Fill:
    """End a prepared fill that is not collected.

    Args:
        fill_id: The fill, as `find_fills` shows it.
    """
    fill = _prepared_fill(db, fill_id)
    db.run(
        "UPDATE fills SET status = :status, closed_on = :today WHERE id = :id",
        id=fill_id,
        status="put_back" if fill["goes_back"] else "lost",
        today=db.now()[:10],
    )
    return _fill(db, fill_id)


def receive_batch(db: Database, *, medicine_id: str, received_packs: int, expires_on: str) -> Batch:
    """Receive a batch today.

    Args:
        medicine_id: The medicine, as `list_shop` shows it.
        received_packs: How many packs came.
        expires_on: The day of expiry, `YYYY-MM-DD`.
    """
    _require_medicine(db, medicine_id)
    if not 1 <= received_packs <= MOST_RECEIVED:
        raise ToolError(f"received_packs {received_packs} cannot be; a batch comes with 1 pack or more")
    _check_date("expires_on", expires_on)
    today = db.now()[:10]
    if expires_on <= today:
        raise ToolError(f"expires_on {expires_on} is not to come, today is {today}; an expired batch is not received")
    batch_id = db.new_id("bat")
    db.run(
        """
        INSERT INTO batches (id, medicine_id, received_on, expires_on, received_packs)
        VALUES (:id, :medicine_id, :today, :expires_on, :received_packs)
        """,
        id=batch_id,
        medicine_id=medicine_id,
        today=today,
        expires_on=expires_on,
        received_packs=received_packs,
    )
    return _batch(db, batch_id)


def quarantine_batch(db: Database, *, batch_id: str, status_reason: str) -> Batch:
    """Quarantine a usable batch.

    Args:
        batch_id: The batch, as `find_batches` shows it.
        status_reason: Why, in a few words.
    """
    batch = _batch(db, batch_id)
    reason = _words("status_reason", status_reason)
    if batch["status"] != "usable":
        raise ToolError(f"{batch_id} is {batch['status']} already; only usable batches are quarantined")
    db.run(
        "UPDATE batches SET status = 'quarantined', status_reason = :reason WHERE id = :id", id=batch_id, reason=reason
    )
    return _batch(db, batch_id)


def free_batch(db: Database, *, batch_id: str) -> Batch:
    """Free a quarantined batch for use again.

    Args:
        batch_id: The batch, as `find_batches` shows it.
    """
    batch = _batch(db, batch_id)
    if batch["status"] != "quarantined":
        raise ToolError(f"{batch_id} is {batch['status']}; only quarantined batches are freed")
    if batch["expires_on"] < db.now()[:10]:
        raise ToolError(f"{batch_id} expired on {batch['expires_on']}; it cannot be freed, only destroyed")
    db.run("UPDATE batches SET status = 'usable', status_reason = NULL WHERE id = :id", id=batch_id)
    return _batch(db, batch_id)


def destroy_batch(db: Database, *, batch_id: str, staff_id: str, status_reason: str) -> Batch:
    """Record that a batch has been destroyed.

    Args:
        batch_id: The batch, as `find_batches` shows it.
        staff_id: Who destroys it, as `list_shop` shows it.
        status_reason: Why, in a few words.
    """
    batch = _batch(db, batch_id)
    _staff_member(db, staff_id)
    reason = _words("status_reason", status_reason)
    if batch["status"] == "destroyed":
        raise ToolError(f"{batch_id} was destroyed before; nothing is left to do")
    db.run(
        "UPDATE batches SET status = 'destroyed', status_reason = :reason, destroyed_by = :staff_id WHERE id = :id",
        id=batch_id,
        reason=reason,
        staff_id=staff_id,
    )
    return _batch(db, batch_id)


def _patient(db: Database, patient_id: str) -> Patient:
    row = db.one("SELECT id AS patient_id, name, born_on, phone FROM patients WHERE id = :id", id=patient_id)
    if row is None:
        raise ToolError(f"no patient {patient_id!r}; find_patients lists them")
    collectors = db.all("SELECT name FROM collectors WHERE patient_id = :id ORDER BY name", id=patient_id)
    noted = db.all(
        """
        SELECT s.name AS name FROM intolerances i JOIN substances s ON s.id = i.substance_id
        WHERE i.patient_id = :id ORDER BY s.name
        """,
        id=patient_id,
    )
    return cast(
        "Patient",
        {**row, "collectors": [one["name"] for one in collectors], "not_tolerated": [one["name"] for one in noted]},
    )


def _prescription(db: Database, prescription_id: str) -> Prescription:
    row = db.one(f"SELECT {RX_COLUMNS} FROM prescription_details WHERE prescription_id = :id", id=prescription_id)
    if row is None:
        raise ToolError(f"no prescription {prescription_id!r}; find_prescriptions lists them")
    lines = db.all(
        """
        SELECT line_id, medicine_id, medicine_name, class_id, packs, repeats, fills, last_handed_on
        FROM line_details WHERE prescription_id = :id ORDER BY line_id
        """,
        id=prescription_id,
    )
    return cast("Prescription", {**row, "lines": lines})


def _batch(db: Database, batch_id: str) -> Batch:
    row = db.one(f"SELECT {BATCH_COLUMNS} FROM batch_details WHERE batch_id = :id", id=batch_id)
    if row is None:
        raise ToolError(f"no batch {batch_id!r}; find_batches lists them")
    return cast("Batch", row)


def _require_medicine(db: Database, medicine_id: str) -> dict[str, Any]:
    row = db.one("SELECT id, name, class_id FROM medicines WHERE id = :id", id=medicine_id)
    if row is None:
        raise ToolError(f"no medicine {medicine_id!r}; list_shop lists them")
    return row


def _check_date(argument: str, value: str) -> None:
    try:
        parsed = date.fromisoformat(value)
    except ValueError:
        raise ToolError(f"{argument} {value!r} is not a date; write it as YYYY-MM-DD") from None
    if parsed.isoformat() != value:
        raise ToolError(f"{argument} {value!r} is written otherwise than YYYY-MM-DD")


def _staff_member(db: Database, staff_id: str) -> dict[str, Any]:
    row = db.one("SELECT id, name, role FROM staff WHERE id = :id", id=staff_id)
    if row is None:
        raise ToolError(f"no member of staff {staff_id!r}; list_shop lists them")
    return row


def _words(argument: str, value: str) -> str:
    text = " ".join(value.split())
    if not text:
        raise ToolError(f"{argument} is blank; say it in words")
    return text


def _check_past(argument: str, value: str, today: str) -> None:
    _check_date(argument, value)
    if value > today:
        raise ToolError(f"{argument} {value} is yet to come; today is {today}")


def _line(db: Database, line_id: str) -> dict[str, Any]:
    row = db.one(
        "SELECT line_id, prescription_id, medicine_id, medicine_name, packs FROM line_details WHERE line_id = :id",
        id=line_id,
    )
    if row is None:
        raise ToolError(f"no line {line_id!r}; find_prescriptions shows them with their prescriptions")
    return row


def _fill(db: Database, fill_id: str) -> Fill:
    row = db.one(f"SELECT {FILL_COLUMNS} FROM fill_details WHERE fill_id = :id", id=fill_id)
    if row is None:
        raise ToolError(f"no fill {fill_id!r}; find_fills lists them")
    return cast("Fill", row)


def _prepared_fill(db: Database, fill_id: str) -> dict[str, Any]:
    row = db.one(
        """
        SELECT f.fill_id AS fill_id, f.status AS status, f.closed_on AS closed_on, f.patient_id AS patient_id,
          f.prescription_id AS prescription_id, k.goes_back AS goes_back
        FROM fill_details f JOIN classes k ON k.id = f.class_id
        WHERE f.fill_id = :id
        """,
        id=fill_id,
    )
    if row is None:
        raise ToolError(f"no fill {fill_id!r}; find_fills lists them")
    if row["status"] != "prepared":
        raise ToolError(f"{fill_id} is {row['status']} since {row['closed_on']}; only prepared fills are dealt with")
    return row
