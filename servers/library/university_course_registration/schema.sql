CREATE TABLE terms (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'open', 'closed')),
  registration_from TEXT NOT NULL CHECK (registration_from IS date(registration_from)),
  add_until TEXT NOT NULL CHECK (add_until IS date(add_until)),
  drop_until TEXT NOT NULL CHECK (drop_until IS date(drop_until)),
  withdraw_until TEXT NOT NULL CHECK (withdraw_until IS date(withdraw_until)),
  payment_due_on TEXT NOT NULL CHECK (payment_due_on IS date(payment_due_on)),
  credit_price_cents INTEGER NOT NULL DEFAULT 32000 CHECK (credit_price_cents > 0),
  CHECK (registration_from < add_until AND add_until <= drop_until AND drop_until < withdraw_until),
  CHECK (payment_due_on >= drop_until)
) STRICT, WITHOUT ROWID;

CREATE TABLE staff (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('instructor', 'advisor', 'bursar', 'dean'))
) STRICT, WITHOUT ROWID;

CREATE TABLE courses (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  credits INTEGER NOT NULL CHECK (credits BETWEEN 1 AND 6),
  level INTEGER NOT NULL CHECK (level IN (100, 200, 300, 400)),
  coordinator_id TEXT NOT NULL REFERENCES staff (id),
  needs_consent INTEGER NOT NULL DEFAULT 0 CHECK (needs_consent IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE prerequisites (
  course_id TEXT NOT NULL REFERENCES courses (id),
  required_course_id TEXT NOT NULL REFERENCES courses (id),
  min_grade TEXT NOT NULL DEFAULT 'C' CHECK (min_grade IN ('A', 'B', 'C', 'D')),
  PRIMARY KEY (course_id, required_course_id),
  CHECK (course_id <> required_course_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE student_kinds (
  id TEXT PRIMARY KEY CHECK (id IN ('full_time', 'part_time')),
  credit_limit INTEGER NOT NULL CHECK (credit_limit > 0),
  overload_limit INTEGER NOT NULL,
  waitlist_limit INTEGER NOT NULL CHECK (waitlist_limit > 0),
  withdrawal_limit INTEGER NOT NULL CHECK (withdrawal_limit > 0),
  overdue_limit_cents INTEGER NOT NULL CHECK (overdue_limit_cents >= 0),
  CHECK (overload_limit >= credit_limit)
) STRICT, WITHOUT ROWID;

CREATE TABLE students (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  kind_id TEXT NOT NULL REFERENCES student_kinds (id),
  class_year INTEGER NOT NULL CHECK (class_year BETWEEN 1 AND 4),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'on_leave', 'suspended', 'graduated')),
  advisor_id TEXT NOT NULL REFERENCES staff (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sections (
  id TEXT PRIMARY KEY,
  course_id TEXT NOT NULL REFERENCES courses (id),
  term_id TEXT NOT NULL REFERENCES terms (id),
  label TEXT NOT NULL,
  instructor_id TEXT NOT NULL REFERENCES staff (id),
  capacity INTEGER NOT NULL CHECK (capacity BETWEEN 1 AND 40),
  waitlist_places INTEGER NOT NULL DEFAULT 10 CHECK (waitlist_places BETWEEN 0 AND 10),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed', 'cancelled')),
  UNIQUE (course_id, term_id, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE meetings (
  section_id TEXT NOT NULL REFERENCES sections (id),
  day TEXT NOT NULL CHECK (day IN ('Mon', 'Tue', 'Wed', 'Thu', 'Fri')),
  starts TEXT NOT NULL CHECK (starts IS strftime('%H:%M', starts)),
  ends TEXT NOT NULL CHECK (ends IS strftime('%H:%M', ends)),
  room TEXT NOT NULL,
  PRIMARY KEY (section_id, day, starts),
  CHECK (ends > starts)
) STRICT, WITHOUT ROWID;

CREATE TABLE permissions (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('overload', 'prerequisite_waiver', 'instructor_consent')),
  student_id TEXT NOT NULL REFERENCES students (id),
  term_id TEXT NOT NULL REFERENCES terms (id),
  course_id TEXT REFERENCES courses (id),
  section_id TEXT REFERENCES sections (id),
  reason TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'requested' CHECK (status IN ('requested', 'approved', 'denied', 'used')),
  requested_at TEXT NOT NULL CHECK (requested_at IS datetime(requested_at)),
  decided_at TEXT CHECK (decided_at IS datetime(decided_at)),
  decided_by TEXT REFERENCES staff (id),
  CHECK ((kind = 'prerequisite_waiver') = (course_id IS NOT NULL)),
  CHECK ((kind = 'instructor_consent') = (section_id IS NOT NULL)),
  CHECK ((status = 'requested') = (decided_at IS NULL)),
  CHECK ((status = 'requested') = (decided_by IS NULL)),
  CHECK (decided_at >= requested_at)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_live_permission ON permissions (student_id, term_id, kind, coalesce(course_id, ''), coalesce(section_id, ''))
WHERE status <> 'denied';

CREATE TABLE holds (
  id TEXT PRIMARY KEY,
  student_id TEXT NOT NULL REFERENCES students (id),
  kind TEXT NOT NULL CHECK (kind IN ('financial', 'advising', 'disciplinary')),
  reason TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'released')),
  placed_at TEXT NOT NULL CHECK (placed_at IS datetime(placed_at)),
  placed_by TEXT NOT NULL REFERENCES staff (id),
  released_at TEXT CHECK (released_at IS datetime(released_at)),
  released_by TEXT REFERENCES staff (id),
  CHECK ((status = 'active') = (released_at IS NULL)),
  CHECK ((status = 'active') = (released_by IS NULL)),
  CHECK (released_at >= placed_at)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_active_hold_of_a_kind ON holds (student_id, kind) WHERE status = 'active';

CREATE TABLE enrollments (
  id TEXT PRIMARY KEY,
  student_id TEXT NOT NULL REFERENCES students (id),
  section_id TEXT NOT NULL REFERENCES sections (id),
  status TEXT NOT NULL DEFAULT 'enrolled' CHECK (status IN ('enrolled', 'dropped', 'withdrawn', 'completed')),
  enrolled_at TEXT NOT NULL CHECK (enrolled_at IS datetime(enrolled_at)),
  ended_at TEXT CHECK (ended_at IS datetime(ended_at)),
  grade TEXT CHECK (grade IN ('A', 'B', 'C', 'D', 'F')),
  CHECK ((status = 'enrolled') = (ended_at IS NULL)),
  CHECK ((status = 'completed') = (grade IS NOT NULL)),
  CHECK (ended_at >= enrolled_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX enrollments_of_a_student ON enrollments (student_id);
CREATE INDEX enrollments_of_a_section ON enrollments (section_id);

CREATE TABLE waitlist_entries (
  id TEXT PRIMARY KEY,
  student_id TEXT NOT NULL REFERENCES students (id),
  section_id TEXT NOT NULL REFERENCES sections (id),
  status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'offered', 'enrolled', 'expired', 'removed')),
  joined_at TEXT NOT NULL CHECK (joined_at IS datetime(joined_at)),
  offered_at TEXT CHECK (offered_at IS datetime(offered_at)),
  offer_until TEXT,
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (offer_until IS datetime(offered_at, '+48 hours')),
  CHECK (status <> 'waiting' OR offered_at IS NULL),
  CHECK (status NOT IN ('offered', 'enrolled', 'expired') OR offered_at IS NOT NULL),
  CHECK ((status IN ('waiting', 'offered')) = (closed_at IS NULL)),
  CHECK (offered_at >= joined_at),
  CHECK (closed_at >= joined_at),
  CHECK (status <> 'enrolled' OR closed_at <= offer_until),
  CHECK (status <> 'expired' OR closed_at > offer_until)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_place_in_a_queue ON waitlist_entries (student_id, section_id) WHERE status IN ('waiting', 'offered');
CREATE INDEX waitlist_of_a_section ON waitlist_entries (section_id, joined_at);

CREATE TABLE account_entries (
  id TEXT PRIMARY KEY,
  student_id TEXT NOT NULL REFERENCES students (id),
  kind TEXT NOT NULL CHECK (kind IN ('tuition', 'refund', 'payment')),
  enrollment_id TEXT REFERENCES enrollments (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  method TEXT CHECK (method IN ('cash', 'card', 'transfer')),
  receipt_no TEXT,
  entered_at TEXT NOT NULL CHECK (entered_at IS datetime(entered_at)),
  CHECK ((kind = 'payment') = (enrollment_id IS NULL)),
  CHECK ((kind = 'payment') = (method IS NOT NULL)),
  CHECK ((kind = 'payment') = (receipt_no IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_tuition_charge ON account_entries (enrollment_id) WHERE kind = 'tuition';
CREATE UNIQUE INDEX one_refund ON account_entries (enrollment_id) WHERE kind = 'refund';
CREATE UNIQUE INDEX one_receipt ON account_entries (receipt_no) WHERE kind = 'payment';
CREATE INDEX entries_of_a_student ON account_entries (student_id);

CREATE VIEW section_details AS
SELECT sections.id AS section_id, sections.course_id, courses.title, sections.label, courses.credits, courses.level, courses.needs_consent,
  sections.term_id, terms.name AS term_name, terms.status AS term_status, terms.registration_from, terms.add_until, terms.drop_until,
  terms.withdraw_until, terms.credit_price_cents, sections.instructor_id, staff.name AS instructor_name, courses.coordinator_id,
  sections.status, sections.capacity, sections.waitlist_places,
  (SELECT count(*) FROM enrollments WHERE enrollments.section_id = sections.id AND enrollments.status = 'enrolled') AS enrolled,
  (SELECT count(*) FROM waitlist_entries WHERE waitlist_entries.section_id = sections.id AND waitlist_entries.status = 'offered') AS offered,
  (SELECT count(*) FROM waitlist_entries WHERE waitlist_entries.section_id = sections.id AND waitlist_entries.status = 'waiting') AS waiting,
  sections.capacity
    - (SELECT count(*) FROM enrollments WHERE enrollments.section_id = sections.id AND enrollments.status = 'enrolled')
    - (SELECT count(*) FROM waitlist_entries WHERE waitlist_entries.section_id = sections.id AND waitlist_entries.status = 'offered') AS free_seats,
  (SELECT group_concat(m.day || ' ' || m.starts || '-' || m.ends || ' ' || m.room, ', ' ORDER BY instr('MonTueWedThuFri', m.day), m.starts)
    FROM meetings AS m WHERE m.section_id = sections.id) AS meets
FROM sections
JOIN courses ON courses.id = sections.course_id
JOIN terms ON terms.id = sections.term_id
JOIN staff ON staff.id = sections.instructor_id;

CREATE VIEW enrollment_details AS
SELECT enrollments.id AS enrollment_id, enrollments.student_id, students.name AS student_name, enrollments.section_id, sections.course_id,
  courses.title, sections.label, courses.credits, sections.term_id, terms.name AS term_name, terms.status AS term_status,
  terms.add_until, terms.drop_until, terms.withdraw_until, sections.instructor_id, sections.status AS section_status,
  enrollments.status, enrollments.grade, enrollments.enrolled_at, enrollments.ended_at,
  (SELECT coalesce(sum(a.amount_cents), 0) FROM account_entries AS a
    WHERE a.enrollment_id = enrollments.id AND a.kind = 'tuition') AS charged_cents,
  (SELECT coalesce(sum(a.amount_cents), 0) FROM account_entries AS a
    WHERE a.enrollment_id = enrollments.id AND a.kind = 'refund') AS refunded_cents
FROM enrollments
JOIN students ON students.id = enrollments.student_id
JOIN sections ON sections.id = enrollments.section_id
JOIN courses ON courses.id = sections.course_id
JOIN terms ON terms.id = sections.term_id;

CREATE VIEW waitlist_details AS
SELECT waitlist_entries.id AS entry_id, waitlist_entries.student_id, students.name AS student_name, waitlist_entries.section_id,
  sections.course_id, courses.title, sections.label, sections.term_id, waitlist_entries.status, waitlist_entries.joined_at,
  waitlist_entries.offered_at, waitlist_entries.offer_until, waitlist_entries.closed_at,
  CASE WHEN waitlist_entries.status = 'waiting' THEN
    (SELECT count(*) FROM waitlist_entries AS w WHERE w.section_id = waitlist_entries.section_id AND w.status = 'waiting'
      AND (w.joined_at < waitlist_entries.joined_at OR (w.joined_at = waitlist_entries.joined_at AND w.id <= waitlist_entries.id)))
  END AS position
FROM waitlist_entries
JOIN students ON students.id = waitlist_entries.student_id
JOIN sections ON sections.id = waitlist_entries.section_id
JOIN courses ON courses.id = sections.course_id;

CREATE VIEW term_loads AS
SELECT students.id AS student_id, terms.id AS term_id, student_kinds.credit_limit,
  CASE WHEN EXISTS (SELECT 1 FROM permissions AS p WHERE p.student_id = students.id AND p.term_id = terms.id
    AND p.kind = 'overload' AND p.status IN ('approved', 'used'))
  THEN student_kinds.overload_limit ELSE student_kinds.credit_limit END AS allowed_credits,
  (SELECT coalesce(sum(c.credits), 0) FROM enrollments AS e JOIN sections AS s ON s.id = e.section_id JOIN courses AS c ON c.id = s.course_id
    WHERE e.student_id = students.id AND e.status = 'enrolled' AND s.term_id = terms.id) AS credits
FROM students
JOIN student_kinds ON student_kinds.id = students.kind_id
CROSS JOIN terms;

CREATE VIEW account_balances AS
SELECT students.id AS student_id,
  (SELECT coalesce(sum(CASE WHEN a.kind = 'tuition' THEN a.amount_cents ELSE -a.amount_cents END), 0)
    FROM account_entries AS a WHERE a.student_id = students.id) AS balance_cents,
  (SELECT coalesce(sum(CASE WHEN a.kind = 'tuition' THEN a.amount_cents ELSE -a.amount_cents END), 0)
    FROM account_entries AS a
    LEFT JOIN enrollments AS e ON e.id = a.enrollment_id
    LEFT JOIN sections AS s ON s.id = e.section_id
    LEFT JOIN terms AS t ON t.id = s.term_id
    WHERE a.student_id = students.id AND (a.kind = 'payment' OR t.payment_due_on < date('now'))) AS overdue_cents
FROM students;

CREATE VIEW student_details AS
SELECT students.id AS student_id, students.name, students.email, students.kind_id, students.class_year, students.status,
  students.advisor_id, staff.name AS advisor_name, student_kinds.credit_limit, student_kinds.overload_limit,
  student_kinds.waitlist_limit, student_kinds.withdrawal_limit, student_kinds.overdue_limit_cents,
  account_balances.balance_cents, account_balances.overdue_cents,
  (SELECT count(*) FROM holds WHERE holds.student_id = students.id AND holds.status = 'active') AS active_holds,
  (SELECT count(*) FROM waitlist_entries AS w WHERE w.student_id = students.id AND w.status IN ('waiting', 'offered')) AS waitlists,
  (SELECT count(*) FROM enrollments AS e WHERE e.student_id = students.id AND e.status = 'withdrawn') AS withdrawals
FROM students
JOIN staff ON staff.id = students.advisor_id
JOIN student_kinds ON student_kinds.id = students.kind_id
JOIN account_balances ON account_balances.student_id = students.id;

CREATE VIEW unmet_prerequisites AS
SELECT students.id AS student_id, prerequisites.course_id, prerequisites.required_course_id, prerequisites.min_grade
FROM students CROSS JOIN prerequisites
WHERE NOT EXISTS (SELECT 1 FROM enrollments AS e JOIN sections AS s ON s.id = e.section_id
  WHERE e.student_id = students.id AND s.course_id = prerequisites.required_course_id
    AND e.status = 'completed' AND e.grade <= prerequisites.min_grade);

CREATE VIEW permission_details AS
SELECT permissions.id AS permission_id, permissions.kind, permissions.student_id, students.name AS student_name, permissions.term_id,
  permissions.course_id, permissions.section_id, permissions.reason, permissions.status, permissions.requested_at,
  permissions.decided_at, permissions.decided_by,
  CASE permissions.kind
    WHEN 'overload' THEN students.advisor_id
    WHEN 'prerequisite_waiver' THEN (SELECT courses.coordinator_id FROM courses WHERE courses.id = permissions.course_id)
    ELSE (SELECT sections.instructor_id FROM sections WHERE sections.id = permissions.section_id)
  END AS decider_id
FROM permissions
JOIN students ON students.id = permissions.student_id;

CREATE TRIGGER only_active_students_enrol BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'this student is not active and cannot be enrolled')
  FROM students WHERE id = NEW.student_id AND status <> 'active';
END;

CREATE TRIGGER enrol_in_open_terms BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'the term of this section is not open; choose a section in an open term')
  FROM section_details WHERE section_id = NEW.section_id AND term_status <> 'open';
END;

CREATE TRIGGER enrol_within_the_dates BEFORE INSERT ON enrollments
BEGIN
  SELECT RAISE(ABORT, 'enrolment in this term is possible only from the start of registration until the add deadline')
  FROM section_details WHERE section_id = NEW.section_id AND date(NEW.enrolled_at) NOT BETWEEN registration_from AND add_until;
END;

CREATE TRIGGER no_enrolment_under_a_hold BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'this student has an active hold; it must be released before any enrolment')
  FROM holds WHERE student_id = NEW.student_id AND status = 'active' AND placed_at <= NEW.enrolled_at;
END;

CREATE TRIGGER no_enrolment_in_cancelled_sections BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'this section is cancelled; choose another section')
  FROM sections WHERE id = NEW.section_id AND status = 'cancelled';
END;

CREATE TRIGGER enrol_within_capacity BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'every seat of this section is taken or offered; the student can join the waitlist')
  FROM section_details WHERE section_id = NEW.section_id AND enrolled + offered >= capacity;
END;

CREATE TRIGGER seats_go_by_the_queue BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'others are waiting for this section; a free seat is offered to the first in line, the student can join the waitlist')
  FROM waitlist_entries AS w
  WHERE w.section_id = NEW.section_id AND w.status = 'waiting' AND w.joined_at <= NEW.enrolled_at
    AND NOT EXISTS (SELECT 1 FROM waitlist_entries AS a
      WHERE a.section_id = NEW.section_id AND a.student_id = NEW.student_id AND a.status = 'enrolled' AND a.closed_at = NEW.enrolled_at
        AND NOT EXISTS (SELECT 1 FROM enrollments AS e WHERE e.student_id = NEW.student_id
          AND e.section_id = NEW.section_id AND e.enrolled_at = NEW.enrolled_at));
END;

CREATE TRIGGER offers_are_accepted_first BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'this student is on the waitlist of this section; accept the offer, or leave the waitlist first')
  FROM waitlist_entries
  WHERE section_id = NEW.section_id AND student_id = NEW.student_id AND status IN ('waiting', 'offered');
END;

CREATE TRIGGER no_overlapping_meetings BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'a meeting of this section overlaps with one of another section that the student is enrolled in this term')
  FROM sections AS wanted
  JOIN meetings AS n ON n.section_id = wanted.id
  JOIN sections AS other ON other.term_id = wanted.term_id
  JOIN enrollments AS e ON e.section_id = other.id AND e.student_id = NEW.student_id AND e.status = 'enrolled'
  JOIN meetings AS m ON m.section_id = other.id AND m.day = n.day AND m.starts < n.ends AND n.starts < m.ends
  WHERE wanted.id = NEW.section_id;
END;

CREATE TRIGGER enrol_within_the_credit_limit BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'this would exceed the credits that the student may take in the term; drop a course or ask for an overload permission')
  FROM sections
  JOIN courses ON courses.id = sections.course_id
  JOIN term_loads ON term_loads.term_id = sections.term_id AND term_loads.student_id = NEW.student_id
  WHERE sections.id = NEW.section_id AND term_loads.credits + courses.credits > term_loads.allowed_credits;
END;

CREATE TRIGGER consent_before_enrolment BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'this course needs an approved consent of the instructor of the section; request one first')
  FROM section_details
  WHERE section_id = NEW.section_id AND needs_consent = 1
    AND NOT EXISTS (SELECT 1 FROM permissions AS p WHERE p.student_id = NEW.student_id AND p.section_id = NEW.section_id
      AND p.kind = 'instructor_consent' AND p.status IN ('approved', 'used'));
END;

CREATE TRIGGER one_section_of_a_course BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'the student is taking this course already; swap the section or drop the other one first')
  FROM sections AS wanted
  JOIN sections AS other ON other.course_id = wanted.course_id
  JOIN enrollments AS e ON e.section_id = other.id AND e.student_id = NEW.student_id AND e.status = 'enrolled'
  WHERE wanted.id = NEW.section_id;
END;

CREATE TRIGGER no_repeat_after_a_pass BEFORE INSERT ON enrollments WHEN NEW.status = 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'the student has passed this course with C or better and may not repeat it')
  FROM sections AS wanted
  JOIN sections AS other ON other.course_id = wanted.course_id
  JOIN enrollments AS e ON e.section_id = other.id AND e.student_id = NEW.student_id AND e.status = 'completed' AND e.grade <= 'C'
  WHERE wanted.id = NEW.section_id;
END;

CREATE TRIGGER two_attempts_at_most BEFORE INSERT ON enrollments WHEN NEW.status <> 'dropped'
BEGIN
  SELECT RAISE(ABORT, 'the student has had two attempts at this course; a third is not possible')
  FROM sections AS wanted
  WHERE wanted.id = NEW.section_id
    AND (SELECT count(*) FROM enrollments AS e JOIN sections AS other ON other.id = e.section_id
      WHERE e.student_id = NEW.student_id AND e.status <> 'dropped' AND other.course_id = wanted.course_id) >= 2;
END;

CREATE TRIGGER ended_enrollments_stay BEFORE UPDATE ON enrollments WHEN OLD.status <> 'enrolled'
BEGIN
  SELECT RAISE(ABORT, 'this enrolment has ended and is not changed any more; a new enrolment may be possible');
END;

CREATE TRIGGER enrollments_keep_their_section BEFORE UPDATE ON enrollments
WHEN NEW.student_id <> OLD.student_id OR NEW.section_id <> OLD.section_id OR NEW.enrolled_at <> OLD.enrolled_at
BEGIN
  SELECT RAISE(ABORT, 'an enrolment keeps its student, section and time; end it and make a new one');
END;

CREATE TRIGGER withdraw_within_the_dates BEFORE UPDATE OF status ON enrollments WHEN NEW.status = 'withdrawn'
BEGIN
  SELECT RAISE(ABORT, 'withdrawing is possible only after the drop deadline and until the withdrawal deadline of the term')
  FROM section_details WHERE section_id = NEW.section_id
    AND (date(NEW.ended_at) <= drop_until OR date(NEW.ended_at) > withdraw_until);
END;

CREATE TRIGGER withdrawals_are_limited BEFORE UPDATE OF status ON enrollments WHEN NEW.status = 'withdrawn'
BEGIN
  SELECT RAISE(ABORT, 'this student has used up the withdrawals allowed in all the studies')
  FROM students JOIN student_kinds ON student_kinds.id = students.kind_id
  WHERE students.id = NEW.student_id
    AND (SELECT count(*) FROM enrollments AS e WHERE e.student_id = NEW.student_id AND e.status = 'withdrawn') >= student_kinds.withdrawal_limit;
END;

CREATE TRIGGER grades_after_the_withdrawals BEFORE UPDATE OF status ON enrollments WHEN NEW.status = 'completed'
BEGIN
  SELECT RAISE(ABORT, 'a grade is posted only after the withdrawal deadline of the term')
  FROM section_details WHERE section_id = NEW.section_id AND date(NEW.ended_at) <= withdraw_until;
END;

CREATE TRIGGER only_active_students_wait BEFORE INSERT ON waitlist_entries WHEN NEW.status IN ('waiting', 'offered')
BEGIN
  SELECT RAISE(ABORT, 'this student is not active and cannot join a waitlist')
  FROM students WHERE id = NEW.student_id AND status <> 'active';
END;

CREATE TRIGGER waitlists_of_a_student BEFORE INSERT ON waitlist_entries WHEN NEW.status IN ('waiting', 'offered')
BEGIN
  SELECT RAISE(ABORT, 'this student is on as many waitlists as allowed; leave one first')
  FROM students JOIN student_kinds ON student_kinds.id = students.kind_id
  WHERE students.id = NEW.student_id
    AND (SELECT count(*) FROM waitlist_entries AS w WHERE w.student_id = NEW.student_id
      AND w.status IN ('waiting', 'offered')) >= student_kinds.waitlist_limit;
END;

CREATE TRIGGER places_of_a_waitlist BEFORE INSERT ON waitlist_entries WHEN NEW.status IN ('waiting', 'offered')
BEGIN
  SELECT RAISE(ABORT, 'the waitlist of this section is full; choose another section')
  FROM section_details WHERE section_id = NEW.section_id AND waiting + offered >= waitlist_places;
END;

CREATE TRIGGER no_waiting_where_enrolled BEFORE INSERT ON waitlist_entries WHEN NEW.status IN ('waiting', 'offered')
BEGIN
  SELECT RAISE(ABORT, 'this student is enrolled in this section already')
  FROM enrollments WHERE student_id = NEW.student_id AND section_id = NEW.section_id AND status = 'enrolled';
END;

CREATE TRIGGER no_waiting_for_cancelled_sections BEFORE INSERT ON waitlist_entries WHEN NEW.status IN ('waiting', 'offered')
BEGIN
  SELECT RAISE(ABORT, 'this section is cancelled; choose another section')
  FROM sections WHERE id = NEW.section_id AND status = 'cancelled';
END;

CREATE TRIGGER first_in_line_first BEFORE UPDATE OF status ON waitlist_entries WHEN NEW.status = 'offered' AND OLD.status = 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'somebody else is before this student in line; offer the seat to the first in line')
  FROM waitlist_entries AS w
  WHERE w.section_id = OLD.section_id AND w.status = 'waiting' AND w.id <> OLD.id
    AND (w.joined_at < OLD.joined_at OR (w.joined_at = OLD.joined_at AND w.id < OLD.id));
END;

CREATE TRIGGER offer_free_seats_only BEFORE UPDATE OF status ON waitlist_entries WHEN NEW.status = 'offered' AND OLD.status = 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'this section has no free seat to offer; a seat must become free first')
  FROM section_details WHERE section_id = NEW.section_id AND enrolled + offered >= capacity;
END;

CREATE TRIGGER offers_need_a_seat BEFORE INSERT ON waitlist_entries WHEN NEW.status = 'offered'
BEGIN
  SELECT RAISE(ABORT, 'this section has no free seat to offer; a seat must become free first')
  FROM section_details WHERE section_id = NEW.section_id AND enrolled + offered >= capacity;
END;

CREATE TRIGGER accept_only_offers BEFORE UPDATE OF status ON waitlist_entries WHEN NEW.status IN ('enrolled', 'expired') AND OLD.status <> 'offered'
BEGIN
  SELECT RAISE(ABORT, 'this place on the waitlist has no offer; a seat must be offered first');
END;

CREATE TRIGGER ended_entries_stay BEFORE UPDATE ON waitlist_entries
WHEN OLD.status NOT IN ('waiting', 'offered') OR (OLD.status = 'offered' AND NEW.status = 'waiting')
  OR NEW.joined_at <> OLD.joined_at OR NEW.student_id <> OLD.student_id OR NEW.section_id <> OLD.section_id
BEGIN
  SELECT RAISE(ABORT, 'a place on a waitlist keeps its student, section and time, and is not taken up again once it has ended; join anew');
END;

CREATE TRIGGER capacity_covers_the_seats BEFORE UPDATE OF capacity ON sections
BEGIN
  SELECT RAISE(ABORT, 'more seats than that are taken or offered already; choose a larger capacity')
  FROM section_details WHERE section_id = OLD.id AND enrolled + offered > NEW.capacity;
END;

CREATE TRIGGER cancel_empty_sections BEFORE UPDATE OF status ON sections WHEN NEW.status = 'cancelled' AND OLD.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'a grade has been posted in this section; it cannot be cancelled')
  FROM enrollments WHERE section_id = OLD.id AND status = 'completed';
  SELECT RAISE(ABORT, 'students are still enrolled in this section or on its waitlist; they must be taken out first')
  FROM section_details WHERE section_id = OLD.id AND enrolled + offered + waiting > 0;
END;

CREATE TRIGGER cancelled_is_final BEFORE UPDATE ON sections WHEN OLD.status = 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this section is cancelled and is not changed any more');
END;

CREATE TRIGGER close_finished_terms BEFORE UPDATE OF status ON terms WHEN NEW.status <> 'open' AND OLD.status = 'open'
BEGIN
  SELECT RAISE(ABORT, 'students are still enrolled or waiting in this term; it must stay open')
  FROM section_details WHERE term_id = OLD.id AND enrolled + offered + waiting > 0;
END;

CREATE TRIGGER students_leave_without_sections BEFORE UPDATE OF status ON students WHEN NEW.status <> 'active' AND OLD.status = 'active'
BEGIN
  SELECT RAISE(ABORT, 'this student is still enrolled in a section; the enrolments must end first')
  FROM enrollments WHERE student_id = OLD.id AND status = 'enrolled';
  SELECT RAISE(ABORT, 'this student is still on a waitlist; the place must end first')
  FROM waitlist_entries WHERE student_id = OLD.id AND status IN ('waiting', 'offered');
END;

CREATE TRIGGER consent_names_a_section_of_the_term BEFORE INSERT ON permissions WHEN NEW.section_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the section is not one of this term; name the term of the section')
  FROM sections WHERE id = NEW.section_id AND term_id <> NEW.term_id;
END;

CREATE TRIGGER permissions_by_the_right_person BEFORE UPDATE OF status ON permissions WHEN OLD.status = 'requested' AND NEW.status <> 'requested'
BEGIN
  SELECT RAISE(ABORT, 'only the right person decides: the advisor on an overload, the course coordinator on a waiver, the instructor of the section on a consent')
  FROM permission_details WHERE permission_id = OLD.id AND NEW.decided_by IS NOT decider_id;
END;

CREATE TRIGGER decisions_are_final BEFORE UPDATE ON permissions
WHEN OLD.status IN ('denied', 'used')
  OR (OLD.status = 'approved' AND NEW.status <> 'used')
  OR (OLD.status = 'requested' AND NEW.status = 'used')
BEGIN
  SELECT RAISE(ABORT, 'a decided permission is not decided again; after a denial a new one can be requested');
END;

CREATE TRIGGER holds_by_the_right_office BEFORE INSERT ON holds
BEGIN
  SELECT RAISE(ABORT, 'only the office concerned places a hold: the bursar a financial, an advisor an advising, the dean a disciplinary one')
  FROM staff WHERE id = NEW.placed_by
    AND role <> CASE NEW.kind WHEN 'financial' THEN 'bursar' WHEN 'advising' THEN 'advisor' ELSE 'dean' END;
END;

CREATE TRIGGER releases_by_the_right_office BEFORE UPDATE OF status ON holds WHEN NEW.status = 'released' AND OLD.status = 'active'
BEGIN
  SELECT RAISE(ABORT, 'only the office concerned releases a hold: the bursar a financial, an advisor an advising, the dean a disciplinary one')
  FROM staff WHERE id = NEW.released_by
    AND role <> CASE NEW.kind WHEN 'financial' THEN 'bursar' WHEN 'advising' THEN 'advisor' ELSE 'dean' END;
END;

CREATE TRIGGER financial_holds_need_payment BEFORE UPDATE OF status ON holds
WHEN NEW.status = 'released' AND OLD.status = 'active' AND OLD.kind = 'financial'
BEGIN
  SELECT RAISE(ABORT, 'the student still has an overdue amount; it must be paid in full before a financial hold is released')
  FROM account_balances WHERE student_id = OLD.student_id AND overdue_cents > 0;
END;

CREATE TRIGGER released_holds_stay BEFORE UPDATE ON holds WHEN OLD.status = 'released'
BEGIN
  SELECT RAISE(ABORT, 'this hold is released already; place a new one if needed');
END;

CREATE TRIGGER tuition_by_the_credits BEFORE INSERT ON account_entries WHEN NEW.kind = 'tuition'
BEGIN
  SELECT RAISE(ABORT, 'tuition is the credits of the course times the price of a credit in the term, charged to the student enrolled')
  FROM enrollments
  JOIN sections ON sections.id = enrollments.section_id
  JOIN courses ON courses.id = sections.course_id
  JOIN terms ON terms.id = sections.term_id
  WHERE enrollments.id = NEW.enrollment_id
    AND (enrollments.student_id <> NEW.student_id OR NEW.amount_cents <> courses.credits * terms.credit_price_cents);
END;

CREATE TRIGGER refunds_within_the_tuition BEFORE INSERT ON account_entries WHEN NEW.kind = 'refund'
BEGIN
  SELECT RAISE(ABORT, 'a refund goes to the student enrolled and is never more than the tuition charged')
  FROM enrollment_details
  WHERE enrollment_id = NEW.enrollment_id AND (student_id <> NEW.student_id OR NEW.amount_cents > charged_cents);
END;
