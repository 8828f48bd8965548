CREATE TABLE agencies (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  monthly_vouchers INTEGER NOT NULL CHECK (monthly_vouchers > 0),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused'))
) STRICT, WITHOUT ROWID;

CREATE TABLE staff (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('volunteer', 'coordinator')),
  hygiene_until TEXT CHECK (hygiene_until IS date(hygiene_until)),
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE households (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  adults INTEGER NOT NULL CHECK (adults BETWEEN 1 AND 12),
  children INTEGER NOT NULL DEFAULT 0 CHECK (children BETWEEN 0 AND 12),
  diet TEXT NOT NULL DEFAULT 'any' CHECK (diet IN ('any', 'vegetarian', 'halal')),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'blocked')),
  blocked_on TEXT CHECK (blocked_on IS date(blocked_on)),
  CHECK ((status = 'blocked') = (blocked_on IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE vouchers (
  id TEXT PRIMARY KEY,
  household_id TEXT NOT NULL REFERENCES households (id),
  agency_id TEXT NOT NULL REFERENCES agencies (id),
  issued_on TEXT NOT NULL CHECK (issued_on IS date(issued_on)),
  expires_on TEXT NOT NULL CHECK (expires_on = date(issued_on, '+14 days')),
  status TEXT NOT NULL DEFAULT 'issued' CHECK (status IN ('issued', 'used', 'expired', 'cancelled')),
  approved_by TEXT REFERENCES staff (id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_voucher_a_household ON vouchers (household_id) WHERE status = 'issued';

CREATE TABLE slots (
  id TEXT PRIMARY KEY,
  starts_at TEXT NOT NULL UNIQUE CHECK (starts_at IS datetime(starts_at)),
  capacity INTEGER NOT NULL CHECK (capacity > 0),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed'))
) STRICT, WITHOUT ROWID;

CREATE TABLE collections (
  id TEXT PRIMARY KEY,
  voucher_id TEXT NOT NULL REFERENCES vouchers (id),
  slot_id TEXT NOT NULL REFERENCES slots (id),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'packed', 'collected', 'missed', 'cancelled')),
  moves INTEGER NOT NULL DEFAULT 0 CHECK (moves IN (0, 1)),
  packed_by TEXT REFERENCES staff (id),
  packed_at TEXT CHECK (packed_at IS datetime(packed_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK ((packed_by IS NULL) = (packed_at IS NULL)),
  CHECK (status NOT IN ('packed', 'collected') OR packed_at IS NOT NULL),
  CHECK (status <> 'booked' OR packed_at IS NULL),
  CHECK ((status IN ('collected', 'missed', 'cancelled')) = (closed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_collection_a_voucher ON collections (voucher_id) WHERE status IN ('booked', 'packed', 'collected');

CREATE TABLE food_groups (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  units_an_adult INTEGER NOT NULL CHECK (units_an_adult >= 0),
  units_a_child INTEGER NOT NULL CHECK (units_a_child >= 0),
  is_perishable INTEGER NOT NULL CHECK (is_perishable IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE lots (
  id TEXT PRIMARY KEY,
  food_group_id TEXT NOT NULL REFERENCES food_groups (id),
  description TEXT NOT NULL,
  units INTEGER NOT NULL CHECK (units >= 0),
  received_on TEXT NOT NULL CHECK (received_on IS date(received_on)),
  best_before TEXT NOT NULL CHECK (best_before IS date(best_before)),
  is_vegetarian INTEGER NOT NULL CHECK (is_vegetarian IN (0, 1)),
  is_halal INTEGER NOT NULL CHECK (is_halal IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'quarantine' CHECK (status IN ('quarantine', 'available', 'blocked', 'used_up')),
  CHECK ((status = 'used_up') = (units = 0))
) STRICT, WITHOUT ROWID;

CREATE TABLE packed_units (
  collection_id TEXT NOT NULL REFERENCES collections (id),
  lot_id TEXT NOT NULL REFERENCES lots (id),
  units INTEGER NOT NULL CHECK (units > 0),
  PRIMARY KEY (collection_id, lot_id)
) STRICT, WITHOUT ROWID;

CREATE VIEW voucher_details AS
SELECT vouchers.id AS voucher_id, vouchers.household_id, households.name AS household, vouchers.agency_id,
  agencies.name AS agency, vouchers.issued_on, vouchers.expires_on, vouchers.status, vouchers.approved_by,
  (SELECT collections.id FROM collections
    WHERE collections.voucher_id = vouchers.id AND collections.status IN ('booked', 'packed', 'collected')) AS collection_id
FROM vouchers
JOIN households ON households.id = vouchers.household_id
JOIN agencies ON agencies.id = vouchers.agency_id;

CREATE VIEW agency_months AS
SELECT vouchers.agency_id, strftime('%Y-%m', vouchers.issued_on) AS month, count(*) AS vouchers
FROM vouchers WHERE vouchers.status <> 'cancelled'
GROUP BY vouchers.agency_id, strftime('%Y-%m', vouchers.issued_on);

CREATE VIEW slot_details AS
SELECT slots.id AS slot_id, slots.starts_at, slots.capacity, slots.status,
  (SELECT count(*) FROM collections
    WHERE collections.slot_id = slots.id AND collections.status <> 'cancelled') AS booked
FROM slots;

CREATE VIEW collection_details AS
SELECT collections.id AS collection_id, collections.voucher_id, vouchers.household_id, households.name AS household,
  households.adults, households.children, households.diet, collections.slot_id, slots.starts_at, collections.status,
  collections.moves, collections.packed_by, staff.name AS packer, collections.packed_at, collections.closed_at
FROM collections
JOIN vouchers ON vouchers.id = collections.voucher_id
JOIN households ON households.id = vouchers.household_id
JOIN slots ON slots.id = collections.slot_id
LEFT JOIN staff ON staff.id = collections.packed_by;

CREATE VIEW due_units AS
SELECT collection_details.collection_id, collection_details.status, food_groups.id AS food_group_id,
  food_groups.name AS food_group, food_groups.is_perishable,
  collection_details.adults * food_groups.units_an_adult + collection_details.children * food_groups.units_a_child AS due,
  (SELECT coalesce(sum(packed_units.units), 0) FROM packed_units JOIN lots ON lots.id = packed_units.lot_id
    WHERE packed_units.collection_id = collection_details.collection_id
      AND lots.food_group_id = food_groups.id) AS packed
FROM collection_details CROSS JOIN food_groups;

CREATE VIEW lot_details AS
SELECT lots.id AS lot_id, lots.food_group_id, food_groups.name AS food_group, food_groups.is_perishable,
  lots.description, lots.units, lots.received_on, lots.best_before, lots.is_vegetarian, lots.is_halal, lots.status
FROM lots JOIN food_groups ON food_groups.id = lots.food_group_id;

CREATE TRIGGER three_vouchers_in_180_days AFTER INSERT ON vouchers
WHEN NEW.approved_by IS NULL AND NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this household has had three vouchers within 180 days; only the coordinator can approve another one')
  WHERE (SELECT count(*) FROM vouchers
    WHERE vouchers.household_id = NEW.household_id AND vouchers.status <> 'cancelled'
      AND vouchers.issued_on > date(NEW.issued_on, '-180 days') AND vouchers.issued_on <= NEW.issued_on) > 3;
END;

CREATE TRIGGER coordinators_approve BEFORE INSERT ON vouchers WHEN NEW.approved_by IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'only the coordinator can approve a further voucher')
  FROM staff WHERE staff.id = NEW.approved_by AND staff.role <> 'coordinator';
END;

CREATE TRIGGER agencies_have_a_quota AFTER INSERT ON vouchers
BEGIN
  SELECT RAISE(ABORT, 'this agency has issued all its vouchers of the month; another agency or next month could help')
  FROM agency_months JOIN agencies ON agencies.id = agency_months.agency_id
  WHERE agency_months.agency_id = NEW.agency_id AND agency_months.month = strftime('%Y-%m', NEW.issued_on)
    AND agency_months.vouchers > agencies.monthly_vouchers;
END;

CREATE TRIGGER paused_agencies_issue_none AFTER INSERT ON vouchers WHEN NEW.status = 'issued'
BEGIN
  SELECT RAISE(ABORT, 'this agency is paused and issues no vouchers; another agency has to')
  FROM agencies WHERE agencies.id = NEW.agency_id AND agencies.status = 'paused';
END;

CREATE TRIGGER blocked_households_get_none AFTER INSERT ON vouchers WHEN NEW.status = 'issued'
BEGIN
  SELECT RAISE(ABORT, 'this household is blocked; the coordinator can readmit it')
  FROM households WHERE households.id = NEW.household_id AND households.status = 'blocked';
END;

CREATE TRIGGER blocked_households_book_none AFTER INSERT ON collections WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this household is blocked; the coordinator can readmit it')
  FROM vouchers JOIN households ON households.id = vouchers.household_id
  WHERE vouchers.id = NEW.voucher_id AND households.status = 'blocked';
END;

CREATE TRIGGER vouchers_follow_their_path BEFORE UPDATE ON vouchers WHEN OLD.status <> 'issued'
BEGIN
  SELECT RAISE(ABORT, 'this voucher is used, expired or cancelled; a new one must be issued');
END;

CREATE TRIGGER slots_have_room_on_insert AFTER INSERT ON collections WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this slot is full; choose another one')
  FROM slot_details WHERE slot_details.slot_id = NEW.slot_id AND slot_details.booked > slot_details.capacity;
END;

CREATE TRIGGER slots_have_room_on_update AFTER UPDATE OF slot_id, status ON collections WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this slot is full; choose another one')
  FROM slot_details WHERE slot_details.slot_id = NEW.slot_id AND slot_details.booked > slot_details.capacity;
END;

CREATE TRIGGER open_slots_on_insert AFTER INSERT ON collections WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this slot is closed for bookings; choose one that is open')
  FROM slots WHERE slots.id = NEW.slot_id AND slots.status <> 'open';
  SELECT RAISE(ABORT, 'only an open voucher can be booked; this one is used, expired or cancelled')
  FROM vouchers WHERE vouchers.id = NEW.voucher_id AND vouchers.status <> 'issued';
END;

CREATE TRIGGER open_slots_on_update AFTER UPDATE OF slot_id ON collections WHEN NEW.slot_id <> OLD.slot_id
BEGIN
  SELECT RAISE(ABORT, 'this slot is closed for bookings; choose one that is open')
  FROM slots WHERE slots.id = NEW.slot_id AND slots.status <> 'open';
  SELECT RAISE(ABORT, 'only a booked collection is moved; a packed one must be taken apart first')
  WHERE OLD.status <> 'booked';
END;

CREATE TRIGGER within_the_voucher_on_insert AFTER INSERT ON collections
BEGIN
  SELECT RAISE(ABORT, 'the slot lies outside the 14 days of the voucher; choose an earlier slot')
  FROM vouchers JOIN slots ON slots.id = NEW.slot_id
  WHERE vouchers.id = NEW.voucher_id AND date(slots.starts_at) NOT BETWEEN vouchers.issued_on AND vouchers.expires_on;
END;

CREATE TRIGGER within_the_voucher_on_update AFTER UPDATE OF slot_id ON collections
BEGIN
  SELECT RAISE(ABORT, 'the slot lies outside the 14 days of the voucher; choose an earlier slot')
  FROM vouchers JOIN slots ON slots.id = NEW.slot_id
  WHERE vouchers.id = NEW.voucher_id AND date(slots.starts_at) NOT BETWEEN vouchers.issued_on AND vouchers.expires_on;
END;

CREATE TRIGGER collections_follow_their_path BEFORE UPDATE OF status ON collections WHEN NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a collection is booked, packed, collected; only a booked one is cancelled, and only a packed one is handed out')
  WHERE NOT (
    (OLD.status = 'booked' AND NEW.status IN ('packed', 'missed', 'cancelled'))
    OR (OLD.status = 'packed' AND NEW.status IN ('booked', 'collected')));
END;

CREATE TRIGGER pack_good_lots BEFORE INSERT ON packed_units
BEGIN
  SELECT RAISE(ABORT, 'only available lots within their best-before day are packed; choose another lot')
  FROM collection_details JOIN lots ON lots.id = NEW.lot_id
  WHERE collection_details.collection_id = NEW.collection_id AND collection_details.status = 'booked'
    AND (lots.status <> 'available' OR lots.units < NEW.units OR lots.best_before < date(collection_details.starts_at));
END;

CREATE TRIGGER pack_what_fits_the_diet BEFORE INSERT ON packed_units
BEGIN
  SELECT RAISE(ABORT, 'this lot does not fit the diet of the household; choose another lot')
  FROM collection_details JOIN lots ON lots.id = NEW.lot_id
  WHERE collection_details.collection_id = NEW.collection_id
    AND ((collection_details.diet = 'vegetarian' AND lots.is_vegetarian = 0)
      OR (collection_details.diet = 'halal' AND lots.is_halal = 0));
END;

CREATE TRIGGER parcels_are_complete BEFORE UPDATE OF status ON collections
WHEN OLD.status = 'booked' AND NEW.status = 'packed'
BEGIN
  SELECT RAISE(ABORT, 'the parcel does not hold exactly what the household is due; there is too little fitting stock')
  FROM due_units WHERE due_units.collection_id = NEW.id AND due_units.packed <> due_units.due;
END;

CREATE TRIGGER perishables_need_the_certificate BEFORE UPDATE OF status ON collections
WHEN OLD.status = 'booked' AND NEW.status = 'packed'
BEGIN
  SELECT RAISE(ABORT, 'this parcel has perishable food; its packer needs a valid food-hygiene certificate')
  FROM staff
  WHERE staff.id = NEW.packed_by AND coalesce(staff.hygiene_until, '') < date(NEW.packed_at)
    AND EXISTS (SELECT 1 FROM due_units
      WHERE due_units.collection_id = NEW.id AND due_units.is_perishable = 1 AND due_units.packed > 0);
END;
