CREATE TABLE wards (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  cost_code TEXT NOT NULL UNIQUE,
  monthly_budget_cents INTEGER NOT NULL CHECK (monthly_budget_cents > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE staff (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('nurse', 'doctor', 'haematologist', 'technician')),
  ward_id TEXT REFERENCES wards (id),
  CHECK ((role IN ('nurse', 'doctor')) = (ward_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE components (
  id TEXT PRIMARY KEY CHECK (id IN ('red_cells', 'platelets', 'plasma')),
  name TEXT NOT NULL UNIQUE,
  group_rule TEXT NOT NULL CHECK (group_rule IN ('cells', 'plasma')),
  special_needs_apply INTEGER NOT NULL CHECK (special_needs_apply IN (0, 1)),
  price_cents INTEGER NOT NULL CHECK (price_cents > 0),
  urgent_fee_cents INTEGER NOT NULL CHECK (urgent_fee_cents > 0),
  return_minutes INTEGER NOT NULL CHECK (return_minutes > 0),
  sample_hours INTEGER CHECK (sample_hours > 0),
  approval_hb INTEGER CHECK (approval_hb > 0),
  approval_units INTEGER CHECK (approval_units > 0),
  uncrossmatched_limit INTEGER NOT NULL DEFAULT 0 CHECK (uncrossmatched_limit >= 0),
  o_negative_reserve INTEGER NOT NULL DEFAULT 0 CHECK (o_negative_reserve >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE patients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  sex TEXT NOT NULL CHECK (sex IN ('female', 'male')),
  born_on TEXT NOT NULL CHECK (born_on IS date(born_on)),
  ward_id TEXT NOT NULL REFERENCES wards (id),
  needs_irradiated INTEGER NOT NULL DEFAULT 0 CHECK (needs_irradiated IN (0, 1)),
  needs_cmv_negative INTEGER NOT NULL DEFAULT 0 CHECK (needs_cmv_negative IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE patient_antibodies (
  patient_id TEXT NOT NULL REFERENCES patients (id),
  antigen TEXT NOT NULL CHECK (antigen IN ('C', 'c', 'E', 'e', 'K', 'Fya', 'Fyb', 'Jka', 'Jkb', 'S', 's')),
  found_at TEXT NOT NULL CHECK (found_at IS datetime(found_at)),
  PRIMARY KEY (patient_id, antigen)
) STRICT, WITHOUT ROWID;

CREATE TABLE samples (
  id TEXT PRIMARY KEY,
  patient_id TEXT NOT NULL REFERENCES patients (id),
  taken_by TEXT NOT NULL REFERENCES staff (id),
  taken_at TEXT NOT NULL CHECK (taken_at IS datetime(taken_at)),
  received_at TEXT NOT NULL CHECK (received_at IS datetime(received_at)),
  status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'tested', 'rejected')),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  abo TEXT CHECK (abo IN ('O', 'A', 'B', 'AB')),
  rh_d TEXT CHECK (rh_d IN ('positive', 'negative')),
  reject_reason TEXT,
  CHECK (received_at >= taken_at),
  CHECK (closed_at >= received_at),
  CHECK ((status = 'received') = (closed_at IS NULL)),
  CHECK ((status = 'tested') = (abo IS NOT NULL)),
  CHECK ((status = 'tested') = (rh_d IS NOT NULL)),
  CHECK ((status = 'rejected') = (reject_reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  component_id TEXT NOT NULL REFERENCES components (id),
  places INTEGER NOT NULL CHECK (places > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
  id TEXT PRIMARY KEY,
  patient_id TEXT NOT NULL REFERENCES patients (id),
  ward_id TEXT NOT NULL REFERENCES wards (id),
  component_id TEXT NOT NULL REFERENCES components (id),
  units INTEGER NOT NULL CHECK (units BETWEEN 1 AND 12),
  haemoglobin INTEGER CHECK (haemoglobin BETWEEN 20 AND 250),
  urgency TEXT NOT NULL DEFAULT 'routine' CHECK (urgency IN ('routine', 'urgent', 'emergency')),
  requested_by TEXT NOT NULL REFERENCES staff (id),
  requested_at TEXT NOT NULL CHECK (requested_at IS datetime(requested_at)),
  needed_at TEXT NOT NULL CHECK (needed_at IS datetime(needed_at)),
  status TEXT NOT NULL CHECK (status IN ('awaiting_approval', 'open', 'completed', 'refused', 'cancelled')),
  decided_by TEXT REFERENCES staff (id),
  decided_at TEXT CHECK (decided_at IS datetime(decided_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (needed_at >= requested_at),
  CHECK (decided_by <> requested_by),
  CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
  CHECK ((status IN ('awaiting_approval', 'open')) = (closed_at IS NULL)),
  CHECK (status <> 'refused' OR decided_by IS NOT NULL),
  CHECK (status <> 'awaiting_approval' OR (decided_by IS NULL AND urgency <> 'emergency')),
  CHECK (component_id <> 'red_cells' OR urgency = 'emergency' OR haemoglobin IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE supply_orders (
  id TEXT PRIMARY KEY,
  component_id TEXT NOT NULL REFERENCES components (id),
  abo TEXT NOT NULL CHECK (abo IN ('O', 'A', 'B', 'AB')),
  rh_d TEXT NOT NULL CHECK (rh_d IN ('positive', 'negative')),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 20),
  kind TEXT NOT NULL DEFAULT 'routine' CHECK (kind IN ('routine', 'urgent')),
  request_id TEXT REFERENCES requests (id),
  placed_at TEXT NOT NULL CHECK (placed_at IS datetime(placed_at)),
  status TEXT NOT NULL DEFAULT 'placed' CHECK (status IN ('placed', 'delivered', 'cancelled')),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (closed_at >= placed_at),
  CHECK ((kind = 'urgent') = (request_id IS NOT NULL)),
  CHECK (kind = 'urgent' OR time(placed_at) < '14:00:00'),
  CHECK ((status = 'placed') = (closed_at IS NULL)),
  CHECK (status <> 'cancelled' OR (kind = 'routine' AND closed_at < date(placed_at) || ' 14:00:00'))
) STRICT, WITHOUT ROWID;

CREATE TABLE units (
  id TEXT PRIMARY KEY,
  component_id TEXT NOT NULL REFERENCES components (id),
  abo TEXT NOT NULL CHECK (abo IN ('O', 'A', 'B', 'AB')),
  rh_d TEXT NOT NULL CHECK (rh_d IN ('positive', 'negative')),
  irradiated INTEGER NOT NULL DEFAULT 0 CHECK (irradiated IN (0, 1)),
  cmv_negative INTEGER NOT NULL DEFAULT 0 CHECK (cmv_negative IN (0, 1)),
  received_on TEXT NOT NULL CHECK (received_on IS date(received_on)),
  expires_on TEXT NOT NULL CHECK (expires_on IS date(expires_on)),
  supply_order_id TEXT REFERENCES supply_orders (id),
  status TEXT NOT NULL DEFAULT 'available' CHECK (status IN ('available', 'reserved', 'issued', 'transfused', 'quarantined', 'discarded')),
  device_id TEXT REFERENCES devices (id),
  quarantined_by TEXT REFERENCES staff (id),
  quarantine_reason TEXT,
  discard_reason TEXT CHECK (discard_reason IN ('expired', 'quarantine', 'wasted')),
  CHECK (expires_on >= received_on),
  CHECK ((status IN ('available', 'reserved', 'quarantined')) = (device_id IS NOT NULL)),
  CHECK ((status = 'quarantined') = (quarantined_by IS NOT NULL)),
  CHECK ((status = 'quarantined') = (quarantine_reason IS NOT NULL)),
  CHECK ((status = 'discarded') = (discard_reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE unit_negatives (
  unit_id TEXT NOT NULL REFERENCES units (id),
  antigen TEXT NOT NULL CHECK (antigen IN ('C', 'c', 'E', 'e', 'K', 'Fya', 'Fyb', 'Jka', 'Jkb', 'S', 's')),
  PRIMARY KEY (unit_id, antigen)
) STRICT, WITHOUT ROWID;

CREATE TABLE allocations (
  id TEXT PRIMARY KEY,
  request_id TEXT NOT NULL REFERENCES requests (id),
  unit_id TEXT NOT NULL REFERENCES units (id),
  sample_id TEXT REFERENCES samples (id),
  status TEXT NOT NULL DEFAULT 'reserved' CHECK (status IN ('reserved', 'issued', 'transfused', 'returned', 'released', 'wasted')),
  reserved_at TEXT NOT NULL CHECK (reserved_at IS datetime(reserved_at)),
  issued_at TEXT CHECK (issued_at IS datetime(issued_at)),
  collected_by TEXT REFERENCES staff (id),
  seal_intact INTEGER CHECK (seal_intact IN (0, 1)),
  ended_at TEXT CHECK (ended_at IS datetime(ended_at)),
  CHECK (issued_at >= reserved_at),
  CHECK (ended_at >= reserved_at),
  CHECK (ended_at >= issued_at),
  CHECK ((issued_at IS NULL) = (collected_by IS NULL)),
  CHECK ((status IN ('reserved', 'released')) = (issued_at IS NULL)),
  CHECK ((status IN ('reserved', 'issued')) = (ended_at IS NULL)),
  CHECK ((status IN ('returned', 'wasted')) = (seal_intact IS NOT NULL)),
  CHECK (status <> 'returned' OR seal_intact = 1)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_live_allocation_a_unit ON allocations (unit_id) WHERE status IN ('reserved', 'issued', 'transfused', 'wasted');

CREATE INDEX allocations_by_request ON allocations (request_id);

CREATE TABLE ward_charges (
  id TEXT PRIMARY KEY,
  request_id TEXT NOT NULL REFERENCES requests (id),
  allocation_id TEXT REFERENCES allocations (id),
  supply_order_id TEXT REFERENCES supply_orders (id),
  kind TEXT NOT NULL CHECK (kind IN ('unit', 'credit', 'delivery')),
  amount_cents INTEGER NOT NULL CHECK (amount_cents <> 0),
  charged_at TEXT NOT NULL CHECK (charged_at IS datetime(charged_at)),
  CHECK ((kind = 'credit') = (amount_cents < 0)),
  CHECK ((kind = 'delivery') = (supply_order_id IS NOT NULL)),
  CHECK ((kind = 'delivery') = (allocation_id IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_charge_of_a_kind_an_allocation ON ward_charges (allocation_id, kind) WHERE allocation_id IS NOT NULL;

CREATE UNIQUE INDEX one_fee_an_order ON ward_charges (supply_order_id) WHERE supply_order_id IS NOT NULL;

CREATE VIEW patient_groups AS
SELECT patients.id AS patient_id, patients.sex, patients.born_on, patients.needs_irradiated, patients.needs_cmv_negative,
  (SELECT samples.abo FROM samples WHERE samples.patient_id = patients.id AND samples.status = 'tested' ORDER BY samples.taken_at, samples.id LIMIT 1) AS abo,
  (SELECT samples.rh_d FROM samples WHERE samples.patient_id = patients.id AND samples.status = 'tested' ORDER BY samples.taken_at, samples.id LIMIT 1) AS rh_d,
  (SELECT count(DISTINCT samples.taken_by) FROM samples WHERE samples.patient_id = patients.id AND samples.status = 'tested') >= 2 AS group_confirmed
FROM patients;

CREATE VIEW patient_details AS
SELECT patients.id AS patient_id, patients.name, patients.sex, patients.born_on, patients.ward_id, wards.name AS ward_name,
  patients.needs_irradiated, patients.needs_cmv_negative,
  patient_groups.abo, patient_groups.rh_d, patient_groups.group_confirmed,
  (SELECT group_concat(patient_antibodies.antigen, ', ') FROM patient_antibodies WHERE patient_antibodies.patient_id = patients.id) AS antibodies,
  (SELECT count(*) FROM allocations JOIN requests ON requests.id = allocations.request_id
    WHERE requests.patient_id = patients.id AND allocations.status = 'reserved') AS reserved_units
FROM patients
JOIN wards ON wards.id = patients.ward_id
JOIN patient_groups ON patient_groups.patient_id = patients.id;

CREATE VIEW request_details AS
SELECT requests.id AS request_id, requests.patient_id, patients.name AS patient_name, requests.ward_id, wards.name AS ward_name,
  requests.component_id, components.name AS component_name, requests.units, requests.haemoglobin, requests.urgency,
  requests.requested_by, asker.name AS requested_by_name, requests.requested_at, requests.needed_at, requests.status,
  requests.decided_by, decider.name AS decided_by_name, requests.decided_at, requests.closed_at,
  (SELECT count(*) FROM allocations WHERE allocations.request_id = requests.id AND allocations.status = 'reserved') AS reserved,
  (SELECT count(*) FROM allocations WHERE allocations.request_id = requests.id AND allocations.status = 'issued') AS issued,
  (SELECT count(*) FROM allocations WHERE allocations.request_id = requests.id AND allocations.status = 'transfused') AS transfused,
  requests.units - (SELECT count(*) FROM allocations WHERE allocations.request_id = requests.id
    AND allocations.status IN ('reserved', 'issued', 'transfused')) AS still_to_reserve
FROM requests
JOIN patients ON patients.id = requests.patient_id
JOIN wards ON wards.id = requests.ward_id
JOIN components ON components.id = requests.component_id
JOIN staff AS asker ON asker.id = requests.requested_by
LEFT JOIN staff AS decider ON decider.id = requests.decided_by;

CREATE VIEW unit_details AS
SELECT units.id AS unit_id, units.component_id, components.name AS component_name, units.abo, units.rh_d,
  units.irradiated, units.cmv_negative, units.received_on, units.expires_on, units.supply_order_id, units.status,
  units.device_id, devices.name AS device_name, units.quarantined_by, units.quarantine_reason, units.discard_reason,
  (SELECT group_concat(unit_negatives.antigen, ', ') FROM unit_negatives WHERE unit_negatives.unit_id = units.id) AS negative_for,
  (SELECT allocations.request_id FROM allocations WHERE allocations.unit_id = units.id
    AND allocations.status IN ('reserved', 'issued', 'transfused', 'wasted')) AS request_id
FROM units
JOIN components ON components.id = units.component_id
LEFT JOIN devices ON devices.id = units.device_id;

CREATE VIEW unit_fit AS
SELECT requests.id AS request_id, units.id AS unit_id, units.status AS unit_status, units.device_id, units.abo, units.rh_d,
  units.irradiated, units.cmv_negative, units.expires_on,
  (patient_groups.group_confirmed = 1 AND units.abo IS patient_groups.abo AND units.rh_d IS patient_groups.rh_d) AS own_group,
  ((CASE
      WHEN patient_groups.group_confirmed = 0 THEN units.abo = (CASE components.group_rule WHEN 'cells' THEN 'O' ELSE 'AB' END)
      WHEN components.group_rule = 'cells' THEN units.abo = 'O' OR units.abo = patient_groups.abo OR patient_groups.abo = 'AB'
      ELSE units.abo = 'AB' OR units.abo = patient_groups.abo OR patient_groups.abo = 'O'
    END)
    AND NOT (components.group_rule = 'cells' AND units.rh_d = 'positive' AND patient_groups.sex = 'female'
      AND date(patient_groups.born_on, '+51 years') > date(requests.needed_at)
      AND (patient_groups.group_confirmed = 0 OR patient_groups.rh_d IS 'negative'))) AS group_fits,
  (components.group_rule <> 'cells' OR NOT EXISTS (
    SELECT 1 FROM patient_antibodies WHERE patient_antibodies.patient_id = requests.patient_id AND NOT EXISTS (
      SELECT 1 FROM unit_negatives WHERE unit_negatives.unit_id = units.id AND unit_negatives.antigen = patient_antibodies.antigen))) AS antibodies_fit,
  (components.special_needs_apply = 0 OR (units.irradiated >= patient_groups.needs_irradiated
    AND units.cmv_negative >= patient_groups.needs_cmv_negative)) AS needs_fit,
  (units.expires_on >= date(requests.needed_at)) AS lasts
FROM requests
JOIN patient_groups ON patient_groups.patient_id = requests.patient_id
JOIN components ON components.id = requests.component_id
JOIN units ON units.component_id = requests.component_id;

CREATE VIEW allocation_details AS
SELECT allocations.id AS allocation_id, allocations.request_id, allocations.unit_id, allocations.sample_id, allocations.status,
  allocations.reserved_at, allocations.issued_at, allocations.collected_by, staff.name AS collected_by_name,
  allocations.seal_intact, allocations.ended_at,
  requests.patient_id, patients.name AS patient_name, requests.ward_id, wards.name AS ward_name, requests.component_id,
  requests.urgency, requests.needed_at, datetime(requests.needed_at, '+24 hours') AS lapses_at,
  units.abo, units.rh_d, units.expires_on, components.price_cents,
  datetime(allocations.issued_at, '+' || components.return_minutes || ' minutes') AS return_until,
  datetime(samples.taken_at, '+' || components.sample_hours || ' hours') AS sample_valid_until
FROM allocations
JOIN requests ON requests.id = allocations.request_id
JOIN patients ON patients.id = requests.patient_id
JOIN wards ON wards.id = requests.ward_id
JOIN components ON components.id = requests.component_id
JOIN units ON units.id = allocations.unit_id
LEFT JOIN samples ON samples.id = allocations.sample_id
LEFT JOIN staff ON staff.id = allocations.collected_by;

CREATE VIEW device_details AS
SELECT devices.id AS device_id, devices.name, devices.component_id, devices.places,
  (SELECT count(*) FROM units WHERE units.device_id = devices.id) AS used,
  devices.places - (SELECT count(*) FROM units WHERE units.device_id = devices.id) AS free
FROM devices;

CREATE VIEW order_details AS
SELECT supply_orders.id AS supply_order_id, supply_orders.component_id, supply_orders.abo, supply_orders.rh_d,
  supply_orders.quantity, supply_orders.kind, supply_orders.request_id, supply_orders.placed_at, supply_orders.status,
  supply_orders.closed_at,
  (SELECT count(*) FROM units WHERE units.supply_order_id = supply_orders.id) AS received
FROM supply_orders;

CREATE VIEW component_stock AS
SELECT components.id AS component_id, components.name,
  (SELECT COALESCE(sum(devices.places), 0) FROM devices WHERE devices.component_id = components.id) AS places,
  (SELECT count(*) FROM units WHERE units.component_id = components.id AND units.device_id IS NOT NULL) AS stored,
  (SELECT COALESCE(sum(order_details.quantity - order_details.received), 0) FROM order_details
    WHERE order_details.component_id = components.id AND order_details.status = 'placed') AS on_order
FROM components;

CREATE VIEW charge_details AS
SELECT ward_charges.id AS charge_id, ward_charges.kind, ward_charges.amount_cents, ward_charges.charged_at,
  strftime('%Y-%m', ward_charges.charged_at) AS month, ward_charges.request_id, ward_charges.allocation_id,
  ward_charges.supply_order_id, requests.urgency, requests.ward_id, wards.name AS ward_name, wards.monthly_budget_cents
FROM ward_charges
JOIN requests ON requests.id = ward_charges.request_id
JOIN wards ON wards.id = requests.ward_id;

CREATE VIEW ward_months AS
SELECT charge_details.ward_id, charge_details.ward_name, charge_details.month, charge_details.monthly_budget_cents,
  sum(charge_details.amount_cents) AS spent_cents
FROM charge_details
GROUP BY charge_details.ward_id, charge_details.ward_name, charge_details.month, charge_details.monthly_budget_cents;

CREATE TRIGGER sample_group_agrees BEFORE UPDATE OF status, abo, rh_d ON samples WHEN NEW.status = 'tested'
BEGIN
  SELECT RAISE(ABORT, 'this result differs from the group found in an earlier sample of the patient; reject the sample and ask for a new one')
  FROM samples AS other
  WHERE other.patient_id = NEW.patient_id AND other.id <> NEW.id AND other.status = 'tested'
    AND (other.abo <> NEW.abo OR other.rh_d <> NEW.rh_d);
END;

CREATE TRIGGER sample_group_agrees_first BEFORE INSERT ON samples WHEN NEW.status = 'tested'
BEGIN
  SELECT RAISE(ABORT, 'this result differs from the group found in an earlier sample of the patient; reject the sample and ask for a new one')
  FROM samples AS other
  WHERE other.patient_id = NEW.patient_id AND other.id <> NEW.id AND other.status = 'tested'
    AND (other.abo <> NEW.abo OR other.rh_d <> NEW.rh_d);
END;

CREATE TRIGGER closed_samples_stay BEFORE UPDATE ON samples WHEN OLD.status <> 'received'
BEGIN
  SELECT RAISE(ABORT, 'this sample has been tested or rejected already; register a new sample');
END;

CREATE TRIGGER antibody_frees_reservations BEFORE INSERT ON patient_antibodies
BEGIN
  SELECT RAISE(ABORT, 'red cells that are not negative for this antigen are reserved for the patient; release them first')
  FROM allocations
  JOIN requests ON requests.id = allocations.request_id
  JOIN components ON components.id = requests.component_id
  WHERE requests.patient_id = NEW.patient_id AND allocations.status = 'reserved' AND components.group_rule = 'cells'
    AND NOT EXISTS (SELECT 1 FROM unit_negatives WHERE unit_negatives.unit_id = allocations.unit_id AND unit_negatives.antigen = NEW.antigen);
END;

CREATE TRIGGER approval_by_haematologist BEFORE UPDATE OF decided_by ON requests WHEN NEW.decided_by IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'only a haematologist approves or refuses a request')
  FROM staff WHERE staff.id = NEW.decided_by AND staff.role <> 'haematologist';
END;

CREATE TRIGGER approval_by_haematologist_first BEFORE INSERT ON requests WHEN NEW.decided_by IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'only a haematologist approves or refuses a request')
  FROM staff WHERE staff.id = NEW.decided_by AND staff.role <> 'haematologist';
END;

CREATE TRIGGER approval_before_opening BEFORE UPDATE OF status ON requests
WHEN NEW.status IN ('open', 'completed') AND NEW.decided_by IS NULL AND NEW.urgency <> 'emergency'
BEGIN
  SELECT RAISE(ABORT, 'this request needs the approval of a haematologist before it is open')
  FROM components
  WHERE components.id = NEW.component_id AND (NEW.units > components.approval_units OR NEW.haemoglobin >= components.approval_hb);
END;

CREATE TRIGGER approval_before_opening_first BEFORE INSERT ON requests
WHEN NEW.status IN ('open', 'completed') AND NEW.decided_by IS NULL AND NEW.urgency <> 'emergency'
BEGIN
  SELECT RAISE(ABORT, 'this request needs the approval of a haematologist; enter it as awaiting approval')
  FROM components
  WHERE components.id = NEW.component_id AND (NEW.units > components.approval_units OR NEW.haemoglobin >= components.approval_hb);
END;

CREATE TRIGGER request_terms_stay BEFORE UPDATE ON requests
WHEN OLD.patient_id <> NEW.patient_id OR OLD.ward_id <> NEW.ward_id OR OLD.component_id <> NEW.component_id
  OR OLD.units <> NEW.units OR OLD.haemoglobin IS NOT NEW.haemoglobin OR OLD.urgency <> NEW.urgency
  OR OLD.requested_by <> NEW.requested_by OR OLD.needed_at <> NEW.needed_at
BEGIN
  SELECT RAISE(ABORT, 'what was asked for is not changed afterwards; close this request and enter a new one');
END;

CREATE TRIGGER request_steps BEFORE UPDATE OF status ON requests
WHEN OLD.status <> NEW.status AND NOT (
  (OLD.status = 'awaiting_approval' AND NEW.status IN ('open', 'refused', 'cancelled'))
  OR (OLD.status = 'open' AND NEW.status IN ('completed', 'cancelled')))
BEGIN
  SELECT RAISE(ABORT, 'a request cannot go from its present state to this one; closed requests stay closed');
END;

CREATE TRIGGER request_with_units_stays_open BEFORE UPDATE OF status ON requests
WHEN NEW.status IN ('completed', 'refused', 'cancelled')
BEGIN
  SELECT RAISE(ABORT, 'units are still reserved or issued for this request; they must be released, transfused or taken back first')
  FROM allocations
  WHERE allocations.request_id = NEW.id AND allocations.status IN ('reserved', 'issued');
END;

CREATE TRIGGER order_fits_the_places BEFORE INSERT ON supply_orders WHEN NEW.status = 'placed'
BEGIN
  SELECT RAISE(ABORT, 'the stock, the open orders and this order together exceed the storage places for the component; order fewer units')
  FROM component_stock
  WHERE component_stock.component_id = NEW.component_id
    AND component_stock.stored + component_stock.on_order + NEW.quantity > component_stock.places;
END;

CREATE TRIGGER closed_orders_stay BEFORE UPDATE ON supply_orders WHEN OLD.status <> 'placed'
BEGIN
  SELECT RAISE(ABORT, 'this order has been delivered or cancelled already');
END;

CREATE TRIGGER unit_as_ordered BEFORE INSERT ON units WHEN NEW.supply_order_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this unit does not belong to the order: the order is cancelled or complete, or it is for another component or group')
  FROM order_details
  WHERE order_details.supply_order_id = NEW.supply_order_id
    AND (order_details.status = 'cancelled' OR order_details.received >= order_details.quantity
      OR order_details.component_id <> NEW.component_id OR order_details.abo <> NEW.abo OR order_details.rh_d <> NEW.rh_d);
END;

CREATE TRIGGER device_has_a_place BEFORE UPDATE OF device_id ON units
WHEN NEW.device_id IS NOT NULL AND OLD.device_id IS NOT NEW.device_id
BEGIN
  SELECT RAISE(ABORT, 'this storage device is full; choose another one for the component')
  FROM device_details WHERE device_details.device_id = NEW.device_id AND device_details.free <= 0;
END;

CREATE TRIGGER device_has_a_place_first BEFORE INSERT ON units WHEN NEW.device_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this storage device is full; choose another one for the component')
  FROM device_details WHERE device_details.device_id = NEW.device_id AND device_details.free <= 0;
END;

CREATE TRIGGER device_of_the_component BEFORE UPDATE OF device_id ON units
WHEN NEW.device_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this storage device holds another component; choose a device for the component of the unit')
  FROM devices WHERE devices.id = NEW.device_id AND devices.component_id <> NEW.component_id;
END;

CREATE TRIGGER device_of_the_component_first BEFORE INSERT ON units WHEN NEW.device_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this storage device holds another component; choose a device for the component of the unit')
  FROM devices WHERE devices.id = NEW.device_id AND devices.component_id <> NEW.component_id;
END;

CREATE TRIGGER unit_steps BEFORE UPDATE OF status ON units
WHEN OLD.status <> NEW.status AND NOT (
  (OLD.status = 'available' AND NEW.status IN ('reserved', 'issued', 'quarantined', 'discarded'))
  OR (OLD.status = 'reserved' AND NEW.status IN ('available', 'issued', 'quarantined'))
  OR (OLD.status = 'issued' AND NEW.status IN ('transfused', 'available', 'discarded'))
  OR (OLD.status = 'quarantined' AND NEW.status IN ('available', 'discarded')))
BEGIN
  SELECT RAISE(ABORT, 'a unit cannot go from its present state to this one; look at its state first');
END;

CREATE TRIGGER unit_facts_stay BEFORE UPDATE ON units
WHEN OLD.component_id <> NEW.component_id OR OLD.abo <> NEW.abo OR OLD.rh_d <> NEW.rh_d
  OR OLD.irradiated <> NEW.irradiated OR OLD.cmv_negative <> NEW.cmv_negative OR OLD.expires_on <> NEW.expires_on
BEGIN
  SELECT RAISE(ABORT, 'component, group, expiry and treatment of a unit are as on its label and do not change');
END;

CREATE TRIGGER unit_for_an_open_request BEFORE INSERT ON allocations WHEN NEW.status IN ('reserved', 'issued')
BEGIN
  SELECT RAISE(ABORT, 'this request is not open; units are reserved and issued for open requests only')
  FROM requests WHERE requests.id = NEW.request_id AND requests.status <> 'open';
END;

CREATE TRIGGER unit_in_stock BEFORE INSERT ON allocations WHEN NEW.status IN ('reserved', 'issued')
BEGIN
  SELECT RAISE(ABORT, 'this unit is quarantined, transfused or discarded; choose an available unit')
  FROM units WHERE units.id = NEW.unit_id AND units.status IN ('quarantined', 'transfused', 'discarded');
END;

CREATE TRIGGER unit_fits_the_group BEFORE INSERT ON allocations
BEGIN
  SELECT RAISE(ABORT, 'this unit is of another component or its group does not fit the patient; choose a unit that fits')
  WHERE NOT EXISTS (SELECT 1 FROM unit_fit WHERE unit_fit.request_id = NEW.request_id AND unit_fit.unit_id = NEW.unit_id AND unit_fit.group_fits = 1);
END;

CREATE TRIGGER unit_fits_the_antibodies BEFORE INSERT ON allocations
BEGIN
  SELECT RAISE(ABORT, 'the patient has an antibody and this unit is not known to be negative for it; choose a unit that is')
  FROM requests
  JOIN components ON components.id = requests.component_id
  JOIN patient_antibodies ON patient_antibodies.patient_id = requests.patient_id
  WHERE requests.id = NEW.request_id AND components.group_rule = 'cells' AND patient_antibodies.found_at <= NEW.reserved_at
    AND NOT EXISTS (SELECT 1 FROM unit_negatives WHERE unit_negatives.unit_id = NEW.unit_id AND unit_negatives.antigen = patient_antibodies.antigen);
END;

CREATE TRIGGER unit_fits_the_needs BEFORE INSERT ON allocations
BEGIN
  SELECT RAISE(ABORT, 'the patient needs irradiated or CMV-negative blood and this unit is not; choose a unit that is')
  FROM unit_fit
  WHERE unit_fit.request_id = NEW.request_id AND unit_fit.unit_id = NEW.unit_id AND unit_fit.needs_fit = 0;
END;

CREATE TRIGGER unit_lasts_until_needed BEFORE INSERT ON allocations
BEGIN
  SELECT RAISE(ABORT, 'this unit expires before the day on which it is needed; choose one that lasts')
  FROM unit_fit
  WHERE unit_fit.request_id = NEW.request_id AND unit_fit.unit_id = NEW.unit_id AND unit_fit.lasts = 0;
END;

CREATE TRIGGER no_more_than_asked BEFORE INSERT ON allocations WHEN NEW.status IN ('reserved', 'issued', 'transfused')
BEGIN
  SELECT RAISE(ABORT, 'this request has as many units as were asked for; a further unit needs a new request')
  FROM request_details
  WHERE request_details.request_id = NEW.request_id AND request_details.still_to_reserve <= 0;
END;

CREATE TRIGGER six_reserved_a_patient BEFORE INSERT ON allocations WHEN NEW.status = 'reserved'
BEGIN
  SELECT RAISE(ABORT, 'this patient has 6 units reserved already; issue or release one first')
  FROM patient_details
  WHERE patient_details.patient_id = (SELECT requests.patient_id FROM requests WHERE requests.id = NEW.request_id)
    AND patient_details.reserved_units >= 6;
END;

CREATE TRIGGER crossmatch_with_own_sample BEFORE INSERT ON allocations WHEN NEW.sample_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the sample is not a tested sample of this patient; name one that is')
  FROM samples
  JOIN requests ON requests.id = NEW.request_id
  WHERE samples.id = NEW.sample_id AND (samples.status <> 'tested' OR samples.patient_id <> requests.patient_id);
END;

CREATE TRIGGER uncrossmatched_in_emergency_only BEFORE INSERT ON allocations WHEN NEW.sample_id IS NULL
BEGIN
  SELECT RAISE(ABORT, 'red cells need a tested sample; without one only O-negative units for an emergency are given, up to the limit')
  FROM requests
  JOIN components ON components.id = requests.component_id
  JOIN units ON units.id = NEW.unit_id
  WHERE requests.id = NEW.request_id AND components.sample_hours IS NOT NULL
    AND (requests.urgency <> 'emergency' OR units.abo <> 'O' OR units.rh_d <> 'negative'
      OR (SELECT count(*) FROM allocations WHERE allocations.request_id = NEW.request_id AND allocations.sample_id IS NULL
        AND allocations.status IN ('reserved', 'issued', 'transfused', 'wasted')) >= components.uncrossmatched_limit);
END;

CREATE TRIGGER o_negative_stays_in_stock BEFORE INSERT ON allocations WHEN NEW.status IN ('reserved', 'issued')
BEGIN
  SELECT RAISE(ABORT, 'the last O-negative red cells are kept for emergencies; choose another group or order more')
  FROM units
  JOIN components ON components.id = units.component_id
  JOIN requests ON requests.id = NEW.request_id
  WHERE units.id = NEW.unit_id AND units.abo = 'O' AND units.rh_d = 'negative' AND requests.urgency <> 'emergency'
    AND (SELECT count(*) FROM units AS rest WHERE rest.component_id = units.component_id AND rest.abo = 'O' AND rest.rh_d = 'negative'
      AND rest.status = 'available' AND rest.id <> NEW.unit_id AND rest.expires_on >= date(NEW.reserved_at)) < components.o_negative_reserve;
END;

CREATE TRIGGER allocation_facts_stay BEFORE UPDATE ON allocations
WHEN OLD.request_id <> NEW.request_id OR OLD.unit_id <> NEW.unit_id OR OLD.sample_id IS NOT NEW.sample_id
  OR OLD.reserved_at <> NEW.reserved_at OR (OLD.issued_at IS NOT NULL AND OLD.issued_at IS NOT NEW.issued_at)
BEGIN
  SELECT RAISE(ABORT, 'a reservation keeps its request, unit, sample and times; release it and reserve again');
END;

CREATE TRIGGER allocation_steps BEFORE UPDATE OF status ON allocations
WHEN OLD.status <> NEW.status AND NOT (
  (OLD.status = 'reserved' AND NEW.status IN ('issued', 'released'))
  OR (OLD.status = 'issued' AND NEW.status IN ('transfused', 'returned', 'wasted')))
BEGIN
  SELECT RAISE(ABORT, 'only a reserved unit is issued or released, and only an issued unit is transfused, returned or wasted');
END;

CREATE TRIGGER expired_units_stay BEFORE UPDATE OF status ON allocations WHEN NEW.status = 'issued'
BEGIN
  SELECT RAISE(ABORT, 'this unit has expired or is quarantined or discarded; it does not leave, release it and reserve another')
  FROM units
  WHERE units.id = NEW.unit_id AND (units.expires_on < date(NEW.issued_at) OR units.status IN ('quarantined', 'discarded'));
END;

CREATE TRIGGER sample_fresh_at_issue BEFORE UPDATE OF status ON allocations WHEN NEW.status = 'issued' AND NEW.sample_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the sample behind this reservation is too old; a new sample must be tested and the unit reserved again')
  FROM samples
  JOIN requests ON requests.id = NEW.request_id
  JOIN components ON components.id = requests.component_id
  WHERE samples.id = NEW.sample_id AND components.sample_hours IS NOT NULL
    AND NEW.issued_at > datetime(samples.taken_at, '+' || components.sample_hours || ' hours');
END;

CREATE TRIGGER reservation_lapses BEFORE UPDATE OF status ON allocations WHEN NEW.status = 'issued'
BEGIN
  SELECT RAISE(ABORT, 'this reservation lapsed 24 hours after the needed time; release it, a new request is needed')
  FROM requests
  WHERE requests.id = NEW.request_id AND NEW.issued_at > datetime(requests.needed_at, '+24 hours');
END;

CREATE TRIGGER issued_at_once BEFORE INSERT ON allocations WHEN NEW.issued_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this unit has expired; it does not leave, choose another')
  FROM units WHERE units.id = NEW.unit_id AND units.expires_on < date(NEW.issued_at);
  SELECT RAISE(ABORT, 'the sample is too old for an issue; a new sample must be tested')
  FROM samples
  JOIN requests ON requests.id = NEW.request_id
  JOIN components ON components.id = requests.component_id
  WHERE samples.id = NEW.sample_id AND components.sample_hours IS NOT NULL
    AND NEW.issued_at > datetime(samples.taken_at, '+' || components.sample_hours || ' hours');
  SELECT RAISE(ABORT, 'the needed time of this request is more than 24 hours past; a new request is needed')
  FROM requests
  WHERE requests.id = NEW.request_id AND NEW.issued_at > datetime(requests.needed_at, '+24 hours');
  SELECT RAISE(ABORT, 'this unit came back too late to be returned to stock; record it as wasted')
  FROM requests
  JOIN components ON components.id = requests.component_id
  WHERE requests.id = NEW.request_id AND NEW.status = 'returned'
    AND NEW.ended_at > datetime(NEW.issued_at, '+' || components.return_minutes || ' minutes');
END;

CREATE TRIGGER late_returns_are_wasted BEFORE UPDATE OF status ON allocations WHEN NEW.status = 'returned'
BEGIN
  SELECT RAISE(ABORT, 'this unit came back too late to be returned to stock; record it as wasted')
  FROM requests
  JOIN components ON components.id = requests.component_id
  WHERE requests.id = NEW.request_id
    AND NEW.ended_at > datetime(NEW.issued_at, '+' || components.return_minutes || ' minutes');
END;

CREATE TRIGGER budget_holds BEFORE INSERT ON ward_charges WHEN NEW.amount_cents > 0
BEGIN
  SELECT RAISE(ABORT, 'this charge would exceed the monthly budget of the ward; only emergencies may exceed it')
  FROM requests
  JOIN wards ON wards.id = requests.ward_id
  WHERE requests.id = NEW.request_id AND requests.urgency <> 'emergency'
    AND NEW.amount_cents + (SELECT COALESCE(sum(charge_details.amount_cents), 0) FROM charge_details
      WHERE charge_details.ward_id = requests.ward_id AND charge_details.month = strftime('%Y-%m', NEW.charged_at)
        AND charge_details.charged_at <= NEW.charged_at) > wards.monthly_budget_cents;
END;

CREATE TRIGGER charges_stay BEFORE UPDATE ON ward_charges
BEGIN
  SELECT RAISE(ABORT, 'a charge is not changed; a unit that comes back in time is credited instead');
END;
