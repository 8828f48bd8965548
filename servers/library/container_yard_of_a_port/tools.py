"""Tools of the Skagshaven yard desk.

A place is a stack and a tier, counted from 1 on the ground."""

import re
from datetime import date, datetime, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

CONTAINER_COLUMNS = (
    "container_id, number, line_id, line_name, line_status, kind_id AS kind, feet, direction, laden, weight_kg, "
    "arrives_by_call_id, status, block_id, stack_id, tier, standing_above, came_in_at, left_at, active_holds, times_rolled, "
    "free_days, daily_cents, charged_days, due_cents"
)
CALL_COLUMNS = (
    "ship_call_id, ship, voyage, line_id, line_name, cutoff_at, arrives_at, sails_at, status, container_limit, entries"
)
LOAD_ENTRY_COLUMNS = (
    "load_entry_id, container_id, number, line_id, ship_call_id, ship, voyage, cutoff_at, call_status, status, "
    "rolled_from_entry_id, listed_at, closed_at"
)
HOLD_COLUMNS = "hold_id, container_id, number, put_by, reason, status, put_at, lifted_at"
LEAST_WEIGHT_KG = 1800
MOST_WEIGHT_KG = 32500
WINDOW_COLUMNS = "truck_window_id, starts_at, ends_at, quota, taken"
TRUCK_BOOKING_COLUMNS = (
    "truck_booking_id, container_id, number, line_id, truck_window_id, starts_at, ends_at, purpose, haulier, plate, status, "
    "booked_at, closed_at"
)
CHARGE_COLUMNS = (
    "charge_id, container_id, number, line_id, line_name, reason, days, truck_booking_id, amount_cents, status, charged_at, "
    "settled_at, waived_by, waive_reason"
)
MINUTES_AROUND_A_WINDOW = 30
MINUTES_TO_BOOK_AHEAD = 120
MINUTES_TO_CHANGE_FREELY = 240
TRUCK_FEE_CENTS = 60000


class Container(TypedDict):
    container_id: str
    number: str
    line_id: str
    line_name: str
    line_status: str
    kind: str
    feet: int
    direction: str
    laden: bool
    weight_kg: int
    arrives_by_call_id: str | None
    status: str
    block_id: str | None
    stack_id: str | None
    tier: int | None
    standing_above: int
    came_in_at: str | None
    left_at: str | None
    active_holds: int
    times_rolled: int
    free_days: int
    daily_cents: int
    charged_days: int
    due_cents: int


class Containers(TypedDict):
    containers: list[Container]


class Stack(TypedDict):
    stack_id: str
    block_id: str
    block_name: str
    kind: str
    height: int
    standing: int
    feet: int | None
    top_number: str | None
    top_weight_kg: int | None
    plugs: int
    plugs_used: int


class Stacks(TypedDict):
    stacks: list[Stack]


class ShipCall(TypedDict):
    ship_call_id: str
    ship: str
    voyage: str
    line_id: str
    line_name: str
    cutoff_at: str
    arrives_at: str
    sails_at: str
    status: str
    container_limit: int
    entries: int


class ShipCalls(TypedDict):
    ship_calls: list[ShipCall]


class LoadEntry(TypedDict):
    load_entry_id: str
    container_id: str
    number: str
    line_id: str
    ship_call_id: str
    ship: str
    voyage: str
    cutoff_at: str
    call_status: str
    status: str
    rolled_from_entry_id: str | None
    listed_at: str
    closed_at: str | None


class LoadEntries(TypedDict):
    load_entries: list[LoadEntry]


class Hold(TypedDict):
    hold_id: str
    container_id: str
    number: str
    put_by: str
    reason: str
    status: str
    put_at: str
    lifted_at: str | None


class Holds(TypedDict):
    holds: list[Hold]


class TruckWindow(TypedDict):
    truck_window_id: str
    starts_at: str
    ends_at: str
    quota: int
    taken: int


class TruckWindows(TypedDict):
    truck_windows: list[TruckWindow]


class TruckBooking(TypedDict):
    truck_booking_id: str
    container_id: str
    number: str
    line_id: str
    truck_window_id: str
    starts_at: str
    ends_at: str
    purpose: str
    haulier: str
    plate: str
    status: str
    booked_at: str
    closed_at: str | None


class TruckBookings(TypedDict):
    truck_bookings: list[TruckBooking]


class Charge(TypedDict):
    charge_id: str
    container_id: str
    number: str
    line_id: str
    line_name: str
    reason: str
    days: int | None
    truck_booking_id: str | None
    amount_cents: int
    status: str
    charged_at: str
    settled_at: str | None
    waived_by: str | None
    waive_reason: str | None


class Charges(TypedDict):
    charges: list[Charge]


def find_containers(
    db: Database,
    *,
    number: str | None = None,
    line: str | None = None,
    status: Literal["announced", "in_yard", "loaded", "gated_out"] | None = None,
    direction: Literal["import", "export"] | None = None,
    kind: Literal["dry", "reefer", "hazardous"] | None = None,
    stack_id: str | None = None,
) -> Containers:
    """Find containers with their place, holds and debts, in the order of their numbers.

    `charged_days` are the storage days charged so far, `due_cents` is the sum of all charges still due.

    Args:
        number: Only containers whose number contains this, in capitals or not.
        line: Only this shipping line: a part of its name, in capitals or not.
        status: Only containers in this status.
        direction: Only imports or only exports.
        kind: Only containers of this kind.
        stack_id: Only containers that stand in this stack, as `find_stacks` shows it.
    """
    if stack_id is not None:
        _check_stack(db, stack_id)
    rows = db.all(
        f"""SELECT {CONTAINER_COLUMNS} FROM container_details
        WHERE (:status IS NULL OR status = :status)
          AND (:direction IS NULL OR direction = :direction)
          AND (:kind IS NULL OR kind_id = :kind)
          AND (:stack_id IS NULL OR stack_id = :stack_id)
        ORDER BY number, container_id""",
        status=status,
        direction=direction,
        kind=kind,
        stack_id=stack_id,
    )
    rows = _having(rows, "number", "the number", number)
    rows = _having(rows, "line_name", "the line", line)
    return {"containers": [_as_container(row) for row in rows]}


def find_stacks(
    db: Database,
    *,
    kind: Literal["dry", "reefer", "hazardous"] | None = None,
    block: str | None = None,
    only_free: bool = False,
) -> Stacks:
    """Find stacks and what stands on top of them, block by block. The lowest free tier is `standing` + 1.

    `feet` is the length that the stack holds now; an empty stack takes either. The plugs are those of the whole block.

    Args:
        kind: Only stacks in blocks of this kind.
        block: Only stacks in this block: a part of its name, in capitals or not.
        only_free: True shows only stacks that are not full.
    """
    rows = db.all(
        """SELECT stack_details.stack_id, stack_details.block_id, stack_details.block_name, stack_details.kind_id AS kind,
          stack_details.height, stack_details.standing, stack_details.feet, stack_details.top_number,
          stack_details.top_weight_kg, block_details.plugs, block_details.plugs_used
        FROM stack_details JOIN block_details ON block_details.block_id = stack_details.block_id
        WHERE (:kind IS NULL OR stack_details.kind_id = :kind)
          AND (:only_free = 0 OR stack_details.standing < stack_details.height)
        ORDER BY stack_details.block_name, stack_details.stack_id""",
        kind=kind,
        only_free=int(only_free),
    )
    rows = _having(rows, "block_name", "the name of the block", block)
    return {"stacks": [cast("Stack", row) for row in rows]}


def find_ship_calls(
    db: Database,
    *,
    ship: str | None = None,
    line: str | None = None,
    status: Literal["expected", "working", "sailed"] | None = None,
) -> ShipCalls:
    """Find calls of ships, the earliest arrival first. `entries` counts what is listed or loaded.

    Args:
        ship: Only ships with this in the name, or this voyage, in capitals or not.
        line: Only this shipping line: a part of its name, in capitals or not.
        status: Only calls in this status; a call is `working` while the ship is being worked.
    """
    rows = db.all(
        f"""SELECT {CALL_COLUMNS} FROM call_details
        WHERE (:status IS NULL OR status = :status)
        ORDER BY arrives_at, ship_call_id""",
        status=status,
    )
    if ship is not None:
        part = _filled("the ship", ship)
        rows = [row for row in rows if part in row["ship"].casefold() or part == row["voyage"].casefold()]
    rows = _having(rows, "line_name", "the line", line)
    return {"ship_calls": [cast("ShipCall", row) for row in rows]}


def find_load_entries(
    db: Database,
    *,
    ship_call_id: str | None = None,
    container_id: str | None = None,
    status: Literal["listed", "loaded", "rolled", "withdrawn"] | None = None,
) -> LoadEntries:
    """Find entries of load lists, the earliest listed first.

    Args:
        ship_call_id: Only the list of this call, as `find_ship_calls` shows it.
        container_id: Only entries of this container, as `find_containers` shows it.
        status: Only entries in this status.
    """
    if ship_call_id is not None:
        _call(db, ship_call_id)
    if container_id is not None:
        _container(db, container_id)
    rows = db.all(
        f"""SELECT {LOAD_ENTRY_COLUMNS} FROM load_entry_details
        WHERE (:ship_call_id IS NULL OR ship_call_id = :ship_call_id)
          AND (:container_id IS NULL OR container_id = :container_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY listed_at, load_entry_id""",
        ship_call_id=ship_call_id,
        container_id=container_id,
        status=status,
    )
    return {"load_entries": [cast("LoadEntry", row) for row in rows]}


def find_holds(
    db: Database,
    *,
    container_id: str | None = None,
    put_by: Literal["customs", "line", "shift_leader"] | None = None,
    status: Literal["active", "lifted"] | None = None,
) -> Holds:
    """Find holds on containers, the earliest first.

    Args:
        container_id: Only holds on this container, as `find_containers` shows it.
        put_by: Only holds put by this side.
        status: Only holds in this status.
    """
    if container_id is not None:
        _container(db, container_id)
    rows = db.all(
        f"""SELECT {HOLD_COLUMNS} FROM hold_details
        WHERE (:container_id IS NULL OR container_id = :container_id)
          AND (:put_by IS NULL OR put_by = :put_by)
          AND (:status IS NULL OR status = :status)
        ORDER BY put_at, hold_id""",
        container_id=container_id,
        put_by=put_by,
        status=status,
    )
    return {"holds": [cast("Hold", row) for row in rows]}


def find_truck_windows(
    db: Database,
    *,
    day: str | None = None,
    only_free: bool = False,
) -> TruckWindows:
    """Find the hourly windows for trucks, the earliest first. `taken` counts all bookings but cancelled ones.

    Args:
        day: Only windows on this day, `YYYY-MM-DD`.
        only_free: True shows only windows with room for another truck.
    """
    rows = db.all(
        f"""SELECT {WINDOW_COLUMNS} FROM window_details
        WHERE (:day IS NULL OR date(starts_at) = :day)
          AND (:only_free = 0 OR taken < quota)
        ORDER BY starts_at, truck_window_id""",
        day=None if day is None else _day(day),
        only_free=int(only_free),
    )
    return {"truck_windows": [cast("TruckWindow", row) for row in rows]}


def find_truck_bookings(
    db: Database,
    *,
    container_id: str | None = None,
    haulier: str | None = None,
    plate: str | None = None,
    day: str | None = None,
    status: Literal["booked", "done", "missed", "cancelled"] | None = None,
) -> TruckBookings:
    """Find truck bookings, the earliest window first.

    Args:
        container_id: Only bookings for this container, as `find_containers` shows it.
        haulier: Only hauliers with this in the name, in capitals or not.
        plate: Only trucks with this in the number plate, in capitals or not.
        day: Only bookings for windows on this day, `YYYY-MM-DD`.
        status: Only bookings in this status.
    """
    if container_id is not None:
        _container(db, container_id)
    rows = db.all(
        f"""SELECT {TRUCK_BOOKING_COLUMNS} FROM truck_booking_details
        WHERE (:container_id IS NULL OR container_id = :container_id)
          AND (:day IS NULL OR date(starts_at) = :day)
          AND (:status IS NULL OR status = :status)
        ORDER BY starts_at, truck_booking_id""",
        container_id=container_id,
        day=None if day is None else _day(day),
        status=status,
    )
    rows = _having(rows, "haulier", "the haulier", haulier)
    rows = _having(rows, "plate", "the plate", plate)
    return {"truck_bookings": [cast("TruckBooking", row) for row in rows]}


def find_charges(
    db: Database,
    *,
    container_id: str | None = None,
    line: str | None = None,
    reason: Literal["storage", "truck"] | None = None,
    status: Literal["due", "paid", "waived"] | None = None,
) -> Charges:
    """Find charges, the earliest first.

    Args:
        container_id: Only charges on this container, as `find_containers` shows it.
        line: Only this shipping line: a part of its name, in capitals or not.
        reason: Only charges for storage, or for trucks that were cancelled late or missed.
        status: Only charges in this status.
    """
    if container_id is not None:
        _container(db, container_id)
    rows = db.all(
        f"""SELECT {CHARGE_COLUMNS} FROM charge_details
        WHERE (:container_id IS NULL OR container_id = :container_id)
          AND (:reason IS NULL OR reason = :reason)
          AND (:status IS NULL OR status = :status)
        ORDER BY charged_at, charge_id""",
        container_id=container_id,
        reason=reason,
        status=status,
    )
    rows = _having(rows, "line_name", "the line", line)
    return {"charges": [cast("Charge", row) for row in rows]}


def announce_container(
    db: Database,
    *,
    number: str,
    line_id: str,
    kind: Literal["dry", "reefer", "hazardous"],
    feet: Literal[20, 40],
    direction: Literal["import", "export"],
    laden: bool,
    weight_kg: int,
    arrives_by_call_id: str | None = None,
) -> Container:
    """Announce a container that will come to the yard.

    Args:
        number: Four capital letters and seven digits, such as `NRHU4410271`.
        line_id: The shipping line, as `find_ship_calls` or `find_containers` shows it.
        kind: The kind of container.
        feet: The length in feet.
        direction: Import comes by ship, export by truck.
        laden: True if it carries goods.
        weight_kg: The whole weight in kilograms, 1800 to 32500.
        arrives_by_call_id: For an import, and only then: the call that brings it, as `find_ship_calls` shows it.
    """
    if re.fullmatch(r"[A-Z]{4}[0-9]{7}", number) is None:
        raise ToolError(f"{number!r} is no container number; it has four capital letters and seven digits")
    known = db.one("SELECT id, status FROM containers WHERE number = :number", number=number)
    if known is not None:
        raise ToolError(f"{number} is known already as {known['id']}, which is {known['status']}")
    if db.one("SELECT id FROM shipping_lines WHERE id = :id", id=line_id) is None:
        raise ToolError(f"no shipping line {line_id!r}; find_ship_calls and find_containers show them")
    if weight_kg < LEAST_WEIGHT_KG or weight_kg > MOST_WEIGHT_KG:
        raise ToolError(f"a container weighs from {LEAST_WEIGHT_KG} to {MOST_WEIGHT_KG} kg, not {weight_kg}")
    if direction == "export" and arrives_by_call_id is not None:
        raise ToolError("an export comes by truck; leave out the call that would bring it")
    if direction == "import":
        if arrives_by_call_id is None:
            raise ToolError("an import comes by ship; say by which call, as find_ship_calls shows it")
        call = _call(db, arrives_by_call_id)
        if call["line_id"] != line_id:
            raise ToolError(f"{call['ship']} {call['voyage']} is a call of {call['line_name']}, not of {line_id}")
        if call["status"] == "sailed":
            raise ToolError(f"{call['ship']} {call['voyage']} has sailed and brings nothing any more")
    container_id = db.new_id("ct")
    db.run(
        """INSERT INTO containers (id, number, line_id, kind_id, feet, direction, laden, weight_kg, arrives_by_call_id, status)
        VALUES (:id, :number, :line_id, :kind, :feet, :direction, :laden, :weight_kg, :call_id, 'announced')""",
        id=container_id,
        number=number,
        line_id=line_id,
        kind=kind,
        feet=feet,
        direction=direction,
        laden=int(laden),
        weight_kg=weight_kg,
        call_id=arrives_by_call_id,
    )
    return _container(db, container_id)


def land_container(
    db: Database,
    *,
    container_id: str,
    stack_id: str,
    tier: int,
) -> Container:
    """Land an announced import from its ship and put it in a place.

    Args:
        container_id: The container, as `find_containers` shows it.
        stack_id: The stack, as `find_stacks` shows it.
        tier: The tier in that stack, 1 on the ground.
    """
    container = _container(db, container_id)
    _check_stack(db, stack_id)
    call_id = container["arrives_by_call_id"]
    if call_id is None or container["status"] != "announced":
        raise ToolError(
            f"{container['number']} is {container['direction']} and {container['status']}; only an announced import is landed"
        )
    call = _call(db, call_id)
    if call["status"] != "working":
        # rule: landed_from_its_call
        raise ToolError(
            f"{container['number']} comes by {call['ship']} {call['voyage']}, which is {call['status']}; "
            "it is landed only while that call is being worked"
        )
    return _placed(db, container_id, stack_id, tier)


def gate_in(
    db: Database,
    *,
    container_id: str,
    stack_id: str,
    tier: int,
) -> Container:
    """Let an announced export in by truck and put it in a place. Its truck booking is done with it.

    Args:
        container_id: The container, as `find_containers` shows it.
        stack_id: The stack, as `find_stacks` shows it.
        tier: The tier in that stack, 1 on the ground.
    """
    container = _container(db, container_id)
    _check_stack(db, stack_id)
    if container["direction"] != "export" or container["status"] != "announced":
        raise ToolError(
            f"{container['number']} is {container['direction']} and {container['status']}; only an announced export is let in"
        )
    _pass_the_gate(db, container, "deliver")
    return _placed(db, container_id, stack_id, tier)


def gate_out(
    db: Database,
    *,
    container_id: str,
) -> Container:
    """Let an import out by truck. Its truck booking is done with it.

    Args:
        container_id: The container, as `find_containers` shows it.
    """
    container = _container(db, container_id)
    if container["direction"] != "import" or container["status"] != "in_yard":
        raise ToolError(
            f"{container['number']} is {container['direction']} and {container['status']}; only an import in the yard is let out"
        )
    _pass_the_gate(db, container, "collect")
    days = _days_to_charge(db, container)
    if days > 0:
        # rule: all_days_charged
        raise ToolError(
            f"storage of {container['number']} is not charged for {days} more days until today; charge_storage comes first"
        )
    db.run(
        "UPDATE containers SET status = 'gated_out', stack_id = NULL, tier = NULL, left_at = :now WHERE id = :id",
        now=db.now(),
        id=container_id,
    )
    return _container(db, container_id)


def restack_container(
    db: Database,
    *,
    container_id: str,
    stack_id: str,
    tier: int,
) -> Container:
    """Move a container in the yard to another place.

    Args:
        container_id: The container, as `find_containers` shows it.
        stack_id: The stack, as `find_stacks` shows it.
        tier: The tier in that stack, 1 on the ground.
    """
    container = _container(db, container_id)
    _check_stack(db, stack_id)
    if container["status"] != "in_yard":
        raise ToolError(f"{container['number']} is {container['status']}; only what stands in the yard is restacked")
    if (container["stack_id"], container["tier"]) == (stack_id, tier):
        raise ToolError(f"{container['number']} stands in {stack_id}, tier {tier}, already")
    return _placed(db, container_id, stack_id, tier)


def put_hold(
    db: Database,
    *,
    container_id: str,
    put_by: Literal["customs", "line", "shift_leader"],
    grounds: str,
) -> Hold:
    """Put a hold on a container that has not left.

    Args:
        container_id: The container, as `find_containers` shows it.
        put_by: On whose word.
        grounds: Why, in a few words.
    """
    container = _container(db, container_id)
    if not grounds.strip():
        raise ToolError("the grounds are blank; say in a few words why the container is held")
    active = db.one(
        "SELECT id FROM holds WHERE container_id = :container_id AND put_by = :put_by AND status = 'active'",
        container_id=container_id,
        put_by=put_by,
    )
    if active is not None:
        raise ToolError(f"{container['number']} has an active hold by {put_by} already, {active['id']}")
    hold_id = db.new_id("hold")
    db.run(
        """INSERT INTO holds (id, container_id, put_by, reason, status, put_at)
        VALUES (:id, :container_id, :put_by, :reason, 'active', :now)""",
        id=hold_id,
        container_id=container_id,
        put_by=put_by,
        reason=grounds.strip(),
        now=db.now(),
    )
    return _hold(db, hold_id)


def lift_hold(
    db: Database,
    *,
    hold_id: str,
    on_word_of: Literal["customs", "line", "shift_leader"],
) -> Hold:
    """Lift an active hold.

    Args:
        hold_id: The hold, as `find_holds` shows it.
        on_word_of: Who says that it is lifted.
    """
    hold = _hold(db, hold_id)
    if hold["status"] != "active":
        raise ToolError(f"{hold_id} on {hold['number']} was lifted at {hold['lifted_at']} already")
    if hold["put_by"] != on_word_of:
        # rule: lifted_by_its_owner
        raise ToolError(
            f"{hold_id} on {hold['number']} was put by {hold['put_by']} and is not lifted on the word of {on_word_of}; "
            "ask whoever put it"
        )
    db.run("UPDATE holds SET status = 'lifted', lifted_at = :now WHERE id = :id", now=db.now(), id=hold_id)
    return _hold(db, hold_id)


def book_truck(
    db: Database,
    *,
    container_id: str,
    truck_window_id: str,
    haulier: str,
    plate: str,
) -> TruckBooking:
    """Book a truck that delivers an announced export or collects an import from the yard.

    The purpose follows from the container.

    Args:
        container_id: The container, as `find_containers` shows it.
        truck_window_id: The window, as `find_truck_windows` shows it.
        haulier: The name of the haulier.
        plate: The number plate of the truck.
    """
    container = _container(db, container_id)
    window = _window(db, truck_window_id)
    if not haulier.strip() or not plate.strip():
        raise ToolError("the haulier or the plate is blank; a booking needs both")
    if (container["direction"], container["status"]) not in (("export", "announced"), ("import", "in_yard")):
        raise ToolError(
            f"{container['number']} is {container['direction']} and {container['status']}; "
            "trucks deliver announced exports and collect imports from the yard"
        )
    opened = db.one(
        "SELECT id FROM truck_bookings WHERE container_id = :container_id AND status = 'booked'", container_id=container_id
    )
    if opened is not None:
        raise ToolError(f"{container['number']} has an open booking already, {opened['id']}; rebook or cancel that")
    _check_far_enough(db, window)
    booking_id = db.new_id("trk")
    db.run(
        """INSERT INTO truck_bookings (id, container_id, truck_window_id, purpose, haulier, plate, status, booked_at)
        VALUES (:id, :container_id, :truck_window_id, :purpose, :haulier, :plate, 'booked', :now)""",
        id=booking_id,
        container_id=container_id,
        truck_window_id=truck_window_id,
        purpose="deliver" if container["direction"] == "export" else "collect",
        haulier=haulier.strip(),
        plate=plate.strip(),
        now=db.now(),
    )
    return _truck_booking(db, booking_id)


def rebook_truck(
    db: Database,
    *,
    truck_booking_id: str,
    truck_window_id: str,
) -> TruckBooking:
    """Move an open truck booking to another window.

    Args:
        truck_booking_id: The booking, as `find_truck_bookings` shows it.
        truck_window_id: The new window, as `find_truck_windows` shows it.
    """
    booking = _open_booking(db, truck_booking_id)
    window = _window(db, truck_window_id)
    if booking["truck_window_id"] == truck_window_id:
        raise ToolError(f"{truck_booking_id} is booked for the window at {window['starts_at']} already")
    if db.now() > _later(booking["starts_at"], -MINUTES_TO_CHANGE_FREELY):
        # rule: late_changes_cost
        raise ToolError(
            f"{truck_booking_id} can be rebooked until 4 hours before {booking['starts_at']} only; it can still be cancelled at a fee"
        )
    _check_far_enough(db, window)
    db.run(
        "UPDATE truck_bookings SET truck_window_id = :truck_window_id WHERE id = :id",
        truck_window_id=truck_window_id,
        id=truck_booking_id,
    )
    return _truck_booking(db, truck_booking_id)


def cancel_truck(
    db: Database,
    *,
    truck_booking_id: str,
) -> TruckBooking:
    """Cancel an open truck booking before its window starts; if it is late for that, the fee is charged as due.

    Args:
        truck_booking_id: The booking, as `find_truck_bookings` shows it.
    """
    booking = _open_booking(db, truck_booking_id)
    if db.now() > booking["starts_at"]:
        # rule: late_changes_cost
        raise ToolError(
            f"the window of {truck_booking_id} has begun at {booking['starts_at']}, too late for cancelling; "
            "the truck comes or is recorded as missed"
        )
    _close_booking(db, truck_booking_id, "cancelled")
    if db.now() > _later(booking["starts_at"], -MINUTES_TO_CHANGE_FREELY):
        _charge_truck(db, booking)
    return _truck_booking(db, truck_booking_id)


def record_missed_truck(
    db: Database,
    *,
    truck_booking_id: str,
) -> TruckBooking:
    """Record that a truck did not come to its window; the fee is charged as due.

    Args:
        truck_booking_id: The booking, as `find_truck_bookings` shows it.
    """
    booking = _open_booking(db, truck_booking_id)
    last = _later(booking["ends_at"], MINUTES_AROUND_A_WINDOW)
    if db.now() <= last:
        # rule: late_changes_cost
        raise ToolError(f"the truck of {truck_booking_id} may still come until {last}, so it is not missed yet")
    _close_booking(db, truck_booking_id, "missed")
    _charge_truck(db, booking)
    return _truck_booking(db, truck_booking_id)


def set_window_quota(
    db: Database,
    *,
    truck_window_id: str,
    quota: int,
) -> TruckWindow:
    """Change how many trucks a window takes, on the word of the shift leader.

    Args:
        truck_window_id: The window, as `find_truck_windows` shows it.
        quota: The new number of trucks, 0 or more.
    """
    _window(db, truck_window_id)
    if quota < 0:
        raise ToolError(f"a quota of {quota} trucks makes no sense; give 0 or more")
    db.run("UPDATE truck_windows SET quota = :quota WHERE id = :id", quota=quota, id=truck_window_id)
    return _window(db, truck_window_id)


def list_for_ship(
    db: Database,
    *,
    container_id: str,
    ship_call_id: str,
) -> LoadEntry:
    """Put an export container on the load list of a call.

    Args:
        container_id: The container, as `find_containers` shows it.
        ship_call_id: The call, as `find_ship_calls` shows it.
    """
    container = _container(db, container_id)
    call = _call(db, ship_call_id)
    if container["status"] not in ("announced", "in_yard"):
        raise ToolError(f"{container['number']} is {container['status']} and has left; it cannot be listed")
    live = db.one(
        "SELECT id, ship_call_id FROM load_entries WHERE container_id = :container_id AND status IN ('listed', 'loaded')",
        container_id=container_id,
    )
    if live is not None:
        raise ToolError(f"{container['number']} is listed already for {live['ship_call_id']}, as {live['id']}; roll or withdraw that")
    _check_cutoff(db, call["ship"], call["voyage"], call["cutoff_at"])
    return _listed(db, container_id, ship_call_id, None)


def withdraw_from_list(
    db: Database,
    *,
    load_entry_id: str,
) -> LoadEntry:
    """Take a listed container off a load list; it stays in the yard.

    Args:
        load_entry_id: The entry, as `find_load_entries` shows it.
    """
    entry = _open_entry(db, load_entry_id)
    _check_cutoff(db, entry["ship"], entry["voyage"], entry["cutoff_at"])
    _close_entry(db, load_entry_id, "withdrawn")
    return _load_entry(db, load_entry_id)


def roll_to_call(
    db: Database,
    *,
    load_entry_id: str,
    ship_call_id: str,
) -> LoadEntry:
    """Roll a listed container to a later call. Shows the new entry; the old one is kept as rolled.

    Args:
        load_entry_id: The entry, as `find_load_entries` shows it.
        ship_call_id: The later call, as `find_ship_calls` shows it.
    """
    entry = _open_entry(db, load_entry_id)
    call = _call(db, ship_call_id)
    _check_cutoff(db, call["ship"], call["voyage"], call["cutoff_at"])
    _close_entry(db, load_entry_id, "rolled")
    return _listed(db, entry["container_id"], ship_call_id, load_entry_id)


def load_container(
    db: Database,
    *,
    container_id: str,
) -> Container:
    """Load a listed container onto its ship; its entry becomes loaded.

    Args:
        container_id: The container, as `find_containers` shows it.
    """
    container = _container(db, container_id)
    if container["status"] != "in_yard":
        raise ToolError(f"{container['number']} is {container['status']}; only what stands in the yard is loaded")
    entry = db.one(
        """SELECT load_entry_id, ship, voyage, call_status FROM load_entry_details
        WHERE container_id = :container_id AND status = 'listed'""",
        container_id=container_id,
    )
    if entry is None:
        # rule: loaded_from_the_list
        raise ToolError(f"{container['number']} is on no load list, so it is not loaded; list_for_ship comes first")
    if entry["call_status"] != "working":
        # rule: loaded_from_the_list
        raise ToolError(
            f"{container['number']} is listed for {entry['ship']} {entry['voyage']}, which is {entry['call_status']}; "
            "loading goes on only while that call is being worked"
        )
    db.run(
        "UPDATE containers SET status = 'loaded', stack_id = NULL, tier = NULL, left_at = :now WHERE id = :id",
        now=db.now(),
        id=container_id,
    )
    _close_entry(db, entry["load_entry_id"], "loaded")
    return _container(db, container_id)


def charge_storage(
    db: Database,
    *,
    container_id: str,
) -> Charge:
    """Charge the storage days of an import in the yard that are not charged yet, today included.

    Args:
        container_id: The container, as `find_containers` shows it.
    """
    container = _container(db, container_id)
    if container["direction"] != "import" or container["status"] != "in_yard":
        raise ToolError(
            f"{container['number']} is {container['direction']} and {container['status']}; storage is for imports in the yard"
        )
    days = _days_to_charge(db, container)
    if days <= 0:
        # rule: all_days_charged
        raise ToolError(
            f"no storage day of {container['number']} is left to charge: it has {container['free_days']} free days, "
            f"and {container['charged_days']} are charged already"
        )
    charge_id = db.new_id("chg")
    db.run(
        """INSERT INTO charges (id, container_id, reason, days, amount_cents, status, charged_at)
        VALUES (:id, :container_id, 'storage', :days, :amount_cents, 'due', :now)""",
        id=charge_id,
        container_id=container_id,
        days=days,
        amount_cents=days * container["daily_cents"],
        now=db.now(),
    )
    return _charge(db, charge_id)


def record_payment(
    db: Database,
    *,
    charge_id: str,
) -> Charge:
    """Record that a charge has been paid in full.

    Args:
        charge_id: The charge, as `find_charges` shows it.
    """
    _charge_due(db, charge_id)
    db.run("UPDATE charges SET status = 'paid', settled_at = :now WHERE id = :id", now=db.now(), id=charge_id)
    return _charge(db, charge_id)


def waive_charge(
    db: Database,
    *,
    charge_id: str,
    waived_by: Literal["desk", "shift_leader"],
    grounds: str,
) -> Charge:
    """Waive a charge that is due.

    Args:
        charge_id: The charge, as `find_charges` shows it.
        waived_by: Who has decided: the desk itself, or the shift leader, who then has said so.
        grounds: Why, in a few words.
    """
    _charge_due(db, charge_id)
    if not grounds.strip():
        raise ToolError("the grounds are blank; say in a few words why the charge is waived")
    db.run(
        """UPDATE charges SET status = 'waived', settled_at = :now, waived_by = :waived_by, waive_reason = :waive_reason
        WHERE id = :id""",
        now=db.now(),
        waived_by=waived_by,
        waive_reason=grounds.strip(),
        id=charge_id,
    )
    return _charge(db, charge_id)


def _container(db: Database, container_id: str) -> Container:
    row = db.one(f"SELECT {CONTAINER_COLUMNS} FROM container_details WHERE container_id = :id", id=container_id)
    if row is None:
        raise ToolError(f"no container {container_id!r}; find_containers lists them")
    return _as_container(row)


def _as_container(row: dict[str, Any]) -> Container:
    return cast("Container", {**row, "laden": bool(row["laden"])})


def _call(db: Database, ship_call_id: str) -> ShipCall:
    row = db.one(f"SELECT {CALL_COLUMNS} FROM call_details WHERE ship_call_id = :id", id=ship_call_id)
    if row is None:
        raise ToolError(f"no ship call {ship_call_id!r}; find_ship_calls lists them")
    return cast("ShipCall", row)


def _check_stack(db: Database, stack_id: str) -> None:
    if db.one("SELECT id FROM stacks WHERE id = :id", id=stack_id) is None:
        raise ToolError(f"no stack {stack_id!r}; find_stacks lists them")


def _filled(what: str, text: str) -> str:
    part = text.strip().casefold()
    if not part:
        raise ToolError(f"{what} is blank; leave it out to see all")
    return part


def _having(rows: list[dict[str, Any]], field: str, what: str, text: str | None) -> list[dict[str, Any]]:
    if text is None:
        return rows
    part = _filled(what, text)
    return [row for row in rows if part in row[field].casefold()]


def _placed(db: Database, container_id: str, stack_id: str, tier: int) -> Container:
    if tier < 1:
        raise ToolError(f"there is no tier {tier}; tiers are counted from 1 on the ground")
    db.run(
        """UPDATE containers SET status = 'in_yard', stack_id = :stack_id, tier = :tier,
          came_in_at = coalesce(came_in_at, :now)
        WHERE id = :id""",
        stack_id=stack_id,
        tier=tier,
        now=db.now(),
        id=container_id,
    )
    return _container(db, container_id)


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text).isoformat()
    except ValueError:
        day = ""
    if not day or day != text:
        raise ToolError(f"{text!r} is no day; write it as YYYY-MM-DD, such as 2026-03-18")
    return day


def _pass_the_gate(db: Database, container: Container, purpose: str) -> None:
    """Close the open booking of this container as done; refuse when there is none or it is not its time."""
    booking = db.one(
        """SELECT truck_booking_id, starts_at, ends_at FROM truck_booking_details
        WHERE container_id = :container_id AND purpose = :purpose AND status = 'booked'""",
        container_id=container["container_id"],
        purpose=purpose,
    )
    if booking is None:
        # rule: gate_in_time
        raise ToolError(f"no truck is booked to {purpose} {container['number']}; book_truck comes first")
    first = _later(booking["starts_at"], -MINUTES_AROUND_A_WINDOW)
    last = _later(booking["ends_at"], MINUTES_AROUND_A_WINDOW)
    if db.now() < first or db.now() > last:
        # rule: gate_in_time
        raise ToolError(
            f"the truck for {container['number']} may pass from {first} until {last} only; "
            "wait for its time, or book another window"
        )
    db.run(
        "UPDATE truck_bookings SET status = 'done', closed_at = :now WHERE id = :id",
        now=db.now(),
        id=booking["truck_booking_id"],
    )


def _days_to_charge(db: Database, container: Container) -> int:
    came_in_at = container["came_in_at"]
    if came_in_at is None:
        return 0
    stood = (date.fromisoformat(db.now()[:10]) - date.fromisoformat(came_in_at[:10])).days + 1
    return max(0, stood - container["free_days"]) - container["charged_days"]


def _check_far_enough(db: Database, window: TruckWindow) -> None:
    if window["starts_at"] < _later(db.now(), MINUTES_TO_BOOK_AHEAD):
        # rule: two_hours_ahead
        raise ToolError(
            f"the window at {window['starts_at']} is too near: windows are taken at least 2 hours before they start; "
            "find_truck_windows shows later ones"
        )


def _hold(db: Database, hold_id: str) -> Hold:
    row = db.one(f"SELECT {HOLD_COLUMNS} FROM hold_details WHERE hold_id = :id", id=hold_id)
    if row is None:
        raise ToolError(f"no hold {hold_id!r}; find_holds lists them")
    return cast("Hold", row)


def _window(db: Database, truck_window_id: str) -> TruckWindow:
    row = db.one(f"SELECT {WINDOW_COLUMNS} FROM window_details WHERE truck_window_id = :id", id=truck_window_id)
    if row is None:
        raise ToolError(f"no truck window {truck_window_id!r}; find_truck_windows lists them")
    return cast("TruckWindow", row)


def _truck_booking(db: Database, truck_booking_id: str) -> TruckBooking:
    row = db.one(
        f"SELECT {TRUCK_BOOKING_COLUMNS} FROM truck_booking_details WHERE truck_booking_id = :id", id=truck_booking_id
    )
    if row is None:
        raise ToolError(f"no truck booking {truck_booking_id!r}; find_truck_bookings lists them")
    return cast("TruckBooking", row)


def _later(moment: str, minutes: int) -> str:
    return (datetime.fromisoformat(moment) + timedelta(minutes=minutes)).isoformat(sep=" ")


def _open_booking(db: Database, truck_booking_id: str) -> TruckBooking:
    booking = _truck_booking(db, truck_booking_id)
    if booking["status"] != "booked":
        raise ToolError(f"{truck_booking_id} is closed: {booking['status']} at {booking['closed_at']}")
    return booking


def _close_booking(db: Database, truck_booking_id: str, status: str) -> None:
    db.run(
        "UPDATE truck_bookings SET status = :status, closed_at = :now WHERE id = :id",
        status=status,
        now=db.now(),
        id=truck_booking_id,
    )


def _charge_truck(db: Database, booking: TruckBooking) -> None:
    db.run(
        """INSERT INTO charges (id, container_id, reason, truck_booking_id, amount_cents, status, charged_at)
        VALUES (:id, :container_id, 'truck', :truck_booking_id, :amount_cents, 'due', :now)""",
        id=db.new_id("chg"),
        container_id=booking["container_id"],
        truck_booking_id=booking["truck_booking_id"],
        amount_cents=TRUCK_FEE_CENTS,
        now=db.now(),
    )


def _check_cutoff(db: Database, ship: str, voyage: str, cutoff_at: str) -> None:
    if db.now() > cutoff_at:
        # rule: listed_until_cutoff
        raise ToolError(f"the cut-off of {ship} {voyage} has passed at {cutoff_at}; its load list is closed")


def _listed(db: Database, container_id: str, ship_call_id: str, rolled_from_entry_id: str | None) -> LoadEntry:
    entry_id = db.new_id("ld")
    db.run(
        """INSERT INTO load_entries (id, container_id, ship_call_id, rolled_from_entry_id, status, listed_at)
        VALUES (:id, :container_id, :ship_call_id, :rolled_from_entry_id, 'listed', :now)""",
        id=entry_id,
        container_id=container_id,
        ship_call_id=ship_call_id,
        rolled_from_entry_id=rolled_from_entry_id,
        now=db.now(),
    )
    return _load_entry(db, entry_id)


def _load_entry(db: Database, load_entry_id: str) -> LoadEntry:
    row = db.one(f"SELECT {LOAD_ENTRY_COLUMNS} FROM load_entry_details WHERE load_entry_id = :id", id=load_entry_id)
    if row is None:
        raise ToolError(f"no load list entry {load_entry_id!r}; find_load_entries lists them")
    return cast("LoadEntry", row)


def _open_entry(db: Database, load_entry_id: str) -> LoadEntry:
    entry = _load_entry(db, load_entry_id)
    if entry["status"] != "listed":
        raise ToolError(f"{load_entry_id} of {entry['number']} is closed: {entry['status']} at {entry['closed_at']}")
    return entry


def _close_entry(db: Database, load_entry_id: str, status: str) -> None:
    db.run(
        "UPDATE load_entries SET status = :status, closed_at = :now WHERE id = :id",
        status=status,
        now=db.now(),
        id=load_entry_id,
    )


def _charge(db: Database, charge_id: str) -> Charge:
    row = db.one(f"SELECT {CHARGE_COLUMNS} FROM charge_details WHERE charge_id = :id", id=charge_id)
    if row is None:
        raise ToolError(f"no charge {charge_id!r}; find_charges lists them")
    return cast("Charge", row)


def _charge_due(db: Database, charge_id: str) -> Charge:
    charge = _charge(db, charge_id)
    if charge["status"] != "due":
        amount = f"{charge['amount_cents'] // 100}.{charge['amount_cents'] % 100:02d}"
        raise ToolError(
            f"{charge_id} of {amount} kr on {charge['number']} is {charge['status']} since {charge['settled_at']}; "
            "only a charge that is due can be settled"
        )
    return charge
