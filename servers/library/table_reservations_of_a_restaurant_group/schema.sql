CREATE TABLE restaurants (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  pacing_limit INTEGER NOT NULL CHECK (pacing_limit BETWEEN 12 AND 20),
  reset_minutes INTEGER NOT NULL DEFAULT 15 CHECK (reset_minutes BETWEEN 0 AND 60)
) STRICT, WITHOUT ROWID;

CREATE TABLE managers (
  id TEXT PRIMARY KEY,
  restaurant_id TEXT NOT NULL REFERENCES restaurants (id),
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE services (
  id TEXT PRIMARY KEY,
  restaurant_id TEXT NOT NULL REFERENCES restaurants (id),
  service_date TEXT NOT NULL CHECK (service_date IS date(service_date)),
  meal TEXT NOT NULL CHECK (meal IN ('lunch', 'dinner')),
  first_arrival_at TEXT NOT NULL CHECK (first_arrival_at IS datetime(first_arrival_at)),
  last_arrival_at TEXT NOT NULL CHECK (last_arrival_at IS datetime(last_arrival_at)),
  cover_limit INTEGER NOT NULL CHECK (cover_limit BETWEEN 1 AND 200),
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'open', 'closed')),
  UNIQUE (restaurant_id, service_date, meal),
  CHECK (date(first_arrival_at) = service_date),
  CHECK (date(last_arrival_at) = service_date),
  CHECK (first_arrival_at < last_arrival_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE areas (
  id TEXT PRIMARY KEY,
  restaurant_id TEXT NOT NULL REFERENCES restaurants (id),
  name TEXT NOT NULL,
  UNIQUE (restaurant_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE dining_tables (
  id TEXT PRIMARY KEY,
  area_id TEXT NOT NULL REFERENCES areas (id),
  label TEXT NOT NULL,
  min_guests INTEGER NOT NULL CHECK (min_guests >= 1),
  max_guests INTEGER NOT NULL CHECK (max_guests <= 12),
  status TEXT NOT NULL DEFAULT 'in_use' CHECK (status IN ('in_use', 'out_of_order')),
  out_reason TEXT,
  UNIQUE (area_id, label),
  CHECK (min_guests <= max_guests),
  CHECK ((status = 'out_of_order') = (out_reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE table_joins (
  table_a TEXT NOT NULL REFERENCES dining_tables (id),
  table_b TEXT NOT NULL REFERENCES dining_tables (id),
  min_guests INTEGER NOT NULL CHECK (min_guests >= 1),
  max_guests INTEGER NOT NULL CHECK (max_guests <= 12),
  PRIMARY KEY (table_a, table_b),
  CHECK (table_a < table_b),
  CHECK (min_guests <= max_guests)
) STRICT, WITHOUT ROWID;

CREATE TABLE guest_tiers (
  id TEXT PRIMARY KEY CHECK (id IN ('regular', 'standing')),
  upcoming_limit INTEGER NOT NULL CHECK (upcoming_limit > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE party_bands (
  id TEXT PRIMARY KEY,
  min_guests INTEGER NOT NULL UNIQUE CHECK (min_guests >= 1),
  max_guests INTEGER NOT NULL UNIQUE CHECK (max_guests <= 12),
  stay_minutes INTEGER NOT NULL CHECK (stay_minutes > 0),
  deposit_per_head_cents INTEGER NOT NULL CHECK (deposit_per_head_cents >= 0),
  CHECK (min_guests <= max_guests)
) STRICT, WITHOUT ROWID;

CREATE TABLE guests (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
  phone TEXT,
  tier_id TEXT NOT NULL DEFAULT 'regular' REFERENCES guest_tiers (id),
  assistant TEXT,
  registered_on TEXT NOT NULL CHECK (registered_on IS date(registered_on))
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
  id TEXT PRIMARY KEY,
  guest_id TEXT NOT NULL REFERENCES guests (id),
  reason TEXT NOT NULL CHECK (reason IN ('no_shows', 'conduct')),
  blocked_on TEXT NOT NULL CHECK (blocked_on IS date(blocked_on)),
  blocked_by TEXT REFERENCES managers (id),
  lifted_on TEXT CHECK (lifted_on IS date(lifted_on)),
  lifted_by TEXT REFERENCES managers (id),
  CHECK ((reason = 'conduct') = (blocked_by IS NOT NULL)),
  CHECK ((lifted_on IS NULL) = (lifted_by IS NULL)),
  CHECK (lifted_on >= blocked_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_block_a_guest ON blocks (guest_id) WHERE lifted_on IS NULL;

CREATE TABLE reservations (
  id TEXT PRIMARY KEY,
  guest_id TEXT NOT NULL REFERENCES guests (id),
  service_id TEXT NOT NULL REFERENCES services (id),
  party_size INTEGER NOT NULL CHECK (party_size BETWEEN 1 AND 12),
  band_id TEXT NOT NULL REFERENCES party_bands (id),
  starts_at TEXT NOT NULL CHECK (starts_at IS datetime(starts_at)),
  table_id TEXT NOT NULL REFERENCES dining_tables (id),
  joined_table_id TEXT REFERENCES dining_tables (id),
  status TEXT NOT NULL CHECK (status IN ('held', 'confirmed', 'seated', 'completed', 'cancelled', 'no_show')),
  note TEXT NOT NULL DEFAULT '',
  made_at TEXT NOT NULL CHECK (made_at IS datetime(made_at)),
  agreed_at TEXT NOT NULL CHECK (agreed_at IS datetime(agreed_at)),
  seated_at TEXT CHECK (seated_at IS datetime(seated_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  cancel_reason TEXT CHECK (cancel_reason IN ('guest', 'released', 'house')),
  called_off_by TEXT REFERENCES managers (id),
  CHECK (substr(starts_at, 15) IN ('00:00', '15:00', '30:00', '45:00')),
  CHECK (table_id < joined_table_id),
  CHECK (made_at <= agreed_at),
  CHECK ((status IN ('seated', 'completed')) = (seated_at IS NOT NULL)),
  CHECK ((status IN ('completed', 'cancelled', 'no_show')) = (closed_at IS NOT NULL)),
  CHECK ((status = 'cancelled') = (cancel_reason IS NOT NULL)),
  CHECK ((cancel_reason IS 'house') = (called_off_by IS NOT NULL)),
  CHECK (closed_at >= seated_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX reservations_of_a_service ON reservations (service_id, starts_at);

CREATE INDEX reservations_of_a_guest ON reservations (guest_id, starts_at);

CREATE TABLE deposits (
  id TEXT PRIMARY KEY,
  reservation_id TEXT NOT NULL REFERENCES reservations (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  status TEXT NOT NULL DEFAULT 'due' CHECK (status IN ('due', 'paid', 'refunded', 'part_refunded', 'forfeited', 'credited', 'void')),
  asked_at TEXT NOT NULL CHECK (asked_at IS datetime(asked_at)),
  due_by TEXT NOT NULL CHECK (due_by IS datetime(asked_at, '+48 hours')),
  paid_at TEXT CHECK (paid_at IS datetime(paid_at)),
  settled_at TEXT CHECK (settled_at IS datetime(settled_at)),
  refunded_cents INTEGER NOT NULL DEFAULT 0 CHECK (refunded_cents >= 0),
  CHECK ((status IN ('due', 'void')) = (paid_at IS NULL)),
  CHECK ((status IN ('due', 'paid')) = (settled_at IS NULL)),
  CHECK (CASE status WHEN 'refunded' THEN refunded_cents = amount_cents WHEN 'part_refunded' THEN refunded_cents * 2 = amount_cents ELSE refunded_cents = 0 END)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_deposit_in_force ON deposits (reservation_id) WHERE status IN ('due', 'paid');

CREATE TABLE waiting_entries (
  id TEXT PRIMARY KEY,
  guest_id TEXT NOT NULL REFERENCES guests (id),
  service_id TEXT NOT NULL REFERENCES services (id),
  party_size INTEGER NOT NULL CHECK (party_size BETWEEN 1 AND 12),
  joined_at TEXT NOT NULL CHECK (joined_at IS datetime(joined_at)),
  status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'offered', 'accepted', 'expired', 'withdrawn')),
  offered_table_id TEXT REFERENCES dining_tables (id),
  offered_for TEXT CHECK (offered_for IS datetime(offered_for)),
  offered_at TEXT CHECK (offered_at IS datetime(offered_at)),
  offer_until TEXT CHECK (offer_until IS datetime(offered_at, '+2 hours')),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  reservation_id TEXT REFERENCES reservations (id),
  CHECK (substr(offered_for, 15) IN ('00:00', '15:00', '30:00', '45:00')),
  CHECK ((offered_at IS NULL) = (offered_table_id IS NULL)),
  CHECK ((offered_at IS NULL) = (offered_for IS NULL)),
  CHECK (status <> 'waiting' OR offered_at IS NULL),
  CHECK (status NOT IN ('offered', 'accepted') OR offered_at IS NOT NULL),
  CHECK ((status IN ('accepted', 'expired', 'withdrawn')) = (closed_at IS NOT NULL)),
  CHECK ((status = 'accepted') = (reservation_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_place_a_guest ON waiting_entries (guest_id, service_id) WHERE status IN ('waiting', 'offered');

CREATE VIEW table_details AS
SELECT t.id AS table_id, t.label, t.min_guests, t.max_guests, t.status, t.out_reason,
  a.id AS area_id, a.name AS area_name, h.id AS restaurant_id, h.name AS restaurant_name
FROM dining_tables t
JOIN areas a ON a.id = t.area_id
JOIN restaurants h ON h.id = a.restaurant_id;

CREATE VIEW occupancy AS
SELECT r.id AS reservation_id, r.guest_id, r.service_id, r.status, r.table_id AS table_id, r.starts_at,
  datetime(r.starts_at, '+' || b.stay_minutes || ' minutes') AS ends_at,
  datetime(r.starts_at, '+' || (b.stay_minutes + h.reset_minutes) || ' minutes') AS free_from
FROM reservations r
JOIN party_bands b ON b.id = r.band_id
JOIN services s ON s.id = r.service_id
JOIN restaurants h ON h.id = s.restaurant_id
UNION ALL
SELECT r.id, r.guest_id, r.service_id, r.status, r.joined_table_id, r.starts_at,
  datetime(r.starts_at, '+' || b.stay_minutes || ' minutes'),
  datetime(r.starts_at, '+' || (b.stay_minutes + h.reset_minutes) || ' minutes')
FROM reservations r
JOIN party_bands b ON b.id = r.band_id
JOIN services s ON s.id = r.service_id
JOIN restaurants h ON h.id = s.restaurant_id
WHERE r.joined_table_id IS NOT NULL;

CREATE VIEW table_clashes AS
SELECT a.reservation_id, b.reservation_id AS other_id, a.table_id
FROM occupancy a
JOIN occupancy b ON b.table_id = a.table_id AND b.reservation_id <> a.reservation_id
WHERE a.status IN ('held', 'confirmed', 'seated')
  AND b.status IN ('held', 'confirmed', 'seated')
  AND a.starts_at < b.free_from
  AND b.starts_at < a.free_from;

CREATE VIEW guest_clashes AS
SELECT a.reservation_id, b.reservation_id AS other_id, a.guest_id
FROM occupancy a
JOIN occupancy b ON b.guest_id = a.guest_id AND b.reservation_id <> a.reservation_id
WHERE a.status IN ('held', 'confirmed', 'seated')
  AND b.status IN ('held', 'confirmed', 'seated')
  AND a.starts_at < b.ends_at
  AND b.starts_at < a.ends_at;

CREATE VIEW standing_offers AS
SELECT w.id AS entry_id, w.guest_id, w.service_id, w.offered_table_id AS table_id, w.offered_for AS starts_at, w.offer_until,
  datetime(w.offered_for, '+' || (b.stay_minutes + h.reset_minutes) || ' minutes') AS free_from
FROM waiting_entries w
JOIN party_bands b ON w.party_size BETWEEN b.min_guests AND b.max_guests
JOIN services s ON s.id = w.service_id
JOIN restaurants h ON h.id = s.restaurant_id
WHERE w.status = 'offered';

CREATE VIEW offer_clashes AS
SELECT f.entry_id, o.reservation_id
FROM standing_offers f
JOIN occupancy o ON o.table_id = f.table_id AND o.guest_id <> f.guest_id
WHERE o.status IN ('held', 'confirmed', 'seated')
  AND o.starts_at < f.free_from
  AND f.starts_at < o.free_from
UNION ALL
SELECT f.entry_id, NULL
FROM standing_offers f
JOIN standing_offers x ON x.table_id = f.table_id AND x.entry_id <> f.entry_id
WHERE x.starts_at < f.free_from
  AND f.starts_at < x.free_from;

CREATE VIEW arrivals AS
SELECT s.restaurant_id, r.service_id, r.starts_at, sum(r.party_size) AS covers, h.pacing_limit
FROM reservations r
JOIN services s ON s.id = r.service_id
JOIN restaurants h ON h.id = s.restaurant_id
WHERE r.status IN ('held', 'confirmed', 'seated', 'completed')
GROUP BY s.restaurant_id, r.service_id, r.starts_at, h.pacing_limit;

CREATE VIEW service_details AS
SELECT s.id AS service_id, s.restaurant_id, h.name AS restaurant_name, s.service_date, s.meal,
  s.first_arrival_at, s.last_arrival_at, s.status, s.cover_limit, h.pacing_limit,
  (SELECT coalesce(sum(r.party_size), 0) FROM reservations r
    WHERE r.service_id = s.id AND r.status IN ('held', 'confirmed', 'seated', 'completed')) AS covers,
  (SELECT count(*) FROM reservations r
    WHERE r.service_id = s.id AND r.status IN ('held', 'confirmed', 'seated')) AS live_reservations,
  (SELECT count(*) FROM waiting_entries w
    WHERE w.service_id = s.id AND w.status IN ('waiting', 'offered')) AS open_entries
FROM services s
JOIN restaurants h ON h.id = s.restaurant_id;

CREATE VIEW guest_upcoming AS
SELECT r.guest_id, s.restaurant_id, count(*) AS upcoming, k.upcoming_limit
FROM reservations r
JOIN services s ON s.id = r.service_id
JOIN guests g ON g.id = r.guest_id
JOIN guest_tiers k ON k.id = g.tier_id
WHERE r.status IN ('held', 'confirmed')
GROUP BY r.guest_id, s.restaurant_id, k.upcoming_limit;

CREATE VIEW counted_no_shows AS
SELECT r.guest_id, r.id AS reservation_id, r.starts_at
FROM reservations r
WHERE r.status = 'no_show'
  AND date(r.starts_at) > coalesce(
    (SELECT max(coalesce(b.lifted_on, '9999-12-31')) FROM blocks b WHERE b.guest_id = r.guest_id), '0000-01-01');

CREATE VIEW guest_details AS
SELECT g.id AS guest_id, g.name, g.email, g.phone, g.assistant, g.tier_id, k.upcoming_limit, g.registered_on,
  (SELECT b.id FROM blocks b WHERE b.guest_id = g.id AND b.lifted_on IS NULL) AS open_block_id,
  (SELECT b.blocked_on FROM blocks b WHERE b.guest_id = g.id AND b.lifted_on IS NULL) AS blocked_on,
  (SELECT count(*) FROM counted_no_shows n WHERE n.guest_id = g.id) AS counted_no_shows,
  (SELECT count(*) FROM reservations r WHERE r.guest_id = g.id AND r.status IN ('held', 'confirmed')) AS upcoming
FROM guests g
JOIN guest_tiers k ON k.id = g.tier_id;

CREATE VIEW reservation_details AS
SELECT r.id AS reservation_id, r.status, r.guest_id, g.name AS guest_name,
  s.restaurant_id, h.name AS restaurant_name, r.service_id, s.service_date, s.meal,
  r.party_size, r.band_id, r.starts_at,
  datetime(r.starts_at, '+' || b.stay_minutes || ' minutes') AS ends_at,
  r.table_id, t.label AS table_label, r.joined_table_id, j.label AS joined_table_label, a.name AS area_name,
  r.party_size * b.deposit_per_head_cents AS deposit_owed_cents,
  d.id AS deposit_id, d.status AS deposit_status, d.amount_cents AS deposit_cents, d.due_by AS deposit_due_by, d.refunded_cents,
  r.note, r.made_at, r.agreed_at, r.seated_at, r.closed_at, r.cancel_reason
FROM reservations r
JOIN guests g ON g.id = r.guest_id
JOIN services s ON s.id = r.service_id
JOIN restaurants h ON h.id = s.restaurant_id
JOIN party_bands b ON b.id = r.band_id
JOIN dining_tables t ON t.id = r.table_id
JOIN areas a ON a.id = t.area_id
LEFT JOIN dining_tables j ON j.id = r.joined_table_id
LEFT JOIN deposits d ON d.id = (SELECT x.id FROM deposits x WHERE x.reservation_id = r.id ORDER BY x.asked_at DESC, x.id DESC LIMIT 1);

CREATE VIEW waiting_details AS
SELECT w.id AS entry_id, w.status, w.guest_id, g.name AS guest_name, w.service_id, s.restaurant_id, h.name AS restaurant_name,
  s.service_date, s.meal, w.party_size, w.joined_at, w.offered_table_id, t.label AS offered_table_label,
  w.offered_for, w.offered_at, w.offer_until, w.closed_at, w.reservation_id
FROM waiting_entries w
JOIN guests g ON g.id = w.guest_id
JOIN services s ON s.id = w.service_id
JOIN restaurants h ON h.id = s.restaurant_id
LEFT JOIN dining_tables t ON t.id = w.offered_table_id;

CREATE TRIGGER joins_within_one_area BEFORE INSERT ON table_joins
BEGIN
  SELECT RAISE(ABORT, 'only two tables of the same area can be listed as a pair')
  FROM dining_tables x JOIN dining_tables y ON y.id = NEW.table_b
  WHERE x.id = NEW.table_a AND x.area_id <> y.area_id;
END;

CREATE TRIGGER size_in_its_band BEFORE INSERT ON reservations
WHEN NOT EXISTS (SELECT 1 FROM party_bands b WHERE b.id = NEW.band_id AND NEW.party_size BETWEEN b.min_guests AND b.max_guests)
BEGIN
  SELECT RAISE(ABORT, 'the size class does not match the number of guests; parties have 1 to 12 guests');
END;

CREATE TRIGGER size_in_its_band_on_change BEFORE UPDATE OF party_size, band_id ON reservations
WHEN NOT EXISTS (SELECT 1 FROM party_bands b WHERE b.id = NEW.band_id AND NEW.party_size BETWEEN b.min_guests AND b.max_guests)
BEGIN
  SELECT RAISE(ABORT, 'the size class does not match the number of guests; parties have 1 to 12 guests');
END;

CREATE TRIGGER only_open_services BEFORE INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'this service is not open for booking; choose a service that is open')
  FROM services s WHERE s.id = NEW.service_id AND s.status <> 'open';
END;

CREATE TRIGGER only_open_services_on_change BEFORE UPDATE OF service_id, starts_at ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'this service is not open for booking; choose a service that is open')
  FROM services s WHERE s.id = NEW.service_id AND s.status <> 'open';
END;

CREATE TRIGGER within_seating_times BEFORE INSERT ON reservations
BEGIN
  SELECT RAISE(ABORT, 'parties arrive on a quarter hour between the first and the last arrival time of the service; choose such a time')
  FROM services s
  WHERE s.id = NEW.service_id
    AND (NEW.starts_at NOT BETWEEN s.first_arrival_at AND s.last_arrival_at
      OR substr(NEW.starts_at, 15) NOT IN ('00:00', '15:00', '30:00', '45:00'));
END;

CREATE TRIGGER within_seating_times_on_change BEFORE UPDATE OF service_id, starts_at ON reservations
BEGIN
  SELECT RAISE(ABORT, 'parties arrive on a quarter hour between the first and the last arrival time of the service; choose such a time')
  FROM services s
  WHERE s.id = NEW.service_id
    AND (NEW.starts_at NOT BETWEEN s.first_arrival_at AND s.last_arrival_at
      OR substr(NEW.starts_at, 15) NOT IN ('00:00', '15:00', '30:00', '45:00'));
END;

CREATE TRIGGER change_stays_in_the_restaurant BEFORE UPDATE OF service_id ON reservations
BEGIN
  SELECT RAISE(ABORT, 'a reservation cannot be moved to another restaurant; cancel it and book there')
  FROM services x JOIN services y ON y.id = NEW.service_id
  WHERE x.id = OLD.service_id AND x.restaurant_id <> y.restaurant_id;
END;

CREATE TRIGGER table_fits_the_party BEFORE INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'this table does not belong to the restaurant of the service; choose one of its own tables')
  FROM table_details t JOIN services s ON s.id = NEW.service_id
  WHERE t.table_id IN (NEW.table_id, NEW.joined_table_id) AND t.restaurant_id <> s.restaurant_id;
  SELECT RAISE(ABORT, 'this table is out of order; choose another')
  FROM dining_tables t WHERE t.id IN (NEW.table_id, NEW.joined_table_id) AND t.status <> 'in_use';
  SELECT RAISE(ABORT, 'this table is too small or too large for the party; choose one that fits, or a listed pair')
  FROM dining_tables t
  WHERE NEW.joined_table_id IS NULL AND t.id = NEW.table_id AND NEW.party_size NOT BETWEEN t.min_guests AND t.max_guests;
  SELECT RAISE(ABORT, 'this pair of tables is too small or too large for the party; choose one that fits')
  FROM table_joins j
  WHERE j.table_a = NEW.table_id AND j.table_b = NEW.joined_table_id AND NEW.party_size NOT BETWEEN j.min_guests AND j.max_guests;
END;

CREATE TRIGGER table_fits_the_party_on_change BEFORE UPDATE OF service_id, party_size, table_id, joined_table_id ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'this table does not belong to the restaurant of the service; choose one of its own tables')
  FROM table_details t JOIN services s ON s.id = NEW.service_id
  WHERE t.table_id IN (NEW.table_id, NEW.joined_table_id) AND t.restaurant_id <> s.restaurant_id;
  SELECT RAISE(ABORT, 'this table is out of order; choose another')
  FROM dining_tables t WHERE t.id IN (NEW.table_id, NEW.joined_table_id) AND t.status <> 'in_use';
  SELECT RAISE(ABORT, 'this table is too small or too large for the party; choose one that fits, or a listed pair')
  FROM dining_tables t
  WHERE NEW.joined_table_id IS NULL AND t.id = NEW.table_id AND NEW.party_size NOT BETWEEN t.min_guests AND t.max_guests;
  SELECT RAISE(ABORT, 'this pair of tables is too small or too large for the party; choose one that fits')
  FROM table_joins j
  WHERE j.table_a = NEW.table_id AND j.table_b = NEW.joined_table_id AND NEW.party_size NOT BETWEEN j.min_guests AND j.max_guests;
END;

CREATE TRIGGER joined_only_as_listed BEFORE INSERT ON reservations
WHEN NEW.joined_table_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM table_joins j WHERE j.table_a = NEW.table_id AND j.table_b = NEW.joined_table_id)
BEGIN
  SELECT RAISE(ABORT, 'these two tables are not listed as a pair that can be joined; choose a listed pair');
END;

CREATE TRIGGER joined_only_as_listed_on_change BEFORE UPDATE OF table_id, joined_table_id ON reservations
WHEN NEW.joined_table_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM table_joins j WHERE j.table_a = NEW.table_id AND j.table_b = NEW.joined_table_id)
BEGIN
  SELECT RAISE(ABORT, 'these two tables are not listed as a pair that can be joined; choose a listed pair');
END;

CREATE TRIGGER no_double_booking AFTER INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the table is taken at that time, the reset included; choose another table or time')
  FROM table_clashes c WHERE c.reservation_id = NEW.id;
END;

CREATE TRIGGER no_double_booking_on_change AFTER UPDATE OF service_id, starts_at, party_size, band_id, table_id, joined_table_id ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the table is taken at that time, the reset included; choose another table or time')
  FROM table_clashes c WHERE c.reservation_id = NEW.id;
END;

CREATE TRIGGER offered_table_is_kept AFTER INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the table is kept for a waiting guest who has an offer; choose another table or time, or wait until the offer has lapsed')
  FROM offer_clashes c WHERE c.reservation_id = NEW.id;
END;

CREATE TRIGGER offered_table_is_kept_on_change AFTER UPDATE OF service_id, starts_at, party_size, band_id, table_id, joined_table_id ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the table is kept for a waiting guest who has an offer; choose another table or time, or wait until the offer has lapsed')
  FROM offer_clashes c WHERE c.reservation_id = NEW.id;
END;

CREATE TRIGGER kitchen_pacing AFTER INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'too many guests would arrive in this quarter hour; choose another arrival time')
  FROM arrivals v WHERE v.service_id = NEW.service_id AND v.starts_at = NEW.starts_at AND v.covers > v.pacing_limit;
END;

CREATE TRIGGER kitchen_pacing_on_change AFTER UPDATE OF service_id, starts_at, party_size ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'too many guests would arrive in this quarter hour; choose another arrival time')
  FROM arrivals v WHERE v.service_id = NEW.service_id AND v.starts_at = NEW.starts_at AND v.covers > v.pacing_limit;
END;

CREATE TRIGGER covers_within_the_limit AFTER INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the service would have more covers than its limit; choose another service or the waiting list')
  FROM service_details v WHERE v.service_id = NEW.service_id AND v.covers > v.cover_limit;
END;

CREATE TRIGGER covers_within_the_limit_on_change AFTER UPDATE OF service_id, party_size ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the service would have more covers than its limit; choose another service or the waiting list')
  FROM service_details v WHERE v.service_id = NEW.service_id AND v.covers > v.cover_limit;
END;

CREATE TRIGGER guest_not_twice_at_once AFTER INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the guest has another reservation at that time in one of the restaurants; change or cancel it first')
  FROM guest_clashes c WHERE c.reservation_id = NEW.id;
END;

CREATE TRIGGER guest_not_twice_at_once_on_change AFTER UPDATE OF service_id, starts_at, party_size, band_id ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'the guest has another reservation at that time in one of the restaurants; change or cancel it first')
  FROM guest_clashes c WHERE c.reservation_id = NEW.id;
END;

CREATE TRIGGER upcoming_within_the_limit AFTER INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed')
BEGIN
  SELECT RAISE(ABORT, 'the guest has as many upcoming reservations in this restaurant as allowed; one must be kept or cancelled first')
  FROM guest_upcoming u JOIN services s ON s.restaurant_id = u.restaurant_id
  WHERE s.id = NEW.service_id AND u.guest_id = NEW.guest_id AND u.upcoming > u.upcoming_limit;
END;

CREATE TRIGGER blocked_guests_do_not_book BEFORE INSERT ON reservations WHEN NEW.status IN ('held', 'confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'this guest is blocked and cannot book; a manager may lift the block from its 90th day on')
  FROM blocks b WHERE b.guest_id = NEW.guest_id AND b.lifted_on IS NULL;
END;

CREATE TRIGGER blocked_guests_do_not_wait BEFORE INSERT ON waiting_entries WHEN NEW.status IN ('waiting', 'offered')
BEGIN
  SELECT RAISE(ABORT, 'this guest is blocked and cannot join the waiting list; a manager may lift the block from its 90th day on')
  FROM blocks b WHERE b.guest_id = NEW.guest_id AND b.lifted_on IS NULL;
END;

CREATE TRIGGER closed_reservations_stay_closed BEFORE UPDATE ON reservations WHEN OLD.status IN ('completed', 'cancelled', 'no_show')
BEGIN
  SELECT RAISE(ABORT, 'this reservation is completed, cancelled or a no-show and cannot be changed; make a new one');
END;

CREATE TRIGGER reservation_states_in_order BEFORE UPDATE OF status ON reservations
WHEN OLD.status IN ('held', 'confirmed', 'seated')
  AND NEW.status <> OLD.status
  AND OLD.status || '>' || NEW.status NOT IN ('held>confirmed', 'held>cancelled', 'confirmed>held', 'confirmed>seated', 'confirmed>cancelled', 'confirmed>no_show', 'seated>completed')
BEGIN
  SELECT RAISE(ABORT, 'not possible in this state: held reservations are confirmed or cancelled, confirmed ones seated, cancelled or marked as no-show, seated ones completed');
END;

CREATE TRIGGER confirm_after_payment BEFORE UPDATE OF status, party_size, band_id ON reservations WHEN NEW.status IN ('confirmed', 'seated')
BEGIN
  SELECT RAISE(ABORT, 'a party of this size is confirmed only when its deposit has been paid in full; record the payment first')
  FROM party_bands b
  WHERE b.id = NEW.band_id AND b.deposit_per_head_cents > 0
    AND NOT EXISTS (SELECT 1 FROM deposits d
      WHERE d.reservation_id = NEW.id AND d.status = 'paid' AND d.amount_cents >= NEW.party_size * b.deposit_per_head_cents);
END;

CREATE TRIGGER paid_party_does_not_grow BEFORE UPDATE OF party_size ON reservations WHEN NEW.party_size > OLD.party_size
BEGIN
  SELECT RAISE(ABORT, 'the deposit has been paid for fewer heads; the party cannot grow beyond them, a new reservation is needed')
  FROM deposits d JOIN party_bands b ON NEW.party_size BETWEEN b.min_guests AND b.max_guests
  WHERE d.reservation_id = NEW.id AND d.status = 'paid' AND d.amount_cents < NEW.party_size * b.deposit_per_head_cents;
END;

CREATE TRIGGER no_show_after_twenty_minutes BEFORE UPDATE OF status ON reservations
WHEN NEW.status = 'no_show' AND NEW.closed_at < datetime(NEW.starts_at, '+20 minutes')
BEGIN
  SELECT RAISE(ABORT, 'a party counts as a no-show only from 20 minutes after its arrival time on; wait until then');
END;

CREATE TRIGGER deposit_is_per_head BEFORE INSERT ON deposits WHEN NEW.status = 'due'
BEGIN
  SELECT RAISE(ABORT, 'the deposit must be the amount a head times the guests of the party; parties below 7 owe none')
  FROM reservations r JOIN party_bands b ON b.id = r.band_id
  WHERE r.id = NEW.reservation_id AND NEW.amount_cents <> r.party_size * b.deposit_per_head_cents;
END;

CREATE TRIGGER deposit_is_per_head_on_change BEFORE UPDATE OF amount_cents ON deposits WHEN NEW.amount_cents <> OLD.amount_cents
BEGIN
  SELECT RAISE(ABORT, 'a deposit that has been paid keeps its amount')
  WHERE OLD.status <> 'due';
  SELECT RAISE(ABORT, 'the deposit must be the amount a head times the guests of the party; parties below 7 owe none')
  FROM reservations r JOIN party_bands b ON b.id = r.band_id
  WHERE r.id = NEW.reservation_id AND NEW.amount_cents <> r.party_size * b.deposit_per_head_cents;
END;

CREATE TRIGGER settled_deposits_stay_settled BEFORE UPDATE ON deposits WHEN OLD.settled_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this deposit has been settled already and cannot be changed');
END;

CREATE TRIGGER blocks_last_ninety_days BEFORE UPDATE OF lifted_on ON blocks
WHEN NEW.lifted_on < date(NEW.blocked_on, '+90 days')
BEGIN
  SELECT RAISE(ABORT, 'a block is lifted at the earliest on the 90th day after it began; it must stay until then');
END;

CREATE TRIGGER lifted_blocks_stay_lifted BEFORE UPDATE ON blocks WHEN OLD.lifted_on IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this block has been lifted already');
END;

CREATE TRIGGER wait_for_open_services BEFORE INSERT ON waiting_entries WHEN NEW.status IN ('waiting', 'offered')
BEGIN
  SELECT RAISE(ABORT, 'this service is not open, so it has no waiting list; choose a service that is open')
  FROM services s WHERE s.id = NEW.service_id AND s.status <> 'open';
END;

CREATE TRIGGER closed_entries_stay_closed BEFORE UPDATE ON waiting_entries WHEN OLD.status IN ('accepted', 'expired', 'withdrawn')
BEGIN
  SELECT RAISE(ABORT, 'this place on the waiting list has ended already; the guest may join again');
END;

CREATE TRIGGER entry_states_in_order BEFORE UPDATE OF status ON waiting_entries
WHEN OLD.status IN ('waiting', 'offered')
  AND NEW.status <> OLD.status
  AND OLD.status || '>' || NEW.status NOT IN ('waiting>offered', 'waiting>expired', 'waiting>withdrawn', 'offered>accepted', 'offered>expired', 'offered>withdrawn')
BEGIN
  SELECT RAISE(ABORT, 'not possible in this state: a waiting guest gets an offer first, and only an offer can be accepted');
END;

CREATE TRIGGER offer_fits_the_entry BEFORE UPDATE OF status ON waiting_entries WHEN OLD.status = 'waiting' AND NEW.status = 'offered'
BEGIN
  SELECT RAISE(ABORT, 'the offer must name a table of the restaurant that is in use and fits the party, and a time between the first and last arrival of an open service')
  FROM table_details t JOIN services s ON s.id = NEW.service_id
  WHERE t.table_id = NEW.offered_table_id
    AND (t.status <> 'in_use'
      OR t.restaurant_id <> s.restaurant_id
      OR s.status <> 'open'
      OR NEW.party_size NOT BETWEEN t.min_guests AND t.max_guests
      OR NEW.offered_for NOT BETWEEN s.first_arrival_at AND s.last_arrival_at);
END;

CREATE TRIGGER offers_in_order BEFORE UPDATE OF status ON waiting_entries WHEN OLD.status = 'waiting' AND NEW.status = 'offered'
BEGIN
  SELECT RAISE(ABORT, 'another guest whose party fits this table has waited longer for this service; offer it to that guest first')
  FROM waiting_entries w JOIN dining_tables t ON t.id = NEW.offered_table_id
  WHERE w.service_id = NEW.service_id AND w.status = 'waiting' AND w.id <> NEW.id
    AND w.joined_at < NEW.joined_at
    AND w.party_size BETWEEN t.min_guests AND t.max_guests;
END;

CREATE TRIGGER offer_needs_a_free_table AFTER UPDATE OF status ON waiting_entries WHEN OLD.status = 'waiting' AND NEW.status = 'offered'
BEGIN
  SELECT RAISE(ABORT, 'this table is booked or offered to somebody else at that time; choose another table or time')
  FROM offer_clashes c WHERE c.entry_id = NEW.id;
END;

CREATE TRIGGER accept_within_two_hours BEFORE UPDATE OF status ON waiting_entries
WHEN NEW.status = 'accepted' AND NEW.closed_at > NEW.offer_until
BEGIN
  SELECT RAISE(ABORT, 'this offer lapsed 2 hours after it was made and can no longer be accepted; the place has to be marked as expired');
END;

CREATE TRIGGER no_early_expiry BEFORE UPDATE OF status ON waiting_entries
WHEN OLD.status = 'offered' AND NEW.status = 'expired' AND NEW.closed_at <= OLD.offer_until
BEGIN
  SELECT RAISE(ABORT, 'this offer still stands; it expires only when its 2 hours have passed');
END;

CREATE TRIGGER service_closes_when_nothing_depends BEFORE UPDATE OF status ON services WHEN OLD.status = 'open' AND NEW.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'the service still has held, confirmed or seated reservations; cancel, move, complete or mark them first')
  FROM reservations r WHERE r.service_id = NEW.id AND r.status IN ('held', 'confirmed', 'seated');
  SELECT RAISE(ABORT, 'an offer from the waiting list still stands for this service; it must be answered or lapse first')
  FROM waiting_entries w WHERE w.service_id = NEW.id AND w.status = 'offered';
END;

CREATE TRIGGER service_states_in_order BEFORE UPDATE OF status ON services
WHEN NEW.status <> OLD.status AND (OLD.status = 'closed' OR NEW.status = 'planned')
BEGIN
  SELECT RAISE(ABORT, 'a closed service is not opened again, and no service goes back to planned');
END;

CREATE TRIGGER table_out_when_nothing_depends BEFORE UPDATE OF status ON dining_tables WHEN NEW.status = 'out_of_order' AND OLD.status = 'in_use'
BEGIN
  SELECT RAISE(ABORT, 'held, confirmed or seated reservations still depend on this table; move them to other tables first')
  FROM reservations r
  WHERE r.status IN ('held', 'confirmed', 'seated') AND (r.table_id = NEW.id OR r.joined_table_id = NEW.id);
  SELECT RAISE(ABORT, 'this table is offered to a waiting guest; the offer must be answered or lapse first')
  FROM waiting_entries w WHERE w.status = 'offered' AND w.offered_table_id = NEW.id;
END;
