CREATE TABLE staff (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('picker', 'dock', 'service', 'buyer', 'manager')),
  has_blade_certificate INTEGER NOT NULL DEFAULT 0 CHECK (has_blade_certificate IN (0, 1)),
  shift_starts_at TEXT CHECK (shift_starts_at IS datetime(shift_starts_at)),
  shift_ends_at TEXT CHECK (shift_ends_at IS datetime(shift_ends_at)),
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  CHECK ((shift_starts_at IS NULL) = (shift_ends_at IS NULL)),
  CHECK (shift_ends_at > shift_starts_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE products (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  weight_g INTEGER NOT NULL CHECK (weight_g > 0),
  unit_cost_cents INTEGER NOT NULL CHECK (unit_cost_cents > 0),
  price_cents INTEGER NOT NULL CHECK (price_cents > 0),
  is_fragile INTEGER NOT NULL DEFAULT 0 CHECK (is_fragile IN (0, 1)),
  is_blade INTEGER NOT NULL DEFAULT 0 CHECK (is_blade IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'discontinued'))
) STRICT, WITHOUT ROWID;

CREATE TABLE bins (
  id TEXT PRIMARY KEY,
  zone TEXT NOT NULL CHECK (zone IN ('A', 'B', 'Q')),
  capacity_units INTEGER NOT NULL CHECK (capacity_units > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE stock (
  product_id TEXT NOT NULL REFERENCES products (id),
  bin_id TEXT NOT NULL REFERENCES bins (id),
  on_hand INTEGER NOT NULL CHECK (on_hand >= 0),
  PRIMARY KEY (product_id, bin_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE carriers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  takes_blades INTEGER NOT NULL CHECK (takes_blades IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE pickups (
  id TEXT PRIMARY KEY,
  carrier_id TEXT NOT NULL REFERENCES carriers (id),
  departs_at TEXT NOT NULL CHECK (departs_at IS datetime(departs_at)),
  parcel_limit INTEGER NOT NULL CHECK (parcel_limit > 0),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed', 'departed')),
  UNIQUE (carrier_id, departs_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE pick_jobs (
  id TEXT PRIMARY KEY,
  picker_id TEXT REFERENCES staff (id),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'assigned', 'done', 'aborted')),
  created_at TEXT NOT NULL CHECK (created_at IS datetime(created_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (status <> 'open' OR picker_id IS NULL),
  CHECK (status NOT IN ('assigned', 'done') OR picker_id IS NOT NULL),
  CHECK ((status IN ('done', 'aborted')) = (closed_at IS NOT NULL)),
  CHECK (closed_at >= created_at)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_active_job_a_picker ON pick_jobs (picker_id) WHERE status = 'assigned';

CREATE TABLE orders (
  id TEXT PRIMARY KEY,
  customer_name TEXT NOT NULL,
  service TEXT NOT NULL CHECK (service IN ('standard', 'express')),
  status TEXT NOT NULL DEFAULT 'new'
    CHECK (status IN ('new', 'held', 'reserved', 'picking', 'packed', 'shipped', 'cancelled')),
  is_paid INTEGER NOT NULL CHECK (is_paid IN (0, 1)),
  placed_at TEXT NOT NULL CHECK (placed_at IS datetime(placed_at)),
  hold_reason TEXT,
  pick_job_id TEXT REFERENCES pick_jobs (id),
  cancelled_by TEXT REFERENCES staff (id),
  shipped_at TEXT CHECK (shipped_at IS datetime(shipped_at)),
  CHECK ((status = 'held') = (hold_reason IS NOT NULL)),
  CHECK ((status = 'cancelled') = (cancelled_by IS NOT NULL)),
  CHECK ((status = 'shipped') = (shipped_at IS NOT NULL)),
  CHECK (status <> 'picking' OR pick_job_id IS NOT NULL),
  CHECK (status NOT IN ('new', 'held', 'cancelled') OR pick_job_id IS NULL),
  CHECK (is_paid = 1 OR status IN ('new', 'held', 'cancelled')),
  CHECK (shipped_at >= placed_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE order_lines (
  id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL REFERENCES orders (id),
  product_id TEXT NOT NULL REFERENCES products (id),
  units INTEGER NOT NULL CHECK (units > 0),
  unit_price_cents INTEGER NOT NULL CHECK (unit_price_cents >= 0),
  UNIQUE (order_id, product_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservations (
  order_line_id TEXT NOT NULL REFERENCES order_lines (id),
  bin_id TEXT NOT NULL REFERENCES bins (id),
  units INTEGER NOT NULL CHECK (units > 0),
  PRIMARY KEY (order_line_id, bin_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE parcels (
  id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL UNIQUE REFERENCES orders (id),
  packing TEXT NOT NULL CHECK (packing IN ('standard', 'padded')),
  packed_at TEXT NOT NULL CHECK (packed_at IS datetime(packed_at)),
  pickup_id TEXT REFERENCES pickups (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE purchase_orders (
  id TEXT PRIMARY KEY,
  supplier TEXT NOT NULL,
  product_id TEXT NOT NULL REFERENCES products (id),
  ordered_units INTEGER NOT NULL CHECK (ordered_units > 0),
  received_units INTEGER NOT NULL DEFAULT 0 CHECK (received_units >= 0),
  ordered_on TEXT NOT NULL CHECK (ordered_on IS date(ordered_on)),
  due_on TEXT NOT NULL CHECK (due_on IS date(due_on)),
  status TEXT NOT NULL DEFAULT 'ordered' CHECK (status IN ('ordered', 'part_received', 'received', 'closed_short')),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  CHECK (due_on >= ordered_on),
  CHECK (received_units * 100 <= ordered_units * 105),
  CHECK (status <> 'ordered' OR received_units = 0),
  CHECK (status <> 'part_received' OR (received_units > 0 AND received_units < ordered_units)),
  CHECK (status <> 'received' OR received_units >= ordered_units),
  CHECK (status <> 'closed_short' OR received_units < ordered_units),
  CHECK ((status IN ('received', 'closed_short')) = (closed_on IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE returns (
  id TEXT PRIMARY KEY,
  order_line_id TEXT NOT NULL REFERENCES order_lines (id),
  units INTEGER NOT NULL CHECK (units > 0),
  reason TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'announced'
    CHECK (status IN ('announced', 'received', 'approved', 'rejected', 'refunded')),
  announced_on TEXT NOT NULL CHECK (announced_on IS date(announced_on)),
  received_on TEXT CHECK (received_on IS date(received_on)),
  item_condition TEXT CHECK (item_condition IN ('sealed', 'opened', 'used')),
  quarantine_bin_id TEXT REFERENCES bins (id),
  decided_on TEXT CHECK (decided_on IS date(decided_on)),
  refund_cents INTEGER CHECK (refund_cents >= 0),
  refund_approved_by TEXT REFERENCES staff (id),
  refunded_on TEXT CHECK (refunded_on IS date(refunded_on)),
  CHECK ((status = 'announced') = (received_on IS NULL)),
  CHECK ((status = 'announced') = (item_condition IS NULL)),
  CHECK ((status = 'announced') = (quarantine_bin_id IS NULL)),
  CHECK ((status IN ('approved', 'rejected', 'refunded')) = (decided_on IS NOT NULL)),
  CHECK ((status = 'refunded') = (refund_cents IS NOT NULL)),
  CHECK ((status = 'refunded') = (refunded_on IS NOT NULL)),
  CHECK (refund_cents <= 20000 OR refund_approved_by IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE adjustments (
  id TEXT PRIMARY KEY,
  product_id TEXT NOT NULL REFERENCES products (id),
  bin_id TEXT NOT NULL REFERENCES bins (id),
  units_change INTEGER NOT NULL CHECK (units_change <> 0),
  reason TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'refused')),
  requested_by TEXT NOT NULL REFERENCES staff (id),
  requested_at TEXT NOT NULL CHECK (requested_at IS datetime(requested_at)),
  decided_by TEXT REFERENCES staff (id),
  decided_at TEXT CHECK (decided_at IS datetime(decided_at)),
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK (status <> 'pending' OR decided_by IS NULL),
  CHECK (status <> 'refused' OR decided_by IS NOT NULL),
  CHECK (decided_by <> requested_by)
) STRICT, WITHOUT ROWID;

CREATE VIEW stock_details AS
SELECT stock.product_id, products.name AS product, stock.bin_id, bins.zone, stock.on_hand,
  coalesce(taken.units, 0) AS reserved_units,
  CASE WHEN bins.zone = 'Q' THEN 0 ELSE stock.on_hand - coalesce(taken.units, 0) END AS free_units
FROM stock
JOIN products ON products.id = stock.product_id
JOIN bins ON bins.id = stock.bin_id
LEFT JOIN (
  SELECT order_lines.product_id AS product_id, reservations.bin_id AS bin_id, sum(reservations.units) AS units
  FROM reservations JOIN order_lines ON order_lines.id = reservations.order_line_id
  GROUP BY order_lines.product_id, reservations.bin_id
) AS taken ON taken.product_id = stock.product_id AND taken.bin_id = stock.bin_id;

CREATE VIEW bin_details AS
SELECT bins.id AS bin_id, bins.zone, bins.capacity_units,
  (SELECT coalesce(sum(stock.on_hand), 0) FROM stock WHERE stock.bin_id = bins.id) AS stored_units,
  bins.capacity_units - (SELECT coalesce(sum(stock.on_hand), 0) FROM stock WHERE stock.bin_id = bins.id) AS room_units,
  (SELECT count(*) FROM stock WHERE stock.bin_id = bins.id AND stock.on_hand > 0) AS product_count
FROM bins;

CREATE VIEW product_details AS
SELECT products.id AS product_id, products.name, products.weight_g, products.unit_cost_cents, products.price_cents,
  products.is_fragile, products.is_blade, products.status,
  (SELECT coalesce(sum(stock_details.on_hand), 0) FROM stock_details
    WHERE stock_details.product_id = products.id) AS on_hand,
  (SELECT coalesce(sum(stock_details.reserved_units), 0) FROM stock_details
    WHERE stock_details.product_id = products.id) AS reserved_units,
  (SELECT coalesce(sum(stock_details.free_units), 0) FROM stock_details
    WHERE stock_details.product_id = products.id) AS free_units
FROM products;

CREATE VIEW order_line_details AS
SELECT order_lines.id AS order_line_id, order_lines.order_id, orders.customer_name, orders.service, orders.status,
  orders.is_paid, orders.placed_at, orders.shipped_at, order_lines.product_id, products.name AS product,
  products.is_blade, products.is_fragile, order_lines.units, order_lines.unit_price_cents,
  (SELECT coalesce(sum(reservations.units), 0) FROM reservations
    WHERE reservations.order_line_id = order_lines.id) AS reserved_units,
  (SELECT coalesce(sum(returns.units), 0) FROM returns
    WHERE returns.order_line_id = order_lines.id AND returns.status <> 'rejected') AS returned_units
FROM order_lines
JOIN orders ON orders.id = order_lines.order_id
JOIN products ON products.id = order_lines.product_id;

CREATE VIEW order_details AS
SELECT orders.id AS order_id, orders.customer_name, orders.service, orders.status, orders.is_paid, orders.placed_at,
  orders.hold_reason, orders.pick_job_id, orders.cancelled_by, orders.shipped_at,
  coalesce(sum(order_lines.units), 0) AS units,
  coalesce(sum(order_lines.units * products.weight_g), 0) + 400 AS parcel_weight_g,
  coalesce(sum(order_lines.units * order_lines.unit_price_cents), 0) AS total_cents,
  coalesce(max(products.is_blade), 0) AS has_blade,
  coalesce(max(products.is_fragile), 0) AS has_fragile,
  parcels.id AS parcel_id, parcels.packing, parcels.pickup_id
FROM orders
LEFT JOIN order_lines ON order_lines.order_id = orders.id
LEFT JOIN products ON products.id = order_lines.product_id
LEFT JOIN parcels ON parcels.order_id = orders.id
GROUP BY orders.id;

CREATE VIEW pick_job_details AS
SELECT pick_jobs.id AS pick_job_id, pick_jobs.status, pick_jobs.picker_id, staff.name AS picker,
  staff.has_blade_certificate AS picker_has_certificate, pick_jobs.created_at, pick_jobs.closed_at,
  count(order_details.order_id) AS order_count,
  coalesce(sum(order_details.units), 0) AS units,
  coalesce(max(order_details.has_blade), 0) AS has_blade
FROM pick_jobs
LEFT JOIN staff ON staff.id = pick_jobs.picker_id
LEFT JOIN order_details ON order_details.pick_job_id = pick_jobs.id
GROUP BY pick_jobs.id;

CREATE VIEW pickup_details AS
SELECT pickups.id AS pickup_id, pickups.carrier_id, carriers.name AS carrier, carriers.takes_blades,
  pickups.departs_at, datetime(pickups.departs_at, '-30 minutes') AS cut_off_at, pickups.parcel_limit,
  (SELECT count(*) FROM parcels WHERE parcels.pickup_id = pickups.id) AS parcel_count, pickups.status
FROM pickups JOIN carriers ON carriers.id = pickups.carrier_id;

CREATE VIEW return_details AS
SELECT returns.id AS return_id, order_lines.order_id, returns.order_line_id, orders.customer_name, orders.shipped_at,
  order_lines.product_id, products.name AS product, products.is_blade, returns.units, returns.reason, returns.status,
  returns.announced_on, returns.received_on, returns.item_condition, returns.quarantine_bin_id, returns.decided_on,
  returns.units * order_lines.unit_price_cents AS paid_cents,
  CASE WHEN returns.item_condition IS NULL THEN NULL
    WHEN returns.item_condition = 'sealed' THEN returns.units * order_lines.unit_price_cents
    ELSE returns.units * order_lines.unit_price_cents * 85 / 100 END AS refund_due_cents,
  returns.refund_cents, returns.refund_approved_by, returns.refunded_on
FROM returns
JOIN order_lines ON order_lines.id = returns.order_line_id
JOIN orders ON orders.id = order_lines.order_id
JOIN products ON products.id = order_lines.product_id;

CREATE VIEW adjustment_details AS
SELECT adjustments.id AS adjustment_id, adjustments.product_id, products.name AS product, adjustments.bin_id,
  adjustments.units_change, abs(adjustments.units_change) * products.unit_cost_cents AS value_cents,
  adjustments.reason, adjustments.status, adjustments.requested_by, asker.name AS requester, adjustments.requested_at,
  adjustments.decided_by, decider.name AS decider, adjustments.decided_at
FROM adjustments
JOIN products ON products.id = adjustments.product_id
JOIN staff AS asker ON asker.id = adjustments.requested_by
LEFT JOIN staff AS decider ON decider.id = adjustments.decided_by;

CREATE TRIGGER bins_have_limits AFTER UPDATE OF on_hand ON stock WHEN NEW.on_hand > OLD.on_hand
BEGIN
  SELECT RAISE(ABORT, 'this bin has no room for so many units; choose another bin or a smaller number')
  FROM bin_details WHERE bin_details.bin_id = NEW.bin_id AND bin_details.room_units < 0;
  SELECT RAISE(ABORT, 'this bin holds three products already; choose another bin')
  FROM bin_details WHERE bin_details.bin_id = NEW.bin_id AND bin_details.product_count > 3;
END;

CREATE TRIGGER bins_have_limits_for_new_stock AFTER INSERT ON stock
BEGIN
  SELECT RAISE(ABORT, 'this bin has no room for so many units; choose another bin or a smaller number')
  FROM bin_details WHERE bin_details.bin_id = NEW.bin_id AND bin_details.room_units < 0;
  SELECT RAISE(ABORT, 'this bin holds three products already; choose another bin')
  FROM bin_details WHERE bin_details.bin_id = NEW.bin_id AND bin_details.product_count > 3;
END;

CREATE TRIGGER stock_covers_reservations BEFORE UPDATE OF on_hand ON stock WHEN NEW.on_hand < OLD.on_hand
BEGIN
  SELECT RAISE(ABORT, 'these units are reserved for orders; only free units can leave the bin')
  FROM stock_details
  WHERE stock_details.product_id = NEW.product_id AND stock_details.bin_id = NEW.bin_id
    AND stock_details.reserved_units > NEW.on_hand;
END;

CREATE TRIGGER order_lines_are_fixed BEFORE UPDATE ON order_lines
BEGIN
  SELECT RAISE(ABORT, 'the lines of an order do not change; the order can be cancelled and placed anew');
END;

CREATE TRIGGER reserve_paid_waiting_orders BEFORE INSERT ON reservations
BEGIN
  SELECT RAISE(ABORT, 'this order is not paid; it cannot be reserved before it is')
  FROM order_lines JOIN orders ON orders.id = order_lines.order_id
  WHERE order_lines.id = NEW.order_line_id AND orders.is_paid = 0;
  SELECT RAISE(ABORT, 'only a new order can be reserved; a held one must be released from its hold first')
  FROM order_lines JOIN orders ON orders.id = order_lines.order_id
  WHERE order_lines.id = NEW.order_line_id AND orders.status NOT IN ('new', 'reserved', 'picking');
END;

CREATE TRIGGER reserve_free_stock BEFORE INSERT ON reservations
BEGIN
  SELECT RAISE(ABORT, 'units in quarantine cannot be reserved; take them from zone A or B')
  FROM bins WHERE bins.id = NEW.bin_id AND bins.zone = 'Q';
  SELECT RAISE(ABORT, 'this bin has too few free units of the product; try other bins in zones A and B')
  FROM order_lines
  WHERE order_lines.id = NEW.order_line_id
    AND NEW.units > (
      SELECT coalesce(sum(stock_details.free_units), 0) FROM stock_details
      WHERE stock_details.product_id = order_lines.product_id AND stock_details.bin_id = NEW.bin_id);
END;

CREATE TRIGGER reservations_fit_the_line BEFORE INSERT ON reservations
BEGIN
  SELECT RAISE(ABORT, 'this would reserve more units than the order line asks for')
  FROM order_line_details
  WHERE order_line_details.order_line_id = NEW.order_line_id
    AND order_line_details.reserved_units + NEW.units > order_line_details.units;
END;

CREATE TRIGGER express_comes_first BEFORE INSERT ON reservations
BEGIN
  SELECT RAISE(ABORT, 'an older express order waits for these units; reserve that one first or wait for a delivery')
  FROM order_lines JOIN orders ON orders.id = order_lines.order_id
  WHERE order_lines.id = NEW.order_line_id AND orders.service = 'standard' AND orders.status = 'new'
    AND EXISTS (
      SELECT 1 FROM order_line_details AS waiting
      WHERE waiting.product_id = order_lines.product_id AND waiting.service = 'express'
        AND waiting.status = 'new' AND waiting.is_paid = 1 AND waiting.placed_at < orders.placed_at)
    AND (SELECT coalesce(sum(stock_details.free_units), 0) FROM stock_details
         WHERE stock_details.product_id = order_lines.product_id) - NEW.units
      < (SELECT coalesce(sum(waiting.units), 0) FROM order_line_details AS waiting
         WHERE waiting.product_id = order_lines.product_id AND waiting.service = 'express'
           AND waiting.status = 'new' AND waiting.is_paid = 1 AND waiting.placed_at < orders.placed_at);
END;

CREATE TRIGGER reservations_are_not_changed BEFORE UPDATE ON reservations
BEGIN
  SELECT RAISE(ABORT, 'a reservation is not changed; release it and reserve again');
END;

CREATE TRIGGER orders_follow_their_path BEFORE UPDATE OF status ON orders WHEN NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'an order that is packed can no longer be cancelled; the customer can return it after shipping')
  WHERE OLD.status IN ('packed', 'shipped') AND NEW.status = 'cancelled';
  SELECT RAISE(ABORT, 'an order in this state cannot take that step; look up its state first')
  WHERE NOT (
    (OLD.status = 'new' AND NEW.status IN ('held', 'reserved', 'cancelled'))
    OR (OLD.status = 'held' AND NEW.status IN ('new', 'cancelled'))
    OR (OLD.status = 'reserved' AND NEW.status IN ('new', 'held', 'picking', 'cancelled'))
    OR (OLD.status = 'picking' AND NEW.status IN ('reserved', 'packed', 'cancelled'))
    OR (OLD.status = 'packed' AND NEW.status = 'shipped'));
END;

CREATE TRIGGER orders_are_reserved_whole BEFORE UPDATE OF status ON orders
WHEN NEW.status = 'reserved' AND OLD.status = 'new'
BEGIN
  SELECT RAISE(ABORT, 'an order is reserved whole or not at all; free stock does not cover every line')
  FROM order_line_details
  WHERE order_line_details.order_id = NEW.id AND order_line_details.reserved_units <> order_line_details.units;
END;

CREATE TRIGGER managers_cancel_picking BEFORE UPDATE OF status ON orders
WHEN OLD.status = 'picking' AND NEW.status = 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'picking has started; only the warehouse manager can have this order cancelled')
  WHERE NOT EXISTS (
    SELECT 1 FROM staff WHERE staff.id = NEW.cancelled_by AND staff.role = 'manager' AND staff.is_active = 1);
END;

CREATE TRIGGER pick_jobs_take_reserved_orders BEFORE UPDATE OF pick_job_id ON orders
WHEN NEW.pick_job_id IS NOT NULL AND NEW.pick_job_id IS NOT OLD.pick_job_id
BEGIN
  SELECT RAISE(ABORT, 'only a reserved order can join a pick job; reserve it first') WHERE NEW.status <> 'reserved';
  SELECT RAISE(ABORT, 'this order is in a pick job already') WHERE OLD.pick_job_id IS NOT NULL;
  SELECT RAISE(ABORT, 'orders can only join a pick job that is open; create another one')
  FROM pick_jobs WHERE pick_jobs.id = NEW.pick_job_id AND pick_jobs.status <> 'open';
END;

CREATE TRIGGER pick_jobs_have_limits AFTER UPDATE OF pick_job_id ON orders WHEN NEW.pick_job_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a pick job holds at most 4 orders; put the rest into another job')
  FROM pick_job_details WHERE pick_job_details.pick_job_id = NEW.pick_job_id AND pick_job_details.order_count > 4;
  SELECT RAISE(ABORT, 'a pick job holds at most 25 units; put some of the orders into another job')
  FROM pick_job_details WHERE pick_job_details.pick_job_id = NEW.pick_job_id AND pick_job_details.units > 25;
END;

CREATE TRIGGER pick_jobs_follow_their_path BEFORE UPDATE OF status ON pick_jobs WHEN NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a pick job goes from open to assigned to done, and can be aborted until it is done')
  WHERE NOT (
    (OLD.status = 'open' AND NEW.status IN ('assigned', 'aborted'))
    OR (OLD.status = 'assigned' AND NEW.status IN ('done', 'aborted')));
END;

CREATE TRIGGER pickers_pick BEFORE UPDATE OF status, picker_id ON pick_jobs WHEN NEW.status = 'assigned'
BEGIN
  SELECT RAISE(ABORT, 'a pick job can only be given to an active picker; choose another person')
  FROM staff WHERE staff.id = NEW.picker_id AND (staff.role <> 'picker' OR staff.is_active = 0);
END;

CREATE TRIGGER blades_need_the_certificate BEFORE UPDATE OF status, picker_id ON pick_jobs
WHEN NEW.status = 'assigned'
BEGIN
  SELECT RAISE(ABORT, 'this pick job contains blades and the picker has no blade certificate; choose another picker')
  FROM pick_job_details JOIN staff ON staff.id = NEW.picker_id
  WHERE pick_job_details.pick_job_id = NEW.id AND pick_job_details.has_blade = 1 AND staff.has_blade_certificate = 0;
END;

CREATE TRIGGER pack_after_the_pick BEFORE UPDATE OF status ON orders
WHEN NEW.status = 'packed' AND OLD.status = 'picking'
BEGIN
  SELECT RAISE(ABORT, 'this order is still being picked; its pick job must be finished first')
  FROM pick_jobs WHERE pick_jobs.id = OLD.pick_job_id AND pick_jobs.status <> 'done';
END;

CREATE TRIGGER parcels_within_20_kg BEFORE INSERT ON parcels
BEGIN
  SELECT RAISE(ABORT, 'this parcel would weigh more than 20 kg; customer service must have the order split')
  FROM order_details WHERE order_details.order_id = NEW.order_id AND order_details.parcel_weight_g > 20000;
END;

CREATE TRIGGER fragile_goods_are_padded BEFORE INSERT ON parcels WHEN NEW.packing <> 'padded'
BEGIN
  SELECT RAISE(ABORT, 'this order contains a fragile product; it must be packed padded')
  FROM order_details WHERE order_details.order_id = NEW.order_id AND order_details.has_fragile = 1;
END;

CREATE TRIGGER parcels_stay_as_packed BEFORE UPDATE OF order_id, packing ON parcels
BEGIN
  SELECT RAISE(ABORT, 'a parcel stays as it was packed');
END;

CREATE TRIGGER parcels_board_open_pickups BEFORE UPDATE OF pickup_id ON parcels
WHEN NEW.pickup_id IS NOT OLD.pickup_id
BEGIN
  SELECT RAISE(ABORT, 'the pickup that this parcel is on is closed; the parcel cannot be taken off any more')
  FROM pickups WHERE pickups.id = OLD.pickup_id AND pickups.status <> 'open';
  SELECT RAISE(ABORT, 'this pickup is closed; choose one that is open')
  FROM pickups WHERE pickups.id = NEW.pickup_id AND pickups.status <> 'open';
END;

CREATE TRIGGER pickups_have_room AFTER UPDATE OF pickup_id ON parcels WHEN NEW.pickup_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this pickup has as many parcels as it takes; choose another pickup')
  FROM pickup_details
  WHERE pickup_details.pickup_id = NEW.pickup_id AND pickup_details.parcel_count > pickup_details.parcel_limit;
END;

CREATE TRIGGER pickups_have_room_for_new_parcels AFTER INSERT ON parcels WHEN NEW.pickup_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this pickup has as many parcels as it takes; choose another pickup')
  FROM pickup_details
  WHERE pickup_details.pickup_id = NEW.pickup_id AND pickup_details.parcel_count > pickup_details.parcel_limit;
END;

CREATE TRIGGER carriers_refuse_blades BEFORE UPDATE OF pickup_id ON parcels WHEN NEW.pickup_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this carrier takes no blades; choose a pickup of another carrier')
  FROM pickup_details JOIN order_details ON order_details.order_id = NEW.order_id
  WHERE pickup_details.pickup_id = NEW.pickup_id AND pickup_details.takes_blades = 0 AND order_details.has_blade = 1;
END;

CREATE TRIGGER carriers_refuse_new_parcels_with_blades BEFORE INSERT ON parcels WHEN NEW.pickup_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this carrier takes no blades; choose a pickup of another carrier')
  FROM pickup_details JOIN order_details ON order_details.order_id = NEW.order_id
  WHERE pickup_details.pickup_id = NEW.pickup_id AND pickup_details.takes_blades = 0 AND order_details.has_blade = 1;
END;

CREATE TRIGGER pickups_follow_their_path BEFORE UPDATE OF status ON pickups WHEN NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a pickup goes from open to closed to departed and never back')
  WHERE NOT (
    (OLD.status = 'open' AND NEW.status = 'closed')
    OR (OLD.status = 'closed' AND NEW.status = 'departed'));
END;

CREATE TRIGGER deliveries_within_the_order BEFORE UPDATE ON purchase_orders
BEGIN
  SELECT RAISE(ABORT, 'this purchase order is closed; nothing more can be booked on it')
  WHERE OLD.status IN ('received', 'closed_short');
  SELECT RAISE(ABORT, 'this is more than 5 % above the ordered quantity; the surplus must be refused')
  WHERE NEW.received_units * 100 > NEW.ordered_units * 105;
END;

CREATE TRIGGER returns_within_30_days BEFORE INSERT ON returns
BEGIN
  SELECT RAISE(ABORT, 'only what has been shipped can be returned')
  FROM order_line_details
  WHERE order_line_details.order_line_id = NEW.order_line_id AND order_line_details.status <> 'shipped';
  SELECT RAISE(ABORT, 'this order was shipped more than 30 days ago; its return can no longer be announced')
  FROM order_line_details
  WHERE order_line_details.order_line_id = NEW.order_line_id
    AND NEW.announced_on > date(order_line_details.shipped_at, '+30 days');
END;

CREATE TRIGGER returns_within_the_shipped_units BEFORE INSERT ON returns WHEN NEW.status <> 'rejected'
BEGIN
  SELECT RAISE(ABORT, 'fewer units than that are left to return on this order line; lower the number')
  FROM order_line_details
  WHERE order_line_details.order_line_id = NEW.order_line_id
    AND order_line_details.returned_units + NEW.units > order_line_details.units;
END;

CREATE TRIGGER returns_follow_their_path BEFORE UPDATE OF status ON returns WHEN NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a return is announced, received, then approved or rejected; only an approved one is refunded, once')
  WHERE NOT (
    (OLD.status = 'announced' AND NEW.status = 'received')
    OR (OLD.status = 'received' AND NEW.status IN ('approved', 'rejected'))
    OR (OLD.status = 'approved' AND NEW.status = 'refunded'));
END;

CREATE TRIGGER returns_keep_their_terms BEFORE UPDATE OF order_line_id, units, announced_on ON returns
BEGIN
  SELECT RAISE(ABORT, 'order line, units and day of an announced return do not change');
END;

CREATE TRIGGER returns_wait_in_quarantine BEFORE UPDATE OF quarantine_bin_id ON returns
WHEN NEW.quarantine_bin_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'returned units go to a bin in zone Q first')
  FROM bins WHERE bins.id = NEW.quarantine_bin_id AND bins.zone <> 'Q';
END;

CREATE TRIGGER used_blades_are_rejected BEFORE UPDATE ON returns WHEN NEW.status IN ('approved', 'refunded')
BEGIN
  SELECT RAISE(ABORT, 'a used blade cannot be taken back; the return must be rejected')
  FROM order_line_details
  WHERE order_line_details.order_line_id = NEW.order_line_id AND order_line_details.is_blade = 1
    AND NEW.item_condition = 'used';
END;

CREATE TRIGGER refunds_are_the_price_paid BEFORE UPDATE ON returns WHEN NEW.status = 'refunded'
BEGIN
  SELECT RAISE(ABORT, 'the refund must be the price paid, less 15 % for opened or used goods, rounded down to the cent')
  FROM order_lines
  WHERE order_lines.id = NEW.order_line_id
    AND NEW.refund_cents IS NOT
      (NEW.units * order_lines.unit_price_cents * (CASE WHEN NEW.item_condition = 'sealed' THEN 100 ELSE 85 END) / 100);
END;

CREATE TRIGGER managers_approve_large_refunds BEFORE UPDATE ON returns
WHEN NEW.status = 'refunded' AND NEW.refund_cents > 20000
BEGIN
  SELECT RAISE(ABORT, 'a refund above 200.00 needs the approval of the warehouse manager')
  WHERE NOT EXISTS (
    SELECT 1 FROM staff WHERE staff.id = NEW.refund_approved_by AND staff.role = 'manager' AND staff.is_active = 1);
END;

CREATE TRIGGER large_adjustments_need_a_second BEFORE UPDATE ON adjustments
WHEN NEW.status = 'approved' AND OLD.status = 'pending'
BEGIN
  SELECT RAISE(ABORT, 'an adjustment above 50.00 at cost must be approved by somebody other than the one who asked for it')
  FROM products
  WHERE products.id = NEW.product_id AND abs(NEW.units_change) * products.unit_cost_cents > 5000
    AND (NEW.decided_by IS NULL OR NEW.decided_by = NEW.requested_by);
END;

CREATE TRIGGER new_large_adjustments_need_a_second BEFORE INSERT ON adjustments WHEN NEW.status = 'approved'
BEGIN
  SELECT RAISE(ABORT, 'an adjustment above 50.00 at cost must be approved by somebody other than the one who asked for it')
  FROM products
  WHERE products.id = NEW.product_id AND abs(NEW.units_change) * products.unit_cost_cents > 5000
    AND (NEW.decided_by IS NULL OR NEW.decided_by = NEW.requested_by);
END;

CREATE TRIGGER decided_adjustments_stay_decided BEFORE UPDATE ON adjustments WHEN OLD.status <> 'pending'
BEGIN
  SELECT RAISE(ABORT, 'this adjustment is decided already; ask for a new one');
END;
