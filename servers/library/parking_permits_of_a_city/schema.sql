CREATE TABLE permit_kinds (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  months INTEGER NOT NULL CHECK (months BETWEEN 1 AND 24),
  fee_cents INTEGER NOT NULL CHECK (fee_cents >= 0),
  further_fee_cents INTEGER NOT NULL CHECK (further_fee_cents >= 0),
  most_a_person INTEGER NOT NULL CHECK (most_a_person BETWEEN 1 AND 5)
) STRICT, WITHOUT ROWID;

CREATE TABLE zones (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  streets TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE zone_caps (
  zone_id TEXT NOT NULL REFERENCES zones (id),
  kind_id TEXT NOT NULL REFERENCES permit_kinds (id),
  cap INTEGER NOT NULL CHECK (cap >= 0),
  PRIMARY KEY (zone_id, kind_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE residents (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT,
  zone_id TEXT NOT NULL REFERENCES zones (id),
  address TEXT NOT NULL,
  from_on TEXT NOT NULL CHECK (from_on IS date(from_on)),
  until_on TEXT CHECK (until_on IS date(until_on)),
  CHECK (until_on >= from_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE vehicles (
  id TEXT PRIMARY KEY,
  plate TEXT NOT NULL UNIQUE,
  model TEXT NOT NULL,
  resident_id TEXT NOT NULL REFERENCES residents (id),
  weight_kg INTEGER NOT NULL CHECK (weight_kg BETWEEN 300 AND 20000),
  own_vehicle INTEGER NOT NULL CHECK (own_vehicle IN (0, 1)),
  employer_letter INTEGER NOT NULL DEFAULT 0 CHECK (employer_letter IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE applications (
  id TEXT PRIMARY KEY,
  vehicle_id TEXT NOT NULL REFERENCES vehicles (id),
  zone_id TEXT NOT NULL,
  kind_id TEXT NOT NULL,
  received_at TEXT NOT NULL CHECK (received_at IS datetime(received_at)),
  status TEXT NOT NULL DEFAULT 'received'
    CHECK (status IN ('received', 'incomplete', 'waiting', 'approved', 'refused', 'withdrawn')),
  missing TEXT,
  asked_on TEXT CHECK (asked_on IS date(asked_on)),
  decided_on TEXT CHECK (decided_on IS date(decided_on)),
  refusal_reason TEXT,
  FOREIGN KEY (zone_id, kind_id) REFERENCES zone_caps (zone_id, kind_id),
  CHECK ((missing IS NULL) = (asked_on IS NULL)),
  CHECK (status <> 'incomplete' OR asked_on IS NOT NULL),
  CHECK ((status IN ('approved', 'refused', 'withdrawn')) = (decided_on IS NOT NULL)),
  CHECK ((status = 'refused') = (refusal_reason IS NOT NULL)),
  CHECK (decided_on >= date(received_at))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_application_a_vehicle ON applications (vehicle_id)
  WHERE status IN ('received', 'incomplete', 'waiting');

CREATE TABLE permits (
  id TEXT PRIMARY KEY,
  application_id TEXT NOT NULL UNIQUE REFERENCES applications (id),
  vehicle_id TEXT NOT NULL REFERENCES vehicles (id),
  granted_on TEXT NOT NULL CHECK (granted_on IS date(granted_on)),
  status TEXT NOT NULL DEFAULT 'awaiting_payment'
    CHECK (status IN ('awaiting_payment', 'valid', 'lapsed', 'returned', 'revoked', 'expired')),
  starts_on TEXT CHECK (starts_on IS date(starts_on)),
  ends_on TEXT CHECK (ends_on IS date(ends_on)),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  revoke_reason TEXT,
  misuse INTEGER NOT NULL DEFAULT 0 CHECK (misuse IN (0, 1)),
  CHECK ((status IN ('awaiting_payment', 'lapsed')) = (starts_on IS NULL)),
  CHECK ((starts_on IS NULL) = (ends_on IS NULL)),
  CHECK (starts_on >= granted_on AND ends_on > starts_on),
  CHECK ((status IN ('awaiting_payment', 'valid')) = (closed_on IS NULL)),
  CHECK ((status = 'revoked') = (revoke_reason IS NOT NULL)),
  CHECK (misuse = 0 OR status = 'revoked')
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_running_permit_a_vehicle ON permits (vehicle_id) WHERE status IN ('awaiting_payment', 'valid');

CREATE TABLE fees (
  id TEXT PRIMARY KEY,
  permit_id TEXT NOT NULL REFERENCES permits (id),
  reason TEXT NOT NULL CHECK (reason IN ('grant', 'renewal', 'vehicle_change')),
  amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0),
  charged_on TEXT NOT NULL CHECK (charged_on IS date(charged_on)),
  due_on TEXT NOT NULL CHECK (due_on IS date(due_on)),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'cancelled', 'refunded')),
  settled_on TEXT CHECK (settled_on IS date(settled_on)),
  refunded_cents INTEGER NOT NULL DEFAULT 0 CHECK (refunded_cents BETWEEN 0 AND amount_cents),
  CHECK (due_on = date(charged_on, '+14 days')),
  CHECK ((status = 'open') = (settled_on IS NULL)),
  CHECK ((status = 'refunded') = (refunded_cents > 0))
) STRICT, WITHOUT ROWID;

CREATE TABLE visitor_tickets (
  id TEXT PRIMARY KEY,
  resident_id TEXT NOT NULL REFERENCES residents (id),
  plate TEXT NOT NULL,
  valid_on TEXT NOT NULL CHECK (valid_on IS date(valid_on)),
  issued_on TEXT NOT NULL CHECK (issued_on IS date(issued_on)),
  status TEXT NOT NULL DEFAULT 'issued' CHECK (status IN ('issued', 'void')),
  voided_on TEXT CHECK (voided_on IS date(voided_on)),
  UNIQUE (resident_id, plate, valid_on),
  CHECK (issued_on <= valid_on),
  CHECK ((status = 'void') = (voided_on IS NOT NULL)),
  CHECK (voided_on < valid_on)
) STRICT, WITHOUT ROWID;

CREATE VIEW application_details AS
SELECT applications.id AS application_id, applications.vehicle_id, vehicles.plate, residents.id AS resident_id,
  residents.name AS resident_name, applications.zone_id, zones.name AS zone_name, applications.kind_id,
  permit_kinds.name AS kind_name, applications.received_at, applications.status, applications.missing,
  applications.asked_on, applications.decided_on, applications.refusal_reason
FROM applications
JOIN vehicles ON vehicles.id = applications.vehicle_id
JOIN residents ON residents.id = vehicles.resident_id
JOIN zones ON zones.id = applications.zone_id
JOIN permit_kinds ON permit_kinds.id = applications.kind_id;

CREATE VIEW permit_details AS
SELECT permits.id AS permit_id, permits.application_id, permits.vehicle_id, vehicles.plate,
  application_details.resident_id, application_details.resident_name, application_details.zone_id,
  application_details.zone_name, application_details.kind_id, application_details.kind_name, permits.granted_on,
  permits.status, permits.starts_on, permits.ends_on, permits.closed_on, permits.revoke_reason, permits.misuse
FROM permits
JOIN application_details ON application_details.application_id = permits.application_id
JOIN vehicles ON vehicles.id = permits.vehicle_id;

CREATE VIEW zone_use AS
SELECT zone_caps.zone_id, zones.name AS zone_name, zone_caps.kind_id, zone_caps.cap,
  (SELECT count(*) FROM permit_details WHERE permit_details.zone_id = zone_caps.zone_id
    AND permit_details.kind_id = zone_caps.kind_id AND permit_details.status IN ('awaiting_payment', 'valid')) AS used,
  (SELECT count(*) FROM applications WHERE applications.zone_id = zone_caps.zone_id
    AND applications.kind_id = zone_caps.kind_id AND applications.status = 'waiting') AS waiting
FROM zone_caps JOIN zones ON zones.id = zone_caps.zone_id;

CREATE VIEW fee_details AS
SELECT fees.id AS fee_id, fees.permit_id, permit_details.resident_id, permit_details.resident_name, permit_details.plate,
  fees.reason, fees.amount_cents, fees.charged_on, fees.due_on, fees.status, fees.settled_on, fees.refunded_cents
FROM fees JOIN permit_details ON permit_details.permit_id = fees.permit_id;

CREATE TRIGGER own_zone BEFORE INSERT ON applications
BEGIN
  SELECT RAISE(ABORT, 'the keeper does not live in this zone on that day; a permit is possible only at the own address')
  FROM vehicles JOIN residents ON residents.id = vehicles.resident_id
  WHERE vehicles.id = NEW.vehicle_id AND (residents.zone_id <> NEW.zone_id
    OR date(NEW.received_at) < residents.from_on OR date(NEW.received_at) > residents.until_on);
END;

CREATE TRIGGER light_vehicles BEFORE INSERT ON applications
BEGIN
  SELECT RAISE(ABORT, 'the vehicle is heavier than 3.5 tonnes; it gets no permit')
  FROM vehicles WHERE id = NEW.vehicle_id AND weight_kg > 3500;
END;

CREATE TRIGGER application_steps BEFORE UPDATE OF status ON applications
WHEN NEW.status <> OLD.status AND OLD.status IN ('approved', 'refused', 'withdrawn')
BEGIN
  SELECT RAISE(ABORT, 'this application is decided already; a new one is needed');
END;

CREATE TRIGGER permit_for_an_approved_application BEFORE INSERT ON permits
BEGIN
  SELECT RAISE(ABORT, 'the application is not approved; a permit needs an approved one')
  FROM applications WHERE id = NEW.application_id AND status <> 'approved';
END;

CREATE TRIGGER letter_for_company_cars BEFORE INSERT ON permits WHEN NEW.status IN ('awaiting_payment', 'valid')
BEGIN
  SELECT RAISE(ABORT, 'the vehicle is not the keeper''s own and the letter of the employer is missing; ask for it')
  FROM vehicles WHERE id = NEW.vehicle_id AND own_vehicle = 0 AND employer_letter = 0;
END;

CREATE TRIGGER zone_cap BEFORE INSERT ON permits WHEN NEW.status IN ('awaiting_payment', 'valid')
BEGIN
  SELECT RAISE(ABORT, 'all permits of this kind in the zone are given out; the application has to wait')
  FROM applications JOIN zone_use ON zone_use.zone_id = applications.zone_id AND zone_use.kind_id = applications.kind_id
  WHERE applications.id = NEW.application_id AND zone_use.used >= zone_use.cap;
END;

CREATE TRIGGER permits_a_person BEFORE INSERT ON permits WHEN NEW.status IN ('awaiting_payment', 'valid')
BEGIN
  SELECT RAISE(ABORT, 'this person has as many permits of the kind as one person may have; one must be returned first')
  FROM application_details JOIN permit_kinds ON permit_kinds.id = application_details.kind_id
  WHERE application_details.application_id = NEW.application_id
    AND (SELECT count(*) FROM permit_details WHERE permit_details.resident_id = application_details.resident_id
      AND permit_details.kind_id = application_details.kind_id
      AND permit_details.status IN ('awaiting_payment', 'valid')) >= permit_kinds.most_a_person;
END;

CREATE TRIGGER permit_steps BEFORE UPDATE OF status ON permits
WHEN NEW.status <> OLD.status AND OLD.status || '>' || NEW.status NOT IN ('awaiting_payment>valid',
  'awaiting_payment>lapsed', 'valid>returned', 'valid>revoked', 'valid>expired')
BEGIN
  SELECT RAISE(ABORT, 'a permit does not go from its present state to that one; look at its state first');
END;

CREATE TRIGGER two_vehicle_changes BEFORE INSERT ON fees WHEN NEW.reason = 'vehicle_change'
BEGIN
  SELECT RAISE(ABORT, 'the vehicle of this permit was changed twice in this year already')
  WHERE (SELECT count(*) FROM fees WHERE permit_id = NEW.permit_id AND reason = 'vehicle_change'
    AND strftime('%Y', charged_on) = strftime('%Y', NEW.charged_on)) >= 2;
END;

CREATE TRIGGER settled_fees BEFORE UPDATE ON fees WHEN OLD.status IN ('cancelled', 'refunded')
BEGIN
  SELECT RAISE(ABORT, 'this fee is cancelled or refunded already; nothing about it changes any more');
END;

CREATE TRIGGER tickets_a_year BEFORE INSERT ON visitor_tickets WHEN NEW.status = 'issued'
BEGIN
  SELECT RAISE(ABORT, 'this person has 20 visitor tickets for that year already')
  WHERE (SELECT count(*) FROM visitor_tickets WHERE resident_id = NEW.resident_id AND status = 'issued'
    AND strftime('%Y', valid_on) = strftime('%Y', NEW.valid_on)) >= 20;
END;

CREATE TRIGGER tickets_a_day BEFORE INSERT ON visitor_tickets WHEN NEW.status = 'issued'
BEGIN
  SELECT RAISE(ABORT, 'this person has 5 visitor tickets for that day already; choose another day')
  WHERE (SELECT count(*) FROM visitor_tickets WHERE resident_id = NEW.resident_id AND status = 'issued'
    AND valid_on = NEW.valid_on) >= 5;
END;
