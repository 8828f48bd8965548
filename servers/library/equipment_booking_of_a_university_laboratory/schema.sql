CREATE TABLE kinds (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  hourly_price_cents INTEGER NOT NULL CHECK (hourly_price_cents > 0 AND hourly_price_cents % 2 = 0),
  operator_price_cents INTEGER NOT NULL CHECK (operator_price_cents >= 0 AND operator_price_cents % 2 = 0),
  longest_hours INTEGER NOT NULL CHECK (longest_hours > 0),
  group_week_hours INTEGER NOT NULL CHECK (group_week_hours >= longest_hours),
  certificate_months INTEGER NOT NULL CHECK (certificate_months > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE instruments (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind_id TEXT NOT NULL REFERENCES kinds (id),
  room TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'in_service' CHECK (status IN ('in_service', 'out_of_service', 'retired'))
) STRICT, WITHOUT ROWID;

CREATE TABLE research_groups (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  budget_cents INTEGER NOT NULL CHECK (budget_cents >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE people (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('researcher', 'leader', 'operator', 'manager')),
  group_id TEXT REFERENCES research_groups (id),
  has_night_permit INTEGER NOT NULL DEFAULT 0 CHECK (has_night_permit IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'left')),
  suspended_on TEXT CHECK (suspended_on IS date(suspended_on)),
  CHECK ((role IN ('researcher', 'leader')) = (group_id IS NOT NULL)),
  CHECK ((status = 'suspended') = (suspended_on IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE certificates (
  id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL REFERENCES people (id),
  kind_id TEXT NOT NULL REFERENCES kinds (id),
  status TEXT NOT NULL DEFAULT 'valid' CHECK (status IN ('valid', 'replaced', 'withdrawn')),
  issued_by TEXT NOT NULL REFERENCES people (id),
  issued_on TEXT NOT NULL CHECK (issued_on IS date(issued_on)),
  expires_on TEXT NOT NULL CHECK (expires_on IS date(expires_on)),
  withdrawn_on TEXT CHECK (withdrawn_on IS date(withdrawn_on)),
  CHECK (expires_on > issued_on),
  CHECK (issued_by <> person_id),
  CHECK ((status = 'withdrawn') = (withdrawn_on IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_valid_certificate_a_kind ON certificates (person_id, kind_id) WHERE status = 'valid';

CREATE TABLE bookings (
  id TEXT PRIMARY KEY,
  person_id TEXT NOT NULL REFERENCES people (id),
  instrument_id TEXT NOT NULL REFERENCES instruments (id),
  operator_id TEXT REFERENCES people (id),
  starts_at TEXT NOT NULL CHECK (starts_at IS datetime(starts_at)),
  ends_at TEXT NOT NULL CHECK (ends_at IS datetime(ends_at)),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'running', 'finished', 'cancelled', 'missed')),
  booked_at TEXT NOT NULL CHECK (booked_at IS datetime(booked_at)),
  started_at TEXT CHECK (started_at IS datetime(started_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (ends_at > starts_at),
  CHECK (date(ends_at) = date(starts_at)),
  CHECK (strftime('%M:%S', starts_at) IN ('00:00', '30:00') AND strftime('%M:%S', ends_at) IN ('00:00', '30:00')),
  CHECK (operator_id <> person_id),
  CHECK ((status IN ('running', 'finished')) = (started_at IS NOT NULL)),
  CHECK ((status IN ('finished', 'cancelled', 'missed')) = (closed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_running_booking_an_instrument ON bookings (instrument_id) WHERE status = 'running';

CREATE TABLE repairs (
  id TEXT PRIMARY KEY,
  instrument_id TEXT NOT NULL REFERENCES instruments (id),
  reason TEXT NOT NULL,
  starts_at TEXT NOT NULL CHECK (starts_at IS datetime(starts_at)),
  ends_at TEXT NOT NULL CHECK (ends_at IS datetime(ends_at)),
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'running', 'done', 'cancelled')),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (ends_at > starts_at),
  CHECK ((status IN ('done', 'cancelled')) = (closed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_running_repair_an_instrument ON repairs (instrument_id) WHERE status = 'running';

CREATE TABLE charges (
  id TEXT PRIMARY KEY,
  booking_id TEXT NOT NULL UNIQUE REFERENCES bookings (id),
  reason TEXT NOT NULL CHECK (reason IN ('use', 'late_cancellation', 'missed')),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  charged_at TEXT NOT NULL CHECK (charged_at IS datetime(charged_at)),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'waived')),
  waived_by TEXT REFERENCES people (id),
  waived_at TEXT CHECK (waived_at IS datetime(waived_at)),
  CHECK ((status = 'waived') = (waived_by IS NOT NULL)),
  CHECK ((status = 'waived') = (waived_at IS NOT NULL)),
  CHECK (status = 'open' OR reason <> 'use')
) STRICT, WITHOUT ROWID;

CREATE VIEW booking_details AS
SELECT bookings.id AS booking_id, bookings.person_id, people.name AS person, people.group_id,
  research_groups.name AS group_name, bookings.instrument_id, instruments.name AS instrument,
  instruments.status AS instrument_status, instruments.kind_id, kinds.name AS kind,
  bookings.operator_id, operators.name AS operator, bookings.starts_at, bookings.ends_at, bookings.status,
  bookings.booked_at, bookings.started_at, bookings.closed_at,
  (unixepoch(bookings.ends_at) - unixepoch(bookings.starts_at)) / 1800 AS half_hours,
  (unixepoch(bookings.ends_at) - unixepoch(bookings.starts_at)) / 1800
    * (kinds.hourly_price_cents + CASE WHEN bookings.operator_id IS NULL THEN 0 ELSE kinds.operator_price_cents END)
    / 2 AS price_cents,
  date(bookings.starts_at, 'weekday 0', '-6 days') AS week_starts_on,
  CASE WHEN strftime('%H:%M', bookings.starts_at) < '07:00' OR strftime('%H:%M', bookings.ends_at) > '20:00'
    OR strftime('%w', bookings.starts_at) IN ('0', '6') THEN 1 ELSE 0 END AS is_out_of_hours
FROM bookings
JOIN people ON people.id = bookings.person_id
JOIN instruments ON instruments.id = bookings.instrument_id
JOIN kinds ON kinds.id = instruments.kind_id
LEFT JOIN research_groups ON research_groups.id = people.group_id
LEFT JOIN people AS operators ON operators.id = bookings.operator_id;

CREATE VIEW group_weeks AS
SELECT booking_details.group_id, booking_details.kind_id, booking_details.week_starts_on,
  sum(booking_details.half_hours) AS half_hours, 2 * kinds.group_week_hours AS half_hour_limit
FROM booking_details JOIN kinds ON kinds.id = booking_details.kind_id
WHERE booking_details.status IN ('booked', 'running', 'finished')
GROUP BY booking_details.group_id, booking_details.kind_id, booking_details.week_starts_on;

CREATE VIEW charge_details AS
SELECT charges.id AS charge_id, charges.booking_id, booking_details.person_id, booking_details.person,
  booking_details.group_id, booking_details.group_name, booking_details.instrument, booking_details.starts_at,
  charges.reason, charges.amount_cents, charges.charged_at, charges.status, charges.waived_by, charges.waived_at
FROM charges JOIN booking_details ON booking_details.booking_id = charges.booking_id;

CREATE VIEW group_details AS
SELECT research_groups.id AS group_id, research_groups.name, research_groups.budget_cents,
  (SELECT coalesce(sum(charge_details.amount_cents), 0) FROM charge_details
    WHERE charge_details.group_id = research_groups.id AND charge_details.status = 'open') AS charged_cents,
  (SELECT coalesce(sum(booking_details.price_cents), 0) FROM booking_details
    WHERE booking_details.group_id = research_groups.id
      AND booking_details.status IN ('booked', 'running')) AS booked_cents
FROM research_groups;

CREATE VIEW person_details AS
SELECT people.id AS person_id, people.name, people.role, people.group_id, research_groups.name AS group_name,
  people.has_night_permit, people.status, people.suspended_on,
  (SELECT count(*) FROM bookings WHERE bookings.person_id = people.id AND bookings.status = 'booked') AS bookings_ahead
FROM people LEFT JOIN research_groups ON research_groups.id = people.group_id;

CREATE VIEW instrument_details AS
SELECT instruments.id AS instrument_id, instruments.name, instruments.kind_id, kinds.name AS kind, instruments.room,
  instruments.status, kinds.hourly_price_cents, kinds.operator_price_cents, kinds.longest_hours, kinds.group_week_hours
FROM instruments JOIN kinds ON kinds.id = instruments.kind_id;

CREATE VIEW certificate_details AS
SELECT certificates.id AS certificate_id, certificates.person_id, people.name AS person, certificates.kind_id,
  kinds.name AS kind, certificates.status, certificates.issued_by, issuers.name AS issuer, certificates.issued_on,
  certificates.expires_on, certificates.withdrawn_on
FROM certificates
JOIN people ON people.id = certificates.person_id
JOIN people AS issuers ON issuers.id = certificates.issued_by
JOIN kinds ON kinds.id = certificates.kind_id;

CREATE VIEW repair_details AS
SELECT repairs.id AS repair_id, repairs.instrument_id, instruments.name AS instrument, repairs.reason,
  repairs.starts_at, repairs.ends_at, repairs.status, repairs.closed_at
FROM repairs JOIN instruments ON instruments.id = repairs.instrument_id;

CREATE TRIGGER bookings_follow_their_path BEFORE UPDATE OF status ON bookings WHEN NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a booking is booked, then running, then finished; only one that is still booked is cancelled or missed')
  WHERE NOT (
    (OLD.status = 'booked' AND NEW.status IN ('running', 'cancelled', 'missed'))
    OR (OLD.status = 'running' AND NEW.status = 'finished'));
END;

CREATE TRIGGER only_booked_ones_change BEFORE UPDATE OF person_id, instrument_id, operator_id, starts_at, ends_at ON bookings
WHEN OLD.status <> 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this booking has begun or is closed; its instrument, time and people stay as they are');
END;

CREATE TRIGGER active_people_book AFTER INSERT ON bookings WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'only active researchers and group leaders have bookings; this person is suspended, has left or is staff')
  FROM people WHERE people.id = NEW.person_id AND (people.status <> 'active' OR people.group_id IS NULL);
END;

CREATE TRIGGER active_people_move AFTER UPDATE OF person_id, instrument_id, operator_id, starts_at, ends_at, status ON bookings
WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'this person is suspended, has left or is staff; only cancelling is possible')
  FROM people WHERE people.id = NEW.person_id AND (people.status <> 'active' OR people.group_id IS NULL);
END;

CREATE TRIGGER no_overlap_on_insert AFTER INSERT ON bookings WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the instrument is booked at that time already; choose another time or instrument')
  FROM bookings AS other
  WHERE other.instrument_id = NEW.instrument_id AND other.id <> NEW.id AND other.status IN ('booked', 'running')
    AND other.starts_at < NEW.ends_at AND NEW.starts_at < other.ends_at;
END;

CREATE TRIGGER no_overlap_on_update AFTER UPDATE OF instrument_id, starts_at, ends_at, status ON bookings
WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the instrument is booked at that time already; choose another time or instrument')
  FROM bookings AS other
  WHERE other.instrument_id = NEW.instrument_id AND other.id <> NEW.id AND other.status IN ('booked', 'running')
    AND other.starts_at < NEW.ends_at AND NEW.starts_at < other.ends_at;
END;

CREATE TRIGGER in_service_on_insert AFTER INSERT ON bookings WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'this instrument is not in service; choose another one')
  FROM instruments WHERE instruments.id = NEW.instrument_id AND instruments.status <> 'in_service';
END;

CREATE TRIGGER in_service_on_update AFTER UPDATE OF instrument_id, starts_at, ends_at, status ON bookings
WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'this instrument is not in service; choose another one')
  FROM instruments WHERE instruments.id = NEW.instrument_id AND instruments.status <> 'in_service';
END;

CREATE TRIGGER longest_on_insert AFTER INSERT ON bookings
BEGIN
  SELECT RAISE(ABORT, 'this is longer than one booking of this kind of instrument may be; book a shorter time')
  FROM booking_details JOIN kinds ON kinds.id = booking_details.kind_id
  WHERE booking_details.booking_id = NEW.id AND booking_details.half_hours > 2 * kinds.longest_hours;
END;

CREATE TRIGGER longest_on_update AFTER UPDATE OF instrument_id, starts_at, ends_at ON bookings
BEGIN
  SELECT RAISE(ABORT, 'this is longer than one booking of this kind of instrument may be; book a shorter time')
  FROM booking_details JOIN kinds ON kinds.id = booking_details.kind_id
  WHERE booking_details.booking_id = NEW.id AND booking_details.half_hours > 2 * kinds.longest_hours;
END;

CREATE TRIGGER certificate_on_insert AFTER INSERT ON bookings
WHEN NEW.status IN ('booked', 'running') AND NEW.operator_id IS NULL
BEGIN
  SELECT RAISE(ABORT, 'this person has no certificate for the instrument that is valid on that day; an operator must assist')
  FROM instruments
  WHERE instruments.id = NEW.instrument_id AND NOT EXISTS (
    SELECT 1 FROM certificates
    WHERE certificates.person_id = NEW.person_id AND certificates.kind_id = instruments.kind_id
      AND certificates.status = 'valid' AND date(NEW.starts_at) BETWEEN certificates.issued_on AND certificates.expires_on);
END;

CREATE TRIGGER certificate_on_update AFTER UPDATE OF person_id, instrument_id, operator_id, starts_at, status ON bookings
WHEN NEW.status IN ('booked', 'running') AND NEW.operator_id IS NULL
BEGIN
  SELECT RAISE(ABORT, 'this person has no certificate for the instrument that is valid on that day; an operator must assist')
  FROM instruments
  WHERE instruments.id = NEW.instrument_id AND NOT EXISTS (
    SELECT 1 FROM certificates
    WHERE certificates.person_id = NEW.person_id AND certificates.kind_id = instruments.kind_id
      AND certificates.status = 'valid' AND date(NEW.starts_at) BETWEEN certificates.issued_on AND certificates.expires_on);
END;

CREATE TRIGGER operator_fits_on_insert AFTER INSERT ON bookings
WHEN NEW.status IN ('booked', 'running') AND NEW.operator_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'only an active operator with a certificate for the instrument that is valid on that day can assist')
  FROM instruments
  WHERE instruments.id = NEW.instrument_id AND NOT EXISTS (
    SELECT 1 FROM certificates JOIN people ON people.id = certificates.person_id
    WHERE people.id = NEW.operator_id AND people.role = 'operator' AND people.status = 'active'
      AND certificates.kind_id = instruments.kind_id AND certificates.status = 'valid'
      AND date(NEW.starts_at) BETWEEN certificates.issued_on AND certificates.expires_on);
  SELECT RAISE(ABORT, 'this operator assists in another booking at that time; choose another operator or time')
  FROM bookings AS other
  WHERE other.operator_id = NEW.operator_id AND other.id <> NEW.id AND other.status IN ('booked', 'running')
    AND other.starts_at < NEW.ends_at AND NEW.starts_at < other.ends_at;
END;

CREATE TRIGGER operator_fits_on_update AFTER UPDATE OF instrument_id, operator_id, starts_at, ends_at, status ON bookings
WHEN NEW.status IN ('booked', 'running') AND NEW.operator_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'only an active operator with a certificate for the instrument that is valid on that day can assist')
  FROM instruments
  WHERE instruments.id = NEW.instrument_id AND NOT EXISTS (
    SELECT 1 FROM certificates JOIN people ON people.id = certificates.person_id
    WHERE people.id = NEW.operator_id AND people.role = 'operator' AND people.status = 'active'
      AND certificates.kind_id = instruments.kind_id AND certificates.status = 'valid'
      AND date(NEW.starts_at) BETWEEN certificates.issued_on AND certificates.expires_on);
  SELECT RAISE(ABORT, 'this operator assists in another booking at that time; choose another operator or time')
  FROM bookings AS other
  WHERE other.operator_id = NEW.operator_id AND other.id <> NEW.id AND other.status IN ('booked', 'running')
    AND other.starts_at < NEW.ends_at AND NEW.starts_at < other.ends_at;
END;

CREATE TRIGGER night_on_insert AFTER INSERT ON bookings WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'before 07:00, after 20:00 and at weekends only people with a night permit book, and without an operator')
  FROM booking_details JOIN people ON people.id = booking_details.person_id
  WHERE booking_details.booking_id = NEW.id AND booking_details.is_out_of_hours = 1
    AND (people.has_night_permit = 0 OR booking_details.operator_id IS NOT NULL);
END;

CREATE TRIGGER night_on_update AFTER UPDATE OF person_id, operator_id, starts_at, ends_at ON bookings
WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'before 07:00, after 20:00 and at weekends only people with a night permit book, and without an operator')
  FROM booking_details JOIN people ON people.id = booking_details.person_id
  WHERE booking_details.booking_id = NEW.id AND booking_details.is_out_of_hours = 1
    AND (people.has_night_permit = 0 OR booking_details.operator_id IS NOT NULL);
END;

CREATE TRIGGER three_bookings_ahead AFTER INSERT ON bookings WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this person has three bookings ahead already; one must be used or cancelled first')
  FROM person_details WHERE person_details.person_id = NEW.person_id AND person_details.bookings_ahead > 3;
END;

CREATE TRIGGER group_hours_on_insert AFTER INSERT ON bookings WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the group would have more hours on this kind of instrument in that week than it may; choose another week')
  FROM group_weeks
  JOIN booking_details ON booking_details.group_id = group_weeks.group_id
    AND booking_details.kind_id = group_weeks.kind_id AND booking_details.week_starts_on = group_weeks.week_starts_on
  WHERE booking_details.booking_id = NEW.id AND group_weeks.half_hours > group_weeks.half_hour_limit;
END;

CREATE TRIGGER group_hours_on_update AFTER UPDATE OF instrument_id, starts_at, ends_at ON bookings
WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the group would have more hours on this kind of instrument in that week than it may; choose another week')
  FROM group_weeks
  JOIN booking_details ON booking_details.group_id = group_weeks.group_id
    AND booking_details.kind_id = group_weeks.kind_id AND booking_details.week_starts_on = group_weeks.week_starts_on
  WHERE booking_details.booking_id = NEW.id AND group_weeks.half_hours > group_weeks.half_hour_limit;
END;

CREATE TRIGGER budget_on_insert AFTER INSERT ON bookings WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the budget of the group does not cover this booking beside its open charges and other bookings')
  FROM group_details JOIN people ON people.group_id = group_details.group_id
  WHERE people.id = NEW.person_id
    AND group_details.charged_cents + group_details.booked_cents > group_details.budget_cents;
END;

CREATE TRIGGER budget_on_update AFTER UPDATE OF instrument_id, operator_id, starts_at, ends_at ON bookings
WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the budget of the group does not cover this change beside its open charges and other bookings')
  FROM group_details JOIN people ON people.group_id = group_details.group_id
  WHERE people.id = NEW.person_id
    AND group_details.charged_cents + group_details.booked_cents > group_details.budget_cents;
END;

CREATE TRIGGER no_repair_on_insert AFTER INSERT ON bookings WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the instrument is being repaired at that time; choose another time or instrument')
  FROM repairs
  WHERE repairs.instrument_id = NEW.instrument_id AND repairs.status IN ('planned', 'running')
    AND repairs.starts_at < NEW.ends_at AND NEW.starts_at < repairs.ends_at;
END;

CREATE TRIGGER no_repair_on_update AFTER UPDATE OF instrument_id, starts_at, ends_at ON bookings
WHEN NEW.status IN ('booked', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the instrument is being repaired at that time; choose another time or instrument')
  FROM repairs
  WHERE repairs.instrument_id = NEW.instrument_id AND repairs.status IN ('planned', 'running')
    AND repairs.starts_at < NEW.ends_at AND NEW.starts_at < repairs.ends_at;
END;

CREATE TRIGGER repairs_need_free_time AFTER INSERT ON repairs WHEN NEW.status IN ('planned', 'running')
BEGIN
  SELECT RAISE(ABORT, 'the instrument is booked in that time; the bookings must be moved or cancelled first')
  FROM bookings
  WHERE bookings.instrument_id = NEW.instrument_id AND bookings.status IN ('booked', 'running')
    AND bookings.starts_at < NEW.ends_at AND NEW.starts_at < bookings.ends_at;
END;

CREATE TRIGGER repairs_follow_their_path BEFORE UPDATE ON repairs
BEGIN
  SELECT RAISE(ABORT, 'a repair is planned, then running, then done; only a planned one is cancelled, and its time stays')
  WHERE NEW.instrument_id <> OLD.instrument_id OR NEW.starts_at <> OLD.starts_at OR NEW.ends_at <> OLD.ends_at
    OR NOT (
      (OLD.status = 'planned' AND NEW.status IN ('planned', 'running', 'cancelled'))
      OR (OLD.status = 'running' AND NEW.status IN ('running', 'done')));
END;

CREATE TRIGGER certificates_are_issued_by_the_skilled BEFORE INSERT ON certificates
BEGIN
  SELECT RAISE(ABORT, 'a certificate is issued by the manager, or by an operator who holds one for this kind of instrument')
  FROM people
  WHERE people.id = NEW.issued_by AND people.role <> 'manager' AND NOT (
    people.role = 'operator' AND EXISTS (
      SELECT 1 FROM certificates
      WHERE certificates.person_id = NEW.issued_by AND certificates.kind_id = NEW.kind_id
        AND certificates.status = 'valid' AND NEW.issued_on BETWEEN certificates.issued_on AND certificates.expires_on));
END;

CREATE TRIGGER closed_certificates_stay_closed BEFORE UPDATE ON certificates WHEN OLD.status <> 'valid'
BEGIN
  SELECT RAISE(ABORT, 'this certificate is withdrawn or replaced; a new one must be issued');
END;

CREATE TRIGGER waived_by_the_right_one BEFORE UPDATE ON charges WHEN NEW.status = 'waived'
BEGIN
  SELECT RAISE(ABORT, 'this charge is waived already') WHERE OLD.status = 'waived';
  SELECT RAISE(ABORT, 'a charge for use is never waived') WHERE NEW.reason = 'use';
  SELECT RAISE(ABORT, 'charges are waived by operators up to 100.00, and above that by the manager only')
  WHERE NOT EXISTS (
    SELECT 1 FROM people
    WHERE people.id = NEW.waived_by AND people.status = 'active'
      AND (people.role = 'manager' OR (people.role = 'operator' AND NEW.amount_cents <= 10000)));
END;
