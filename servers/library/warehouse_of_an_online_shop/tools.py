"""Tools of the control desk in the Hazelbrook Kitchenware warehouse."""

from datetime import date
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

AT_ONCE_UP_TO_CENTS = 5000


class ReservedSpot(TypedDict):
    bin_id: str
    units: int


class OrderLine(TypedDict):
    order_line_id: str
    product_id: str
    product: str
    units: int
    unit_price_cents: int
    reserved_units: int
    returned_units: int
    reserved_in: list[ReservedSpot]


class Order(TypedDict):
    order_id: str
    customer_name: str
    service: str
    status: str
    is_paid: bool
    placed_at: str
    hold_reason: str | None
    pick_job_id: str | None
    cancelled_by: str | None
    shipped_at: str | None
    units: int
    parcel_weight_g: int
    total_cents: int
    has_blade: bool
    has_fragile: bool
    parcel_id: str | None
    packing: str | None
    pickup_id: str | None
    lines: list[OrderLine]


class Orders(TypedDict):
    orders: list[Order]


class Product(TypedDict):
    product_id: str
    name: str
    weight_g: int
    unit_cost_cents: int
    price_cents: int
    is_fragile: bool
    is_blade: bool
    status: str
    on_hand: int
    reserved_units: int
    free_units: int


class Products(TypedDict):
    products: list[Product]


class Bin(TypedDict):
    bin_id: str
    zone: str
    capacity_units: int
    stored_units: int
    room_units: int
    product_count: int


class Bins(TypedDict):
    bins: list[Bin]


class StockItem(TypedDict):
    product_id: str
    product: str
    bin_id: str
    zone: str
    on_hand: int
    reserved_units: int
    free_units: int


class Stock(TypedDict):
    stock: list[StockItem]


class StaffMember(TypedDict):
    staff_id: str
    name: str
    role: str
    has_blade_certificate: bool
    shift_starts_at: str | None
    shift_ends_at: str | None
    is_active: bool
    on_shift: bool
    assigned_pick_job_id: str | None


class Staff(TypedDict):
    staff: list[StaffMember]


class PickJob(TypedDict):
    pick_job_id: str
    status: str
    picker_id: str | None
    picker: str | None
    created_at: str
    closed_at: str | None
    order_count: int
    units: int
    has_blade: bool
    order_ids: list[str]


class PickJobs(TypedDict):
    pick_jobs: list[PickJob]


class Pickup(TypedDict):
    pickup_id: str
    carrier_id: str
    carrier: str
    takes_blades: bool
    departs_at: str
    cut_off_at: str
    parcel_limit: int
    parcel_count: int
    status: str
    parcel_ids: list[str]


class Pickups(TypedDict):
    pickups: list[Pickup]


class PurchaseOrder(TypedDict):
    purchase_order_id: str
    supplier: str
    product_id: str
    product: str
    ordered_units: int
    received_units: int
    ordered_on: str
    due_on: str
    status: str
    closed_on: str | None


class PurchaseOrders(TypedDict):
    purchase_orders: list[PurchaseOrder]


class ReturnCase(TypedDict):
    return_id: str
    order_id: str
    order_line_id: str
    customer_name: str
    product_id: str
    product: str
    is_blade: bool
    units: int
    reason: str
    status: str
    announced_on: str
    received_on: str | None
    item_condition: str | None
    quarantine_bin_id: str | None
    decided_on: str | None
    paid_cents: int
    refund_due_cents: int | None
    refund_cents: int | None
    refund_approved_by: str | None
    refunded_on: str | None


class ReturnCases(TypedDict):
    returns: list[ReturnCase]


class Adjustment(TypedDict):
    adjustment_id: str
    product_id: str
    product: str
    bin_id: str
    units_change: int
    value_cents: int
    reason: str
    status: str
    requested_by: str
    requester: str
    requested_at: str
    decided_by: str | None
    decider: str | None
    decided_at: str | None


class Adjustments(TypedDict):
    adjustments: list[Adjustment]


def find_orders(
    db: Database,
    *,
    order_id: str | None = None,
    customer: str | None = None,
    status: Literal["new", "held", "reserved", "picking", "packed", "shipped", "cancelled"] | None = None,
    service: Literal["standard", "express"] | None = None,
    product_id: str | None = None,
    pickup_id: str | None = None,
) -> Orders:
    """Find customer orders with their lines, reservations and parcel, the oldest first.

    The parcel weight is told for every order, packed or not, and includes the packing material.

    Args:
        order_id: Only the order with this id.
        customer: Only orders whose customer's name contains these words, in upper or lower case.
        status: Only orders in this status.
        service: Only standard or only express orders.
        product_id: Only orders with a line for this product, as `find_products` shows it.
        pickup_id: Only orders whose parcel is on this pickup, as `find_pickups` shows it.
    """
    words = _words(customer, "customer")
    if order_id is not None:
        _order(db, order_id)
    if product_id is not None:
        _product(db, product_id)
    if pickup_id is not None:
        _pickup(db, pickup_id)
    rows = db.all(
        """SELECT order_id, customer_name FROM order_details
        WHERE (:order_id IS NULL OR order_id = :order_id)
          AND (:status IS NULL OR status = :status)
          AND (:service IS NULL OR service = :service)
          AND (:pickup_id IS NULL OR pickup_id = :pickup_id)
          AND (:product_id IS NULL OR EXISTS (
            SELECT 1 FROM order_lines
            WHERE order_lines.order_id = order_details.order_id AND order_lines.product_id = :product_id))
        ORDER BY placed_at, order_id""",
        order_id=order_id,
        status=status,
        service=service,
        product_id=product_id,
        pickup_id=pickup_id,
    )
    return {"orders": [_order(db, row["order_id"]) for row in rows if _has_words(row["customer_name"], words)]}


def find_products(
    db: Database,
    *,
    name: str | None = None,
    is_blade: bool | None = None,
    status: Literal["active", "discontinued"] | None = None,
) -> Products:
    """Find products with their weight, cost, price and units in the whole warehouse, by name.

    Units on hand include quarantine; free units do not.

    Args:
        name: Only products whose name contains these words, in upper or lower case.
        is_blade: Only blades (true) or only other goods (false).
        status: Only products in this status.
    """
    words = _words(name, "name")
    rows = db.all(
        """SELECT product_id, name FROM product_details
        WHERE (:is_blade IS NULL OR is_blade = :is_blade) AND (:status IS NULL OR status = :status)
        ORDER BY name, product_id""",
        is_blade=None if is_blade is None else int(is_blade),
        status=status,
    )
    return {"products": [_product(db, row["product_id"]) for row in rows if _has_words(row["name"], words)]}


def find_bins(
    db: Database,
    *,
    bin_id: str | None = None,
    zone: Literal["A", "B", "Q"] | None = None,
    room_for_units: int | None = None,
) -> Bins:
    """Find bins with their zone, capacity and room, by id. `find_stock` tells what lies in them.

    Args:
        bin_id: Only the bin with this id.
        zone: Only bins of this zone.
        room_for_units: Only bins that have room for at least so many more units.
    """
    if bin_id is not None:
        _bin(db, bin_id)
    if room_for_units is not None and room_for_units < 1:
        raise ToolError(f"room_for_units is {room_for_units}, but it must be at least 1; leave it out to see every bin")
    rows = db.all(
        """SELECT bin_id, zone, capacity_units, stored_units, room_units, product_count FROM bin_details
        WHERE (:bin_id IS NULL OR bin_id = :bin_id)
          AND (:zone IS NULL OR zone = :zone)
          AND (:room IS NULL OR room_units >= :room)
        ORDER BY bin_id""",
        bin_id=bin_id,
        zone=zone,
        room=room_for_units,
    )
    return {"bins": [cast("Bin", row) for row in rows]}


def find_stock(
    db: Database,
    *,
    product_id: str | None = None,
    bin_id: str | None = None,
    zone: Literal["A", "B", "Q"] | None = None,
) -> Stock:
    """Find which products lie in which bins, with reserved and free units, by bin.

    Args:
        product_id: Only this product, as `find_products` shows it.
        bin_id: Only this bin, as `find_bins` shows it.
        zone: Only bins of this zone.
    """
    if product_id is not None:
        _product(db, product_id)
    if bin_id is not None:
        _bin(db, bin_id)
    rows = db.all(
        """SELECT product_id, product, bin_id, zone, on_hand, reserved_units, free_units FROM stock_details
        WHERE (:product_id IS NULL OR product_id = :product_id)
          AND (:bin_id IS NULL OR bin_id = :bin_id)
          AND (:zone IS NULL OR zone = :zone)
        ORDER BY bin_id, product_id""",
        product_id=product_id,
        bin_id=bin_id,
        zone=zone,
    )
    return {"stock": [cast("StockItem", row) for row in rows]}


def find_staff(
    db: Database,
    *,
    name: str | None = None,
    role: Literal["picker", "dock", "service", "buyer", "manager"] | None = None,
    on_shift: bool | None = None,
) -> Staff:
    """Find members of staff with role, certificate, today's shift and the pick job that they are assigned to, by name.

    Args:
        name: Only people whose name contains these words, in upper or lower case.
        role: Only people in this role.
        on_shift: Only people who are on shift right now (true) or who are not (false).
    """
    words = _words(name, "name")
    rows = db.all(
        "SELECT id, name FROM staff WHERE (:role IS NULL OR role = :role) ORDER BY name, id",
        role=role,
    )
    people = [_staff_member(db, row["id"]) for row in rows if _has_words(row["name"], words)]
    return {"staff": [person for person in people if on_shift is None or person["on_shift"] == on_shift]}


def find_pick_jobs(
    db: Database,
    *,
    pick_job_id: str | None = None,
    status: Literal["open", "assigned", "done", "aborted"] | None = None,
    picker_id: str | None = None,
) -> PickJobs:
    """Find pick jobs with their picker and orders, the oldest first.

    Args:
        pick_job_id: Only the pick job with this id.
        status: Only pick jobs in this status.
        picker_id: Only pick jobs of this picker, as `find_staff` shows it.
    """
    if pick_job_id is not None:
        _pick_job(db, pick_job_id)
    if picker_id is not None:
        _staff_member(db, picker_id)
    rows = db.all(
        """SELECT id FROM pick_jobs
        WHERE (:pick_job_id IS NULL OR id = :pick_job_id)
          AND (:status IS NULL OR status = :status)
          AND (:picker_id IS NULL OR picker_id = :picker_id)
        ORDER BY created_at, id""",
        pick_job_id=pick_job_id,
        status=status,
        picker_id=picker_id,
    )
    return {"pick_jobs": [_pick_job(db, row["id"]) for row in rows]}


def find_pickups(
    db: Database,
    *,
    pickup_id: str | None = None,
    carrier: str | None = None,
    status: Literal["open", "closed", "departed"] | None = None,
    takes_blades: bool | None = None,
    departs_on: str | None = None,
) -> Pickups:
    """Find carrier pickups with their cut-off, limit and parcels, those departing first at the top.

    Args:
        pickup_id: Only the pickup with this id.
        carrier: Only carriers whose name contains these words, in upper or lower case.
        status: Only pickups in this status.
        takes_blades: Only carriers that take blades (true) or that refuse them (false).
        departs_on: Only pickups departing on this day, YYYY-MM-DD.
    """
    words = _words(carrier, "carrier")
    if pickup_id is not None:
        _pickup(db, pickup_id)
    if departs_on is not None:
        _check_day(departs_on, "departs_on")
    rows = db.all(
        """SELECT pickup_id, carrier FROM pickup_details
        WHERE (:pickup_id IS NULL OR pickup_id = :pickup_id)
          AND (:status IS NULL OR status = :status)
          AND (:takes_blades IS NULL OR takes_blades = :takes_blades)
          AND (:departs_on IS NULL OR date(departs_at) = :departs_on)
        ORDER BY departs_at, pickup_id""",
        pickup_id=pickup_id,
        status=status,
        takes_blades=None if takes_blades is None else int(takes_blades),
        departs_on=departs_on,
    )
    return {"pickups": [_pickup(db, row["pickup_id"]) for row in rows if _has_words(row["carrier"], words)]}


def find_purchase_orders(
    db: Database,
    *,
    purchase_order_id: str | None = None,
    supplier: str | None = None,
    product_id: str | None = None,
    status: Literal["ordered", "part_received", "received", "closed_short"] | None = None,
) -> PurchaseOrders:
    """Find orders placed with suppliers, those due first at the top. Each is for one product.

    Args:
        purchase_order_id: Only the purchase order with this id.
        supplier: Only suppliers whose name contains these words, in upper or lower case.
        product_id: Only purchase orders for this product, as `find_products` shows it.
        status: Only purchase orders in this status.
    """
    words = _words(supplier, "supplier")
    if purchase_order_id is not None:
        _purchase_order(db, purchase_order_id)
    if product_id is not None:
        _product(db, product_id)
    rows = db.all(
        """SELECT id, supplier FROM purchase_orders
        WHERE (:purchase_order_id IS NULL OR id = :purchase_order_id)
          AND (:product_id IS NULL OR product_id = :product_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY due_on, id""",
        purchase_order_id=purchase_order_id,
        product_id=product_id,
        status=status,
    )
    found = [_purchase_order(db, row["id"]) for row in rows if _has_words(row["supplier"], words)]
    return {"purchase_orders": found}


def find_returns(
    db: Database,
    *,
    return_id: str | None = None,
    customer: str | None = None,
    order_id: str | None = None,
    status: Literal["announced", "received", "approved", "rejected", "refunded"] | None = None,
) -> ReturnCases:
    """Find returns, those announced first at the top.

    `refund_due_cents` is what a refund would come to, as soon as the condition of the goods is known.

    Args:
        return_id: Only the return with this id.
        customer: Only returns of customers whose name contains these words, in upper or lower case.
        order_id: Only returns from this order, as `find_orders` shows it.
        status: Only returns in this status.
    """
    words = _words(customer, "customer")
    if return_id is not None:
        _return_case(db, return_id)
    if order_id is not None:
        _order(db, order_id)
    rows = db.all(
        """SELECT return_id, customer_name FROM return_details
        WHERE (:return_id IS NULL OR return_id = :return_id)
          AND (:order_id IS NULL OR order_id = :order_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY announced_on, return_id""",
        return_id=return_id,
        order_id=order_id,
        status=status,
    )
    return {"returns": [_return_case(db, row["return_id"]) for row in rows if _has_words(row["customer_name"], words)]}


def find_adjustments(
    db: Database,
    *,
    adjustment_id: str | None = None,
    status: Literal["pending", "approved", "refused"] | None = None,
    product_id: str | None = None,
    requested_by: str | None = None,
) -> Adjustments:
    """Find stock adjustments with their value at cost, those asked for first at the top.

    Args:
        adjustment_id: Only the adjustment with this id.
        status: Only adjustments in this status.
        product_id: Only adjustments of this product, as `find_products` shows it.
        requested_by: Only adjustments that this member of staff asked for, as `find_staff` shows it.
    """
    if adjustment_id is not None:
        _adjustment(db, adjustment_id)
    if product_id is not None:
        _product(db, product_id)
    if requested_by is not None:
        _staff_member(db, requested_by)
    rows = db.all(
        """SELECT id FROM adjustments
        WHERE (:adjustment_id IS NULL OR id = :adjustment_id)
          AND (:status IS NULL OR status = :status)
          AND (:product_id IS NULL OR product_id = :product_id)
          AND (:requested_by IS NULL OR requested_by = :requested_by)
        ORDER BY requested_at, id""",
        adjustment_id=adjustment_id,
        status=status,
        product_id=product_id,
        requested_by=requested_by,
    )
    return {"adjustments": [_adjustment(db, row["id"]) for row in rows]}


def reserve_order(db: Database, *, order_id: str) -> Order:
    """Reserve the units of all lines of a new order.

    The units are taken from the bins in the order of their ids, as many from each as are free.

    Args:
        order_id: The order, as `find_orders` shows it.
    """
    order = _order(db, order_id)
    if order["status"] != "new":
        raise ToolError(f"{order_id} is {order['status']}; only an order in the state new is reserved")
    for line in order["lines"]:
        missing = line["units"]
        spots = db.all(
            """SELECT bin_id, free_units FROM stock_details
            WHERE product_id = :product_id AND free_units > 0 ORDER BY bin_id""",
            product_id=line["product_id"],
        )
        for spot in spots:
            units = min(missing, spot["free_units"])
            if units > 0:
                db.run(
                    "INSERT INTO reservations (order_line_id, bin_id, units) VALUES (:line, :bin, :units)",
                    line=line["order_line_id"],
                    bin=spot["bin_id"],
                    units=units,
                )
                missing -= units
    db.run("UPDATE orders SET status = 'reserved' WHERE id = :id", id=order_id)
    return _order(db, order_id)


def hold_order(db: Database, *, order_id: str, reason: str) -> Order:
    """Put an order on hold.

    Args:
        order_id: The order, as `find_orders` shows it.
        reason: Why it is held, in a few words.
    """
    order = _order(db, order_id)
    told = _text(reason, "reason")
    if order["status"] not in ("new", "reserved"):
        raise ToolError(f"{order_id} is {order['status']}; only a new or reserved order is put on hold")
    _give_back(db, order_id)
    db.run(
        "UPDATE orders SET status = 'held', hold_reason = :reason, pick_job_id = NULL WHERE id = :id",
        reason=told,
        id=order_id,
    )
    return _order(db, order_id)


def release_hold(db: Database, *, order_id: str) -> Order:
    """End the hold of an order. This does not reserve it.

    Args:
        order_id: The held order, as `find_orders` shows it.
    """
    order = _order(db, order_id)
    if order["status"] != "held":
        raise ToolError(f"{order_id} is {order['status']} and not on hold; there is no hold to end")
    db.run("UPDATE orders SET status = 'new', hold_reason = NULL WHERE id = :id", id=order_id)
    return _order(db, order_id)


def cancel_order(db: Database, *, order_id: str, requested_by: str) -> Order:
    """Cancel an order for good. It leaves its pick job.

    Args:
        order_id: The order, as `find_orders` shows it.
        requested_by: The member of staff who wants it cancelled, as `find_staff` shows it.
    """
    order = _order(db, order_id)
    _active_member(db, requested_by)
    if order["status"] == "cancelled":
        raise ToolError(f"{order_id} is cancelled already, by {order['cancelled_by']}; nothing is left to do")
    _give_back(db, order_id)
    db.run(
        """UPDATE orders SET status = 'cancelled', cancelled_by = :staff_id, hold_reason = NULL, pick_job_id = NULL
        WHERE id = :id""",
        staff_id=requested_by,
        id=order_id,
    )
    return _order(db, order_id)


def create_pick_job(db: Database, *, order_ids: list[str]) -> PickJob:
    """Create an open pick job for reserved orders that are in no pick job yet.

    Args:
        order_ids: The orders, at least one, as `find_orders` shows them.
    """
    if not order_ids:
        raise ToolError("no order is named; a pick job needs at least one reserved order")
    if len(set(order_ids)) < len(order_ids):
        raise ToolError("an order is named twice; name each order of the pick job once")
    for order_id in order_ids:
        _order(db, order_id)
    job_id = db.new_id("job")
    db.run("INSERT INTO pick_jobs (id, status, created_at) VALUES (:id, 'open', :now)", id=job_id, now=db.now())
    for order_id in order_ids:
        db.run("UPDATE orders SET pick_job_id = :job_id WHERE id = :id", job_id=job_id, id=order_id)
    return _pick_job(db, job_id)


def assign_pick_job(db: Database, *, pick_job_id: str, picker_id: str) -> PickJob:
    """Give an open pick job to a picker, who starts at once.

    Args:
        pick_job_id: The pick job, as `find_pick_jobs` shows it.
        picker_id: The picker, as `find_staff` shows it.
    """
    job = _pick_job(db, pick_job_id)
    picker = _active_member(db, picker_id)
    if job["status"] != "open":
        raise ToolError(f"{pick_job_id} is {job['status']}; only an open pick job can be assigned")
    if job["order_count"] == 0:
        raise ToolError(f"{pick_job_id} has no orders left; it can only be aborted")
    if picker["role"] != "picker":
        raise ToolError(f"{picker['name']} has the role {picker['role']}; pick jobs go to pickers")
    if picker["assigned_pick_job_id"] is not None:
        # rule: one_job_a_picker
        raise ToolError(
            f"{picker['name']} still works on {picker['assigned_pick_job_id']}; end that first or choose another picker"
        )
    if not picker["on_shift"]:
        # rule: on_shift
        raise ToolError(f"{picker['name']} is not on shift at {db.now()[11:16]}; find_staff shows who is")
    db.run(
        "UPDATE pick_jobs SET status = 'assigned', picker_id = :picker_id WHERE id = :id",
        picker_id=picker_id,
        id=pick_job_id,
    )
    db.run("UPDATE orders SET status = 'picking' WHERE pick_job_id = :id AND status = 'reserved'", id=pick_job_id)
    return _pick_job(db, pick_job_id)


def close_pick_job(db: Database, *, pick_job_id: str, outcome: Literal["done", "aborted"]) -> PickJob:
    """End a pick job: as done when everything is picked, or as aborted, which sets its orders free for another job.

    Only an assigned job can be done; an open one can only be aborted.

    Args:
        pick_job_id: The pick job, as `find_pick_jobs` shows it.
        outcome: How it ended.
    """
    job = _pick_job(db, pick_job_id)
    if job["status"] in ("done", "aborted"):
        raise ToolError(f"{pick_job_id} is {job['status']} since {job['closed_at']}; it cannot end twice")
    if job["status"] == "open" and outcome == "done":
        raise ToolError(f"{pick_job_id} is open and nobody has picked it; assign it first, or abort it")
    db.run(
        "UPDATE pick_jobs SET status = :outcome, closed_at = :now WHERE id = :id",
        outcome=outcome,
        now=db.now(),
        id=pick_job_id,
    )
    if outcome == "aborted":
        db.run(
            """UPDATE orders SET status = 'reserved', pick_job_id = NULL
            WHERE pick_job_id = :id AND status IN ('reserved', 'picking')""",
            id=pick_job_id,
        )
    return _pick_job(db, pick_job_id)


def pack_order(db: Database, *, order_id: str, packing: Literal["standard", "padded"] = "standard") -> Order:
    """Pack a picked order into a parcel. The parcel is on no pickup yet.

    Args:
        order_id: The order, as `find_orders` shows it.
        packing: How it is packed.
    """
    order = _order(db, order_id)
    if order["status"] != "picking":
        raise ToolError(f"{order_id} is {order['status']}; only an order in picking can be packed")
    db.run(
        "INSERT INTO parcels (id, order_id, packing, packed_at) VALUES (:id, :order_id, :packing, :now)",
        id=db.new_id("par"),
        order_id=order_id,
        packing=packing,
        now=db.now(),
    )
    _give_back(db, order_id)
    for line in order["lines"]:
        for spot in line["reserved_in"]:
            db.run(
                "UPDATE stock SET on_hand = on_hand - :units WHERE product_id = :product_id AND bin_id = :bin_id",
                units=spot["units"],
                product_id=line["product_id"],
                bin_id=spot["bin_id"],
            )
    db.run("UPDATE orders SET status = 'packed' WHERE id = :id", id=order_id)
    return _order(db, order_id)


def load_parcel(db: Database, *, parcel_id: str, pickup_id: str) -> Order:
    """Put a parcel that is on no pickup onto one, and show its order.

    Args:
        parcel_id: The parcel, as `find_orders` shows it.
        pickup_id: The pickup, as `find_pickups` shows it.
    """
    order = _order_of_parcel(db, parcel_id)
    pickup = _pickup(db, pickup_id)
    if order["pickup_id"] is not None:
        raise ToolError(f"{parcel_id} is on {order['pickup_id']} already; take it off that pickup first")
    _check_cut_off(db, pickup)
    db.run("UPDATE parcels SET pickup_id = :pickup_id WHERE id = :id", pickup_id=pickup_id, id=parcel_id)
    return _order(db, order["order_id"])


def unload_parcel(db: Database, *, parcel_id: str) -> Order:
    """Take a parcel off its pickup, and show its order.

    Args:
        parcel_id: The parcel, as `find_orders` shows it.
    """
    order = _order_of_parcel(db, parcel_id)
    if order["pickup_id"] is None:
        raise ToolError(f"{parcel_id} is on no pickup; there is nothing to take it off")
    _check_cut_off(db, _pickup(db, order["pickup_id"]))
    db.run("UPDATE parcels SET pickup_id = NULL WHERE id = :id", id=parcel_id)
    return _order(db, order["order_id"])


def close_pickup(db: Database, *, pickup_id: str) -> Pickup:
    """Close an open pickup, so that its parcels stay as they are. This cannot be undone.

    Args:
        pickup_id: The pickup, as `find_pickups` shows it.
    """
    pickup = _pickup(db, pickup_id)
    if pickup["status"] != "open":
        raise ToolError(f"{pickup_id} is {pickup['status']}; only an open pickup can be closed")
    db.run("UPDATE pickups SET status = 'closed' WHERE id = :id", id=pickup_id)
    return _pickup(db, pickup_id)


def record_departure(db: Database, *, pickup_id: str) -> Pickup:
    """Record that a closed pickup has left with all its parcels.

    Args:
        pickup_id: The pickup, as `find_pickups` shows it.
    """
    pickup = _pickup(db, pickup_id)
    if pickup["status"] != "closed":
        # rule: departure_ships
        raise ToolError(f"{pickup_id} is {pickup['status']}; a departure is recorded for a closed pickup, once")
    if db.now() < pickup["departs_at"]:
        # rule: departure_ships
        raise ToolError(f"{pickup_id} leaves at {pickup['departs_at']} only; record its departure from that time on")
    db.run("UPDATE pickups SET status = 'departed' WHERE id = :id", id=pickup_id)
    db.run(
        """UPDATE orders SET status = 'shipped', shipped_at = :departs_at
        WHERE id IN (SELECT order_id FROM parcels WHERE pickup_id = :id)""",
        departs_at=pickup["departs_at"],
        id=pickup_id,
    )
    return _pickup(db, pickup_id)


def receive_delivery(db: Database, *, purchase_order_id: str, units: int, bin_id: str) -> PurchaseOrder:
    """Book delivered units of a purchase order into a bin.

    A delivery that is spread over several bins is booked once for each bin.

    Args:
        purchase_order_id: The purchase order, as `find_purchase_orders` shows it.
        units: How many units go into the bin, at least 1.
        bin_id: The bin, as `find_bins` shows it.
    """
    purchase = _purchase_order(db, purchase_order_id)
    place = _bin(db, bin_id)
    _check_units(units)
    if place["zone"] == "Q":
        # rule: moves_in_a_and_b
        raise ToolError(f"{bin_id} is in quarantine; a delivery is put away into zone A or B")
    total = purchase["received_units"] + units
    complete = total >= purchase["ordered_units"]
    db.run(
        "UPDATE purchase_orders SET received_units = :total, status = :status, closed_on = :closed_on WHERE id = :id",
        total=total,
        status="received" if complete else "part_received",
        closed_on=db.now()[:10] if complete else None,
        id=purchase_order_id,
    )
    _put_into(db, purchase["product_id"], bin_id, units)
    return _purchase_order(db, purchase_order_id)


def move_stock(db: Database, *, product_id: str, from_bin_id: str, to_bin_id: str, units: int) -> Stock:
    """Move units of a product from one bin to another, and show the product in both.

    Args:
        product_id: The product, as `find_products` shows it.
        from_bin_id: The bin that the units leave, as `find_stock` shows it.
        to_bin_id: The bin that they go to, as `find_bins` shows it.
        units: How many units, at least 1.
    """
    product = _product(db, product_id)
    source = _bin(db, from_bin_id)
    target = _bin(db, to_bin_id)
    _check_units(units)
    if from_bin_id == to_bin_id:
        raise ToolError(f"{from_bin_id} is both where the units are and where they go; name two different bins")
    for place in (source, target):
        if place["zone"] == "Q":
            # rule: moves_in_a_and_b
            raise ToolError(f"{place['bin_id']} is in quarantine; stock is moved between zones A and B only")
    row = db.one(
        "SELECT free_units FROM stock_details WHERE product_id = :product_id AND bin_id = :bin_id",
        product_id=product_id,
        bin_id=from_bin_id,
    )
    free = 0 if row is None else row["free_units"]
    if free < units:
        # rule: moves_in_a_and_b, free_stock_only
        raise ToolError(f"only {free} units of {product['name']} can be moved out of {from_bin_id}, not {units}")
    db.run(
        "UPDATE stock SET on_hand = on_hand - :units WHERE product_id = :product_id AND bin_id = :bin_id",
        units=units,
        product_id=product_id,
        bin_id=from_bin_id,
    )
    _put_into(db, product_id, to_bin_id, units)
    rows = db.all(
        """SELECT product_id, product, bin_id, zone, on_hand, reserved_units, free_units FROM stock_details
        WHERE product_id = :product_id AND bin_id IN (:from_bin_id, :to_bin_id) ORDER BY bin_id, product_id""",
        product_id=product_id,
        from_bin_id=from_bin_id,
        to_bin_id=to_bin_id,
    )
    return {"stock": [cast("StockItem", item) for item in rows]}


def announce_return(db: Database, *, order_line_id: str, units: int, reason: str) -> ReturnCase:
    """Announce that a customer sends back units of one order line.

    Args:
        order_line_id: The order line, as `find_orders` shows it among the lines of the order.
        units: How many units, at least 1.
        reason: Why they come back, in a few words.
    """
    if db.one("SELECT id FROM order_lines WHERE id = :id", id=order_line_id) is None:
        raise ToolError(f"no order line {order_line_id!r}; find_orders shows the lines of each order")
    _check_units(units)
    told = _text(reason, "reason")
    return_id = db.new_id("ret")
    db.run(
        """INSERT INTO returns (id, order_line_id, units, reason, status, announced_on)
        VALUES (:id, :order_line_id, :units, :reason, 'announced', :today)""",
        id=return_id,
        order_line_id=order_line_id,
        units=units,
        reason=told,
        today=db.now()[:10],
    )
    return _return_case(db, return_id)


def receive_return(
    db: Database, *, return_id: str, item_condition: Literal["sealed", "opened", "used"], bin_id: str
) -> ReturnCase:
    """Book an announced return in as arrived, with all its units.

    Args:
        return_id: The return, as `find_returns` shows it.
        item_condition: What state the goods are in, as the dock team reports it.
        bin_id: The bin that they are put into, as `find_bins` shows it.
    """
    case = _return_case(db, return_id)
    place = _bin(db, bin_id)
    if case["status"] != "announced":
        raise ToolError(f"{return_id} is {case['status']}; only an announced return can be booked in")
    if place["zone"] != "Q":
        # rule: quarantine
        raise ToolError(f"{bin_id} is in zone {place['zone']}, but arriving returns wait in quarantine; name a zone Q bin")
    db.run(
        """UPDATE returns SET status = 'received', received_on = :today, item_condition = :item_condition,
          quarantine_bin_id = :bin_id
        WHERE id = :id""",
        today=db.now()[:10],
        item_condition=item_condition,
        bin_id=bin_id,
        id=return_id,
    )
    _put_into(db, case["product_id"], bin_id, case["units"])
    return _return_case(db, return_id)


def decide_return(
    db: Database, *, return_id: str, decision: Literal["approved", "rejected"], restock_bin_id: str | None = None
) -> ReturnCase:
    """Approve or reject a received return. Its units leave quarantine. Nothing is paid yet.

    Args:
        return_id: The return, as `find_returns` shows it.
        decision: Whether it is approved or rejected.
        restock_bin_id: The bin that approved sealed goods go to, as `find_bins` shows it; left out in all other cases.
    """
    case = _return_case(db, return_id)
    target = None if restock_bin_id is None else _bin(db, restock_bin_id)
    if case["status"] != "received":
        raise ToolError(f"{return_id} is {case['status']}; only a received return is decided")
    db.run(
        "UPDATE returns SET status = :decision, decided_on = :today WHERE id = :id",
        decision=decision,
        today=db.now()[:10],
        id=return_id,
    )
    restocked = decision == "approved" and case["item_condition"] == "sealed"
    if restocked and target is None:
        raise ToolError(f"the goods of {return_id} are sealed; name the bin of zone A or B where they are put back")
    if not restocked and target is not None:
        raise ToolError(f"the goods of {return_id} are not put back into stock; leave the bin {target['bin_id']} out")
    if target is not None and target["zone"] == "Q":
        # rule: quarantine
        raise ToolError(f"{target['bin_id']} is a quarantine bin; decided goods leave zone Q for a bin in A or B")
    db.run(
        "UPDATE stock SET on_hand = on_hand - :units WHERE product_id = :product_id AND bin_id = :bin_id",
        units=case["units"],
        product_id=case["product_id"],
        bin_id=case["quarantine_bin_id"],
    )
    if target is not None:
        _put_into(db, case["product_id"], target["bin_id"], case["units"])
    return _return_case(db, return_id)


def refund_return(db: Database, *, return_id: str, approved_by: str | None = None) -> ReturnCase:
    """Refund an approved return. The amount follows from what was paid and from the condition of the goods.

    Args:
        return_id: The return, as `find_returns` shows it.
        approved_by: Who approved the refund, as `find_staff` shows it, if an approval is needed.
    """
    case = _return_case(db, return_id)
    if approved_by is not None:
        _active_member(db, approved_by)
    if case["status"] != "approved":
        raise ToolError(f"{return_id} is {case['status']}; only an approved return is refunded, and only once")
    db.run(
        """UPDATE returns SET status = 'refunded', refund_cents = :cents, refund_approved_by = :approved_by,
          refunded_on = :today
        WHERE id = :id""",
        cents=case["refund_due_cents"],
        approved_by=approved_by,
        today=db.now()[:10],
        id=return_id,
    )
    return _return_case(db, return_id)


def request_adjustment(
    db: Database, *, product_id: str, bin_id: str, units_change: int, reason: str, requested_by: str
) -> Adjustment:
    """Ask for a correction of the units of a product in a bin.

    A small one is applied at once and comes back as approved; a larger one comes back as pending and changes no stock yet.

    Args:
        product_id: The product, as `find_products` shows it.
        bin_id: The bin, as `find_bins` shows it.
        units_change: How many units more (positive) or fewer (negative) there are than booked; not 0.
        reason: What happened, in a few words.
        requested_by: The member of staff who asks for it, as `find_staff` shows it.
    """
    product = _product(db, product_id)
    _bin(db, bin_id)
    _active_member(db, requested_by)
    told = _text(reason, "reason")
    if units_change == 0:
        raise ToolError("units_change is 0; an adjustment adds or takes away at least one unit")
    _check_change(db, product_id, bin_id, units_change)
    at_once = abs(units_change) * product["unit_cost_cents"] <= AT_ONCE_UP_TO_CENTS
    adjustment_id = db.new_id("adj")
    db.run(
        """INSERT INTO adjustments
          (id, product_id, bin_id, units_change, reason, status, requested_by, requested_at, decided_at)
        VALUES (:id, :product_id, :bin_id, :units_change, :reason, :status, :requested_by, :now, :decided_at)""",
        id=adjustment_id,
        product_id=product_id,
        bin_id=bin_id,
        units_change=units_change,
        reason=told,
        status="approved" if at_once else "pending",
        requested_by=requested_by,
        now=db.now(),
        decided_at=db.now() if at_once else None,
    )
    if at_once:
        _put_into(db, product_id, bin_id, units_change)
    return _adjustment(db, adjustment_id)


def decide_adjustment(
    db: Database, *, adjustment_id: str, decision: Literal["approved", "refused"], decided_by: str
) -> Adjustment:
    """Approve a pending adjustment, which changes the stock at once, or refuse it.

    Args:
        adjustment_id: The adjustment, as `find_adjustments` shows it.
        decision: Whether it is approved or refused.
        decided_by: The member of staff who decides, as `find_staff` shows it.
    """
    adjustment = _adjustment(db, adjustment_id)
    person = _active_member(db, decided_by)
    if adjustment["status"] != "pending":
        raise ToolError(f"{adjustment_id} is {adjustment['status']} since {adjustment['decided_at']}; it is decided once")
    if adjustment["requested_by"] == decided_by:
        # rule: second_person
        raise ToolError(f"{person['name']} asked for {adjustment_id}; it takes a different person to decide on it")
    db.run(
        "UPDATE adjustments SET status = :decision, decided_by = :decided_by, decided_at = :now WHERE id = :id",
        decision=decision,
        decided_by=decided_by,
        now=db.now(),
        id=adjustment_id,
    )
    if decision == "approved":
        _check_change(db, adjustment["product_id"], adjustment["bin_id"], adjustment["units_change"])
        _put_into(db, adjustment["product_id"], adjustment["bin_id"], adjustment["units_change"])
    return _adjustment(db, adjustment_id)


def _words(text: str | None, argument: str) -> list[str]:
    if text is None:
        return []
    words = text.casefold().split()
    if not words:
        raise ToolError(f"{argument} is blank; give at least one word of it or leave it out")
    return words


def _has_words(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _order(db: Database, order_id: str) -> Order:
    row = db.one(
        """SELECT order_id, customer_name, service, status, is_paid, placed_at, hold_reason, pick_job_id, cancelled_by,
          shipped_at, units, parcel_weight_g, total_cents, has_blade, has_fragile, parcel_id, packing, pickup_id
        FROM order_details WHERE order_id = :id""",
        id=order_id,
    )
    if row is None:
        raise ToolError(f"no order {order_id!r}; find_orders lists them")
    lines = db.all(
        """SELECT order_line_id, product_id, product, units, unit_price_cents, reserved_units, returned_units
        FROM order_line_details WHERE order_id = :id ORDER BY order_line_id""",
        id=order_id,
    )
    spots = db.all(
        """SELECT reservations.order_line_id, reservations.bin_id, reservations.units
        FROM reservations JOIN order_lines ON order_lines.id = reservations.order_line_id
        WHERE order_lines.order_id = :id ORDER BY reservations.order_line_id, reservations.bin_id""",
        id=order_id,
    )
    shown = [
        {
            **line,
            "reserved_in": [
                {"bin_id": spot["bin_id"], "units": spot["units"]}
                for spot in spots
                if spot["order_line_id"] == line["order_line_id"]
            ],
        }
        for line in lines
    ]
    order = {
        **row,
        "is_paid": bool(row["is_paid"]),
        "has_blade": bool(row["has_blade"]),
        "has_fragile": bool(row["has_fragile"]),
        "lines": shown,
    }
    return cast("Order", order)


def _product(db: Database, product_id: str) -> Product:
    row = db.one(
        """SELECT product_id, name, weight_g, unit_cost_cents, price_cents, is_fragile, is_blade, status, on_hand,
          reserved_units, free_units
        FROM product_details WHERE product_id = :id""",
        id=product_id,
    )
    if row is None:
        raise ToolError(f"no product {product_id!r}; find_products lists them")
    product = {**row, "is_fragile": bool(row["is_fragile"]), "is_blade": bool(row["is_blade"])}
    return cast("Product", product)


def _bin(db: Database, bin_id: str) -> Bin:
    row = db.one(
        """SELECT bin_id, zone, capacity_units, stored_units, room_units, product_count
        FROM bin_details WHERE bin_id = :id""",
        id=bin_id,
    )
    if row is None:
        raise ToolError(f"no bin {bin_id!r}; find_bins lists them")
    return cast("Bin", row)


def _pickup(db: Database, pickup_id: str) -> Pickup:
    row = db.one(
        """SELECT pickup_id, carrier_id, carrier, takes_blades, departs_at, cut_off_at, parcel_limit, parcel_count, status
        FROM pickup_details WHERE pickup_id = :id""",
        id=pickup_id,
    )
    if row is None:
        raise ToolError(f"no pickup {pickup_id!r}; find_pickups lists them")
    parcels = db.all("SELECT id FROM parcels WHERE pickup_id = :id ORDER BY id", id=pickup_id)
    pickup = {**row, "takes_blades": bool(row["takes_blades"]), "parcel_ids": [parcel["id"] for parcel in parcels]}
    return cast("Pickup", pickup)


def _staff_member(db: Database, staff_id: str) -> StaffMember:
    row = db.one(
        """SELECT staff.id AS staff_id, staff.name, staff.role, staff.has_blade_certificate, staff.shift_starts_at,
          staff.shift_ends_at, staff.is_active, pick_jobs.id AS assigned_pick_job_id
        FROM staff LEFT JOIN pick_jobs ON pick_jobs.picker_id = staff.id AND pick_jobs.status = 'assigned'
        WHERE staff.id = :id""",
        id=staff_id,
    )
    if row is None:
        raise ToolError(f"no member of staff {staff_id!r}; find_staff lists them")
    starts, ends = row["shift_starts_at"], row["shift_ends_at"]
    on_shift = bool(row["is_active"]) and starts is not None and ends is not None and starts <= db.now() < ends
    person = {
        **row,
        "has_blade_certificate": bool(row["has_blade_certificate"]),
        "is_active": bool(row["is_active"]),
        "on_shift": on_shift,
    }
    return cast("StaffMember", person)


def _pick_job(db: Database, pick_job_id: str) -> PickJob:
    row = db.one(
        """SELECT pick_job_id, status, picker_id, picker, created_at, closed_at, order_count, units, has_blade
        FROM pick_job_details WHERE pick_job_id = :id""",
        id=pick_job_id,
    )
    if row is None:
        raise ToolError(f"no pick job {pick_job_id!r}; find_pick_jobs lists them")
    orders = db.all("SELECT id FROM orders WHERE pick_job_id = :id ORDER BY placed_at, id", id=pick_job_id)
    job = {**row, "has_blade": bool(row["has_blade"]), "order_ids": [order["id"] for order in orders]}
    return cast("PickJob", job)


def _check_day(day: str, argument: str) -> None:
    try:
        right = date.fromisoformat(day).isoformat() == day
    except ValueError:
        right = False
    if not right:
        raise ToolError(f"{argument} {day!r} is no date; write it as YYYY-MM-DD")


def _text(text: str, argument: str) -> str:
    stripped = text.strip()
    if not stripped:
        raise ToolError(f"the {argument} is blank; say it in a few words")
    return stripped


def _give_back(db: Database, order_id: str) -> None:
    db.run(
        "DELETE FROM reservations WHERE order_line_id IN (SELECT id FROM order_lines WHERE order_id = :id)", id=order_id
    )


def _purchase_order(db: Database, purchase_order_id: str) -> PurchaseOrder:
    row = db.one(
        """SELECT purchase_orders.id AS purchase_order_id, purchase_orders.supplier, purchase_orders.product_id,
          products.name AS product, purchase_orders.ordered_units, purchase_orders.received_units,
          purchase_orders.ordered_on, purchase_orders.due_on, purchase_orders.status, purchase_orders.closed_on
        FROM purchase_orders JOIN products ON products.id = purchase_orders.product_id
        WHERE purchase_orders.id = :id""",
        id=purchase_order_id,
    )
    if row is None:
        raise ToolError(f"no purchase order {purchase_order_id!r}; find_purchase_orders lists them")
    return cast("PurchaseOrder", row)


def _return_case(db: Database, return_id: str) -> ReturnCase:
    row = db.one(
        """SELECT return_id, order_id, order_line_id, customer_name, product_id, product, is_blade, units, reason, status,
          announced_on, received_on, item_condition, quarantine_bin_id, decided_on, paid_cents, refund_due_cents,
          refund_cents, refund_approved_by, refunded_on
        FROM return_details WHERE return_id = :id""",
        id=return_id,
    )
    if row is None:
        raise ToolError(f"no return {return_id!r}; find_returns lists them")
    return cast("ReturnCase", {**row, "is_blade": bool(row["is_blade"])})


def _adjustment(db: Database, adjustment_id: str) -> Adjustment:
    row = db.one(
        """SELECT adjustment_id, product_id, product, bin_id, units_change, value_cents, reason, status, requested_by,
          requester, requested_at, decided_by, decider, decided_at
        FROM adjustment_details WHERE adjustment_id = :id""",
        id=adjustment_id,
    )
    if row is None:
        raise ToolError(f"no adjustment {adjustment_id!r}; find_adjustments lists them")
    return cast("Adjustment", row)


def _active_member(db: Database, staff_id: str) -> StaffMember:
    person = _staff_member(db, staff_id)
    if not person["is_active"]:
        raise ToolError(f"{person['name']} ({staff_id}) no longer works here; name somebody who does")
    return person


def _order_of_parcel(db: Database, parcel_id: str) -> Order:
    row = db.one("SELECT order_id FROM parcels WHERE id = :id", id=parcel_id)
    if row is None:
        raise ToolError(f"no parcel {parcel_id!r}; find_orders shows the parcels of packed orders")
    return _order(db, row["order_id"])


def _check_cut_off(db: Database, pickup: Pickup) -> None:
    if pickup["status"] == "open" and db.now()[:16] > pickup["cut_off_at"][:16]:
        # rule: cut_off
        raise ToolError(
            f"the cut-off of {pickup['pickup_id']} was at {pickup['cut_off_at'][:16]}; its parcels stay as they are now"
        )


def _check_units(units: int) -> None:
    if units < 1:
        raise ToolError(f"units is {units}, but it must be at least 1")


def _put_into(db: Database, product_id: str, bin_id: str, units: int) -> None:
    there = db.one(
        "SELECT on_hand FROM stock WHERE product_id = :product_id AND bin_id = :bin_id",
        product_id=product_id,
        bin_id=bin_id,
    )
    if there is None:
        db.run(
            "INSERT INTO stock (product_id, bin_id, on_hand) VALUES (:product_id, :bin_id, :units)",
            product_id=product_id,
            bin_id=bin_id,
            units=units,
        )
    else:
        db.run(
            "UPDATE stock SET on_hand = on_hand + :units WHERE product_id = :product_id AND bin_id = :bin_id",
            units=units,
            product_id=product_id,
            bin_id=bin_id,
        )


def _check_change(db: Database, product_id: str, bin_id: str, units_change: int) -> None:
    if units_change > 0:
        return
    row = db.one(
        "SELECT on_hand, reserved_units FROM stock_details WHERE product_id = :product_id AND bin_id = :bin_id",
        product_id=product_id,
        bin_id=bin_id,
    )
    on_hand = 0 if row is None else row["on_hand"]
    reserved = 0 if row is None else row["reserved_units"]
    left = on_hand + units_change
    if left < 0:
        raise ToolError(f"{bin_id} holds {on_hand} units of {product_id}, so {-units_change} cannot be taken away")
    if left < reserved:
        # rule: free_stock_only
        raise ToolError(
            f"{reserved} of the {on_hand} units of {product_id} in {bin_id} belong to orders; hold or cancel one first"
        )
    waiting = db.one(
        """SELECT coalesce(sum(returns.units), 0) AS units
        FROM returns JOIN order_lines ON order_lines.id = returns.order_line_id
        WHERE returns.status = 'received' AND returns.quarantine_bin_id = :bin_id
          AND order_lines.product_id = :product_id""",
        bin_id=bin_id,
        product_id=product_id,
    )
    undecided = 0 if waiting is None else waiting["units"]
    if left < undecided:
        # rule: quarantine
        raise ToolError(f"{undecided} units of {product_id} in {bin_id} belong to undecided returns; decide these first")
