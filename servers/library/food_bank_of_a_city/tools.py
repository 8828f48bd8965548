"""Tools of the Millgate food bank's counter desk."""

from datetime import date, datetime, timedelta
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

HOURS_BEFORE_SLOT = 2
MOST_MOVES = 1
MISSED_WITHIN_DAYS = 90
MOST_UNITS_BY_ANYBODY = 10


class Agency(TypedDict):
    agency_id: str
    name: str
    monthly_vouchers: int
    issued_this_month: int
    status: str


class Agencies(TypedDict):
    agencies: list[Agency]


class StaffMember(TypedDict):
    staff_id: str
    name: str
    role: str
    hygiene_until: str | None
    is_active: bool


class Staff(TypedDict):
    staff: list[StaffMember]


class Household(TypedDict):
    household_id: str
    name: str
    adults: int
    children: int
    diet: str
    status: str
    blocked_on: str | None


class Households(TypedDict):
    households: list[Household]


class Voucher(TypedDict):
    voucher_id: str
    household_id: str
    household: str
    agency_id: str
    agency: str
    issued_on: str
    expires_on: str
    status: str
    approved_by: str | None
    collection_id: str | None


class Vouchers(TypedDict):
    vouchers: list[Voucher]


class Slot(TypedDict):
    slot_id: str
    starts_at: str
    capacity: int
    status: str
    booked: int


class Slots(TypedDict):
    slots: list[Slot]


class PackedLot(TypedDict):
    lot_id: str
    description: str
    units: int


class Collection(TypedDict):
    collection_id: str
    voucher_id: str
    household_id: str
    household: str
    diet: str
    slot_id: str
    starts_at: str
    status: str
    moves: int
    packed_by: str | None
    packer: str | None
    packed_at: str | None
    closed_at: str | None
    packed_lots: list[PackedLot]


class Collections(TypedDict):
    collections: list[Collection]


class Lot(TypedDict):
    lot_id: str
    food_group_id: str
    food_group: str
    is_perishable: bool
    description: str
    units: int
    received_on: str
    best_before: str
    is_vegetarian: bool
    is_halal: bool
    status: str


class Lots(TypedDict):
    lots: list[Lot]


def find_agencies(
    db: Database,
    *,
    name: str | None = None,
    status: Literal["active", "paused"] | None = None,
) -> Agencies:
    """Find referring agencies with their vouchers of this month, by name.

    Args:
        name: Only agencies whose name contains these words, in upper or lower case.
        status: Only agencies in this state.
    """
    words = _words(name, "name")
    rows = db.all(
        "SELECT id, name FROM agencies WHERE (:status IS NULL OR status = :status) ORDER BY name, id", status=status
    )
    return {"agencies": [_agency(db, row["id"]) for row in rows if _has_words(row["name"], words)]}


def find_staff(
    db: Database,
    *,
    name: str | None = None,
    role: Literal["volunteer", "coordinator"] | None = None,
) -> Staff:
    """Find people on the staff with the last day of their food-hygiene certificate, by name.

    Args:
        name: Only people whose name contains these words, in upper or lower case.
        role: Only people in this role.
    """
    words = _words(name, "name")
    rows = db.all("SELECT id, name FROM staff WHERE (:role IS NULL OR role = :role) ORDER BY name, id", role=role)
    return {"staff": [_staff_member(db, row["id"]) for row in rows if _has_words(row["name"], words)]}


def find_households(
    db: Database,
    *,
    name: str | None = None,
    diet: Literal["any", "vegetarian", "halal"] | None = None,
    status: Literal["active", "blocked"] | None = None,
) -> Households:
    """Find households, by name.

    Args:
        name: Only households whose name contains these words, in upper or lower case.
        diet: Only households with this diet.
        status: Only households in this state.
    """
    words = _words(name, "name")
    rows = db.all(
        """SELECT id, name FROM households
        WHERE (:diet IS NULL OR diet = :diet) AND (:status IS NULL OR status = :status) ORDER BY name, id""",
        diet=diet,
        status=status,
    )
    return {"households": [_household(db, row["id"]) for row in rows if _has_words(row["name"], words)]}


def find_vouchers(
    db: Database,
    *,
    household_id: str | None = None,
    agency_id: str | None = None,
    status: Literal["issued", "used", "expired", "cancelled"] | None = None,
) -> Vouchers:
    """Find vouchers with the collection that each serves, the oldest first.

    Args:
        household_id: Only vouchers of this household, as `find_households` shows it.
        agency_id: Only vouchers of this agency, as `find_agencies` shows it.
        status: Only vouchers in this state.
    """
    if household_id is not None:
        _household(db, household_id)
    if agency_id is not None:
        _agency(db, agency_id)
    rows = db.all(
        """SELECT id FROM vouchers
        WHERE (:household_id IS NULL OR household_id = :household_id)
          AND (:agency_id IS NULL OR agency_id = :agency_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY issued_on, id""",
        household_id=household_id,
        agency_id=agency_id,
        status=status,
    )
    return {"vouchers": [_voucher(db, row["id"]) for row in rows]}


def find_slots(db: Database, *, day: str | None = None, status: Literal["open", "closed"] | None = None) -> Slots:
    """Find collection slots with their capacity and how much of it is taken, the earliest first.

    Args:
        day: Only slots on this day, YYYY-MM-DD.
        status: Only slots in this state.
    """
    if day is not None:
        _check_day(day)
    rows = db.all(
        """SELECT id FROM slots
        WHERE (:day IS NULL OR date(starts_at) = :day) AND (:status IS NULL OR status = :status)
        ORDER BY starts_at, id""",
        day=day,
        status=status,
    )
    return {"slots": [_slot(db, row["id"]) for row in rows]}


def find_collections(
    db: Database,
    *,
    household_id: str | None = None,
    slot_id: str | None = None,
    day: str | None = None,
) -> Collections:
    """Find collections with what is packed for them, the earliest first.

    Args:
        household_id: Only collections of this household, as `find_households` shows it.
        slot_id: Only collections in this slot, as `find_slots` shows it.
        day: Only collections on this day, YYYY-MM-DD.
    """
    if household_id is not None:
        _household(db, household_id)
    if slot_id is not None:
        _slot(db, slot_id)
    if day is not None:
        _check_day(day)
    rows = db.all(
        """SELECT collection_id FROM collection_details
        WHERE (:household_id IS NULL OR household_id = :household_id)
          AND (:slot_id IS NULL OR slot_id = :slot_id)
          AND (:day IS NULL OR date(starts_at) = :day)
        ORDER BY starts_at, collection_id""",
        household_id=household_id,
        slot_id=slot_id,
        day=day,
    )
    return {"collections": [_collection(db, row["collection_id"]) for row in rows]}


def find_lots(db: Database, *, text: str | None = None, food_group_id: str | None = None) -> Lots:
    """Find lots of food with their units and best-before day, those expiring first at the top.

    Args:
        text: Only lots whose description or food group contains these words, in upper or lower case.
        food_group_id: Only lots of this food group; the ids stand beside the lots.
    """
    words = _words(text, "text")
    if food_group_id is not None:
        _check_food_group(db, food_group_id)
    rows = db.all(
        """SELECT lot_id, description, food_group FROM lot_details
        WHERE (:food_group_id IS NULL OR food_group_id = :food_group_id)
        ORDER BY best_before, lot_id""",
        food_group_id=food_group_id,
    )
    return {
        "lots": [
            _lot(db, row["lot_id"]) for row in rows if _has_words(f"{row['description']} {row['food_group']}", words)
        ]
    }


def issue_voucher(db: Database, *, household_id: str, agency_id: str, approved_by: str | None = None) -> Voucher:
    """Issue a voucher from today on.

    Args:
        household_id: The household, as `find_households` shows it.
        agency_id: The agency that refers it, as `find_agencies` shows it.
        approved_by: Who approved a further voucher, if an approval is needed, as `find_staff` shows it.
    """
    household = _household(db, household_id)
    _agency(db, agency_id)
    if approved_by is not None:
        approver = _staff_member(db, approved_by)
        if not approver["is_active"]:
            # rule: three_vouchers
            raise ToolError(f"{approver['name']} is no longer on the staff; the coordinator of today has to approve")
    today = db.now()[:10]
    db.run(
        """UPDATE vouchers SET status = 'expired'
        WHERE household_id = :household_id AND status = 'issued' AND expires_on < :today""",
        household_id=household_id,
        today=today,
    )
    still_open = db.one(
        """SELECT id, expires_on FROM vouchers
        WHERE household_id = :household_id AND status = 'issued' ORDER BY id""",
        household_id=household_id,
    )
    if still_open is not None:
        # rule: one_open_voucher
        raise ToolError(
            f"household {household['name']} has an open voucher, {still_open['id']}, until {still_open['expires_on']};"
            " that one can be used"
        )
    voucher_id = db.new_id("vou")
    db.run(
        """INSERT INTO vouchers (id, household_id, agency_id, issued_on, expires_on, status, approved_by)
        VALUES (:id, :household_id, :agency_id, :today, date(:today, '+14 days'), 'issued', :approved_by)""",
        id=voucher_id,
        household_id=household_id,
        agency_id=agency_id,
        today=today,
        approved_by=approved_by,
    )
    return _voucher(db, voucher_id)


def cancel_voucher(db: Database, *, voucher_id: str) -> Voucher:
    """Cancel an open voucher that no collection is booked with.

    Args:
        voucher_id: The voucher, as `find_vouchers` shows it.
    """
    voucher = _voucher(db, voucher_id)
    if voucher["status"] != "issued":
        raise ToolError(f"{voucher_id} is {voucher['status']} already; only an open voucher is cancelled")
    if voucher["expires_on"] < db.now()[:10]:
        raise ToolError(f"{voucher_id} ran out on {voucher['expires_on']}; there is nothing left to cancel")
    if voucher["collection_id"] is not None:
        raise ToolError(
            f"{voucher_id} serves the collection {voucher['collection_id']}; that collection must be cancelled first"
        )
    db.run("UPDATE vouchers SET status = 'cancelled' WHERE id = :id", id=voucher_id)
    return _voucher(db, voucher_id)


def book_collection(db: Database, *, voucher_id: str, slot_id: str) -> Collection:
    """Book a collection in a slot with an open voucher.

    Args:
        voucher_id: The voucher, as `find_vouchers` shows it.
        slot_id: The slot, as `find_slots` shows it.
    """
    voucher = _voucher(db, voucher_id)
    slot = _slot(db, slot_id)
    if voucher["collection_id"] is not None:
        # rule: open_slot
        raise ToolError(
            f"{voucher_id} of household {voucher['household']} has its one collection already,"
            f" {voucher['collection_id']}; a booked one can be moved instead"
        )
    _check_in_time(db, slot["starts_at"])
    collection_id = db.new_id("col")
    db.run(
        """INSERT INTO collections (id, voucher_id, slot_id, status, moves)
        VALUES (:id, :voucher_id, :slot_id, 'booked', 0)""",
        id=collection_id,
        voucher_id=voucher_id,
        slot_id=slot_id,
    )
    return _collection(db, collection_id)


def move_collection(db: Database, *, collection_id: str, slot_id: str) -> Collection:
    """Move a booked collection to another slot.

    Args:
        collection_id: The collection, as `find_collections` shows it.
        slot_id: The slot, as `find_slots` shows it.
    """
    collection = _collection(db, collection_id)
    slot = _slot(db, slot_id)
    if collection["status"] == "packed":
        raise ToolError(f"{collection_id} is packed; its parcel must be taken apart before it is moved")
    if collection["status"] != "booked":
        raise ToolError(f"{collection_id} is {collection['status']}; a closed collection stays in its slot")
    if collection["moves"] >= MOST_MOVES:
        # rule: moved_once
        raise ToolError(
            f"{collection_id} of household {collection['household']} was moved once, which is the most;"
            f" it stays on {collection['starts_at']}"
        )
    if collection["slot_id"] == slot_id:
        raise ToolError(f"{collection_id} is in {slot_id} already; choose a different slot")
    _check_in_time(db, collection["starts_at"])
    _check_in_time(db, slot["starts_at"])
    db.run(
        "UPDATE collections SET slot_id = :slot_id, moves = moves + 1 WHERE id = :id",
        slot_id=slot_id,
        id=collection_id,
    )
    return _collection(db, collection_id)


def cancel_collection(db: Database, *, collection_id: str) -> Collection:
    """Cancel a booked collection. Its voucher stays open.

    Args:
        collection_id: The collection, as `find_collections` shows it.
    """
    collection = _collection(db, collection_id)
    if collection["status"] == "packed":
        raise ToolError(f"{collection_id} is packed; its parcel must be taken apart before it is cancelled")
    if collection["status"] != "booked":
        raise ToolError(f"{collection_id} is {collection['status']}; only a booked collection is cancelled")
    _check_in_time(db, collection["starts_at"])
    db.run("UPDATE collections SET status = 'cancelled', closed_at = :now WHERE id = :id", now=db.now(), id=collection_id)
    return _collection(db, collection_id)


def pack_collection(db: Database, *, collection_id: str, packed_by: str) -> Collection:
    """Pack the parcel of a booked collection. The lots are chosen by the system.

    Args:
        collection_id: The collection, as `find_collections` shows it.
        packed_by: Who packs it, as `find_staff` shows it.
    """
    collection = _collection(db, collection_id)
    packer = _staff_member(db, packed_by)
    if not packer["is_active"]:
        raise ToolError(f"{packer['name']} is no longer on the staff; somebody else has to pack")
    if collection["status"] != "booked":
        raise ToolError(f"{collection_id} is {collection['status']}; only a booked collection is packed")
    now = db.now()
    today = now[:10]
    day = collection["starts_at"][:10]
    groups = db.all(
        """SELECT food_group_id, food_group, is_perishable, due FROM due_units
        WHERE collection_id = :id AND due > 0 ORDER BY food_group_id""",
        id=collection_id,
    )
    if day != today and any(group["is_perishable"] for group in groups):
        # rule: perishable_day
        raise ToolError(
            f"the parcel of {collection_id} has perishable food and is packed on the day of its slot only, {day};"
            f" today is {today}"
        )
    if day < today:
        raise ToolError(f"the slot of {collection_id} was on {day}; it can be marked as missed, not packed any more")
    for group in groups:
        _pack_group(db, collection, group["food_group_id"], group["food_group"], group["due"])
    db.run(
        "UPDATE collections SET status = 'packed', packed_by = :packed_by, packed_at = :now WHERE id = :id",
        packed_by=packed_by,
        now=now,
        id=collection_id,
    )
    return _collection(db, collection_id)


def unpack_collection(db: Database, *, collection_id: str) -> Collection:
    """Take a packed parcel apart; its units go back to their lots.

    Args:
        collection_id: The collection, as `find_collections` shows it.
    """
    collection = _collection(db, collection_id)
    if collection["status"] != "packed":
        raise ToolError(f"{collection_id} is {collection['status']}; only a packed parcel is taken apart")
    for packed in collection["packed_lots"]:
        db.run(
            """UPDATE lots SET units = units + :units,
              status = CASE WHEN status = 'used_up' THEN 'available' ELSE status END
            WHERE id = :id""",
            units=packed["units"],
            id=packed["lot_id"],
        )
    db.run("DELETE FROM packed_units WHERE collection_id = :id", id=collection_id)
    db.run(
        "UPDATE collections SET status = 'booked', packed_by = NULL, packed_at = NULL WHERE id = :id", id=collection_id
    )
    return _collection(db, collection_id)


def hand_out(db: Database, *, collection_id: str) -> Collection:
    """Hand a packed parcel out to the household.

    Args:
        collection_id: The collection, as `find_collections` shows it.
    """
    collection = _collection(db, collection_id)
    if collection["status"] != "packed":
        raise ToolError(f"{collection_id} is {collection['status']}; only a packed parcel is handed out")
    now = db.now()
    day = collection["starts_at"][:10]
    if day != now[:10]:
        # rule: handed_out_that_day
        raise ToolError(f"{collection_id} is handed out on the day of its slot only, {day}; today is {now[:10]}")
    db.run("UPDATE collections SET status = 'collected', closed_at = :now WHERE id = :id", now=now, id=collection_id)
    db.run("UPDATE vouchers SET status = 'used' WHERE id = :id", id=collection["voucher_id"])
    return _collection(db, collection_id)


def mark_missed(db: Database, *, collection_id: str) -> Collection:
    """Mark a booked collection as missed. `find_households` shows whether that blocks the household.

    Args:
        collection_id: The collection, as `find_collections` shows it.
    """
    collection = _collection(db, collection_id)
    if collection["status"] != "booked":
        raise ToolError(f"{collection_id} is {collection['status']}; only a booked collection is marked as missed")
    now = db.now()
    today = now[:10]
    day = collection["starts_at"][:10]
    if day >= today:
        raise ToolError(f"{collection_id} can be missed only when its day, {day}, is past; today is {today}")
    db.run("UPDATE collections SET status = 'missed', closed_at = :now WHERE id = :id", now=now, id=collection_id)
    other = db.one(
        """SELECT collection_id FROM collection_details
        WHERE household_id = :household_id AND status = 'missed' AND collection_id <> :id
          AND abs(julianday(date(starts_at)) - julianday(:day)) <= :days
        ORDER BY starts_at, collection_id LIMIT 1""",
        household_id=collection["household_id"],
        id=collection_id,
        day=day,
        days=MISSED_WITHIN_DAYS,
    )
    if other is not None:
        db.run(
            "UPDATE households SET status = 'blocked', blocked_on = :today WHERE id = :id AND status = 'active'",
            today=today,
            id=collection["household_id"],
        )
    return _collection(db, collection_id)


def readmit_household(db: Database, *, household_id: str, requested_by: str) -> Household:
    """End the block of a household.

    Args:
        household_id: The household, as `find_households` shows it.
        requested_by: Who decided it, as `find_staff` shows it.
    """
    household = _household(db, household_id)
    asker = _active_staff_member(db, requested_by)
    if asker["role"] != "coordinator":
        # rule: second_missed
        raise ToolError(
            f"{asker['name']} is a {asker['role']}; only the coordinator readmits a household such as {household['name']}"
        )
    if household["status"] != "blocked":
        raise ToolError(f"household {household['name']} is not blocked; there is nothing to end")
    db.run("UPDATE households SET status = 'active', blocked_on = NULL WHERE id = :id", id=household_id)
    return _household(db, household_id)


def set_slot_open(db: Database, *, slot_id: str, is_open: bool) -> Slot:
    """Open a coming slot for bookings, or close it. Its collections stay.

    Args:
        slot_id: The slot, as `find_slots` shows it.
        is_open: True to open it, false to close it.
    """
    slot = _slot(db, slot_id)
    if slot["starts_at"] <= db.now():
        raise ToolError(f"{slot_id} began on {slot['starts_at']}; only a coming slot is opened or closed")
    status = "open" if is_open else "closed"
    if slot["status"] == status:
        raise ToolError(f"{slot_id} on {slot['starts_at']} is {status} already; nothing has to change")
    db.run("UPDATE slots SET status = :status WHERE id = :id", status=status, id=slot_id)
    return _slot(db, slot_id)


def receive_lot(
    db: Database,
    *,
    food_group_id: str,
    description: str,
    units: int,
    best_before: str,
    is_vegetarian: bool,
    is_halal: bool,
) -> Lot:
    """Take in a lot of food. It waits in quarantine until it is released.

    Args:
        food_group_id: The food group, as `find_lots` shows it.
        description: What it is, in a few words.
        units: How many units, at least 1.
        best_before: Its best-before day, YYYY-MM-DD, not past.
        is_vegetarian: Whether it is vegetarian.
        is_halal: Whether it is halal.
    """
    _check_food_group(db, food_group_id)
    wording = description.strip()
    if not wording:
        raise ToolError("description is blank; say in a few words what the lot is")
    if units < 1:
        raise ToolError(f"a lot of {units} units cannot be taken in; it has at least 1 unit")
    _check_day(best_before)
    today = db.now()[:10]
    if best_before < today:
        raise ToolError(f"the best-before day {best_before} is past, today is {today}; such food is not taken in")
    lot_id = db.new_id("lot")
    db.run(
        """INSERT INTO lots
          (id, food_group_id, description, units, received_on, best_before, is_vegetarian, is_halal, status)
        VALUES
          (:id, :food_group_id, :description, :units, :today, :best_before, :is_vegetarian, :is_halal, 'quarantine')""",
        id=lot_id,
        food_group_id=food_group_id,
        description=wording,
        units=units,
        today=today,
        best_before=best_before,
        is_vegetarian=int(is_vegetarian),
        is_halal=int(is_halal),
    )
    return _lot(db, lot_id)


def release_lot(db: Database, *, lot_id: str, requested_by: str) -> Lot:
    """Release a lot from quarantine for packing.

    Args:
        lot_id: The lot, as `find_lots` shows it.
        requested_by: Who releases it, as `find_staff` shows it.
    """
    lot = _lot(db, lot_id)
    asker = _active_staff_member(db, requested_by)
    if asker["role"] != "coordinator":
        # rule: large_corrections
        raise ToolError(f"{asker['name']} is a {asker['role']}; lots are released from quarantine by the coordinator only")
    if lot["status"] != "quarantine":
        raise ToolError(f"{lot_id}, {lot['description']}, is {lot['status']}; only a lot in quarantine is released")
    today = db.now()[:10]
    if lot["best_before"] < today:
        raise ToolError(
            f"{lot_id}, {lot['description']}, was best before {lot['best_before']} and today is {today};"
            " it cannot be packed any more, so it is blocked instead"
        )
    db.run("UPDATE lots SET status = 'available' WHERE id = :id", id=lot_id)
    return _lot(db, lot_id)


def block_lot(db: Database, *, lot_id: str) -> Lot:
    """Block a lot that is available or in quarantine, so that it is packed no more.

    Args:
        lot_id: The lot, as `find_lots` shows it.
    """
    lot = _lot(db, lot_id)
    if lot["status"] not in ("available", "quarantine"):
        raise ToolError(
            f"{lot_id}, {lot['description']}, is {lot['status']}; only a lot that is available or in quarantine is blocked"
        )
    db.run("UPDATE lots SET status = 'blocked' WHERE id = :id", id=lot_id)
    return _lot(db, lot_id)


def correct_units(db: Database, *, lot_id: str, units_change: int, requested_by: str) -> Lot:
    """Correct the units of a lot.

    Args:
        lot_id: The lot, as `find_lots` shows it.
        units_change: How many units more (positive) or fewer (negative) there are; not 0.
        requested_by: Who asks for it, as `find_staff` shows it.
    """
    lot = _lot(db, lot_id)
    asker = _active_staff_member(db, requested_by)
    if units_change == 0:
        raise ToolError("units_change is 0; say how many units more or fewer there are")
    if abs(units_change) > MOST_UNITS_BY_ANYBODY and asker["role"] != "coordinator":
        # rule: large_corrections
        raise ToolError(
            f"{asker['name']} is a {asker['role']} and corrects up to {MOST_UNITS_BY_ANYBODY} units at once, not"
            f" {abs(units_change)}; above that the coordinator has to ask"
        )
    if lot["status"] == "used_up":
        raise ToolError(f"{lot_id}, {lot['description']}, is used up; new food is taken in as a lot of its own")
    units = lot["units"] + units_change
    if units < 0:
        raise ToolError(
            f"{lot_id}, {lot['description']}, has {lot['units']} units; {-units_change} cannot be taken away from it"
        )
    db.run(
        """UPDATE lots SET units = :units, status = CASE WHEN :units = 0 THEN 'used_up' ELSE status END
        WHERE id = :id""",
        units=units,
        id=lot_id,
    )
    return _lot(db, lot_id)


def _words(text: str | None, argument: str) -> list[str]:
    if text is None:
        return []
    words = text.casefold().split()
    if not words:
        raise ToolError(f"{argument} is blank; leave it out to see all")
    return words


def _has_words(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _check_day(day: str) -> None:
    try:
        right = date.fromisoformat(day).isoformat() == day
    except ValueError:
        right = False
    if not right:
        raise ToolError(f"{day!r} is no day; write it as YYYY-MM-DD")


def _agency(db: Database, agency_id: str) -> Agency:
    row = db.one(
        """SELECT agencies.id AS agency_id, agencies.name, agencies.monthly_vouchers,
          coalesce(agency_months.vouchers, 0) AS issued_this_month, agencies.status
        FROM agencies
        LEFT JOIN agency_months ON agency_months.agency_id = agencies.id AND agency_months.month = :month
        WHERE agencies.id = :id""",
        month=db.now()[:7],
        id=agency_id,
    )
    if row is None:
        raise ToolError(f"no agency {agency_id!r}; find_agencies lists them")
    return cast("Agency", row)


def _staff_member(db: Database, staff_id: str) -> StaffMember:
    row = db.one("SELECT id AS staff_id, name, role, hygiene_until, is_active FROM staff WHERE id = :id", id=staff_id)
    if row is None:
        raise ToolError(f"no person {staff_id!r} on the staff; find_staff lists them")
    return cast("StaffMember", {**row, "is_active": bool(row["is_active"])})


def _household(db: Database, household_id: str) -> Household:
    row = db.one(
        """SELECT id AS household_id, name, adults, children, diet, status, blocked_on
        FROM households WHERE id = :id""",
        id=household_id,
    )
    if row is None:
        raise ToolError(f"no household {household_id!r}; find_households lists them")
    return cast("Household", row)


def _voucher(db: Database, voucher_id: str) -> Voucher:
    row = db.one(
        """SELECT voucher_id, household_id, household, agency_id, agency, issued_on, expires_on, status, approved_by,
          collection_id
        FROM voucher_details WHERE voucher_id = :id""",
        id=voucher_id,
    )
    if row is None:
        raise ToolError(f"no voucher {voucher_id!r}; find_vouchers lists them")
    return cast("Voucher", row)


def _slot(db: Database, slot_id: str) -> Slot:
    row = db.one("SELECT slot_id, starts_at, capacity, status, booked FROM slot_details WHERE slot_id = :id", id=slot_id)
    if row is None:
        raise ToolError(f"no slot {slot_id!r}; find_slots lists them")
    return cast("Slot", row)


def _collection(db: Database, collection_id: str) -> Collection:
    row = db.one(
        """SELECT collection_id, voucher_id, household_id, household, diet, slot_id, starts_at, status, moves,
          packed_by, packer, packed_at, closed_at
        FROM collection_details WHERE collection_id = :id""",
        id=collection_id,
    )
    if row is None:
        raise ToolError(f"no collection {collection_id!r}; find_collections lists them")
    packed_lots = db.all(
        """SELECT packed_units.lot_id, lots.description, packed_units.units
        FROM packed_units JOIN lots ON lots.id = packed_units.lot_id
        WHERE packed_units.collection_id = :id ORDER BY packed_units.lot_id""",
        id=collection_id,
    )
    return cast("Collection", {**row, "packed_lots": packed_lots})


def _lot(db: Database, lot_id: str) -> Lot:
    row = db.one(
        """SELECT lot_id, food_group_id, food_group, is_perishable, description, units, received_on, best_before,
          is_vegetarian, is_halal, status
        FROM lot_details WHERE lot_id = :id""",
        id=lot_id,
    )
    if row is None:
        raise ToolError(f"no lot {lot_id!r}; find_lots lists them")
    return cast(
        "Lot",
        {
            **row,
            "is_perishable": bool(row["is_perishable"]),
            "is_vegetarian": bool(row["is_vegetarian"]),
            "is_halal": bool(row["is_halal"]),
        },
    )


def _check_food_group(db: Database, food_group_id: str) -> None:
    if db.one("SELECT id FROM food_groups WHERE id = :id", id=food_group_id) is None:
        raise ToolError(f"no food group {food_group_id!r}; find_lots shows them beside the lots")


def _check_in_time(db: Database, starts_at: str) -> None:
    until = datetime.fromisoformat(starts_at) - timedelta(hours=HOURS_BEFORE_SLOT)
    now = datetime.fromisoformat(db.now())
    if now > until:
        # rule: two_hours
        raise ToolError(
            f"the slot of {starts_at} was open to changes until {until}, {HOURS_BEFORE_SLOT} hours before it;"
            f" now it is {now}"
        )


def _pack_group(db: Database, collection: Collection, food_group_id: str, food_group: str, due: int) -> None:
    day = collection["starts_at"][:10]
    lots = db.all(
        """SELECT id, units FROM lots
        WHERE food_group_id = :food_group_id AND status = 'available' AND best_before >= :day
          AND (:diet <> 'vegetarian' OR is_vegetarian = 1) AND (:diet <> 'halal' OR is_halal = 1)
        ORDER BY best_before, id""",
        food_group_id=food_group_id,
        day=day,
        diet=collection["diet"],
    )
    fitting = sum(lot["units"] for lot in lots)
    if fitting < due:
        # rule: complete_parcel, good_lots, diet
        raise ToolError(
            f"household {collection['household']} is due {due} units of {food_group}, but the available lots that keep"
            f" until {day} and fit the diet ({collection['diet']}) hold {fitting}; nothing is packed before there is enough"
        )
    missing = due
    for lot in lots:
        taken = min(missing, lot["units"])
        if taken == 0:
            break
        db.run(
            "INSERT INTO packed_units (collection_id, lot_id, units) VALUES (:collection_id, :lot_id, :units)",
            collection_id=collection["collection_id"],
            lot_id=lot["id"],
            units=taken,
        )
        db.run(
            """UPDATE lots SET units = units - :taken,
              status = CASE WHEN units = :taken THEN 'used_up' ELSE status END
            WHERE id = :id""",
            taken=taken,
            id=lot["id"],
        )
        missing -= taken


def _active_staff_member(db: Database, staff_id: str) -> StaffMember:
    member = _staff_member(db, staff_id)
    if not member["is_active"]:
        raise ToolError(f"{member['name']} has left the staff; somebody who still works here has to ask")
    return member
