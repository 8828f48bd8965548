CREATE TABLE plans (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  level INTEGER NOT NULL UNIQUE CHECK (level BETWEEN 1 AND 9),
  monthly_cents INTEGER NOT NULL CHECK (monthly_cents > 0),
  min_term_months INTEGER NOT NULL CHECK (min_term_months >= 1),
  freeze_months_a_year INTEGER NOT NULL CHECK (freeze_months_a_year >= 0),
  book_days_ahead INTEGER NOT NULL CHECK (book_days_ahead > 0),
  sessions_a_week INTEGER NOT NULL CHECK (sessions_a_week > 0),
  guests_a_month INTEGER NOT NULL CHECK (guests_a_month >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE staff (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('manager', 'trainer'))
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT,
  born_on TEXT NOT NULL CHECK (born_on IS date(born_on)),
  guardian_name TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE memberships (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  plan_id TEXT NOT NULL REFERENCES plans (id),
  signed_on TEXT NOT NULL CHECK (signed_on IS date(signed_on)),
  starts_on TEXT NOT NULL CHECK (starts_on IS date(starts_on)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'cancelled', 'ended', 'withdrawn')),
  notice_on TEXT CHECK (notice_on IS date(notice_on)),
  ends_on TEXT CHECK (ends_on IS date(ends_on)),
  next_plan_id TEXT REFERENCES plans (id),
  next_plan_from TEXT CHECK (next_plan_from IS date(next_plan_from)),
  CHECK (starts_on IN (date(signed_on, 'start of month'), date(signed_on, 'start of month', '+1 month'))),
  CHECK ((status = 'active') = (ends_on IS NULL)),
  CHECK ((status IN ('cancelled', 'ended')) = (notice_on IS NOT NULL)),
  CHECK (notice_on >= signed_on),
  CHECK (ends_on >= notice_on),
  CHECK ((next_plan_id IS NULL) = (next_plan_from IS NULL)),
  CHECK (next_plan_from = date(next_plan_from, 'start of month')),
  CHECK (next_plan_id <> plan_id),
  CHECK (status <> 'withdrawn' OR ends_on BETWEEN signed_on AND date(signed_on, '+14 days'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_running_membership ON memberships (member_id) WHERE status IN ('active', 'cancelled');

CREATE TABLE freezes (
  id TEXT PRIMARY KEY,
  membership_id TEXT NOT NULL REFERENCES memberships (id),
  starts_on TEXT NOT NULL CHECK (starts_on IS date(starts_on)),
  months INTEGER NOT NULL CHECK (months BETWEEN 1 AND 3),
  asked_on TEXT NOT NULL CHECK (asked_on IS date(asked_on)),
  status TEXT NOT NULL DEFAULT 'granted' CHECK (status IN ('granted', 'withdrawn')),
  withdrawn_on TEXT CHECK (withdrawn_on IS date(withdrawn_on)),
  CHECK (starts_on = date(starts_on, 'start of month')),
  CHECK (asked_on <= date(starts_on, '-7 days')),
  CHECK ((status = 'withdrawn') = (withdrawn_on IS NOT NULL)),
  CHECK (withdrawn_on >= asked_on AND withdrawn_on < starts_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE dues (
  id TEXT PRIMARY KEY,
  membership_id TEXT NOT NULL REFERENCES memberships (id),
  due_on TEXT NOT NULL CHECK (due_on IS date(due_on)),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'waived')),
  settled_on TEXT CHECK (settled_on IS date(settled_on)),
  reminded_on TEXT CHECK (reminded_on IS date(reminded_on)),
  reminder_cents INTEGER NOT NULL DEFAULT 0 CHECK (reminder_cents IN (0, 500)),
  waived_by TEXT REFERENCES staff (id),
  UNIQUE (membership_id, due_on),
  CHECK ((status = 'open') = (settled_on IS NULL)),
  CHECK ((status = 'waived') = (waived_by IS NOT NULL)),
  CHECK ((reminded_on IS NULL) = (reminder_cents = 0)),
  CHECK (reminded_on >= date(due_on, '+10 days'))
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  course TEXT NOT NULL,
  trainer_id TEXT NOT NULL REFERENCES staff (id),
  room TEXT NOT NULL CHECK (room IN ('Loft', 'Cellar')),
  starts_at TEXT NOT NULL CHECK (starts_at IS datetime(starts_at)),
  minutes INTEGER NOT NULL CHECK (minutes BETWEEN 30 AND 120),
  places INTEGER NOT NULL CHECK (places BETWEEN 1 AND 30),
  status TEXT NOT NULL DEFAULT 'scheduled' CHECK (status IN ('scheduled', 'held', 'called_off')),
  call_off_reason TEXT,
  UNIQUE (room, starts_at),
  CHECK ((status = 'called_off') = (call_off_reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE bookings (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  membership_id TEXT NOT NULL REFERENCES memberships (id),
  booked_at TEXT NOT NULL CHECK (booked_at IS datetime(booked_at)),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'waiting', 'attended', 'missed', 'cancelled'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_booking_a_session ON bookings (session_id, membership_id) WHERE status <> 'cancelled';

CREATE TABLE guest_visits (
  id TEXT PRIMARY KEY,
  membership_id TEXT NOT NULL REFERENCES memberships (id),
  guest_name TEXT NOT NULL,
  visit_on TEXT NOT NULL CHECK (visit_on IS date(visit_on)),
  UNIQUE (membership_id, guest_name, visit_on)
) STRICT, WITHOUT ROWID;

CREATE VIEW membership_details AS
SELECT memberships.id AS membership_id, memberships.member_id, members.name AS member_name, members.email,
  memberships.plan_id, plans.name AS plan_name, plans.level, plans.monthly_cents,
  memberships.signed_on, memberships.starts_on, memberships.status, memberships.notice_on, memberships.ends_on,
  memberships.next_plan_id, memberships.next_plan_from,
  plans.min_term_months, plans.freeze_months_a_year, plans.book_days_ahead, plans.sessions_a_week, plans.guests_a_month,
  coalesce((SELECT sum(freezes.months) FROM freezes
    WHERE freezes.membership_id = memberships.id AND freezes.status = 'granted'), 0) AS freeze_months,
  date(memberships.starts_on, '+' || (plans.min_term_months + coalesce((SELECT sum(freezes.months) FROM freezes
    WHERE freezes.membership_id = memberships.id AND freezes.status = 'granted'), 0)) || ' months', '-1 day') AS term_until
FROM memberships
JOIN members ON members.id = memberships.member_id
JOIN plans ON plans.id = memberships.plan_id;

CREATE VIEW freeze_details AS
SELECT freezes.id AS freeze_id, freezes.membership_id, membership_details.member_name, freezes.starts_on, freezes.months,
  date(freezes.starts_on, '+' || freezes.months || ' months', '-1 day') AS until, freezes.asked_on, freezes.status,
  freezes.withdrawn_on
FROM freezes JOIN membership_details ON membership_details.membership_id = freezes.membership_id;

CREATE VIEW due_details AS
SELECT dues.id AS due_id, dues.membership_id, membership_details.member_id, membership_details.member_name, dues.due_on,
  dues.amount_cents, dues.reminder_cents, dues.amount_cents + dues.reminder_cents AS total_cents, dues.status,
  dues.settled_on, dues.reminded_on, staff.name AS waived_by
FROM dues
JOIN membership_details ON membership_details.membership_id = dues.membership_id
LEFT JOIN staff ON staff.id = dues.waived_by;

CREATE VIEW session_details AS
SELECT sessions.id AS session_id, sessions.course, staff.name AS trainer_name, sessions.room, sessions.starts_at,
  datetime(sessions.starts_at, '+' || sessions.minutes || ' minutes') AS ends_at, sessions.places, sessions.status,
  sessions.call_off_reason,
  (SELECT count(*) FROM bookings WHERE bookings.session_id = sessions.id
    AND bookings.status IN ('booked', 'attended', 'missed')) AS taken,
  (SELECT count(*) FROM bookings WHERE bookings.session_id = sessions.id AND bookings.status = 'waiting') AS waiting
FROM sessions JOIN staff ON staff.id = sessions.trainer_id;

CREATE VIEW booking_details AS
SELECT bookings.id AS booking_id, bookings.session_id, session_details.course, session_details.room,
  session_details.starts_at, session_details.ends_at, date(session_details.starts_at, 'weekday 0', '-6 days') AS week_of,
  session_details.trainer_name, bookings.membership_id, membership_details.member_name, bookings.booked_at, bookings.status
FROM bookings
JOIN session_details ON session_details.session_id = bookings.session_id
JOIN membership_details ON membership_details.membership_id = bookings.membership_id;

CREATE TRIGGER old_enough_to_sign BEFORE INSERT ON memberships
BEGIN
  SELECT RAISE(ABORT, 'a member must be 16 years old on the day of signing; nobody younger can sign up')
  FROM members WHERE id = NEW.member_id AND born_on > date(NEW.signed_on, '-16 years');
END;

CREATE TRIGGER guardian_for_minors BEFORE INSERT ON memberships
BEGIN
  SELECT RAISE(ABORT, 'a member under 18 needs the name of a guardian; ask for it first')
  FROM members WHERE id = NEW.member_id AND born_on > date(NEW.signed_on, '-18 years') AND guardian_name IS NULL;
END;

CREATE TRIGGER membership_steps BEFORE UPDATE OF status ON memberships
WHEN NEW.status <> OLD.status
  AND OLD.status || '>' || NEW.status NOT IN ('active>cancelled', 'active>withdrawn', 'cancelled>withdrawn', 'cancelled>ended')
BEGIN
  SELECT RAISE(ABORT, 'a membership does not go from its present state to that one; look at its state first');
END;

CREATE TRIGGER withdrawal_unused BEFORE UPDATE OF status ON memberships
WHEN NEW.status = 'withdrawn' AND OLD.status <> 'withdrawn'
BEGIN
  SELECT RAISE(ABORT, 'a session was attended in this membership; it can be ended by notice, not withdrawn')
  FROM bookings WHERE membership_id = NEW.id AND status = 'attended';
  SELECT RAISE(ABORT, 'this membership has open bookings; cancel them first')
  FROM bookings WHERE membership_id = NEW.id AND status IN ('booked', 'waiting');
END;

CREATE TRIGGER freeze_quota BEFORE INSERT ON freezes WHEN NEW.status = 'granted'
BEGIN
  SELECT RAISE(ABORT, 'the plan does not allow so many months of freezing in one calendar year; ask for fewer months')
  FROM membership_details WHERE membership_details.membership_id = NEW.membership_id
    AND NEW.months + coalesce((SELECT sum(freezes.months) FROM freezes
      WHERE freezes.membership_id = NEW.membership_id AND freezes.status = 'granted'
        AND strftime('%Y', freezes.starts_on) = strftime('%Y', NEW.starts_on)), 0) > membership_details.freeze_months_a_year;
END;

CREATE TRIGGER freezes_do_not_overlap BEFORE INSERT ON freezes WHEN NEW.status = 'granted'
BEGIN
  SELECT RAISE(ABORT, 'another freeze of this membership covers some of these months; choose other months')
  FROM freezes WHERE membership_id = NEW.membership_id AND status = 'granted'
    AND starts_on < date(NEW.starts_on, '+' || NEW.months || ' months')
    AND NEW.starts_on < date(starts_on, '+' || months || ' months');
END;

CREATE TRIGGER freeze_without_bookings BEFORE INSERT ON freezes WHEN NEW.status = 'granted'
BEGIN
  SELECT RAISE(ABORT, 'there are open bookings in these months; cancel them before the freeze is granted')
  FROM booking_details WHERE membership_id = NEW.membership_id AND status IN ('booked', 'waiting')
    AND date(starts_at) >= NEW.starts_on AND date(starts_at) < date(NEW.starts_on, '+' || NEW.months || ' months');
END;

CREATE TRIGGER withdrawn_freezes_stay BEFORE UPDATE ON freezes WHEN OLD.status = 'withdrawn'
BEGIN
  SELECT RAISE(ABORT, 'this freeze was withdrawn already');
END;

CREATE TRIGGER settled_dues_stay BEFORE UPDATE ON dues WHEN OLD.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'this due is settled already; nothing about it changes any more');
END;

CREATE TRIGGER one_reminder_a_due BEFORE UPDATE OF reminded_on ON dues
WHEN OLD.reminded_on IS NOT NULL AND NEW.reminded_on IS NOT OLD.reminded_on
BEGIN
  SELECT RAISE(ABORT, 'this due was reminded already; there is one reminder for a due');
END;

CREATE TRIGGER waived_by_the_manager BEFORE UPDATE OF status ON dues WHEN NEW.status = 'waived'
BEGIN
  SELECT RAISE(ABORT, 'only the studio manager waives a due; ask the manager')
  FROM staff WHERE id = NEW.waived_by AND role <> 'manager';
END;

CREATE TRIGGER two_waivers_a_year BEFORE UPDATE OF status ON dues WHEN NEW.status = 'waived'
BEGIN
  SELECT RAISE(ABORT, 'two dues of this member were waived in this year already; this one must be paid')
  FROM memberships WHERE memberships.id = NEW.membership_id
    AND (SELECT count(*) FROM due_details WHERE due_details.member_id = memberships.member_id
      AND due_details.status = 'waived' AND strftime('%Y', due_details.settled_on) = strftime('%Y', NEW.settled_on)) >= 2;
END;

CREATE TRIGGER booking_in_a_running_membership BEFORE INSERT ON bookings WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this membership does not run on the day of the session')
  FROM memberships JOIN sessions ON sessions.id = NEW.session_id
  WHERE memberships.id = NEW.membership_id
    AND (date(sessions.starts_at) < memberships.starts_on OR date(sessions.starts_at) > memberships.ends_on);
END;

CREATE TRIGGER booking_of_a_scheduled_session BEFORE INSERT ON bookings WHEN NEW.status IN ('booked', 'waiting')
BEGIN
  SELECT RAISE(ABORT, 'this session was held or called off; choose another one')
  FROM sessions WHERE id = NEW.session_id AND status <> 'scheduled';
END;

CREATE TRIGGER no_booking_in_a_freeze BEFORE INSERT ON bookings WHEN NEW.status IN ('booked', 'waiting')
BEGIN
  SELECT RAISE(ABORT, 'the membership is frozen on the day of the session; nothing can be booked then')
  FROM freeze_details JOIN sessions ON sessions.id = NEW.session_id
  WHERE freeze_details.membership_id = NEW.membership_id AND freeze_details.status = 'granted'
    AND date(sessions.starts_at) BETWEEN freeze_details.starts_on AND freeze_details.until;
END;

CREATE TRIGGER places_on_booking BEFORE INSERT ON bookings WHEN NEW.status IN ('booked', 'attended', 'missed')
BEGIN
  SELECT RAISE(ABORT, 'all places of this session are taken; the waiting list is left')
  FROM session_details WHERE session_id = NEW.session_id AND taken >= places;
END;

CREATE TRIGGER places_on_moving_up BEFORE UPDATE OF status ON bookings WHEN NEW.status = 'booked' AND OLD.status = 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'all places of this session are taken; nobody moves up')
  FROM session_details WHERE session_id = NEW.session_id AND taken >= places;
END;

CREATE TRIGGER four_wait_for_a_session BEFORE INSERT ON bookings WHEN NEW.status = 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'the session is full and four people wait already; choose another session')
  FROM session_details WHERE session_id = NEW.session_id AND waiting >= 4;
END;

CREATE TRIGGER sessions_a_week BEFORE INSERT ON bookings WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'the plan does not allow more sessions in that week; choose another week')
  FROM membership_details JOIN sessions ON sessions.id = NEW.session_id
  WHERE membership_details.membership_id = NEW.membership_id
    AND (SELECT count(*) FROM booking_details WHERE booking_details.membership_id = NEW.membership_id
      AND booking_details.status <> 'cancelled'
      AND booking_details.week_of = date(sessions.starts_at, 'weekday 0', '-6 days')) >= membership_details.sessions_a_week;
END;

CREATE TRIGGER no_two_sessions_at_once BEFORE INSERT ON bookings WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'another booked session overlaps with this one; cancel one of the two')
  FROM session_details AS wanted JOIN booking_details ON booking_details.membership_id = NEW.membership_id
  WHERE wanted.session_id = NEW.session_id AND booking_details.status <> 'cancelled'
    AND booking_details.session_id <> NEW.session_id
    AND booking_details.starts_at < wanted.ends_at AND wanted.starts_at < booking_details.ends_at;
END;

CREATE TRIGGER booking_steps BEFORE UPDATE ON bookings
WHEN NEW.session_id <> OLD.session_id OR NEW.membership_id <> OLD.membership_id OR OLD.status || '>' || NEW.status NOT IN
  ('booked>attended', 'booked>missed', 'booked>cancelled', 'waiting>booked', 'waiting>cancelled')
BEGIN
  SELECT RAISE(ABORT, 'this booking is over or cancelled already, or would become another one; nothing changes');
END;

CREATE TRIGGER guests_a_month BEFORE INSERT ON guest_visits
BEGIN
  SELECT RAISE(ABORT, 'the plan allows no further guest in this month')
  FROM membership_details WHERE membership_details.membership_id = NEW.membership_id
    AND (SELECT count(*) FROM guest_visits WHERE guest_visits.membership_id = NEW.membership_id
      AND strftime('%Y-%m', guest_visits.visit_on) = strftime('%Y-%m', NEW.visit_on)) >= membership_details.guests_a_month;
END;

CREATE TRIGGER same_guest_three_times BEFORE INSERT ON guest_visits
BEGIN
  SELECT RAISE(ABORT, 'this guest was here three times in this year already; a membership is what is left')
  WHERE (SELECT count(*) FROM guest_visits WHERE lower(guest_name) = lower(NEW.guest_name)
    AND strftime('%Y', visit_on) = strftime('%Y', NEW.visit_on)) >= 3;
END;

CREATE TRIGGER no_guest_in_a_freeze BEFORE INSERT ON guest_visits
BEGIN
  SELECT RAISE(ABORT, 'the membership is frozen on that day; it brings no guest then')
  FROM freeze_details WHERE membership_id = NEW.membership_id AND status = 'granted'
    AND NEW.visit_on BETWEEN starts_on AND until;
END;
