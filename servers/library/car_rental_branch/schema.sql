CREATE TABLE member_tiers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  booking_limit INTEGER NOT NULL CHECK (booking_limit > 0),
  may_overlap INTEGER NOT NULL CHECK (may_overlap IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE car_classes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  class_rank INTEGER NOT NULL UNIQUE CHECK (class_rank BETWEEN 1 AND 6),
  daily_rate_cents INTEGER NOT NULL CHECK (daily_rate_cents > 0),
  deposit_cents INTEGER NOT NULL CHECK (deposit_cents > 0),
  min_age INTEGER NOT NULL CHECK (min_age BETWEEN 18 AND 30),
  km_per_day INTEGER NOT NULL CHECK (km_per_day > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE extras (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  stock INTEGER NOT NULL CHECK (stock >= 0),
  daily_price_cents INTEGER NOT NULL CHECK (daily_price_cents > 0),
  min_class_rank INTEGER NOT NULL DEFAULT 1 CHECK (min_class_rank BETWEEN 1 AND 6),
  max_per_booking INTEGER NOT NULL DEFAULT 1 CHECK (max_per_booking > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE managers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  approval_code TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE cars (
  id TEXT PRIMARY KEY,
  plate TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL,
  class_id TEXT NOT NULL REFERENCES car_classes (id),
  status TEXT NOT NULL DEFAULT 'ready' CHECK (status IN ('ready', 'rented', 'cleaning', 'workshop', 'retired')),
  odometer_km INTEGER NOT NULL CHECK (odometer_km >= 0),
  next_service_km INTEGER NOT NULL CHECK (next_service_km > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE customers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  born_on TEXT NOT NULL CHECK (born_on IS date(born_on)),
  licence_number TEXT NOT NULL UNIQUE,
  licence_issued_on TEXT NOT NULL CHECK (licence_issued_on IS date(licence_issued_on)),
  licence_expires_on TEXT NOT NULL CHECK (licence_expires_on IS date(licence_expires_on)),
  tier_id TEXT NOT NULL REFERENCES member_tiers (id),
  blocked INTEGER NOT NULL DEFAULT 0 CHECK (blocked IN (0, 1)),
  CHECK (licence_issued_on > born_on),
  CHECK (licence_expires_on > licence_issued_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE bookings (
  id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (id),
  class_id TEXT NOT NULL REFERENCES car_classes (id),
  booked_on TEXT NOT NULL CHECK (booked_on IS date(booked_on)),
  pickup_on TEXT NOT NULL CHECK (pickup_on IS date(pickup_on)),
  return_on TEXT NOT NULL CHECK (return_on IS date(return_on)),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'picked_up', 'no_show', 'cancelled')),
  ended_on TEXT CHECK (ended_on IS date(ended_on)),
  CHECK (return_on BETWEEN date(pickup_on, '+1 day') AND date(pickup_on, '+28 days')),
  CHECK (pickup_on BETWEEN booked_on AND date(booked_on, '+180 days')),
  CHECK ((status IN ('no_show', 'cancelled')) = (ended_on IS NOT NULL)),
  CHECK (ended_on >= booked_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE additional_drivers (
  booking_id TEXT NOT NULL REFERENCES bookings (id),
  customer_id TEXT NOT NULL REFERENCES customers (id),
  PRIMARY KEY (booking_id, customer_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE booking_extras (
  booking_id TEXT NOT NULL REFERENCES bookings (id),
  extra_id TEXT NOT NULL REFERENCES extras (id),
  quantity INTEGER NOT NULL DEFAULT 1 CHECK (quantity > 0),
  PRIMARY KEY (booking_id, extra_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rentals (
  id TEXT PRIMARY KEY,
  booking_id TEXT NOT NULL UNIQUE REFERENCES bookings (id),
  car_id TEXT NOT NULL REFERENCES cars (id),
  status TEXT NOT NULL DEFAULT 'out' CHECK (status IN ('out', 'returned', 'closed')),
  handed_out_on TEXT NOT NULL CHECK (handed_out_on IS date(handed_out_on)),
  odometer_out_km INTEGER NOT NULL CHECK (odometer_out_km >= 0),
  returned_on TEXT CHECK (returned_on IS date(returned_on)),
  odometer_in_km INTEGER,
  fuel_in_eighths INTEGER CHECK (fuel_in_eighths BETWEEN 0 AND 8),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  CHECK ((status = 'out') = (returned_on IS NULL)),
  CHECK ((returned_on IS NULL) = (odometer_in_km IS NULL)),
  CHECK ((returned_on IS NULL) = (fuel_in_eighths IS NULL)),
  CHECK ((status = 'closed') = (closed_on IS NOT NULL)),
  CHECK (returned_on >= handed_out_on),
  CHECK (closed_on >= returned_on),
  CHECK (odometer_in_km >= odometer_out_km)
) STRICT, WITHOUT ROWID;

CREATE TABLE workshop_orders (
  id TEXT PRIMARY KEY,
  car_id TEXT NOT NULL REFERENCES cars (id),
  kind TEXT NOT NULL CHECK (kind IN ('service', 'repair', 'tyres')),
  from_on TEXT NOT NULL CHECK (from_on IS date(from_on)),
  to_on TEXT NOT NULL CHECK (to_on IS date(to_on)),
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'in_work', 'done')),
  finished_on TEXT CHECK (finished_on IS date(finished_on)),
  CHECK (to_on BETWEEN from_on AND date(from_on, '+13 days')),
  CHECK ((status = 'done') = (finished_on IS NOT NULL)),
  CHECK (finished_on >= from_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE damage_reports (
  id TEXT PRIMARY KEY,
  rental_id TEXT NOT NULL REFERENCES rentals (id),
  description TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  reported_on TEXT NOT NULL CHECK (reported_on IS date(reported_on)),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'charged', 'waived')),
  decided_on TEXT CHECK (decided_on IS date(decided_on)),
  approved_by TEXT REFERENCES managers (id),
  CHECK ((status = 'open') = (decided_on IS NULL)),
  CHECK (decided_on >= reported_on),
  CHECK (approved_by IS NULL OR status = 'waived'),
  CHECK (status <> 'waived' OR amount_cents <= 25000 OR approved_by IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_entries (
  id INTEGER PRIMARY KEY,
  booking_id TEXT NOT NULL REFERENCES bookings (id),
  kind TEXT NOT NULL CHECK (kind IN ('charge', 'payment', 'refund', 'deposit_hold', 'deposit_release')),
  reason TEXT CHECK (reason IN ('rental', 'extras', 'young_driver', 'late', 'extra_km', 'fuel', 'damage', 'cancellation', 'no_show')),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  entered_on TEXT NOT NULL CHECK (entered_on IS date(entered_on)),
  CHECK ((kind = 'charge') = (reason IS NOT NULL))
) STRICT;

CREATE INDEX bookings_by_customer ON bookings (customer_id);
CREATE INDEX bookings_by_class ON bookings (class_id, pickup_on);
CREATE INDEX ledger_by_booking ON ledger_entries (booking_id);
CREATE INDEX damage_by_rental ON damage_reports (rental_id);
CREATE UNIQUE INDEX one_rental_out_per_car ON rentals (car_id) WHERE status = 'out';
CREATE UNIQUE INDEX one_order_in_work_per_car ON workshop_orders (car_id) WHERE status = 'in_work';
CREATE UNIQUE INDEX one_deposit_hold_per_booking ON ledger_entries (booking_id) WHERE kind = 'deposit_hold';
CREATE UNIQUE INDEX one_deposit_release_per_booking ON ledger_entries (booking_id) WHERE kind = 'deposit_release';

-- Bookings that take a place: booked, or with a car that is out (then in the class of that car).
CREATE VIEW open_bookings AS
SELECT bookings.id AS booking_id, bookings.customer_id,
  coalesce(cars.class_id, bookings.class_id) AS class_id,
  bookings.pickup_on, bookings.return_on
FROM bookings
LEFT JOIN rentals ON rentals.booking_id = bookings.id
LEFT JOIN cars ON cars.id = rentals.car_id
WHERE bookings.status = 'booked' OR rentals.status = 'out';

-- Places taken and cars usable in a class, on each day on which something begins (the worst day is always among these).
CREATE VIEW class_load AS
SELECT p.class_id, p.day,
  (SELECT count(*) FROM open_bookings AS o
   WHERE o.class_id = p.class_id AND p.day BETWEEN o.pickup_on AND o.return_on) AS taken,
  (SELECT count(*) FROM cars
   WHERE cars.class_id = p.class_id AND cars.status <> 'retired'
     AND NOT EXISTS (SELECT 1 FROM workshop_orders AS w
       WHERE w.car_id = cars.id AND w.status IN ('planned', 'in_work') AND p.day BETWEEN w.from_on AND w.to_on)) AS fleet
FROM (
  SELECT class_id, pickup_on AS day FROM open_bookings
  UNION
  SELECT c.class_id, wo.from_on FROM workshop_orders AS wo JOIN cars AS c ON c.id = wo.car_id
  WHERE wo.status IN ('planned', 'in_work')
) AS p;

CREATE VIEW extra_load AS
SELECT p.extra_id, p.day,
  (SELECT coalesce(sum(be.quantity), 0) FROM booking_extras AS be JOIN open_bookings AS o ON o.booking_id = be.booking_id
   WHERE be.extra_id = p.extra_id AND p.day BETWEEN o.pickup_on AND o.return_on) AS taken,
  extras.stock
FROM (
  SELECT DISTINCT x.extra_id, ob.pickup_on AS day
  FROM booking_extras AS x JOIN open_bookings AS ob ON ob.booking_id = x.booking_id
) AS p
JOIN extras ON extras.id = p.extra_id;

CREATE VIEW booking_driver_details AS
SELECT d.booking_id, d.driver_id, d.part, customers.name AS driver_name, customers.born_on,
  customers.licence_issued_on, customers.licence_expires_on,
  bookings.status AS booking_status, bookings.pickup_on, bookings.return_on,
  (date(customers.born_on, '+25 years') > bookings.pickup_on) AS under_25,
  (date(customers.born_on, '+' || car_classes.min_age || ' years') > bookings.pickup_on) AS too_young,
  (date(customers.licence_issued_on, '+12 months') > bookings.pickup_on) AS licence_too_new,
  (customers.licence_expires_on < bookings.return_on) AS licence_too_short
FROM (
  SELECT id AS booking_id, customer_id AS driver_id, 'customer' AS part FROM bookings
  UNION ALL
  SELECT booking_id, customer_id, 'additional' FROM additional_drivers
) AS d
JOIN bookings ON bookings.id = d.booking_id
JOIN customers ON customers.id = d.driver_id
JOIN car_classes ON car_classes.id = bookings.class_id;

CREATE VIEW booking_accounts AS
SELECT bookings.id AS booking_id, bookings.customer_id,
  coalesce(sum(CASE WHEN l.kind = 'charge' THEN l.amount_cents END), 0) AS charged_cents,
  coalesce(sum(CASE WHEN l.kind = 'payment' THEN l.amount_cents END), 0) AS paid_cents,
  coalesce(sum(CASE WHEN l.kind = 'refund' THEN l.amount_cents END), 0) AS refunded_cents,
  coalesce(sum(CASE WHEN l.kind IN ('charge', 'refund') THEN l.amount_cents WHEN l.kind = 'payment' THEN -l.amount_cents END), 0) AS balance_cents,
  coalesce(sum(CASE WHEN l.kind = 'deposit_hold' THEN l.amount_cents WHEN l.kind = 'deposit_release' THEN -l.amount_cents END), 0) AS deposit_held_cents
FROM bookings LEFT JOIN ledger_entries AS l ON l.booking_id = bookings.id
GROUP BY bookings.id, bookings.customer_id;

-- The price of a booking as it stands: days times (rate + extras + 12.00 for each driver under 25).
CREATE VIEW booking_quotes AS
SELECT t.booking_id, t.days, t.daily_rate_cents, t.extras_day_cents, t.young_day_cents,
  t.daily_rate_cents + t.extras_day_cents + t.young_day_cents AS day_price_cents,
  t.days * t.daily_rate_cents AS rent_cents,
  t.days * t.extras_day_cents AS extras_cents,
  t.days * t.young_day_cents AS young_driver_cents,
  t.days * (t.daily_rate_cents + t.extras_day_cents + t.young_day_cents) AS total_cents
FROM (
  SELECT bookings.id AS booking_id,
    CAST(julianday(bookings.return_on) - julianday(bookings.pickup_on) AS INTEGER) AS days,
    car_classes.daily_rate_cents,
    (SELECT coalesce(sum(be.quantity * extras.daily_price_cents), 0)
     FROM booking_extras AS be JOIN extras ON extras.id = be.extra_id
     WHERE be.booking_id = bookings.id) AS extras_day_cents,
    1200 * (SELECT count(*) FROM booking_driver_details AS d WHERE d.booking_id = bookings.id AND d.under_25 = 1) AS young_day_cents
  FROM bookings JOIN car_classes ON car_classes.id = bookings.class_id
) AS t;

-- What a return costs beyond the price: late days, extra kilometres, missing fuel.
CREATE VIEW rental_settlements AS
SELECT t.rental_id, t.booking_id, t.late_days,
  t.late_days * t.daily_rate_cents * 3 / 2 AS late_cents,
  max(0, t.driven_km - t.km_per_day * (t.days + t.late_days)) AS extra_km,
  25 * max(0, t.driven_km - t.km_per_day * (t.days + t.late_days)) AS extra_km_cents,
  t.missing_eighths,
  400 * t.missing_eighths AS fuel_cents
FROM (
  SELECT rentals.id AS rental_id, rentals.booking_id,
    max(0, CAST(julianday(rentals.returned_on) - julianday(bookings.return_on) AS INTEGER)) AS late_days,
    CAST(julianday(bookings.return_on) - julianday(bookings.pickup_on) AS INTEGER) AS days,
    rentals.odometer_in_km - rentals.odometer_out_km AS driven_km,
    8 - rentals.fuel_in_eighths AS missing_eighths,
    car_classes.daily_rate_cents, car_classes.km_per_day
  FROM rentals
  JOIN bookings ON bookings.id = rentals.booking_id
  JOIN car_classes ON car_classes.id = bookings.class_id
  WHERE rentals.status <> 'out'
) AS t;

CREATE VIEW customer_details AS
SELECT customers.id AS customer_id, customers.name, customers.email, customers.born_on,
  customers.licence_issued_on, customers.licence_expires_on, customers.blocked,
  customers.tier_id, member_tiers.name AS tier_name, member_tiers.booking_limit, member_tiers.may_overlap,
  (SELECT count(*) FROM open_bookings AS o WHERE o.customer_id = customers.id) AS open_count,
  (SELECT coalesce(sum(max(a.balance_cents, 0)), 0) FROM booking_accounts AS a WHERE a.customer_id = customers.id) AS owed_cents
FROM customers JOIN member_tiers ON member_tiers.id = customers.tier_id;

CREATE VIEW booking_details AS
SELECT bookings.id AS booking_id, bookings.customer_id, customers.name AS customer_name,
  bookings.class_id, car_classes.name AS class_name, car_classes.class_rank, car_classes.deposit_cents,
  bookings.booked_on, bookings.pickup_on, bookings.return_on, bookings.status, bookings.ended_on,
  rentals.id AS rental_id, rentals.status AS rental_status, rentals.handed_out_on, rentals.returned_on, rentals.closed_on,
  rentals.car_id, cars.plate, cars.model, cars.class_id AS car_class_id,
  q.days, q.day_price_cents, q.total_cents AS price_cents,
  a.charged_cents, a.paid_cents, a.refunded_cents, a.balance_cents, a.deposit_held_cents
FROM bookings
JOIN customers ON customers.id = bookings.customer_id
JOIN car_classes ON car_classes.id = bookings.class_id
JOIN booking_quotes AS q ON q.booking_id = bookings.id
JOIN booking_accounts AS a ON a.booking_id = bookings.id
LEFT JOIN rentals ON rentals.booking_id = bookings.id
LEFT JOIN cars ON cars.id = rentals.car_id;

CREATE VIEW car_details AS
SELECT cars.id AS car_id, cars.plate, cars.model, cars.class_id, car_classes.name AS class_name, car_classes.class_rank,
  cars.status, cars.odometer_km, cars.next_service_km, cars.next_service_km - cars.odometer_km AS km_to_service,
  (SELECT rentals.booking_id FROM rentals WHERE rentals.car_id = cars.id AND rentals.status = 'out') AS out_booking_id,
  (SELECT min(w.from_on) FROM workshop_orders AS w WHERE w.car_id = cars.id AND w.status IN ('planned', 'in_work')) AS next_workshop_on
FROM cars JOIN car_classes ON car_classes.id = cars.class_id;

-- Bookings: places, limits, drivers

CREATE TRIGGER book_only_free_classes AFTER INSERT ON bookings WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'every car of this class is taken on at least one of these days; other days or another class may be free')
  FROM class_load WHERE class_id = NEW.class_id AND day BETWEEN NEW.pickup_on AND NEW.return_on AND taken > fleet;
END;

CREATE TRIGGER change_only_into_free_days AFTER UPDATE OF class_id, pickup_on, return_on ON bookings
WHEN NEW.status IN ('booked', 'picked_up')
BEGIN
  SELECT RAISE(ABORT, 'every car of the class is taken on at least one of the new days; fewer or other days, or another class, may be free')
  FROM open_bookings AS o JOIN class_load AS l ON l.class_id = o.class_id
  WHERE o.booking_id = NEW.id AND l.day BETWEEN o.pickup_on AND o.return_on AND l.taken > l.fleet;
END;

CREATE TRIGGER book_within_the_limit AFTER INSERT ON bookings WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this customer has as many open bookings as the membership allows; one must be cancelled or come back first')
  FROM customer_details WHERE customer_id = NEW.customer_id AND open_count > booking_limit;
END;

CREATE TRIGGER no_shared_days_when_booking AFTER INSERT ON bookings WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'another open booking of this customer shares a day with these; a standard member may not overlap')
  FROM customers
  JOIN member_tiers ON member_tiers.id = customers.tier_id
  JOIN open_bookings AS o ON o.customer_id = customers.id
  WHERE customers.id = NEW.customer_id AND member_tiers.may_overlap = 0 AND o.booking_id <> NEW.id
    AND o.pickup_on <= NEW.return_on AND o.return_on >= NEW.pickup_on;
END;

CREATE TRIGGER no_shared_days_when_changing AFTER UPDATE OF pickup_on, return_on ON bookings
WHEN NEW.status IN ('booked', 'picked_up')
BEGIN
  SELECT RAISE(ABORT, 'another open booking of this customer shares a day with the new ones; a standard member may not overlap')
  FROM customers
  JOIN member_tiers ON member_tiers.id = customers.tier_id
  JOIN open_bookings AS o ON o.customer_id = customers.id
  WHERE customers.id = NEW.customer_id AND member_tiers.may_overlap = 0 AND o.booking_id <> NEW.id
    AND o.pickup_on <= NEW.return_on AND o.return_on >= NEW.pickup_on;
END;

CREATE TRIGGER customer_may_drive AFTER INSERT ON bookings WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'the customer is below the minimum age of this class on the pickup day; a lower class may be possible')
  FROM booking_driver_details WHERE booking_id = NEW.id AND too_young = 1;
  SELECT RAISE(ABORT, 'the customer will have held the licence for less than 12 months on the pickup day; a later pickup may be possible')
  FROM booking_driver_details WHERE booking_id = NEW.id AND licence_too_new = 1;
  SELECT RAISE(ABORT, 'the licence of the customer ends before the return day; an earlier return may be possible')
  FROM booking_driver_details WHERE booking_id = NEW.id AND licence_too_short = 1;
END;

CREATE TRIGGER drivers_may_drive_after_change AFTER UPDATE OF class_id, pickup_on, return_on ON bookings
WHEN NEW.status IN ('booked', 'picked_up')
BEGIN
  SELECT RAISE(ABORT, 'a driver of this booking is below the minimum age of the class on the pickup day')
  FROM booking_driver_details WHERE booking_id = NEW.id AND too_young = 1;
  SELECT RAISE(ABORT, 'a driver of this booking will have held the licence for less than 12 months on the pickup day')
  FROM booking_driver_details WHERE booking_id = NEW.id AND licence_too_new = 1;
  SELECT RAISE(ABORT, 'the licence of a driver of this booking ends before the new return day')
  FROM booking_driver_details WHERE booking_id = NEW.id AND licence_too_short = 1;
END;

CREATE TRIGGER added_driver_may_drive AFTER INSERT ON additional_drivers
BEGIN
  SELECT RAISE(ABORT, 'this driver is below the minimum age of the class on the pickup day')
  FROM booking_driver_details
  WHERE booking_id = NEW.booking_id AND driver_id = NEW.customer_id AND booking_status = 'booked' AND too_young = 1;
  SELECT RAISE(ABORT, 'this driver will have held the licence for less than 12 months on the pickup day')
  FROM booking_driver_details
  WHERE booking_id = NEW.booking_id AND driver_id = NEW.customer_id AND booking_status = 'booked' AND licence_too_new = 1;
  SELECT RAISE(ABORT, 'the licence of this driver ends before the return day')
  FROM booking_driver_details
  WHERE booking_id = NEW.booking_id AND driver_id = NEW.customer_id AND booking_status = 'booked' AND licence_too_short = 1;
END;

CREATE TRIGGER at_most_three_drivers BEFORE INSERT ON additional_drivers
BEGIN
  SELECT RAISE(ABORT, 'this booking has three drivers already; no more can be added')
  WHERE (SELECT count(*) FROM additional_drivers WHERE booking_id = NEW.booking_id) >= 2;
  SELECT RAISE(ABORT, 'the customer of a booking is its first driver already')
  FROM bookings WHERE id = NEW.booking_id AND customer_id = NEW.customer_id;
END;

-- Bookings: states

CREATE TRIGGER ended_bookings_stay BEFORE UPDATE ON bookings WHEN OLD.status IN ('cancelled', 'no_show')
BEGIN
  SELECT RAISE(ABORT, 'this booking is cancelled or a no-show and stays so; a new one can be made');
END;

CREATE TRIGGER handed_out_bookings_hold BEFORE UPDATE ON bookings
WHEN OLD.status = 'picked_up' AND (NEW.status <> 'picked_up' OR NEW.class_id <> OLD.class_id
  OR NEW.pickup_on <> OLD.pickup_on OR NEW.customer_id <> OLD.customer_id)
BEGIN
  SELECT RAISE(ABORT, 'the car of this booking was handed out; it can no longer be cancelled or changed, only extended while the car is out');
END;

CREATE TRIGGER extend_forward_while_out BEFORE UPDATE OF return_on ON bookings WHEN OLD.status = 'picked_up'
BEGIN
  SELECT RAISE(ABORT, 'an extension needs a return day after the present one')
  WHERE NEW.return_on <= OLD.return_on;
  SELECT RAISE(ABORT, 'the car of this booking is back already; nothing is left to extend')
  WHERE NOT EXISTS (SELECT 1 FROM rentals WHERE rentals.booking_id = NEW.id AND rentals.status = 'out');
END;

CREATE TRIGGER extend_only_before_workshop AFTER UPDATE OF return_on ON bookings WHEN NEW.status = 'picked_up'
BEGIN
  SELECT RAISE(ABORT, 'the car is due in the workshop within the new days; an earlier return day may be possible')
  FROM rentals JOIN workshop_orders AS w ON w.car_id = rentals.car_id
  WHERE rentals.booking_id = NEW.id AND rentals.status = 'out' AND w.status IN ('planned', 'in_work')
    AND w.from_on <= NEW.return_on AND w.to_on >= rentals.handed_out_on;
END;

CREATE TRIGGER picked_up_means_rental BEFORE UPDATE OF status ON bookings
WHEN NEW.status = 'picked_up' AND OLD.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'a booking counts as picked up only when a car was handed out for it')
  WHERE NOT EXISTS (SELECT 1 FROM rentals WHERE rentals.booking_id = NEW.id);
END;

-- Extras

CREATE TRIGGER extras_suit_the_booking AFTER INSERT ON booking_extras
BEGIN
  SELECT RAISE(ABORT, 'this extra does not fit cars of the booked class; a higher class is needed')
  FROM extras
  JOIN bookings ON bookings.id = NEW.booking_id
  JOIN car_classes ON car_classes.id = bookings.class_id
  WHERE extras.id = NEW.extra_id AND car_classes.class_rank < extras.min_class_rank;
  SELECT RAISE(ABORT, 'a booking cannot have so many pieces of this extra')
  FROM extras WHERE extras.id = NEW.extra_id AND NEW.quantity > extras.max_per_booking;
END;

CREATE TRIGGER extras_within_stock AFTER INSERT ON booking_extras
BEGIN
  SELECT RAISE(ABORT, 'not enough pieces of this extra are left on at least one day of the booking')
  FROM open_bookings AS o JOIN extra_load AS l ON l.extra_id = NEW.extra_id
  WHERE o.booking_id = NEW.booking_id AND l.day BETWEEN o.pickup_on AND o.return_on AND l.taken > l.stock;
END;

CREATE TRIGGER more_extras_within_stock AFTER UPDATE ON booking_extras
BEGIN
  SELECT RAISE(ABORT, 'extras can be changed only until the car is handed out')
  FROM bookings WHERE id = NEW.booking_id AND status <> 'booked';
  SELECT RAISE(ABORT, 'a booking cannot have so many pieces of this extra')
  FROM extras WHERE extras.id = NEW.extra_id AND NEW.quantity > extras.max_per_booking;
  SELECT RAISE(ABORT, 'not enough pieces of this extra are left on at least one day of the booking')
  FROM open_bookings AS o JOIN extra_load AS l ON l.extra_id = NEW.extra_id
  WHERE o.booking_id = NEW.booking_id AND l.day BETWEEN o.pickup_on AND o.return_on AND l.taken > l.stock;
END;

CREATE TRIGGER drop_extras_before_handout BEFORE DELETE ON booking_extras
BEGIN
  SELECT RAISE(ABORT, 'extras can be dropped only until the car is handed out')
  FROM bookings WHERE id = OLD.booking_id AND status <> 'booked';
END;

CREATE TRIGGER extras_suit_changed_bookings AFTER UPDATE OF class_id, pickup_on, return_on ON bookings
WHEN NEW.status IN ('booked', 'picked_up')
BEGIN
  SELECT RAISE(ABORT, 'an extra of this booking does not fit cars of the new class; drop it first')
  FROM booking_extras
  JOIN extras ON extras.id = booking_extras.extra_id
  JOIN car_classes ON car_classes.id = NEW.class_id
  WHERE booking_extras.booking_id = NEW.id AND car_classes.class_rank < extras.min_class_rank;
  SELECT RAISE(ABORT, 'an extra of this booking is not left on at least one of the new days; drop it first or choose other days')
  FROM booking_extras JOIN extra_load AS l ON l.extra_id = booking_extras.extra_id
  WHERE booking_extras.booking_id = NEW.id AND l.day BETWEEN NEW.pickup_on AND NEW.return_on AND l.taken > l.stock;
END;

-- Handing out

CREATE TRIGGER hand_out_standing_bookings BEFORE INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'this booking is cancelled or a no-show; no car can be handed out for it')
  FROM bookings WHERE id = NEW.booking_id AND status NOT IN ('booked', 'picked_up');
END;

CREATE TRIGGER hand_out_in_time BEFORE INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'a car is handed out only on the pickup day or the day after it')
  FROM bookings
  WHERE id = NEW.booking_id AND NEW.handed_out_on NOT BETWEEN pickup_on AND date(pickup_on, '+1 day');
END;

CREATE TRIGGER hand_out_ready_cars BEFORE INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'this car is being cleaned, in the workshop or retired; choose a ready one')
  FROM cars WHERE id = NEW.car_id AND status IN ('cleaning', 'workshop', 'retired');
END;

CREATE TRIGGER upgrade_by_one_rank BEFORE INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'this car is neither of the booked class nor one rank above it')
  FROM bookings
  JOIN car_classes AS booked_class ON booked_class.id = bookings.class_id
  JOIN cars ON cars.id = NEW.car_id
  JOIN car_classes AS given_class ON given_class.id = cars.class_id
  WHERE bookings.id = NEW.booking_id AND given_class.class_rank - booked_class.class_rank NOT IN (0, 1);
END;

CREATE TRIGGER keep_service_distance BEFORE INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'this car has less than 300 km left to its service; choose another one')
  FROM cars WHERE id = NEW.car_id AND next_service_km - NEW.odometer_out_km < 300;
END;

CREATE TRIGGER hand_out_only_before_workshop BEFORE INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'this car is due in the workshop before the return day; choose another one')
  FROM bookings JOIN workshop_orders AS w ON w.car_id = NEW.car_id
  WHERE bookings.id = NEW.booking_id AND w.status IN ('planned', 'in_work')
    AND w.from_on <= bookings.return_on AND w.to_on >= NEW.handed_out_on;
END;

CREATE TRIGGER old_enough_for_the_car BEFORE INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'a driver of this booking is below the minimum age of the class of this car; choose a car of the booked class')
  FROM booking_driver_details AS d
  JOIN cars ON cars.id = NEW.car_id
  JOIN car_classes ON car_classes.id = cars.class_id
  WHERE d.booking_id = NEW.booking_id AND date(d.born_on, '+' || car_classes.min_age || ' years') > d.pickup_on;
END;

CREATE TRIGGER upgrade_only_into_free_class AFTER INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'the class of this car is booked out on at least one day of the rental; it cannot be given as an upgrade')
  FROM open_bookings AS o JOIN class_load AS l ON l.class_id = o.class_id
  WHERE o.booking_id = NEW.booking_id AND l.day BETWEEN o.pickup_on AND o.return_on AND l.taken > l.fleet;
END;

-- A car handed out makes its booking picked up and itself rented.
CREATE TRIGGER handout_marks_booking_and_car AFTER INSERT ON rentals WHEN NEW.status = 'out'
BEGIN
  UPDATE bookings SET status = 'picked_up' WHERE id = NEW.booking_id AND status = 'booked';
  UPDATE cars SET status = 'rented' WHERE id = NEW.car_id AND status <> 'rented';
END;

-- Taking back and closing

CREATE TRIGGER rentals_go_forward BEFORE UPDATE ON rentals
WHEN OLD.status = 'closed' OR NEW.booking_id <> OLD.booking_id OR NEW.car_id <> OLD.car_id
  OR (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN ('out>returned', 'returned>closed'))
BEGIN
  SELECT RAISE(ABORT, 'a rental goes from out to returned to closed, and a closed one stays as it is');
END;

-- A car taken back has the new odometer and goes to cleaning.
CREATE TRIGGER return_sends_car_to_cleaning AFTER UPDATE OF status ON rentals
WHEN OLD.status = 'out' AND NEW.status = 'returned'
BEGIN
  UPDATE cars SET status = 'cleaning', odometer_km = NEW.odometer_in_km WHERE id = NEW.car_id;
END;

CREATE TRIGGER close_without_open_damage BEFORE UPDATE OF status ON rentals
WHEN NEW.status = 'closed' AND OLD.status = 'returned'
BEGIN
  SELECT RAISE(ABORT, 'a damage report of this rental is still open; charge or waive it first')
  FROM damage_reports WHERE rental_id = NEW.id AND status = 'open';
END;

CREATE TRIGGER close_with_zero_balance BEFORE UPDATE OF status ON rentals
WHEN NEW.status = 'closed' AND OLD.status = 'returned'
BEGIN
  SELECT RAISE(ABORT, 'the account of this rental is not at zero; take the payment or refund the surplus first')
  FROM booking_accounts WHERE booking_id = NEW.booking_id AND balance_cents <> 0;
END;

CREATE TRIGGER odometer_never_falls BEFORE UPDATE OF odometer_km ON cars WHEN NEW.odometer_km < OLD.odometer_km
BEGIN
  SELECT RAISE(ABORT, 'the odometer of a car never falls; check the reading');
END;

CREATE TRIGGER car_states_follow_the_work BEFORE UPDATE OF status ON cars
BEGIN
  SELECT RAISE(ABORT, 'a car is rented exactly as long as it is out with a customer; it must be taken back first')
  WHERE (NEW.status = 'rented') <> EXISTS (SELECT 1 FROM rentals WHERE rentals.car_id = NEW.id AND rentals.status = 'out');
  SELECT RAISE(ABORT, 'a car is in the workshop exactly as long as an order on it is in work')
  WHERE (NEW.status = 'workshop') <> EXISTS (SELECT 1 FROM workshop_orders AS w WHERE w.car_id = NEW.id AND w.status = 'in_work');
  SELECT RAISE(ABORT, 'a car becomes ready only out of cleaning')
  WHERE NEW.status = 'ready' AND OLD.status NOT IN ('ready', 'cleaning');
  SELECT RAISE(ABORT, 'this car is retired and stays so')
  WHERE OLD.status = 'retired' AND NEW.status <> 'retired';
END;

-- Damage

CREATE TRIGGER report_damage_before_closing BEFORE INSERT ON damage_reports WHEN NEW.status = 'open'
BEGIN
  SELECT RAISE(ABORT, 'this rental is closed; no damage can be reported on it any more')
  FROM rentals WHERE id = NEW.rental_id AND status = 'closed';
END;

CREATE TRIGGER decided_damage_stays BEFORE UPDATE ON damage_reports WHEN OLD.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'this damage report is decided already');
END;

-- Money

CREATE TRIGGER hold_the_deposit_of_the_class BEFORE INSERT ON ledger_entries WHEN NEW.kind = 'deposit_hold'
BEGIN
  SELECT RAISE(ABORT, 'the deposit held must be exactly the deposit of the booked class')
  FROM bookings JOIN car_classes ON car_classes.id = bookings.class_id
  WHERE bookings.id = NEW.booking_id AND NEW.amount_cents <> car_classes.deposit_cents;
END;

CREATE TRIGGER keep_deposit_until_closing BEFORE INSERT ON ledger_entries WHEN NEW.kind = 'deposit_release'
BEGIN
  SELECT RAISE(ABORT, 'the deposit stays held until the rental is closed')
  FROM rentals WHERE booking_id = NEW.booking_id AND status <> 'closed';
  SELECT RAISE(ABORT, 'no such deposit is held on this booking')
  FROM booking_accounts WHERE booking_id = NEW.booking_id AND deposit_held_cents <> NEW.amount_cents;
END;

CREATE TRIGGER refund_only_the_surplus BEFORE INSERT ON ledger_entries WHEN NEW.kind = 'refund'
BEGIN
  SELECT RAISE(ABORT, 'only what was paid beyond the charges of this booking can be refunded')
  FROM booking_accounts WHERE booking_id = NEW.booking_id AND balance_cents + NEW.amount_cents > 0;
END;

CREATE TRIGGER ledger_entries_stay BEFORE UPDATE ON ledger_entries
BEGIN
  SELECT RAISE(ABORT, 'entries of the account are never changed');
END;

CREATE TRIGGER ledger_entries_are_kept BEFORE DELETE ON ledger_entries
BEGIN
  SELECT RAISE(ABORT, 'entries of the account are never removed');
END;

-- Workshop

CREATE TRIGGER plan_only_free_cars BEFORE INSERT ON workshop_orders WHEN NEW.status IN ('planned', 'in_work')
BEGIN
  SELECT RAISE(ABORT, 'this car is retired; it gets no workshop orders')
  FROM cars WHERE id = NEW.car_id AND status = 'retired';
  SELECT RAISE(ABORT, 'another unfinished workshop order of this car shares a day with these; choose other days')
  FROM workshop_orders AS w
  WHERE w.car_id = NEW.car_id AND w.status IN ('planned', 'in_work') AND w.from_on <= NEW.to_on AND w.to_on >= NEW.from_on;
  SELECT RAISE(ABORT, 'this car is out with a customer on at least one of these days; choose days after its return day')
  FROM rentals JOIN bookings ON bookings.id = rentals.booking_id
  WHERE rentals.car_id = NEW.car_id AND rentals.status = 'out'
    AND NEW.from_on <= bookings.return_on AND NEW.to_on >= rentals.handed_out_on;
END;

CREATE TRIGGER plan_only_spare_cars AFTER INSERT ON workshop_orders WHEN NEW.status IN ('planned', 'in_work')
BEGIN
  SELECT RAISE(ABORT, 'bookings need every car of this class on at least one of these days; choose other days')
  FROM cars JOIN class_load AS l ON l.class_id = cars.class_id
  WHERE cars.id = NEW.car_id AND l.day BETWEEN NEW.from_on AND NEW.to_on AND l.taken > l.fleet;
END;

CREATE TRIGGER orders_go_forward BEFORE UPDATE ON workshop_orders
WHEN OLD.status = 'done' OR NEW.car_id <> OLD.car_id OR NEW.kind <> OLD.kind OR NEW.from_on <> OLD.from_on OR NEW.to_on <> OLD.to_on
  OR (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN ('planned>in_work', 'in_work>done'))
BEGIN
  SELECT RAISE(ABORT, 'a workshop order keeps its car and days and goes from planned to in work to done');
END;

-- An order in work takes its car; a car whose order is done goes to cleaning, after a service with a new service reading.
CREATE TRIGGER order_in_work_takes_car AFTER UPDATE OF status ON workshop_orders
WHEN OLD.status = 'planned' AND NEW.status = 'in_work'
BEGIN
  UPDATE cars SET status = 'workshop' WHERE id = NEW.car_id;
END;

CREATE TRIGGER order_done_gives_car_back AFTER UPDATE OF status ON workshop_orders
WHEN OLD.status = 'in_work' AND NEW.status = 'done'
BEGIN
  UPDATE cars
  SET status = 'cleaning',
    next_service_km = CASE WHEN NEW.kind = 'service' THEN odometer_km + 15000 ELSE next_service_km END
  WHERE id = NEW.car_id;
END;
