CREATE TABLE container_kinds (
  id TEXT PRIMARY KEY CHECK (id IN ('dry', 'reefer', 'hazardous')),
  name TEXT NOT NULL UNIQUE,
  free_days INTEGER NOT NULL CHECK (free_days >= 0),
  daily_cents INTEGER NOT NULL CHECK (daily_cents > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE shipping_lines (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  contact_email TEXT NOT NULL CHECK (contact_email LIKE '%_@_%'),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'credit_stopped'))
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind_id TEXT NOT NULL REFERENCES container_kinds (id),
  plugs INTEGER NOT NULL DEFAULT 0 CHECK (plugs >= 0),
  CHECK (kind_id = 'reefer' OR plugs = 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE stacks (
  id TEXT PRIMARY KEY,
  block_id TEXT NOT NULL REFERENCES blocks (id),
  height INTEGER NOT NULL CHECK (height BETWEEN 1 AND 6)
) STRICT, WITHOUT ROWID;

CREATE TABLE ship_calls (
  id TEXT PRIMARY KEY,
  ship TEXT NOT NULL,
  voyage TEXT NOT NULL,
  line_id TEXT NOT NULL REFERENCES shipping_lines (id),
  cutoff_at TEXT NOT NULL CHECK (cutoff_at IS datetime(cutoff_at)),
  arrives_at TEXT NOT NULL CHECK (arrives_at IS datetime(arrives_at)),
  sails_at TEXT NOT NULL CHECK (sails_at IS datetime(sails_at)),
  container_limit INTEGER NOT NULL CHECK (container_limit > 0),
  status TEXT NOT NULL DEFAULT 'expected' CHECK (status IN ('expected', 'working', 'sailed')),
  UNIQUE (ship, voyage),
  CHECK (cutoff_at <= arrives_at),
  CHECK (arrives_at < sails_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE containers (
  id TEXT PRIMARY KEY,
  number TEXT NOT NULL UNIQUE CHECK (length(number) = 11),
  line_id TEXT NOT NULL REFERENCES shipping_lines (id),
  kind_id TEXT NOT NULL REFERENCES container_kinds (id),
  feet INTEGER NOT NULL CHECK (feet IN (20, 40)),
  direction TEXT NOT NULL CHECK (direction IN ('import', 'export')),
  laden INTEGER NOT NULL CHECK (laden IN (0, 1)),
  weight_kg INTEGER NOT NULL CHECK (weight_kg BETWEEN 1800 AND 32500),
  arrives_by_call_id TEXT REFERENCES ship_calls (id),
  status TEXT NOT NULL DEFAULT 'announced' CHECK (status IN ('announced', 'in_yard', 'loaded', 'gated_out')),
  stack_id TEXT REFERENCES stacks (id),
  tier INTEGER CHECK (tier BETWEEN 1 AND 6),
  came_in_at TEXT CHECK (came_in_at IS datetime(came_in_at)),
  left_at TEXT CHECK (left_at IS datetime(left_at)),
  CHECK ((direction = 'import') = (arrives_by_call_id IS NOT NULL)),
  CHECK ((status = 'in_yard') = (stack_id IS NOT NULL)),
  CHECK ((stack_id IS NULL) = (tier IS NULL)),
  CHECK ((status = 'announced') = (came_in_at IS NULL)),
  CHECK ((status IN ('loaded', 'gated_out')) = (left_at IS NOT NULL)),
  CHECK (left_at >= came_in_at),
  CHECK (status <> 'loaded' OR direction = 'export'),
  CHECK (status <> 'gated_out' OR direction = 'import')
) STRICT, WITHOUT ROWID;

CREATE TABLE holds (
  id TEXT PRIMARY KEY,
  container_id TEXT NOT NULL REFERENCES containers (id),
  put_by TEXT NOT NULL CHECK (put_by IN ('customs', 'line', 'shift_leader')),
  reason TEXT NOT NULL CHECK (length(trim(reason)) > 0),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'lifted')),
  put_at TEXT NOT NULL CHECK (put_at IS datetime(put_at)),
  lifted_at TEXT CHECK (lifted_at IS datetime(lifted_at)),
  CHECK ((status = 'lifted') = (lifted_at IS NOT NULL)),
  CHECK (lifted_at >= put_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE load_entries (
  id TEXT PRIMARY KEY,
  container_id TEXT NOT NULL REFERENCES containers (id),
  ship_call_id TEXT NOT NULL REFERENCES ship_calls (id),
  rolled_from_entry_id TEXT UNIQUE REFERENCES load_entries (id),
  status TEXT NOT NULL DEFAULT 'listed' CHECK (status IN ('listed', 'loaded', 'rolled', 'withdrawn')),
  listed_at TEXT NOT NULL CHECK (listed_at IS datetime(listed_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (rolled_from_entry_id <> id),
  CHECK ((status = 'listed') = (closed_at IS NULL)),
  CHECK (closed_at >= listed_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE truck_windows (
  id TEXT PRIMARY KEY,
  starts_at TEXT NOT NULL UNIQUE CHECK (starts_at IS datetime(starts_at)),
  quota INTEGER NOT NULL CHECK (quota >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE truck_bookings (
  id TEXT PRIMARY KEY,
  container_id TEXT NOT NULL REFERENCES containers (id),
  truck_window_id TEXT NOT NULL REFERENCES truck_windows (id),
  purpose TEXT NOT NULL CHECK (purpose IN ('deliver', 'collect')),
  haulier TEXT NOT NULL CHECK (length(trim(haulier)) > 0),
  plate TEXT NOT NULL CHECK (length(trim(plate)) > 0),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'done', 'missed', 'cancelled')),
  booked_at TEXT NOT NULL CHECK (booked_at IS datetime(booked_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK ((status = 'booked') = (closed_at IS NULL)),
  CHECK (closed_at >= booked_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE charges (
  id TEXT PRIMARY KEY,
  container_id TEXT NOT NULL REFERENCES containers (id),
  reason TEXT NOT NULL CHECK (reason IN ('storage', 'truck')),
  days INTEGER CHECK (days > 0),
  truck_booking_id TEXT UNIQUE REFERENCES truck_bookings (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  status TEXT NOT NULL DEFAULT 'due' CHECK (status IN ('due', 'paid', 'waived')),
  charged_at TEXT NOT NULL CHECK (charged_at IS datetime(charged_at)),
  settled_at TEXT CHECK (settled_at IS datetime(settled_at)),
  waived_by TEXT CHECK (waived_by IN ('desk', 'shift_leader')),
  waive_reason TEXT CHECK (length(trim(waive_reason)) > 0),
  CHECK ((reason = 'storage') = (days IS NOT NULL)),
  CHECK ((reason = 'truck') = (truck_booking_id IS NOT NULL)),
  CHECK (reason <> 'truck' OR amount_cents = 60000),
  CHECK ((status = 'due') = (settled_at IS NULL)),
  CHECK ((status = 'waived') = (waived_by IS NOT NULL)),
  CHECK ((waived_by IS NULL) = (waive_reason IS NULL)),
  CHECK (settled_at >= charged_at)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_container_a_place ON containers (stack_id, tier) WHERE stack_id IS NOT NULL;
CREATE UNIQUE INDEX one_active_hold_of_each ON holds (container_id, put_by) WHERE status = 'active';
CREATE UNIQUE INDEX one_live_listing ON load_entries (container_id) WHERE status IN ('listed', 'loaded');
CREATE UNIQUE INDEX one_open_booking ON truck_bookings (container_id) WHERE status = 'booked';
CREATE INDEX load_entries_by_call ON load_entries (ship_call_id);
CREATE INDEX truck_bookings_by_window ON truck_bookings (truck_window_id);
CREATE INDEX charges_by_container ON charges (container_id);

CREATE VIEW block_details AS
SELECT blocks.id AS block_id, blocks.name, blocks.kind_id, blocks.plugs,
  (SELECT count(*) FROM containers JOIN stacks ON stacks.id = containers.stack_id
   WHERE stacks.block_id = blocks.id AND containers.kind_id = 'reefer' AND containers.laden = 1) AS plugs_used
FROM blocks;

CREATE VIEW stack_details AS
SELECT stacks.id AS stack_id, stacks.block_id, blocks.name AS block_name, blocks.kind_id, stacks.height,
  (SELECT count(*) FROM containers WHERE containers.stack_id = stacks.id) AS standing,
  (SELECT min(containers.feet) FROM containers WHERE containers.stack_id = stacks.id) AS feet,
  (SELECT containers.number FROM containers WHERE containers.stack_id = stacks.id
   ORDER BY containers.tier DESC LIMIT 1) AS top_number,
  (SELECT containers.weight_kg FROM containers WHERE containers.stack_id = stacks.id
   ORDER BY containers.tier DESC LIMIT 1) AS top_weight_kg
FROM stacks JOIN blocks ON blocks.id = stacks.block_id;

CREATE VIEW container_details AS
SELECT containers.id AS container_id, containers.number, containers.line_id, shipping_lines.name AS line_name,
  shipping_lines.status AS line_status, containers.kind_id, container_kinds.free_days, container_kinds.daily_cents,
  containers.feet, containers.direction, containers.laden, containers.weight_kg, containers.arrives_by_call_id,
  containers.status, stacks.block_id, containers.stack_id, containers.tier, containers.came_in_at, containers.left_at,
  (SELECT count(*) FROM containers AS above
   WHERE above.stack_id = containers.stack_id AND above.tier > containers.tier) AS standing_above,
  (SELECT count(*) FROM holds WHERE holds.container_id = containers.id AND holds.status = 'active') AS active_holds,
  (SELECT coalesce(sum(charges.days), 0) FROM charges
   WHERE charges.container_id = containers.id AND charges.reason = 'storage') AS charged_days,
  (SELECT coalesce(sum(charges.amount_cents), 0) FROM charges
   WHERE charges.container_id = containers.id AND charges.status = 'due') AS due_cents,
  (SELECT count(*) FROM load_entries
   WHERE load_entries.container_id = containers.id AND load_entries.status = 'rolled') AS times_rolled
FROM containers
JOIN shipping_lines ON shipping_lines.id = containers.line_id
JOIN container_kinds ON container_kinds.id = containers.kind_id
LEFT JOIN stacks ON stacks.id = containers.stack_id;

CREATE VIEW hold_details AS
SELECT holds.id AS hold_id, holds.container_id, containers.number, holds.put_by, holds.reason, holds.status,
  holds.put_at, holds.lifted_at
FROM holds JOIN containers ON containers.id = holds.container_id;

CREATE VIEW call_details AS
SELECT ship_calls.id AS ship_call_id, ship_calls.ship, ship_calls.voyage, ship_calls.line_id,
  shipping_lines.name AS line_name, ship_calls.cutoff_at, ship_calls.arrives_at, ship_calls.sails_at,
  ship_calls.status, ship_calls.container_limit,
  (SELECT count(*) FROM load_entries
   WHERE load_entries.ship_call_id = ship_calls.id AND load_entries.status IN ('listed', 'loaded')) AS entries
FROM ship_calls JOIN shipping_lines ON shipping_lines.id = ship_calls.line_id;

CREATE VIEW load_entry_details AS
SELECT load_entries.id AS load_entry_id, load_entries.container_id, containers.number, containers.line_id,
  load_entries.ship_call_id, ship_calls.ship, ship_calls.voyage, ship_calls.cutoff_at, ship_calls.status AS call_status,
  load_entries.status, load_entries.rolled_from_entry_id, load_entries.listed_at, load_entries.closed_at
FROM load_entries
JOIN containers ON containers.id = load_entries.container_id
JOIN ship_calls ON ship_calls.id = load_entries.ship_call_id;

CREATE VIEW window_details AS
SELECT truck_windows.id AS truck_window_id, truck_windows.starts_at,
  datetime(truck_windows.starts_at, '+1 hour') AS ends_at, truck_windows.quota,
  (SELECT count(*) FROM truck_bookings
   WHERE truck_bookings.truck_window_id = truck_windows.id AND truck_bookings.status <> 'cancelled') AS taken
FROM truck_windows;

CREATE VIEW truck_booking_details AS
SELECT truck_bookings.id AS truck_booking_id, truck_bookings.container_id, containers.number, containers.line_id,
  truck_bookings.truck_window_id, truck_windows.starts_at,
  datetime(truck_windows.starts_at, '+1 hour') AS ends_at, truck_bookings.purpose, truck_bookings.haulier,
  truck_bookings.plate, truck_bookings.status, truck_bookings.booked_at, truck_bookings.closed_at
FROM truck_bookings
JOIN containers ON containers.id = truck_bookings.container_id
JOIN truck_windows ON truck_windows.id = truck_bookings.truck_window_id;

CREATE VIEW charge_details AS
SELECT charges.id AS charge_id, charges.container_id, containers.number, containers.line_id, shipping_lines.name AS line_name,
  charges.reason, charges.days, charges.truck_booking_id, charges.amount_cents, charges.status, charges.charged_at,
  charges.settled_at, charges.waived_by, charges.waive_reason
FROM charges
JOIN containers ON containers.id = charges.container_id
JOIN shipping_lines ON shipping_lines.id = containers.line_id;

CREATE TRIGGER place_on_insert BEFORE INSERT ON containers WHEN NEW.status = 'in_yard'
BEGIN
  SELECT RAISE(ABORT, 'the stack is not that high; choose a lower tier or another stack')
  FROM stacks WHERE stacks.id = NEW.stack_id AND NEW.tier > stacks.height;
  SELECT RAISE(ABORT, 'nothing stands below that place, so a container would hang in the air; take the lowest free tier of the stack')
  WHERE NEW.tier > 1 AND NOT EXISTS (
    SELECT 1 FROM containers AS below
    WHERE below.stack_id = NEW.stack_id AND below.tier = NEW.tier - 1 AND below.id <> NEW.id);
  SELECT RAISE(ABORT, 'the place is taken by another container; take the lowest free tier of a stack')
  FROM containers AS there WHERE there.stack_id = NEW.stack_id AND there.tier = NEW.tier AND there.id <> NEW.id;
  SELECT RAISE(ABORT, 'containers of the other length stand in this stack; a stack holds one length only, so choose another stack')
  FROM containers AS other WHERE other.stack_id = NEW.stack_id AND other.feet <> NEW.feet AND other.id <> NEW.id;
  SELECT RAISE(ABORT, 'the container directly below is lighter by more than 5 tonnes; choose a place on the ground or on a heavier one')
  FROM containers AS below
  WHERE below.stack_id = NEW.stack_id AND below.tier = NEW.tier - 1 AND below.id <> NEW.id
    AND NEW.weight_kg > below.weight_kg + 5000;
  SELECT RAISE(ABORT, 'this block is for another kind of container; choose a block of the kind of this one')
  FROM stacks JOIN blocks ON blocks.id = stacks.block_id
  WHERE stacks.id = NEW.stack_id AND blocks.kind_id <> NEW.kind_id;
  SELECT RAISE(ABORT, 'all plugs of this reefer block are in use; choose another reefer block for a laden reefer')
  FROM stacks JOIN blocks ON blocks.id = stacks.block_id
  WHERE stacks.id = NEW.stack_id AND NEW.kind_id = 'reefer' AND NEW.laden = 1
    AND (SELECT count(*) FROM containers AS plugged JOIN stacks AS near ON near.id = plugged.stack_id
         WHERE near.block_id = blocks.id AND plugged.kind_id = 'reefer' AND plugged.laden = 1
           AND plugged.id <> NEW.id) >= blocks.plugs;
END;

CREATE TRIGGER place_on_update BEFORE UPDATE OF status, stack_id, tier ON containers WHEN NEW.status = 'in_yard'
BEGIN
  SELECT RAISE(ABORT, 'the stack is not that high; choose a lower tier or another stack')
  FROM stacks WHERE stacks.id = NEW.stack_id AND NEW.tier > stacks.height;
  SELECT RAISE(ABORT, 'nothing stands below that place, so a container would hang in the air; take the lowest free tier of the stack')
  WHERE NEW.tier > 1 AND NOT EXISTS (
    SELECT 1 FROM containers AS below
    WHERE below.stack_id = NEW.stack_id AND below.tier = NEW.tier - 1 AND below.id <> NEW.id);
  SELECT RAISE(ABORT, 'the place is taken by another container; take the lowest free tier of a stack')
  FROM containers AS there WHERE there.stack_id = NEW.stack_id AND there.tier = NEW.tier AND there.id <> NEW.id;
  SELECT RAISE(ABORT, 'containers of the other length stand in this stack; a stack holds one length only, so choose another stack')
  FROM containers AS other WHERE other.stack_id = NEW.stack_id AND other.feet <> NEW.feet AND other.id <> NEW.id;
  SELECT RAISE(ABORT, 'the container directly below is lighter by more than 5 tonnes; choose a place on the ground or on a heavier one')
  FROM containers AS below
  WHERE below.stack_id = NEW.stack_id AND below.tier = NEW.tier - 1 AND below.id <> NEW.id
    AND NEW.weight_kg > below.weight_kg + 5000;
  SELECT RAISE(ABORT, 'this block is for another kind of container; choose a block of the kind of this one')
  FROM stacks JOIN blocks ON blocks.id = stacks.block_id
  WHERE stacks.id = NEW.stack_id AND blocks.kind_id <> NEW.kind_id;
  SELECT RAISE(ABORT, 'all plugs of this reefer block are in use; choose another reefer block for a laden reefer')
  FROM stacks JOIN blocks ON blocks.id = stacks.block_id
  WHERE stacks.id = NEW.stack_id AND NEW.kind_id = 'reefer' AND NEW.laden = 1
    AND (SELECT count(*) FROM containers AS plugged JOIN stacks AS near ON near.id = plugged.stack_id
         WHERE near.block_id = blocks.id AND plugged.kind_id = 'reefer' AND plugged.laden = 1
           AND plugged.id <> NEW.id) >= blocks.plugs;
END;

CREATE TRIGGER only_the_top_moves BEFORE UPDATE OF status, stack_id, tier ON containers
WHEN OLD.stack_id IS NOT NULL AND (NEW.stack_id IS NOT OLD.stack_id OR NEW.tier IS NOT OLD.tier)
BEGIN
  SELECT RAISE(ABORT, 'another container stands on this one; restack what is above it first')
  FROM containers AS above WHERE above.stack_id = OLD.stack_id AND above.tier > OLD.tier;
END;

CREATE TRIGGER container_states_in_order BEFORE UPDATE OF status ON containers
WHEN NOT (NEW.status = OLD.status
  OR (OLD.status = 'announced' AND NEW.status = 'in_yard')
  OR (OLD.status = 'in_yard' AND NEW.status IN ('loaded', 'gated_out')))
BEGIN
  SELECT RAISE(ABORT, 'a container is announced, then in the yard, then loaded or gated out; this step is not possible');
END;

CREATE TRIGGER containers_keep_their_nature
BEFORE UPDATE OF number, line_id, kind_id, feet, direction, laden, weight_kg, arrives_by_call_id ON containers
BEGIN
  SELECT RAISE(ABORT, 'what a container is does not change; only its state and place do');
END;

CREATE TRIGGER held_containers_stay BEFORE UPDATE OF status ON containers
WHEN OLD.status = 'in_yard' AND NEW.status IN ('loaded', 'gated_out')
BEGIN
  SELECT RAISE(ABORT, 'an active hold keeps this container in the yard; it must be lifted by whoever put it')
  FROM holds WHERE holds.container_id = NEW.id AND holds.status = 'active';
END;

CREATE TRIGGER debts_are_settled_first BEFORE UPDATE OF status ON containers
WHEN OLD.status = 'in_yard' AND NEW.status = 'gated_out'
BEGIN
  SELECT RAISE(ABORT, 'a charge on this container is due; it must be paid or waived before the container leaves by the gate')
  FROM charges WHERE charges.container_id = NEW.id AND charges.status = 'due';
END;

CREATE TRIGGER no_holds_on_what_has_left BEFORE INSERT ON holds WHEN NEW.status = 'active'
BEGIN
  SELECT RAISE(ABORT, 'this container has left the yard; a hold is of no use any more')
  FROM containers WHERE containers.id = NEW.container_id AND containers.status IN ('loaded', 'gated_out');
END;

CREATE TRIGGER lifted_holds_stay_lifted BEFORE UPDATE ON holds
WHEN OLD.status = 'lifted' OR NEW.container_id <> OLD.container_id OR NEW.put_by <> OLD.put_by
BEGIN
  SELECT RAISE(ABORT, 'a hold can only be lifted, once; put a new one if needed');
END;

CREATE TRIGGER listed_with_its_line BEFORE INSERT ON load_entries
BEGIN
  SELECT RAISE(ABORT, 'only an export container is listed, for a call of its own shipping line; choose another call')
  WHERE NOT EXISTS (
    SELECT 1 FROM containers JOIN ship_calls ON ship_calls.line_id = containers.line_id
    WHERE containers.id = NEW.container_id AND containers.direction = 'export' AND ship_calls.id = NEW.ship_call_id);
END;

CREATE TRIGGER calls_have_a_limit BEFORE INSERT ON load_entries WHEN NEW.status IN ('listed', 'loaded')
BEGIN
  SELECT RAISE(ABORT, 'the load list of this call is full; list for a later call')
  FROM call_details WHERE call_details.ship_call_id = NEW.ship_call_id AND call_details.entries >= call_details.container_limit;
END;

CREATE TRIGGER no_listing_on_credit_stop BEFORE INSERT ON load_entries WHEN NEW.status = 'listed'
BEGIN
  SELECT RAISE(ABORT, 'the shipping line is under a credit stop; nothing of it is listed until the stop ends')
  FROM containers JOIN shipping_lines ON shipping_lines.id = containers.line_id
  WHERE containers.id = NEW.container_id AND shipping_lines.status = 'credit_stopped';
END;

-- a roll first closes the old entry as rolled, then inserts the new one
CREATE TRIGGER rolled_to_a_later_call BEFORE INSERT ON load_entries WHEN NEW.rolled_from_entry_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a container is rolled only to a call that arrives later; choose a later call of the line')
  WHERE NOT EXISTS (
    SELECT 1 FROM load_entries AS earlier
    JOIN ship_calls AS first_call ON first_call.id = earlier.ship_call_id
    JOIN ship_calls AS next_call ON next_call.id = NEW.ship_call_id
    WHERE earlier.id = NEW.rolled_from_entry_id AND earlier.container_id = NEW.container_id
      AND earlier.status = 'rolled' AND next_call.arrives_at > first_call.arrives_at);
END;

CREATE TRIGGER rolled_twice_at_most BEFORE UPDATE OF status ON load_entries WHEN NEW.status = 'rolled' AND OLD.status <> 'rolled'
BEGIN
  SELECT RAISE(ABORT, 'this container was rolled twice already, which is the most; it must be loaded as listed')
  WHERE (SELECT count(*) FROM load_entries WHERE container_id = NEW.container_id AND status = 'rolled') >= 2;
END;

CREATE TRIGGER rolled_twice_from_the_start BEFORE INSERT ON load_entries WHEN NEW.status = 'rolled'
BEGIN
  SELECT RAISE(ABORT, 'this container was rolled twice already, which is the most')
  WHERE (SELECT count(*) FROM load_entries WHERE container_id = NEW.container_id AND status = 'rolled') >= 2;
END;

CREATE TRIGGER closed_entries_stay_closed BEFORE UPDATE ON load_entries
WHEN OLD.status <> 'listed' OR NEW.container_id <> OLD.container_id OR NEW.ship_call_id <> OLD.ship_call_id
BEGIN
  SELECT RAISE(ABORT, 'a load list entry that is loaded, rolled or withdrawn is closed, and a listed one keeps its container and call');
END;

CREATE TRIGGER quota_on_insert BEFORE INSERT ON truck_bookings WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this truck window is full; choose another window')
  FROM window_details WHERE window_details.truck_window_id = NEW.truck_window_id AND window_details.taken >= window_details.quota;
END;

CREATE TRIGGER quota_on_rebooking BEFORE UPDATE OF truck_window_id ON truck_bookings
WHEN NEW.truck_window_id <> OLD.truck_window_id AND NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this truck window is full; choose another window')
  FROM window_details WHERE window_details.truck_window_id = NEW.truck_window_id AND window_details.taken >= window_details.quota;
END;

CREATE TRIGGER quota_not_below_taken BEFORE UPDATE OF quota ON truck_windows
BEGIN
  SELECT RAISE(ABORT, 'more trucks are booked in this window than that; rebook some first')
  FROM window_details WHERE window_details.truck_window_id = NEW.id AND window_details.taken > NEW.quota;
END;

CREATE TRIGGER trucks_fit_the_direction BEFORE INSERT ON truck_bookings
BEGIN
  SELECT RAISE(ABORT, 'trucks deliver exports and collect imports; book the other purpose or another container')
  FROM containers
  WHERE containers.id = NEW.container_id AND (NEW.purpose = 'deliver') <> (containers.direction = 'export');
END;

CREATE TRIGGER no_trucks_on_credit_stop BEFORE INSERT ON truck_bookings WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'the shipping line is under a credit stop; no truck is booked for it until the stop ends')
  FROM containers JOIN shipping_lines ON shipping_lines.id = containers.line_id
  WHERE containers.id = NEW.container_id AND shipping_lines.status = 'credit_stopped';
END;

CREATE TRIGGER closed_bookings_stay_closed BEFORE UPDATE ON truck_bookings
WHEN OLD.status <> 'booked' OR NEW.container_id <> OLD.container_id OR NEW.purpose <> OLD.purpose
BEGIN
  SELECT RAISE(ABORT, 'this truck booking is closed, or its container would change; make a new booking');
END;

CREATE TRIGGER storage_by_tariff BEFORE INSERT ON charges WHEN NEW.reason = 'storage'
BEGIN
  SELECT RAISE(ABORT, 'storage is charged for imports only, at the daily rate of the kind of container')
  WHERE NOT EXISTS (
    SELECT 1 FROM containers JOIN container_kinds ON container_kinds.id = containers.kind_id
    WHERE containers.id = NEW.container_id AND containers.direction = 'import'
      AND NEW.amount_cents = NEW.days * container_kinds.daily_cents);
END;

CREATE TRIGGER waiver_limit_on_insert BEFORE INSERT ON charges
WHEN NEW.status = 'waived' AND NEW.waived_by = 'desk' AND NEW.amount_cents > 100000
BEGIN
  SELECT RAISE(ABORT, 'the desk waives charges up to 1,000 kr; beyond that the shift leader must decide');
END;

CREATE TRIGGER waiver_limit_on_update BEFORE UPDATE ON charges
WHEN NEW.status = 'waived' AND NEW.waived_by = 'desk' AND NEW.amount_cents > 100000
BEGIN
  SELECT RAISE(ABORT, 'the desk waives charges up to 1,000 kr; beyond that the shift leader must decide');
END;

CREATE TRIGGER settled_charges_stay_settled BEFORE UPDATE ON charges
WHEN OLD.status <> 'due' OR NEW.amount_cents <> OLD.amount_cents OR NEW.container_id <> OLD.container_id OR NEW.days IS NOT OLD.days
BEGIN
  SELECT RAISE(ABORT, 'a paid or waived charge is closed, and a due one can only be paid or waived as it stands');
END;
