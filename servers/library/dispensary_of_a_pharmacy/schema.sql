CREATE TABLE classes (
  id TEXT PRIMARY KEY CHECK (id IN ('ordinary', 'cold', 'controlled')),
  valid_days INTEGER NOT NULL CHECK (valid_days > 0),
  pickup_days INTEGER NOT NULL CHECK (pickup_days > 0),
  may_repeat INTEGER NOT NULL CHECK (may_repeat IN (0, 1)),
  goes_back INTEGER NOT NULL CHECK (goes_back IN (0, 1)),
  two_hands INTEGER NOT NULL CHECK (two_hands IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE substances (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE staff (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('pharmacist', 'technician'))
) STRICT, WITHOUT ROWID;

CREATE TABLE patients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  born_on TEXT NOT NULL CHECK (born_on IS date(born_on)),
  phone TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE collectors (
  patient_id TEXT NOT NULL REFERENCES patients (id),
  name TEXT NOT NULL,
  PRIMARY KEY (patient_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE intolerances (
  patient_id TEXT NOT NULL REFERENCES patients (id),
  substance_id TEXT NOT NULL REFERENCES substances (id),
  noted_on TEXT NOT NULL CHECK (noted_on IS date(noted_on)),
  PRIMARY KEY (patient_id, substance_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE medicines (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  substance_id TEXT NOT NULL REFERENCES substances (id),
  class_id TEXT NOT NULL REFERENCES classes (id),
  min_packs INTEGER NOT NULL CHECK (min_packs >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  medicine_id TEXT NOT NULL REFERENCES medicines (id),
  received_on TEXT NOT NULL CHECK (received_on IS date(received_on)),
  expires_on TEXT NOT NULL CHECK (expires_on IS date(expires_on)),
  received_packs INTEGER NOT NULL CHECK (received_packs > 0),
  status TEXT NOT NULL DEFAULT 'usable' CHECK (status IN ('usable', 'quarantined', 'destroyed')),
  status_reason TEXT,
  destroyed_by TEXT REFERENCES staff (id),
  CHECK (expires_on > received_on),
  CHECK ((status = 'usable') = (status_reason IS NULL)),
  CHECK ((status = 'destroyed') = (destroyed_by IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE prescriptions (
  id TEXT PRIMARY KEY,
  patient_id TEXT NOT NULL REFERENCES patients (id),
  surgery TEXT NOT NULL,
  dated_on TEXT NOT NULL CHECK (dated_on IS date(dated_on)),
  received_on TEXT NOT NULL CHECK (received_on IS date(received_on)),
  taken_in_by TEXT NOT NULL REFERENCES staff (id),
  status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'on_hold', 'checked', 'completed', 'cancelled')),
  hold_reason TEXT,
  checked_by TEXT REFERENCES staff (id),
  checked_on TEXT CHECK (checked_on IS date(checked_on)),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  CHECK (dated_on <= received_on),
  CHECK ((status = 'on_hold') = (hold_reason IS NOT NULL)),
  CHECK ((checked_by IS NULL) = (checked_on IS NULL)),
  CHECK (status NOT IN ('checked', 'completed') OR checked_by IS NOT NULL),
  CHECK (status NOT IN ('received', 'on_hold') OR checked_by IS NULL),
  CHECK ((status IN ('completed', 'cancelled')) = (closed_on IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE lines (
  id TEXT PRIMARY KEY,
  prescription_id TEXT NOT NULL REFERENCES prescriptions (id),
  medicine_id TEXT NOT NULL REFERENCES medicines (id),
  packs INTEGER NOT NULL CHECK (packs BETWEEN 1 AND 6),
  repeats INTEGER NOT NULL DEFAULT 0 CHECK (repeats BETWEEN 0 AND 5),
  UNIQUE (prescription_id, medicine_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE fills (
  id TEXT PRIMARY KEY,
  line_id TEXT NOT NULL REFERENCES lines (id),
  batch_id TEXT NOT NULL REFERENCES batches (id),
  packs INTEGER NOT NULL CHECK (packs > 0),
  status TEXT NOT NULL DEFAULT 'prepared' CHECK (status IN ('prepared', 'handed_out', 'put_back', 'lost')),
  prepared_by TEXT NOT NULL REFERENCES staff (id),
  prepared_on TEXT NOT NULL CHECK (prepared_on IS date(prepared_on)),
  handed_by TEXT REFERENCES staff (id),
  collected_by TEXT,
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  CHECK ((status = 'handed_out') = (handed_by IS NOT NULL)),
  CHECK ((status = 'handed_out') = (collected_by IS NOT NULL)),
  CHECK ((status = 'prepared') = (closed_on IS NULL)),
  CHECK (closed_on >= prepared_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_prepared_fill_a_line ON fills (line_id) WHERE status = 'prepared';

CREATE INDEX fills_of_a_batch ON fills (batch_id);

CREATE VIEW batch_details AS
SELECT b.id AS batch_id, b.status, b.status_reason, b.medicine_id, m.name AS medicine_name, b.received_on, b.expires_on, b.received_packs,
  b.received_packs - (SELECT coalesce(sum(f.packs), 0) FROM fills f WHERE f.batch_id = b.id AND f.status <> 'put_back') AS packs_left,
  (SELECT count(*) FROM fills f WHERE f.batch_id = b.id AND f.status = 'prepared') AS prepared_fills
FROM batches b
JOIN medicines m ON m.id = b.medicine_id;

CREATE VIEW line_details AS
SELECT l.id AS line_id, l.prescription_id, p.status AS prescription_status, p.patient_id, a.name AS patient_name, p.dated_on,
  l.medicine_id, m.name AS medicine_name, m.substance_id, m.class_id, k.valid_days, k.pickup_days, k.goes_back, k.two_hands,
  l.packs, l.repeats,
  (SELECT count(*) FROM fills f WHERE f.line_id = l.id AND f.status IN ('prepared', 'handed_out')) AS fills,
  (SELECT max(f.closed_on) FROM fills f WHERE f.line_id = l.id AND f.status = 'handed_out') AS last_handed_on
FROM lines l
JOIN prescriptions p ON p.id = l.prescription_id
JOIN patients a ON a.id = p.patient_id
JOIN medicines m ON m.id = l.medicine_id
JOIN classes k ON k.id = m.class_id;

CREATE VIEW prescription_details AS
SELECT p.id AS prescription_id, p.status, p.patient_id, a.name AS patient_name, p.surgery, p.dated_on, p.received_on, p.taken_in_by,
  p.hold_reason, p.checked_by, p.checked_on, p.closed_on,
  (SELECT count(*) FROM lines l WHERE l.prescription_id = p.id) AS lines
FROM prescriptions p
JOIN patients a ON a.id = p.patient_id;

CREATE VIEW fill_details AS
SELECT f.id AS fill_id, f.status, f.line_id, d.prescription_id, d.patient_id, d.patient_name, d.medicine_name, d.class_id, d.pickup_days,
  f.batch_id, f.packs, f.prepared_by, f.prepared_on, date(f.prepared_on, '+' || d.pickup_days || ' days') AS pickup_until,
  f.handed_by, f.collected_by, f.closed_on
FROM fills f
JOIN line_details d ON d.line_id = f.line_id;

CREATE TRIGGER four_lines AFTER INSERT ON lines
BEGIN
  SELECT RAISE(ABORT, 'a prescription has 4 lines at most; a further medicine needs another prescription')
  FROM prescription_details d WHERE d.prescription_id = NEW.prescription_id AND d.lines > 4;
END;

CREATE TRIGGER no_repeats_of_controlled BEFORE INSERT ON lines WHEN NEW.repeats > 0
BEGIN
  SELECT RAISE(ABORT, 'controlled medicines have no repeats; take the line in without them')
  FROM medicines m JOIN classes k ON k.id = m.class_id WHERE m.id = NEW.medicine_id AND k.may_repeat = 0;
END;

CREATE TRIGGER prescription_states_in_order BEFORE UPDATE OF status ON prescriptions
WHEN NEW.status <> OLD.status
  AND OLD.status || '>' || NEW.status NOT IN ('received>checked', 'received>on_hold', 'received>cancelled', 'on_hold>received', 'on_hold>cancelled', 'checked>completed', 'checked>cancelled')
BEGIN
  SELECT RAISE(ABORT, 'not possible in this state: received prescriptions are checked, held or cancelled, held ones resumed or cancelled, checked ones completed or cancelled');
END;

CREATE TRIGGER a_pharmacist_checks BEFORE UPDATE OF status ON prescriptions WHEN NEW.status = 'checked' AND OLD.status <> 'checked'
BEGIN
  SELECT RAISE(ABORT, 'only a pharmacist checks prescriptions; ask one')
  FROM staff s WHERE s.id = NEW.checked_by AND s.role <> 'pharmacist';
END;

CREATE TRIGGER another_checks BEFORE UPDATE OF status ON prescriptions
WHEN NEW.status = 'checked' AND OLD.status <> 'checked' AND NEW.checked_by = NEW.taken_in_by
BEGIN
  SELECT RAISE(ABORT, 'who took the prescription in does not check it; another pharmacist must');
END;

CREATE TRIGGER nothing_not_tolerated BEFORE UPDATE OF status ON prescriptions WHEN NEW.status = 'checked' AND OLD.status <> 'checked'
BEGIN
  SELECT RAISE(ABORT, 'a line has a substance that is noted for the patient as not tolerated; put the prescription on hold or cancel it')
  FROM line_details d JOIN intolerances i ON i.patient_id = d.patient_id AND i.substance_id = d.substance_id
  WHERE d.prescription_id = NEW.id;
END;

CREATE TRIGGER check_needs_lines BEFORE UPDATE OF status ON prescriptions WHEN NEW.status = 'checked' AND OLD.status <> 'checked'
BEGIN
  SELECT RAISE(ABORT, 'the prescription has no lines yet; add them before the check')
  FROM prescription_details d WHERE d.prescription_id = NEW.id AND d.lines = 0;
END;

CREATE TRIGGER close_without_prepared_fills BEFORE UPDATE OF status ON prescriptions WHEN NEW.status IN ('completed', 'cancelled')
BEGIN
  SELECT RAISE(ABORT, 'a fill of this prescription is prepared; hand it out or put it back first')
  FROM fills f JOIN lines l ON l.id = f.line_id WHERE l.prescription_id = NEW.id AND f.status = 'prepared';
END;

CREATE TRIGGER fill_checked_prescriptions BEFORE INSERT ON fills WHEN NEW.status = 'prepared'
BEGIN
  SELECT RAISE(ABORT, 'the prescription is not checked, or is closed; fills are prepared for checked prescriptions only')
  FROM line_details d WHERE d.line_id = NEW.line_id AND d.prescription_status <> 'checked';
END;

CREATE TRIGGER fill_while_valid BEFORE INSERT ON fills
BEGIN
  SELECT RAISE(ABORT, 'the prescription is no longer valid for this line; the surgery must write a new one')
  FROM line_details d
  WHERE d.line_id = NEW.line_id
    AND ((d.last_handed_on IS NULL AND NEW.prepared_on > date(d.dated_on, '+' || d.valid_days || ' days'))
      OR NEW.prepared_on > date(d.dated_on, '+180 days'));
END;

CREATE TRIGGER three_weeks_between_fills BEFORE INSERT ON fills
BEGIN
  SELECT RAISE(ABORT, 'less than 21 days have passed since the last fill of this line was handed out; it must wait')
  FROM line_details d WHERE d.line_id = NEW.line_id AND NEW.prepared_on < date(d.last_handed_on, '+21 days');
END;

CREATE TRIGGER fills_within_the_repeats AFTER INSERT ON fills WHEN NEW.status IN ('prepared', 'handed_out')
BEGIN
  SELECT RAISE(ABORT, 'this line has had its first fill and all its repeats; the surgery must write a new prescription')
  FROM line_details d WHERE d.line_id = NEW.line_id AND d.fills > 1 + d.repeats;
END;

CREATE TRIGGER fill_from_a_good_batch BEFORE INSERT ON fills
BEGIN
  SELECT RAISE(ABORT, 'the batch is of another medicine; choose one of the medicine of the line')
  FROM batches b JOIN lines l ON l.id = NEW.line_id WHERE b.id = NEW.batch_id AND b.medicine_id <> l.medicine_id;
  SELECT RAISE(ABORT, 'the batch expires less than 30 days after the fill is prepared; it may not be used')
  FROM batches b WHERE b.id = NEW.batch_id AND b.expires_on < date(NEW.prepared_on, '+30 days');
END;

CREATE TRIGGER fill_from_usable_batches BEFORE INSERT ON fills WHEN NEW.status = 'prepared'
BEGIN
  SELECT RAISE(ABORT, 'the batch is quarantined or destroyed; it may not be used')
  FROM batches b WHERE b.id = NEW.batch_id AND b.status <> 'usable';
END;

CREATE TRIGGER stock_is_not_overdrawn AFTER INSERT ON fills
BEGIN
  SELECT RAISE(ABORT, 'the batch has not enough packs left; another batch or a delivery is needed')
  FROM batch_details d WHERE d.batch_id = NEW.batch_id AND d.packs_left < 0;
END;

CREATE TRIGGER a_pharmacist_prepares_controlled BEFORE INSERT ON fills
BEGIN
  SELECT RAISE(ABORT, 'controlled medicines are prepared by a pharmacist; ask one')
  FROM line_details d JOIN staff s ON s.id = NEW.prepared_by
  WHERE d.line_id = NEW.line_id AND d.two_hands = 1 AND s.role <> 'pharmacist';
END;

CREATE TRIGGER another_hands_out_controlled BEFORE UPDATE OF status ON fills WHEN NEW.status = 'handed_out' AND NEW.handed_by = NEW.prepared_by
BEGIN
  SELECT RAISE(ABORT, 'who prepared a controlled medicine does not hand it out; another member of staff must')
  FROM line_details d WHERE d.line_id = NEW.line_id AND d.two_hands = 1;
END;

CREATE TRIGGER handed_out_in_time BEFORE UPDATE OF status ON fills WHEN NEW.status = 'handed_out'
BEGIN
  SELECT RAISE(ABORT, 'the days for collecting this fill are over; it must be put back, and may be prepared anew')
  FROM line_details d WHERE d.line_id = NEW.line_id AND NEW.closed_on > date(NEW.prepared_on, '+' || d.pickup_days || ' days');
END;

CREATE TRIGGER ended_fills_stay_ended BEFORE UPDATE ON fills WHEN OLD.status <> 'prepared'
BEGIN
  SELECT RAISE(ABORT, 'this fill is handed out or put back already');
END;

CREATE TRIGGER batch_without_prepared_fills BEFORE UPDATE OF status ON batches WHEN OLD.status = 'usable' AND NEW.status <> 'usable'
BEGIN
  SELECT RAISE(ABORT, 'a fill from this batch is prepared; hand it out or put it back first')
  FROM fills f WHERE f.batch_id = NEW.id AND f.status = 'prepared';
END;

CREATE TRIGGER a_pharmacist_destroys BEFORE UPDATE OF status ON batches WHEN NEW.status = 'destroyed'
BEGIN
  SELECT RAISE(ABORT, 'only a pharmacist destroys a batch; ask one')
  FROM staff s WHERE s.id = NEW.destroyed_by AND s.role <> 'pharmacist';
END;

CREATE TRIGGER destroyed_batches_stay_destroyed BEFORE UPDATE ON batches WHEN OLD.status = 'destroyed'
BEGIN
  SELECT RAISE(ABORT, 'this batch has been destroyed');
END;
