-- Tables ------------------------------------------------------------------------------------------------------------

CREATE TABLE branches (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE membership_kinds (
  kind TEXT PRIMARY KEY,
  loan_limit INTEGER NOT NULL CHECK (loan_limit > 0),
  loan_days INTEGER NOT NULL CHECK (loan_days > 0),
  reservation_limit INTEGER NOT NULL CHECK (reservation_limit >= 0),
  overdue_cents_a_day INTEGER NOT NULL CHECK (overdue_cents_a_day > 0),
  overdue_cents_at_most INTEGER NOT NULL CHECK (overdue_cents_at_most >= overdue_cents_a_day)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL REFERENCES membership_kinds (kind),
  email TEXT UNIQUE CHECK (email LIKE '%_@_%'),
  guardian_id TEXT REFERENCES members (id),
  joined_on TEXT NOT NULL CHECK (joined_on IS date(joined_on)),
  card_expires_on TEXT NOT NULL CHECK (card_expires_on IS date(card_expires_on)),
  CHECK ((kind = 'child') = (guardian_id IS NOT NULL)),
  CHECK (card_expires_on > joined_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE books (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  author TEXT NOT NULL,
  published INTEGER NOT NULL,
  genre TEXT NOT NULL,
  audience TEXT NOT NULL CHECK (audience IN ('children', 'teen', 'adult')),
  price_cents INTEGER NOT NULL CHECK (price_cents > 0),
  UNIQUE (title, author)
) STRICT, WITHOUT ROWID;

CREATE TABLE copies (
  id TEXT PRIMARY KEY,
  book_id TEXT NOT NULL REFERENCES books (id),
  branch_id TEXT NOT NULL REFERENCES branches (id),
  status TEXT NOT NULL DEFAULT 'in_service' CHECK (status IN ('in_service', 'in_repair', 'lost'))
) STRICT, WITHOUT ROWID;

CREATE INDEX copies_of_a_book ON copies (book_id);

CREATE TABLE loans (
  id TEXT PRIMARY KEY,
  copy_id TEXT NOT NULL REFERENCES copies (id),
  member_id TEXT NOT NULL REFERENCES members (id),
  lent_on TEXT NOT NULL CHECK (lent_on IS date(lent_on)),
  due_on TEXT NOT NULL CHECK (due_on IS date(due_on)),
  renewals INTEGER NOT NULL DEFAULT 0 CHECK (renewals BETWEEN 0 AND 2),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'returned', 'lost')),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  CHECK (due_on > lent_on),
  CHECK (closed_on >= lent_on),
  CHECK ((status = 'open') = (closed_on IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_loan_a_copy ON loans (copy_id) WHERE status = 'open';
CREATE INDEX loans_of_a_member ON loans (member_id);

CREATE TABLE reservations (
  id TEXT PRIMARY KEY,
  book_id TEXT NOT NULL REFERENCES books (id),
  member_id TEXT NOT NULL REFERENCES members (id),
  reserved_at TEXT NOT NULL CHECK (reserved_at IS datetime(reserved_at)),
  status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'ready', 'collected', 'cancelled', 'expired')),
  copy_id TEXT REFERENCES copies (id),
  pickup_by TEXT CHECK (pickup_by IS date(pickup_by)),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  CHECK ((copy_id IS NULL) = (pickup_by IS NULL)),
  CHECK (status <> 'waiting' OR copy_id IS NULL),
  CHECK (status NOT IN ('ready', 'collected', 'expired') OR copy_id IS NOT NULL),
  CHECK ((status IN ('waiting', 'ready')) = (closed_on IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_live_reservation ON reservations (member_id, book_id) WHERE status IN ('waiting', 'ready');
CREATE UNIQUE INDEX one_reader_a_set_aside_copy ON reservations (copy_id) WHERE status = 'ready';
CREATE INDEX queue_of_a_book ON reservations (book_id, reserved_at);

CREATE TABLE fines (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  loan_id TEXT NOT NULL UNIQUE REFERENCES loans (id),
  kind TEXT NOT NULL CHECK (kind IN ('overdue', 'lost')),
  cents INTEGER NOT NULL CHECK (cents > 0),
  charged_on TEXT NOT NULL CHECK (charged_on IS date(charged_on)),
  status TEXT NOT NULL DEFAULT 'unpaid' CHECK (status IN ('unpaid', 'paid', 'waived')),
  settled_on TEXT CHECK (settled_on IS date(settled_on)),
  paid_by TEXT CHECK (paid_by IN ('cash', 'card')),
  waiver_reason TEXT CHECK (trim(waiver_reason) <> ''),
  CHECK ((status = 'unpaid') = (settled_on IS NULL)),
  CHECK ((status = 'paid') = (paid_by IS NOT NULL)),
  CHECK ((status = 'waived') = (waiver_reason IS NOT NULL)),
  CHECK (status <> 'waived' OR kind = 'overdue')
) STRICT, WITHOUT ROWID;

CREATE INDEX fines_of_a_member ON fines (member_id);

-- What the tools show ------------------------------------------------------------------------------------------------

CREATE VIEW copy_details AS
SELECT copies.id AS copy_id, copies.book_id, books.title, copies.branch_id, branches.name AS branch,
  CASE
    WHEN loans.id IS NOT NULL THEN 'on_loan'
    WHEN reservations.id IS NOT NULL THEN 'set_aside'
    WHEN copies.status = 'in_service' THEN 'on_shelf'
    ELSE copies.status
  END AS state,
  loans.due_on
FROM copies
JOIN books ON books.id = copies.book_id
JOIN branches ON branches.id = copies.branch_id
LEFT JOIN loans ON loans.copy_id = copies.id AND loans.status = 'open'
LEFT JOIN reservations ON reservations.copy_id = copies.id AND reservations.status = 'ready';

CREATE VIEW book_details AS
SELECT books.id AS book_id, title, author, published, genre, audience, price_cents,
  (SELECT count(*) FROM copies WHERE copies.book_id = books.id AND copies.status <> 'lost') AS copies,
  (SELECT count(*) FROM copy_details WHERE copy_details.book_id = books.id AND state = 'on_shelf') AS on_shelf,
  (SELECT count(*) FROM reservations WHERE reservations.book_id = books.id AND status = 'waiting') AS waiting
FROM books;

CREATE VIEW loan_details AS
SELECT loans.id AS loan_id, loans.copy_id, copies.book_id, books.title, loans.member_id, members.name AS member,
  loans.lent_on, loans.due_on, loans.renewals, loans.status, loans.closed_on
FROM loans
JOIN members ON members.id = loans.member_id
JOIN copies ON copies.id = loans.copy_id
JOIN books ON books.id = copies.book_id;

CREATE VIEW reservation_details AS
SELECT reservations.id AS reservation_id, reservations.book_id, books.title, reservations.member_id,
  members.name AS member, reservations.reserved_at, reservations.status,
  CASE reservations.status WHEN 'waiting' THEN (
    SELECT count(*) FROM reservations AS other
    WHERE other.book_id = reservations.book_id AND other.status = 'waiting'
      AND (other.reserved_at, other.id) <= (reservations.reserved_at, reservations.id)
  ) END AS position,
  reservations.copy_id, reservations.pickup_by
FROM reservations
JOIN members ON members.id = reservations.member_id
JOIN books ON books.id = reservations.book_id;

CREATE VIEW fine_details AS
SELECT fines.id AS fine_id, fines.member_id, members.name AS member, fines.loan_id, loan_details.title, fines.kind,
  fines.cents, fines.charged_on, fines.status, fines.settled_on, fines.paid_by, fines.waiver_reason
FROM fines
JOIN members ON members.id = fines.member_id
JOIN loan_details ON loan_details.loan_id = fines.loan_id;

CREATE VIEW member_details AS
SELECT members.id AS member_id, name, kind, email, guardian_id, joined_on, card_expires_on,
  (SELECT count(*) FROM loans WHERE loans.member_id = members.id AND status = 'open') AS loans,
  loan_limit, loan_days,
  (SELECT count(*) FROM reservations WHERE reservations.member_id = members.id AND status IN ('waiting', 'ready'))
    AS reservations,
  reservation_limit, overdue_cents_a_day, overdue_cents_at_most,
  (SELECT coalesce(sum(cents), 0) FROM fines WHERE fines.member_id = members.id AND status = 'unpaid') AS owed_cents
FROM members
JOIN membership_kinds USING (kind);

-- Rules ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER lend_what_may_be_lent BEFORE INSERT ON loans WHEN NEW.status = 'open'
BEGIN
  -- rule: lent_from_the_shelf
  SELECT RAISE(ABORT, 'this copy is on loan, in repair or lost; find_copies shows which copies are on the shelf')
  FROM copy_details WHERE copy_id = NEW.copy_id AND state IN ('on_loan', 'in_repair', 'lost');

  -- rule: lent_from_the_shelf
  SELECT RAISE(ABORT, 'this copy is set aside for another member; find_copies shows which copies are on the shelf')
  FROM reservations WHERE copy_id = NEW.copy_id AND status = 'ready' AND member_id <> NEW.member_id;

  -- rule: one_copy_of_a_book
  SELECT RAISE(ABORT, 'this member already has a copy of this book on loan')
  FROM loan_details
  WHERE member_id = NEW.member_id AND status = 'open'
    AND book_id = (SELECT book_id FROM copies WHERE id = NEW.copy_id);

  -- rule: loan_limit
  SELECT RAISE(ABORT, 'this member has as many loans as the membership allows; one must come back first')
  FROM member_details WHERE member_id = NEW.member_id AND loans >= loan_limit;

  -- rule: books_for_children
  SELECT RAISE(ABORT, 'an adult book is not lent to a child; choose a children''s or teen book')
  FROM members, books JOIN copies ON copies.book_id = books.id
  WHERE members.id = NEW.member_id AND members.kind = 'child' AND copies.id = NEW.copy_id AND books.audience = 'adult';
END;

CREATE TRIGGER renew_only_when_nobody_waits BEFORE UPDATE OF renewals ON loans WHEN NEW.renewals > OLD.renewals
BEGIN
  -- rule: nobody_waits_for_a_renewal
  SELECT RAISE(ABORT, 'somebody is waiting for this book, so the loan cannot be renewed; it stays due when it was')
  FROM reservations JOIN copies USING (book_id)
  WHERE copies.id = NEW.copy_id AND reservations.status = 'waiting';
END;

CREATE TRIGGER closed_loans_stay_closed BEFORE UPDATE ON loans WHEN OLD.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'this loan is closed already');
END;

CREATE TRIGGER reserve_what_may_be_reserved BEFORE INSERT ON reservations WHEN NEW.status = 'waiting'
BEGIN
  -- rule: reserved_once
  SELECT RAISE(ABORT, 'this member already has a reservation for this book; find_reservations shows it')
  FROM reservations WHERE member_id = NEW.member_id AND book_id = NEW.book_id AND status IN ('waiting', 'ready');

  -- rule: reserved_once
  SELECT RAISE(ABORT, 'this member has this book on loan')
  FROM loan_details WHERE member_id = NEW.member_id AND book_id = NEW.book_id AND status = 'open';

  -- rule: reserved_when_all_are_out
  SELECT RAISE(ABORT, 'a copy of this book is on the shelf, so it is not reserved; find_copies shows where, lend it instead')
  FROM book_details WHERE book_id = NEW.book_id AND on_shelf > 0;

  -- rule: reserved_when_all_are_out
  SELECT RAISE(ABORT, 'the library has no copy of this book left, so it cannot be reserved')
  FROM book_details WHERE book_id = NEW.book_id AND copies = 0;

  -- rule: reservation_limit
  SELECT RAISE(ABORT, 'this member has as many reservations as the membership allows; one must be cancelled first')
  FROM member_details WHERE member_id = NEW.member_id AND reservations >= reservation_limit;

  -- rule: books_for_children
  SELECT RAISE(ABORT, 'an adult book is not reserved for a child; choose a children''s or teen book')
  FROM members, books
  WHERE members.id = NEW.member_id AND members.kind = 'child' AND books.id = NEW.book_id AND books.audience = 'adult';
END;

CREATE TRIGGER serve_the_queue_in_order BEFORE UPDATE OF status ON reservations WHEN NEW.status = 'ready'
BEGIN
  -- rule: queue_in_order
  SELECT RAISE(ABORT, 'somebody else reserved this book earlier')
  FROM reservations
  WHERE book_id = NEW.book_id AND status = 'waiting' AND (reserved_at, id) < (NEW.reserved_at, NEW.id);
END;

CREATE TRIGGER closed_reservations_stay_closed BEFORE UPDATE ON reservations WHEN OLD.closed_on IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this reservation is closed already');
END;

CREATE TRIGGER fines_are_charged_to_the_borrower BEFORE INSERT ON fines
BEGIN
  SELECT RAISE(ABORT, 'a fine is charged to the member who had the loan')
  FROM loans WHERE id = NEW.loan_id AND member_id <> NEW.member_id;
END;

CREATE TRIGGER settled_fines_stay_settled BEFORE UPDATE ON fines WHEN OLD.status <> 'unpaid'
BEGIN
  SELECT RAISE(ABORT, 'this fine is paid or waived already');
END;

CREATE TRIGGER move_only_from_the_shelf BEFORE UPDATE OF branch_id ON copies
BEGIN
  -- rule: moved_from_the_shelf
  SELECT RAISE(ABORT, 'only a copy on the shelf can be moved; find_copies shows the state of each')
  FROM copy_details WHERE copy_id = OLD.id AND state <> 'on_shelf';
END;
