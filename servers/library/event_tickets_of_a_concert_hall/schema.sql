CREATE TABLE customer_kinds (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  days_ahead INTEGER NOT NULL CHECK (days_ahead > 0),
  ticket_limit INTEGER NOT NULL CHECK (ticket_limit > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE customers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  kind_id TEXT NOT NULL REFERENCES customer_kinds (id),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'blocked')),
  blocked_for TEXT,
  CHECK ((status = 'blocked') = (blocked_for IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE categories (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  price_cents INTEGER NOT NULL CHECK (price_cents > 0),
  concession_cents INTEGER NOT NULL CHECK (concession_cents > 0),
  CHECK (concession_cents < price_cents)
) STRICT, WITHOUT ROWID;

CREATE TABLE seats (
  id TEXT PRIMARY KEY,
  row_label TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number > 0),
  category_id TEXT NOT NULL REFERENCES categories (id),
  wheelchair INTEGER NOT NULL DEFAULT 0 CHECK (wheelchair IN (0, 1)),
  UNIQUE (row_label, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE concerts (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  performers TEXT NOT NULL,
  starts_at TEXT NOT NULL CHECK (starts_at IS datetime(starts_at)),
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'on_sale', 'closed', 'held', 'cancelled'))
) STRICT, WITHOUT ROWID;

CREATE TABLE orders (
  id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (id),
  concert_id TEXT NOT NULL REFERENCES concerts (id),
  ordered_at TEXT NOT NULL CHECK (ordered_at IS datetime(ordered_at)),
  lapses_at TEXT NOT NULL CHECK (lapses_at IS datetime(lapses_at)),
  status TEXT NOT NULL DEFAULT 'reserved' CHECK (status IN ('reserved', 'paid', 'cancelled', 'lapsed')),
  paid_at TEXT CHECK (paid_at IS datetime(paid_at)),
  CHECK (lapses_at >= ordered_at),
  CHECK (status <> 'paid' OR paid_at IS NOT NULL),
  CHECK (status NOT IN ('reserved', 'lapsed') OR paid_at IS NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
  id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL REFERENCES orders (id),
  concert_id TEXT NOT NULL REFERENCES concerts (id),
  seat_id TEXT NOT NULL REFERENCES seats (id),
  concession INTEGER NOT NULL DEFAULT 0 CHECK (concession IN (0, 1)),
  price_cents INTEGER NOT NULL CHECK (price_cents > 0),
  status TEXT NOT NULL DEFAULT 'held' CHECK (status IN ('held', 'sold', 'given_back', 'used')),
  exchanges INTEGER NOT NULL DEFAULT 0
    CONSTRAINT a_ticket_is_exchanged_only_once CHECK (exchanges BETWEEN 0 AND 1),
  used_at TEXT CHECK (used_at IS datetime(used_at)),
  CHECK ((status = 'used') = (used_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_ticket_a_seat ON tickets (concert_id, seat_id) WHERE status <> 'given_back';
CREATE INDEX tickets_of_orders ON tickets (order_id, status);

CREATE TABLE vouchers (
  id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  left_cents INTEGER NOT NULL
    CONSTRAINT a_voucher_pays_no_more_than_is_left_on_it CHECK (left_cents BETWEEN 0 AND amount_cents),
  issued_on TEXT NOT NULL CHECK (issued_on IS date(issued_on)),
  valid_until TEXT NOT NULL CHECK (valid_until IS date(issued_on, '+3 years')),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'used_up', 'expired')),
  CHECK ((status = 'used_up') = (left_cents = 0))
) STRICT, WITHOUT ROWID;

CREATE TABLE payments (
  id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL REFERENCES orders (id),
  kind TEXT NOT NULL CHECK (kind IN ('card', 'voucher', 'refund')),
  voucher_id TEXT REFERENCES vouchers (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  booked_at TEXT NOT NULL CHECK (booked_at IS datetime(booked_at)),
  CHECK ((kind = 'voucher') = (voucher_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE waiting_entries (
  id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL REFERENCES customers (id),
  concert_id TEXT NOT NULL REFERENCES concerts (id),
  category_id TEXT NOT NULL REFERENCES categories (id),
  since_at TEXT NOT NULL CHECK (since_at IS datetime(since_at)),
  status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'offered', 'served', 'withdrawn')),
  seat_id TEXT REFERENCES seats (id),
  offered_until TEXT CHECK (offered_until IS datetime(offered_until)),
  CHECK ((seat_id IS NULL) = (offered_until IS NULL)),
  CHECK ((status IN ('offered', 'served')) = (seat_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_live_entry ON waiting_entries (customer_id, concert_id, category_id) WHERE status IN ('waiting', 'offered');
CREATE UNIQUE INDEX one_offer_a_seat ON waiting_entries (concert_id, seat_id) WHERE status = 'offered';

CREATE VIEW ticket_details AS
SELECT tickets.id AS ticket_id, tickets.order_id, orders.customer_id, customers.name AS customer, tickets.concert_id,
  concerts.title AS concert, concerts.starts_at, tickets.seat_id, seats.row_label, seats.number, seats.category_id,
  categories.name AS category, seats.wheelchair, tickets.concession, tickets.price_cents, tickets.status, tickets.exchanges, tickets.used_at
FROM tickets
JOIN orders ON orders.id = tickets.order_id
JOIN customers ON customers.id = orders.customer_id
JOIN concerts ON concerts.id = tickets.concert_id
JOIN seats ON seats.id = tickets.seat_id
JOIN categories ON categories.id = seats.category_id;

CREATE VIEW order_details AS
SELECT orders.id AS order_id, orders.customer_id, customers.name AS customer, orders.concert_id, concerts.title AS concert,
  concerts.starts_at, orders.ordered_at, orders.lapses_at, orders.status, orders.paid_at,
  (SELECT count(*) FROM tickets WHERE tickets.order_id = orders.id AND tickets.status <> 'given_back') AS tickets,
  (SELECT coalesce(sum(tickets.price_cents), 0) FROM tickets WHERE tickets.order_id = orders.id AND tickets.status <> 'given_back') AS total_cents,
  (SELECT coalesce(sum(CASE payments.kind WHEN 'refund' THEN -payments.amount_cents ELSE payments.amount_cents END), 0)
   FROM payments WHERE payments.order_id = orders.id) AS paid_cents
FROM orders
JOIN customers ON customers.id = orders.customer_id
JOIN concerts ON concerts.id = orders.concert_id;

CREATE TRIGGER blocked_customers_buy_nothing BEFORE INSERT ON orders WHEN NEW.status = 'reserved'
BEGIN
  SELECT RAISE(ABORT, 'this customer is blocked and buys nothing until the block is lifted')
  FROM customers WHERE customers.id = NEW.customer_id AND customers.status = 'blocked';
END;

CREATE TRIGGER concert_is_on_sale BEFORE INSERT ON orders WHEN NEW.status = 'reserved'
BEGIN
  SELECT RAISE(ABORT, 'this concert is not on sale; choose another one')
  FROM concerts WHERE concerts.id = NEW.concert_id AND concerts.status <> 'on_sale';
END;

CREATE TRIGGER order_steps BEFORE UPDATE OF status ON orders
WHEN NEW.status <> OLD.status AND (OLD.status || '>' || NEW.status) NOT IN (
  'reserved>paid', 'reserved>cancelled', 'reserved>lapsed', 'paid>cancelled')
BEGIN
  SELECT RAISE(ABORT, 'this order cannot go to that state; cancelled and lapsed orders are final, make a new one');
END;

CREATE TRIGGER tickets_within_limit BEFORE INSERT ON tickets WHEN NEW.status <> 'given_back'
BEGIN
  SELECT RAISE(ABORT, 'this customer has as many tickets for this concert as are allowed; give one back first')
  FROM orders
  JOIN customers ON customers.id = orders.customer_id
  JOIN customer_kinds ON customer_kinds.id = customers.kind_id
  WHERE orders.id = NEW.order_id AND customer_kinds.ticket_limit <= (
    SELECT count(*) FROM ticket_details WHERE ticket_details.customer_id = orders.customer_id
      AND ticket_details.concert_id = NEW.concert_id AND ticket_details.status <> 'given_back');
END;

CREATE TRIGGER one_concession_in_four BEFORE INSERT ON tickets WHEN NEW.concession = 1 AND NEW.status <> 'given_back'
BEGIN
  SELECT RAISE(ABORT, 'at most one ticket in four of an order is a concession; take it at full price, or add full-price tickets first')
  WHERE 4 * (1 + (SELECT count(*) FROM tickets AS others WHERE others.order_id = NEW.order_id AND others.status <> 'given_back' AND others.concession = 1))
    > 1 + (SELECT count(*) FROM tickets AS others WHERE others.order_id = NEW.order_id AND others.status <> 'given_back');
END;

CREATE TRIGGER ticket_steps BEFORE UPDATE OF status ON tickets
WHEN NEW.status <> OLD.status AND (OLD.status || '>' || NEW.status) NOT IN (
  'held>sold', 'held>given_back', 'sold>given_back', 'sold>used')
BEGIN
  SELECT RAISE(ABORT, 'this ticket cannot go to that state; only a sold ticket is admitted, and only once');
END;

CREATE TRIGGER concert_steps BEFORE UPDATE OF status ON concerts
WHEN NEW.status <> OLD.status AND (OLD.status || '>' || NEW.status) NOT IN (
  'planned>on_sale', 'on_sale>closed', 'closed>on_sale', 'closed>held', 'planned>cancelled', 'on_sale>cancelled', 'closed>cancelled')
BEGIN
  SELECT RAISE(ABORT, 'this concert cannot go to that state; a held or cancelled concert is final, and only a closed one is held');
END;
