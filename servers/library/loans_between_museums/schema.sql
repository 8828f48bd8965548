CREATE TABLE care_classes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  most_days INTEGER NOT NULL CHECK (most_days > 0),
  rest_days INTEGER NOT NULL CHECK (rest_days >= 0),
  needs_courier INTEGER NOT NULL CHECK (needs_courier IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE objects (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  maker TEXT,
  class_id TEXT NOT NULL REFERENCES care_classes (id),
  value_cents INTEGER NOT NULL CHECK (value_cents > 0),
  status TEXT NOT NULL DEFAULT 'available' CHECK (status IN ('available', 'out', 'in_conservation', 'barred'))
) STRICT, WITHOUT ROWID;

CREATE TABLE borrowers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  city TEXT NOT NULL,
  registrar TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'approved' CHECK (status IN ('approved', 'suspended')),
  facility_until TEXT NOT NULL CHECK (facility_until IS date(facility_until)),
  ceiling_cents INTEGER NOT NULL CHECK (ceiling_cents > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE loans (
  id TEXT PRIMARY KEY,
  borrower_id TEXT NOT NULL REFERENCES borrowers (id),
  exhibition TEXT NOT NULL CHECK (length(exhibition) > 0),
  requested_on TEXT NOT NULL CHECK (requested_on IS date(requested_on)),
  first_day TEXT NOT NULL CHECK (first_day IS date(first_day)),
  last_day TEXT NOT NULL CHECK (last_day IS date(last_day)),
  status TEXT NOT NULL DEFAULT 'requested'
    CHECK (status IN ('requested', 'agreed', 'out', 'returned', 'refused', 'cancelled')),
  extended_days INTEGER NOT NULL DEFAULT 0
    CONSTRAINT an_extension_is_of_60_days_at_most CHECK (extended_days BETWEEN 0 AND 60),
  dispatched_on TEXT CHECK (dispatched_on IS date(dispatched_on)),
  returned_on TEXT CHECK (returned_on IS date(returned_on)),
  reason TEXT,
  CHECK (first_day > requested_on),
  CHECK (last_day > first_day),
  CHECK ((status IN ('out', 'returned')) = (dispatched_on IS NOT NULL)),
  CHECK ((status = 'returned') = (returned_on IS NOT NULL)),
  CHECK (returned_on >= dispatched_on),
  CHECK ((status IN ('refused', 'cancelled')) = (reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX loans_of_borrowers ON loans (borrower_id, status);

CREATE TABLE items (
  id TEXT PRIMARY KEY,
  loan_id TEXT NOT NULL REFERENCES loans (id),
  object_id TEXT NOT NULL REFERENCES objects (id),
  value_cents INTEGER NOT NULL CHECK (value_cents > 0),
  status TEXT NOT NULL DEFAULT 'proposed' CHECK (status IN ('proposed', 'agreed', 'declined')),
  director_agreed INTEGER NOT NULL DEFAULT 0 CHECK (director_agreed IN (0, 1))
    CONSTRAINT over_250000_euros_the_director_must_agree
    CHECK (status <> 'agreed' OR value_cents <= 25000000 OR director_agreed = 1),
  UNIQUE (loan_id, object_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX items_of_objects ON items (object_id, status);

CREATE TABLE certificates (
  id TEXT PRIMARY KEY,
  loan_id TEXT NOT NULL REFERENCES loans (id),
  insurer TEXT NOT NULL CHECK (length(insurer) > 0),
  covers_cents INTEGER NOT NULL CHECK (covers_cents > 0),
  valid_from TEXT NOT NULL CHECK (valid_from IS date(valid_from)),
  valid_until TEXT NOT NULL CHECK (valid_until IS date(valid_until)),
  CHECK (valid_until >= valid_from)
) STRICT, WITHOUT ROWID;

CREATE TABLE checks (
  id TEXT PRIMARY KEY,
  object_id TEXT NOT NULL REFERENCES objects (id),
  checked_on TEXT NOT NULL CHECK (checked_on IS date(checked_on)),
  result TEXT NOT NULL CHECK (result IN ('fit', 'unfit')),
  note TEXT NOT NULL CHECK (length(note) > 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX checks_of_objects ON checks (object_id, checked_on);

CREATE TABLE couriers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  profession TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE trips (
  id TEXT PRIMARY KEY,
  courier_id TEXT NOT NULL REFERENCES couriers (id),
  loan_id TEXT NOT NULL REFERENCES loans (id),
  first_day TEXT NOT NULL CHECK (first_day IS date(first_day)),
  last_day TEXT NOT NULL CHECK (last_day IS date(last_day)),
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'done', 'called_off')),
  CHECK (last_day >= first_day)
) STRICT, WITHOUT ROWID;

CREATE INDEX trips_of_couriers ON trips (courier_id, status);

CREATE TABLE invoices (
  id TEXT PRIMARY KEY,
  loan_id TEXT NOT NULL REFERENCES loans (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  issued_on TEXT NOT NULL CHECK (issued_on IS date(issued_on)),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'void')),
  paid_on TEXT CHECK (paid_on IS date(paid_on)),
  CHECK ((status = 'paid') = (paid_on IS NOT NULL)),
  CHECK (paid_on >= issued_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_invoice_a_loan ON invoices (loan_id) WHERE status <> 'void';

CREATE VIEW item_details AS
SELECT items.id AS item_id, items.loan_id, loans.borrower_id, borrowers.name AS borrower, loans.exhibition, loans.first_day,
  loans.last_day, loans.status AS loan_status, items.object_id, objects.name AS object, objects.class_id, items.value_cents,
  items.status, items.director_agreed, care_classes.most_days, care_classes.rest_days, care_classes.needs_courier
FROM items
JOIN loans ON loans.id = items.loan_id
JOIN borrowers ON borrowers.id = loans.borrower_id
JOIN objects ON objects.id = items.object_id
JOIN care_classes ON care_classes.id = objects.class_id;

CREATE VIEW item_spans AS
SELECT item_id, loan_id, object_id, first_day, last_day, most_days, rest_days, needs_courier
FROM item_details
WHERE status = 'agreed' AND loan_status IN ('requested', 'agreed', 'out', 'returned');

CREATE VIEW borrower_details AS
SELECT borrowers.id AS borrower_id, borrowers.name, borrowers.city, borrowers.registrar, borrowers.status,
  borrowers.facility_until, borrowers.ceiling_cents,
  (SELECT coalesce(sum(item_details.value_cents), 0) FROM item_details
   WHERE item_details.borrower_id = borrowers.id AND item_details.status = 'agreed'
     AND item_details.loan_status IN ('requested', 'agreed', 'out')) AS held_cents,
  (SELECT count(*) FROM loans WHERE loans.borrower_id = borrowers.id AND loans.status = 'out') AS loans_out
FROM borrowers;

CREATE VIEW loan_details AS
SELECT loans.id AS loan_id, loans.borrower_id, borrowers.name AS borrower, loans.exhibition, loans.requested_on, loans.first_day,
  loans.last_day, loans.status, loans.extended_days, loans.dispatched_on, loans.returned_on, loans.reason,
  (SELECT count(*) FROM items WHERE items.loan_id = loans.id AND items.status = 'proposed') AS proposed_items,
  (SELECT count(*) FROM items WHERE items.loan_id = loans.id AND items.status = 'agreed') AS agreed_items,
  (SELECT coalesce(sum(items.value_cents), 0) FROM items WHERE items.loan_id = loans.id AND items.status = 'agreed') AS agreed_cents
FROM loans JOIN borrowers ON borrowers.id = loans.borrower_id;

CREATE VIEW object_details AS
SELECT objects.id AS object_id, objects.name, objects.maker, objects.class_id, care_classes.name AS class, objects.value_cents,
  objects.status, care_classes.most_days, care_classes.rest_days, care_classes.needs_courier,
  (SELECT max(checks.checked_on) FROM checks WHERE checks.object_id = objects.id) AS checked_on
FROM objects JOIN care_classes ON care_classes.id = objects.class_id;

CREATE VIEW trip_details AS
SELECT trips.id AS trip_id, trips.courier_id, couriers.name AS courier, trips.loan_id, loans.exhibition, trips.first_day,
  trips.last_day, trips.status
FROM trips
JOIN couriers ON couriers.id = trips.courier_id
JOIN loans ON loans.id = trips.loan_id;

CREATE TRIGGER no_request_of_the_suspended BEFORE INSERT ON loans WHEN NEW.status IN ('requested', 'agreed')
BEGIN
  SELECT RAISE(ABORT, 'this museum is suspended as a borrower and gets no loans until it is approved again')
  FROM borrowers WHERE borrowers.id = NEW.borrower_id AND borrowers.status = 'suspended';
END;

CREATE TRIGGER no_agreement_with_the_suspended BEFORE UPDATE OF status ON loans WHEN NEW.status IN ('agreed', 'out')
BEGIN
  SELECT RAISE(ABORT, 'this museum is suspended as a borrower and gets no loans until it is approved again')
  FROM borrowers WHERE borrowers.id = NEW.borrower_id AND borrowers.status = 'suspended';
END;

CREATE TRIGGER facility_report_until_the_end BEFORE UPDATE ON loans WHEN NEW.status IN ('agreed', 'out')
BEGIN
  SELECT RAISE(ABORT, 'the facility report of the borrower ends before the last day of the loan; it must be renewed first, or the loan be shorter')
  FROM borrowers WHERE borrowers.id = NEW.borrower_id AND borrowers.facility_until < NEW.last_day;
END;

CREATE TRIGGER loan_steps BEFORE UPDATE OF status ON loans
WHEN NEW.status <> OLD.status AND (OLD.status || '>' || NEW.status) NOT IN (
  'requested>agreed', 'requested>refused', 'requested>cancelled', 'agreed>out', 'agreed>cancelled', 'out>returned')
BEGIN
  SELECT RAISE(ABORT, 'a loan cannot go from its present state to that one; it is requested, agreed, out and returned in this order, and refused or cancelled only before it goes out');
END;

CREATE TRIGGER everything_decided BEFORE UPDATE OF status ON loans WHEN NEW.status = 'agreed' AND OLD.status = 'requested'
BEGIN
  SELECT RAISE(ABORT, 'some objects of this loan are still undecided; agree to or decline each of them first')
  WHERE EXISTS (SELECT 1 FROM items WHERE items.loan_id = NEW.id AND items.status = 'proposed');
  SELECT RAISE(ABORT, 'no object of this loan is agreed to; agree to one at least, or refuse the loan')
  WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.loan_id = NEW.id AND items.status = 'agreed');
END;

CREATE TRIGGER paid_before_dispatch BEFORE UPDATE OF status ON loans WHEN NEW.status = 'out' AND OLD.status = 'agreed'
BEGIN
  SELECT RAISE(ABORT, 'the fee of this loan is not paid yet; book the payment before it is dispatched')
  WHERE NOT EXISTS (SELECT 1 FROM invoices WHERE invoices.loan_id = NEW.id AND invoices.status = 'paid');
END;

CREATE TRIGGER insured_at_dispatch BEFORE UPDATE OF status ON loans WHEN NEW.status = 'out' AND OLD.status = 'agreed'
BEGIN
  SELECT RAISE(ABORT, 'no insurance certificate covers the value of all objects from the dispatch to the last day; register one first')
  WHERE NOT EXISTS (SELECT 1 FROM certificates WHERE certificates.loan_id = NEW.id
    AND certificates.covers_cents >= (SELECT coalesce(sum(items.value_cents), 0) FROM items
      WHERE items.loan_id = NEW.id AND items.status = 'agreed')
    AND certificates.valid_from <= NEW.dispatched_on AND certificates.valid_until >= NEW.last_day);
END;

CREATE TRIGGER insured_when_extended BEFORE UPDATE OF last_day ON loans WHEN NEW.status = 'out'
BEGIN
  SELECT RAISE(ABORT, 'no insurance certificate covers the value of all objects until the new last day; register one first')
  WHERE NOT EXISTS (SELECT 1 FROM certificates WHERE certificates.loan_id = NEW.id
    AND certificates.covers_cents >= (SELECT coalesce(sum(items.value_cents), 0) FROM items
      WHERE items.loan_id = NEW.id AND items.status = 'agreed')
    AND certificates.valid_from <= NEW.dispatched_on AND certificates.valid_until >= NEW.last_day);
END;

CREATE TRIGGER courier_for_the_fragile BEFORE UPDATE OF status ON loans WHEN NEW.status = 'out' AND OLD.status = 'agreed'
BEGIN
  SELECT RAISE(ABORT, 'an object of this loan travels with a courier only, and none is booked for the day of dispatch; book one first')
  WHERE EXISTS (SELECT 1 FROM item_spans WHERE item_spans.loan_id = NEW.id AND item_spans.needs_courier = 1)
    AND NOT EXISTS (SELECT 1 FROM trips WHERE trips.loan_id = NEW.id AND trips.status <> 'called_off'
      AND NEW.dispatched_on BETWEEN trips.first_day AND trips.last_day);
END;

CREATE TRIGGER class_days_when_extended BEFORE UPDATE OF last_day ON loans
BEGIN
  SELECT RAISE(ABORT, 'an object of this loan may not be away for so many days; its care class allows fewer')
  FROM item_spans WHERE item_spans.loan_id = NEW.id
    AND julianday(NEW.last_day) - julianday(NEW.first_day) + 1 > item_spans.most_days;
END;

CREATE TRIGGER object_rests_when_extended BEFORE UPDATE OF last_day ON loans
BEGIN
  SELECT RAISE(ABORT, 'an object of this loan would not have its days of rest before or after another loan; choose an earlier last day')
  FROM item_spans AS mine JOIN item_spans AS others ON others.object_id = mine.object_id AND others.loan_id <> mine.loan_id
  WHERE mine.loan_id = NEW.id
    AND NEW.first_day <= date(others.last_day, '+' || mine.rest_days || ' days')
    AND others.first_day <= date(NEW.last_day, '+' || mine.rest_days || ' days');
END;

CREATE TRIGGER eight_items_a_loan BEFORE INSERT ON items
BEGIN
  SELECT RAISE(ABORT, 'this loan has eight objects already, which is the most; take one off first')
  WHERE (SELECT count(*) FROM items AS others WHERE others.loan_id = NEW.loan_id AND others.status <> 'declined') >= 8;
END;

CREATE TRIGGER no_barred_object BEFORE INSERT ON items WHEN NEW.status = 'proposed'
BEGIN
  SELECT RAISE(ABORT, 'this object is barred from loans for good; propose another one')
  FROM objects WHERE objects.id = NEW.object_id AND objects.status = 'barred';
END;

CREATE TRIGGER class_days_when_proposed BEFORE INSERT ON items WHEN NEW.status <> 'declined'
BEGIN
  SELECT RAISE(ABORT, 'this object may not be away for as many days as the loan lasts; its care class allows fewer')
  FROM objects
  JOIN care_classes ON care_classes.id = objects.class_id
  JOIN loans ON loans.id = NEW.loan_id
  WHERE objects.id = NEW.object_id AND julianday(loans.last_day) - julianday(loans.first_day) + 1 > care_classes.most_days;
END;

CREATE TRIGGER items_come_while_requested BEFORE INSERT ON items WHEN NEW.status = 'proposed'
BEGIN
  SELECT RAISE(ABORT, 'objects are proposed only while the loan is requested')
  FROM loans WHERE loans.id = NEW.loan_id AND loans.status <> 'requested';
END;

CREATE TRIGGER items_change_while_requested BEFORE UPDATE ON items
BEGIN
  SELECT RAISE(ABORT, 'objects are agreed to or declined only while the loan is requested')
  FROM loans WHERE loans.id = NEW.loan_id AND loans.status <> 'requested';
END;

CREATE TRIGGER items_go_while_requested BEFORE DELETE ON items
BEGIN
  SELECT RAISE(ABORT, 'objects are taken off only while the loan is requested')
  FROM loans WHERE loans.id = OLD.loan_id AND loans.status <> 'requested';
END;

CREATE TRIGGER object_rests_when_agreed BEFORE UPDATE OF status ON items WHEN NEW.status = 'agreed' AND OLD.status <> 'agreed'
BEGIN
  SELECT RAISE(ABORT, 'this object is promised to another loan or would not have its days of rest before or after it; decline it or take it off')
  FROM loans
  JOIN item_spans AS others ON others.object_id = NEW.object_id AND others.loan_id <> loans.id
  WHERE loans.id = NEW.loan_id
    AND loans.first_day <= date(others.last_day, '+' || others.rest_days || ' days')
    AND others.first_day <= date(loans.last_day, '+' || others.rest_days || ' days');
END;

CREATE TRIGGER within_the_ceiling BEFORE UPDATE OF status ON items WHEN NEW.status = 'agreed' AND OLD.status <> 'agreed'
BEGIN
  SELECT RAISE(ABORT, 'with this object the borrower would hold more than its ceiling; decline it, or wait until something has come back')
  FROM loans JOIN borrower_details ON borrower_details.borrower_id = loans.borrower_id
  WHERE loans.id = NEW.loan_id AND borrower_details.held_cents + NEW.value_cents > borrower_details.ceiling_cents;
END;

CREATE TRIGGER one_trip_at_a_time BEFORE INSERT ON trips WHEN NEW.status <> 'called_off'
BEGIN
  SELECT RAISE(ABORT, 'this courier has another trip on one of these days; choose another courier or other days')
  WHERE EXISTS (SELECT 1 FROM trips AS others WHERE others.courier_id = NEW.courier_id AND others.status <> 'called_off'
    AND NEW.first_day <= others.last_day AND others.first_day <= NEW.last_day);
END;

CREATE TRIGGER ended_trips_stay BEFORE UPDATE ON trips WHEN OLD.status <> 'planned'
BEGIN
  SELECT RAISE(ABORT, 'this trip is done or called off already; book a new one');
END;

CREATE TRIGGER settled_invoices_stay BEFORE UPDATE ON invoices WHEN OLD.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'this invoice is paid or void already');
END;
