CREATE TABLE people (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (length(name) >= 3),
  rank TEXT NOT NULL CHECK (rank IN ('partner', 'senior_associate', 'associate', 'paralegal')),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'on_leave', 'left'))
) STRICT, WITHOUT ROWID;

CREATE TABLE courts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  city TEXT NOT NULL,
  filing_cutoff TEXT NOT NULL CHECK (filing_cutoff IN ('15:00', '16:00', '16:30', '17:00', '23:59'))
) STRICT, WITHOUT ROWID;

CREATE TABLE court_holidays (
  court_id TEXT NOT NULL REFERENCES courts (id),
  day TEXT NOT NULL CHECK (day IS date(day)),
  reason TEXT NOT NULL,
  PRIMARY KEY (court_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE admissions (
  person_id TEXT NOT NULL REFERENCES people (id),
  court_id TEXT NOT NULL REFERENCES courts (id),
  admitted_on TEXT NOT NULL CHECK (admitted_on IS date(admitted_on)),
  PRIMARY KEY (person_id, court_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE parties (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (length(name) >= 3),
  kind TEXT NOT NULL CHECK (kind IN ('person', 'company', 'public_body'))
) STRICT, WITHOUT ROWID;

CREATE TABLE waivers (
  client_id TEXT NOT NULL REFERENCES parties (id),
  adverse_id TEXT NOT NULL REFERENCES parties (id),
  signed_on TEXT NOT NULL CHECK (signed_on IS date(signed_on)),
  PRIMARY KEY (client_id, adverse_id),
  CHECK (client_id <> adverse_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE matters (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL UNIQUE CHECK (length(title) >= 5),
  client_id TEXT NOT NULL REFERENCES parties (id),
  court_id TEXT NOT NULL REFERENCES courts (id),
  status TEXT NOT NULL DEFAULT 'intake' CHECK (status IN ('intake', 'open', 'stayed', 'closed')),
  docket_number TEXT UNIQUE CHECK (docket_number IS NULL OR length(docket_number) >= 6),
  opened_on TEXT CHECK (opened_on IS date(opened_on)),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  outcome TEXT CHECK (outcome IN ('settled', 'won', 'lost', 'withdrawn', 'declined')),
  CHECK ((status = 'closed') = (closed_on IS NOT NULL)),
  CHECK ((status = 'closed') = (outcome IS NOT NULL)),
  CHECK (status NOT IN ('open', 'stayed') OR (docket_number IS NOT NULL AND opened_on IS NOT NULL)),
  CHECK (closed_on IS NULL OR opened_on IS NULL OR closed_on >= opened_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE adverse_parties (
  matter_id TEXT NOT NULL REFERENCES matters (id),
  party_id TEXT NOT NULL REFERENCES parties (id),
  PRIMARY KEY (matter_id, party_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE staff (
  matter_id TEXT NOT NULL REFERENCES matters (id),
  person_id TEXT NOT NULL REFERENCES people (id),
  role TEXT NOT NULL CHECK (role IN ('lead', 'second', 'paralegal')),
  since TEXT NOT NULL CHECK (since IS date(since)),
  PRIMARY KEY (matter_id, person_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_lead_a_matter ON staff (matter_id) WHERE role = 'lead';

CREATE TABLE deadline_kinds (
  kind TEXT PRIMARY KEY,
  most_extensions INTEGER NOT NULL CHECK (most_extensions BETWEEN 0 AND 3),
  most_days INTEGER NOT NULL CHECK (most_days BETWEEN 0 AND 60),
  partner_approves INTEGER NOT NULL CHECK (partner_approves IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE deadlines (
  id TEXT PRIMARY KEY,
  matter_id TEXT NOT NULL REFERENCES matters (id),
  kind TEXT NOT NULL REFERENCES deadline_kinds (kind),
  first_due_on TEXT NOT NULL CHECK (first_due_on IS date(first_due_on)),
  due_on TEXT NOT NULL CHECK (due_on IS date(due_on)),
  extensions INTEGER NOT NULL DEFAULT 0 CHECK (extensions BETWEEN 0 AND 3),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'met', 'vacated', 'missed')),
  CHECK (due_on >= first_due_on),
  CHECK ((extensions = 0) = (due_on = first_due_on))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_pending_deadline_a_kind ON deadlines (matter_id, kind) WHERE status = 'pending';

CREATE TABLE hearings (
  id TEXT PRIMARY KEY,
  matter_id TEXT NOT NULL REFERENCES matters (id),
  kind TEXT NOT NULL CHECK (kind IN ('status_conference', 'motion', 'settlement', 'trial')),
  starts_at TEXT NOT NULL CHECK (starts_at IS datetime(starts_at)),
  minutes INTEGER NOT NULL CHECK (minutes BETWEEN 15 AND 480),
  person_id TEXT NOT NULL REFERENCES people (id),
  moves INTEGER NOT NULL DEFAULT 0 CHECK (moves BETWEEN 0 AND 2),
  status TEXT NOT NULL DEFAULT 'set' CHECK (status IN ('set', 'held', 'vacated')),
  CHECK (time(starts_at) >= '08:30:00' AND time(starts_at) <= '16:30:00')
) STRICT, WITHOUT ROWID;

CREATE TABLE filings (
  id TEXT PRIMARY KEY,
  matter_id TEXT NOT NULL REFERENCES matters (id),
  deadline_id TEXT REFERENCES deadlines (id),
  title TEXT NOT NULL CHECK (length(title) >= 4),
  drafted_by TEXT NOT NULL REFERENCES people (id),
  approved_by TEXT REFERENCES people (id),
  status TEXT NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'approved', 'filed', 'rejected')),
  filed_at TEXT CHECK (filed_at IS datetime(filed_at)),
  CHECK (approved_by IS NULL OR approved_by <> drafted_by),
  CHECK ((status = 'draft') = (approved_by IS NULL)),
  CHECK ((status IN ('filed', 'rejected')) = (filed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE VIEW people_details AS
SELECT p.id AS person_id, p.name, p.rank, p.status,
  (SELECT count(*) FROM staff s JOIN matters m ON m.id = s.matter_id
    WHERE s.person_id = p.id AND s.role = 'lead' AND m.status IN ('open', 'stayed')) AS leads,
  (SELECT count(*) FROM staff s JOIN matters m ON m.id = s.matter_id
    WHERE s.person_id = p.id AND m.status IN ('open', 'stayed')) AS live_matters,
  (SELECT count(*) FROM hearings h WHERE h.person_id = p.id AND h.status = 'set') AS set_hearings
FROM people p;

CREATE VIEW matter_details AS
SELECT m.id AS matter_id, m.title, m.client_id, c.name AS client, m.court_id, k.name AS court, m.status,
  m.docket_number, m.opened_on, m.closed_on, m.outcome,
  (SELECT s.person_id FROM staff s WHERE s.matter_id = m.id AND s.role = 'lead') AS lead_id,
  (SELECT p.name FROM staff s JOIN people p ON p.id = s.person_id WHERE s.matter_id = m.id AND s.role = 'lead') AS lead
FROM matters m JOIN parties c ON c.id = m.client_id JOIN courts k ON k.id = m.court_id;

CREATE VIEW deadline_details AS
SELECT d.id AS deadline_id, d.matter_id, m.title AS matter, d.kind, d.first_due_on, d.due_on, d.extensions, d.status,
  m.court_id, m.status AS matter_status, k.most_extensions, k.most_days
FROM deadlines d JOIN matters m ON m.id = d.matter_id JOIN deadline_kinds k ON k.kind = d.kind;

CREATE VIEW hearing_details AS
SELECT h.id AS hearing_id, h.matter_id, m.title AS matter, h.kind, h.starts_at, h.minutes,
  datetime(h.starts_at, '+' || h.minutes || ' minutes') AS ends_at,
  h.person_id, p.name AS appears, h.moves, h.status, m.court_id, k.name AS court
FROM hearings h JOIN matters m ON m.id = h.matter_id JOIN people p ON p.id = h.person_id
  JOIN courts k ON k.id = m.court_id;

CREATE VIEW filing_details AS
SELECT f.id AS filing_id, f.matter_id, m.title AS matter, f.title, f.deadline_id, d.kind AS deadline_kind,
  d.due_on, f.drafted_by, a.name AS drafter, f.approved_by, b.name AS approver, f.status, f.filed_at
FROM filings f JOIN matters m ON m.id = f.matter_id JOIN people a ON a.id = f.drafted_by
  LEFT JOIN people b ON b.id = f.approved_by LEFT JOIN deadlines d ON d.id = f.deadline_id;

CREATE VIEW conflicts AS
SELECT m.id AS matter_id, m.client_id, x.party_id AS adverse_id, o.id AS other_matter_id, 'adverse_is_client' AS why
FROM matters m JOIN adverse_parties x ON x.matter_id = m.id
  JOIN matters o ON o.client_id = x.party_id AND o.status IN ('open', 'stayed') AND o.id <> m.id
WHERE NOT EXISTS (SELECT 1 FROM waivers w WHERE w.client_id = m.client_id AND w.adverse_id = x.party_id)
UNION
SELECT m.id, m.client_id, o.client_id, o.id, 'client_is_adverse'
FROM matters m JOIN adverse_parties y ON y.party_id = m.client_id
  JOIN matters o ON o.id = y.matter_id AND o.status IN ('open', 'stayed') AND o.id <> m.id
WHERE NOT EXISTS (SELECT 1 FROM waivers w WHERE w.client_id = m.client_id AND w.adverse_id = o.client_id);

CREATE TRIGGER no_opening_in_conflict BEFORE UPDATE OF status ON matters WHEN NEW.status = 'open' AND OLD.status = 'intake'
BEGIN
  SELECT RAISE(ABORT, 'this matter has a conflict of interest; a signed waiver for the two parties must be recorded first')
  FROM conflicts WHERE matter_id = NEW.id;
END;

CREATE TRIGGER opening_needs_a_lead BEFORE UPDATE OF status ON matters WHEN NEW.status = 'open' AND OLD.status = 'intake'
BEGIN
  SELECT RAISE(ABORT, 'this matter has no lead yet; put a lead on it before it is opened')
  WHERE NOT EXISTS (SELECT 1 FROM staff WHERE matter_id = NEW.id AND role = 'lead');
END;

CREATE TRIGGER matter_states BEFORE UPDATE OF status ON matters
WHEN NEW.status <> OLD.status AND NOT (
  (OLD.status = 'intake' AND NEW.status IN ('open', 'closed')) OR
  (OLD.status = 'open' AND NEW.status IN ('stayed', 'closed')) OR
  (OLD.status = 'stayed' AND NEW.status = 'open'))
BEGIN
  SELECT RAISE(ABORT, 'a matter goes from intake to open, may be stayed and resumed, and is closed when it is open; a closed one stays closed');
END;

CREATE TRIGGER nothing_left_when_closed BEFORE UPDATE OF status ON matters WHEN NEW.status = 'closed' AND OLD.status <> 'closed'
BEGIN
  SELECT RAISE(ABORT, 'this matter still has a pending deadline, a set hearing or an approved document that is not filed; settle these first')
  WHERE EXISTS (SELECT 1 FROM deadlines WHERE matter_id = NEW.id AND status = 'pending')
     OR EXISTS (SELECT 1 FROM hearings WHERE matter_id = NEW.id AND status = 'set')
     OR EXISTS (SELECT 1 FROM filings WHERE matter_id = NEW.id AND status = 'approved');
END;

CREATE TRIGGER adverse_is_not_the_client BEFORE INSERT ON adverse_parties
BEGIN
  SELECT RAISE(ABORT, 'a client cannot be the other side of the same matter')
  FROM matters WHERE id = NEW.matter_id AND client_id = NEW.party_id;
END;

CREATE TRIGGER staff_fits_the_rank BEFORE INSERT ON staff
BEGIN
  SELECT RAISE(ABORT, 'a lead is a partner or a senior associate, a second is any attorney, and the paralegal of a matter is a paralegal')
  FROM people WHERE id = NEW.person_id AND (
    (NEW.role = 'lead' AND rank NOT IN ('partner', 'senior_associate')) OR
    (NEW.role = 'second' AND rank = 'paralegal') OR
    (NEW.role = 'paralegal' AND rank <> 'paralegal'));
END;

CREATE TRIGGER staff_fits_the_rank_when_changed BEFORE UPDATE OF role ON staff
BEGIN
  SELECT RAISE(ABORT, 'a lead is a partner or a senior associate, a second is any attorney, and the paralegal of a matter is a paralegal')
  FROM people WHERE id = NEW.person_id AND (
    (NEW.role = 'lead' AND rank NOT IN ('partner', 'senior_associate')) OR
    (NEW.role = 'second' AND rank = 'paralegal') OR
    (NEW.role = 'paralegal' AND rank <> 'paralegal'));
END;

CREATE TRIGGER lead_is_admitted BEFORE INSERT ON staff WHEN NEW.role = 'lead'
BEGIN
  SELECT RAISE(ABORT, 'this person is not admitted to the court of the matter and cannot lead it; choose somebody who is')
  FROM matters m WHERE m.id = NEW.matter_id
    AND NOT EXISTS (SELECT 1 FROM admissions a WHERE a.person_id = NEW.person_id AND a.court_id = m.court_id);
END;

CREATE TRIGGER lead_is_admitted_when_changed BEFORE UPDATE OF role ON staff WHEN NEW.role = 'lead'
BEGIN
  SELECT RAISE(ABORT, 'this person is not admitted to the court of the matter and cannot lead it; choose somebody who is')
  FROM matters m WHERE m.id = NEW.matter_id
    AND NOT EXISTS (SELECT 1 FROM admissions a WHERE a.person_id = NEW.person_id AND a.court_id = m.court_id);
END;

CREATE TRIGGER at_most_four_leads BEFORE INSERT ON staff WHEN NEW.role = 'lead'
BEGIN
  SELECT RAISE(ABORT, 'this person leads four matters already, which is the most; choose another lead')
  WHERE (SELECT count(*) FROM staff s JOIN matters m ON m.id = s.matter_id
    WHERE s.person_id = NEW.person_id AND s.role = 'lead' AND m.status <> 'closed') >= 4;
END;

CREATE TRIGGER at_most_four_leads_when_changed BEFORE UPDATE OF role ON staff WHEN NEW.role = 'lead' AND OLD.role <> 'lead'
BEGIN
  SELECT RAISE(ABORT, 'this person leads four matters already, which is the most; choose another lead')
  WHERE (SELECT count(*) FROM staff s JOIN matters m ON m.id = s.matter_id
    WHERE s.person_id = NEW.person_id AND s.role = 'lead' AND m.status <> 'closed') >= 4;
END;

CREATE TRIGGER who_appears_stays BEFORE DELETE ON staff
BEGIN
  SELECT RAISE(ABORT, 'this person appears at a hearing of the matter that is set; have somebody else appear first')
  FROM hearings WHERE matter_id = OLD.matter_id AND person_id = OLD.person_id AND status = 'set';
END;

CREATE TRIGGER deadlines_on_court_days BEFORE INSERT ON deadlines WHEN NEW.status = 'pending'
BEGIN
  SELECT RAISE(ABORT, 'the court does not sit on this day: it is a weekend or a holiday of that court; take a court day')
  WHERE strftime('%w', NEW.due_on) IN ('0', '6')
     OR EXISTS (SELECT 1 FROM court_holidays h JOIN matters m ON m.court_id = h.court_id
                WHERE m.id = NEW.matter_id AND h.day = NEW.due_on);
END;

CREATE TRIGGER extended_deadlines_on_court_days BEFORE UPDATE OF due_on ON deadlines
BEGIN
  SELECT RAISE(ABORT, 'the court does not sit on this day: it is a weekend or a holiday of that court; take a court day')
  WHERE strftime('%w', NEW.due_on) IN ('0', '6')
     OR EXISTS (SELECT 1 FROM court_holidays h JOIN matters m ON m.court_id = h.court_id
                WHERE m.id = NEW.matter_id AND h.day = NEW.due_on);
END;

CREATE TRIGGER extensions_within_the_kind BEFORE UPDATE OF due_on, extensions ON deadlines
BEGIN
  SELECT RAISE(ABORT, 'this kind of deadline allows no further extension, or not by so many days in all')
  FROM deadline_kinds WHERE kind = NEW.kind AND (NEW.extensions > most_extensions
    OR julianday(NEW.due_on) - julianday(NEW.first_due_on) > most_days);
END;

CREATE TRIGGER settled_deadlines_stay BEFORE UPDATE ON deadlines WHEN OLD.status IN ('vacated', 'missed')
BEGIN
  SELECT RAISE(ABORT, 'this deadline was vacated or missed and stays so');
END;

CREATE TRIGGER hearings_on_court_days BEFORE INSERT ON hearings WHEN NEW.status = 'set'
BEGIN
  SELECT RAISE(ABORT, 'the court does not sit on this day: it is a weekend or a holiday of that court; take a court day')
  WHERE strftime('%w', NEW.starts_at) IN ('0', '6')
     OR EXISTS (SELECT 1 FROM court_holidays h JOIN matters m ON m.court_id = h.court_id
                WHERE m.id = NEW.matter_id AND h.day = date(NEW.starts_at));
END;

CREATE TRIGGER moved_hearings_on_court_days BEFORE UPDATE OF starts_at ON hearings
BEGIN
  SELECT RAISE(ABORT, 'the court does not sit on this day: it is a weekend or a holiday of that court; take a court day')
  WHERE strftime('%w', NEW.starts_at) IN ('0', '6')
     OR EXISTS (SELECT 1 FROM court_holidays h JOIN matters m ON m.court_id = h.court_id
                WHERE m.id = NEW.matter_id AND h.day = date(NEW.starts_at));
END;

CREATE TRIGGER who_appears_is_fit BEFORE INSERT ON hearings WHEN NEW.status = 'set'
BEGIN
  SELECT RAISE(ABORT, 'who appears must be an attorney on the staff of the matter and admitted to its court')
  WHERE NOT EXISTS (SELECT 1 FROM staff s JOIN matters m ON m.id = s.matter_id
    JOIN admissions a ON a.person_id = s.person_id AND a.court_id = m.court_id
    WHERE s.matter_id = NEW.matter_id AND s.person_id = NEW.person_id AND s.role <> 'paralegal');
END;

CREATE TRIGGER who_appears_instead_is_fit BEFORE UPDATE OF person_id ON hearings WHEN NEW.status = 'set'
BEGIN
  SELECT RAISE(ABORT, 'who appears must be an attorney on the staff of the matter and admitted to its court')
  WHERE NOT EXISTS (SELECT 1 FROM staff s JOIN matters m ON m.id = s.matter_id
    JOIN admissions a ON a.person_id = s.person_id AND a.court_id = m.court_id
    WHERE s.matter_id = NEW.matter_id AND s.person_id = NEW.person_id AND s.role <> 'paralegal');
END;

CREATE TRIGGER an_hour_between_hearings BEFORE INSERT ON hearings WHEN NEW.status = 'set'
BEGIN
  SELECT RAISE(ABORT, 'this attorney has another hearing at that time, or within 60 minutes of it at another court; take another time or another attorney')
  FROM hearing_details o JOIN matters m ON m.id = NEW.matter_id
  WHERE o.person_id = NEW.person_id AND o.status = 'set' AND o.hearing_id <> NEW.id
    AND NEW.starts_at < datetime(o.ends_at, CASE WHEN o.court_id = m.court_id THEN '+0 minutes' ELSE '+60 minutes' END)
    AND o.starts_at < datetime(NEW.starts_at, '+' || NEW.minutes || ' minutes', CASE WHEN o.court_id = m.court_id THEN '+0 minutes' ELSE '+60 minutes' END);
END;

CREATE TRIGGER an_hour_between_hearings_when_changed BEFORE UPDATE OF starts_at, person_id ON hearings WHEN NEW.status = 'set'
BEGIN
  SELECT RAISE(ABORT, 'this attorney has another hearing at that time, or within 60 minutes of it at another court; take another time or another attorney')
  FROM hearing_details o JOIN matters m ON m.id = NEW.matter_id
  WHERE o.person_id = NEW.person_id AND o.status = 'set' AND o.hearing_id <> NEW.id
    AND NEW.starts_at < datetime(o.ends_at, CASE WHEN o.court_id = m.court_id THEN '+0 minutes' ELSE '+60 minutes' END)
    AND o.starts_at < datetime(NEW.starts_at, '+' || NEW.minutes || ' minutes', CASE WHEN o.court_id = m.court_id THEN '+0 minutes' ELSE '+60 minutes' END);
END;

CREATE TRIGGER partners_approve_what_weighs BEFORE UPDATE OF status ON filings WHEN NEW.status = 'approved'
BEGIN
  SELECT RAISE(ABORT, 'a document for this kind of deadline is approved by a partner; ask a partner')
  FROM deadlines d JOIN deadline_kinds k ON k.kind = d.kind
  WHERE d.id = NEW.deadline_id AND k.partner_approves = 1
    AND (SELECT rank FROM people WHERE id = NEW.approved_by) <> 'partner';
END;

CREATE TRIGGER filing_states BEFORE UPDATE OF status ON filings
WHEN NEW.status <> OLD.status AND NOT (
  (OLD.status = 'draft' AND NEW.status = 'approved') OR
  (OLD.status = 'approved' AND NEW.status IN ('filed', 'draft')) OR
  (OLD.status = 'filed' AND NEW.status = 'rejected'))
BEGIN
  SELECT RAISE(ABORT, 'a document is drafted, approved, then filed; only a filed one can be rejected by the court');
END;
