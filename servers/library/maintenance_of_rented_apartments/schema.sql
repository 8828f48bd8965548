CREATE TABLE buildings (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  street TEXT NOT NULL,
  caretaker_name TEXT NOT NULL,
  caretaker_phone TEXT NOT NULL,
  manager_name TEXT NOT NULL,
  yearly_budget_cents INTEGER NOT NULL CHECK (yearly_budget_cents > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE apartments (
  id TEXT PRIMARY KEY,
  building_id TEXT NOT NULL REFERENCES buildings (id),
  label TEXT NOT NULL,
  floor INTEGER NOT NULL CHECK (floor BETWEEN 0 AND 12),
  rooms INTEGER NOT NULL CHECK (rooms BETWEEN 1 AND 8),
  UNIQUE (building_id, label)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenancies (
  id TEXT PRIMARY KEY,
  apartment_id TEXT NOT NULL REFERENCES apartments (id),
  tenant_name TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT,
  starts_on TEXT NOT NULL CHECK (starts_on IS date(starts_on)),
  ends_on TEXT CHECK (ends_on IS date(ends_on)),
  CHECK (ends_on > starts_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE priorities (
  id TEXT PRIMARY KEY CHECK (id IN ('emergency', 'urgent', 'normal', 'low')),
  first_visit_days INTEGER NOT NULL UNIQUE CHECK (first_visit_days > 0),
  notice_days INTEGER NOT NULL CHECK (notice_days >= 0),
  approval_over_cents INTEGER NOT NULL CHECK (approval_over_cents > 0),
  quotes_over_cents INTEGER NOT NULL,
  CHECK (quotes_over_cents >= approval_over_cents)
) STRICT, WITHOUT ROWID;

CREATE TABLE trades (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  tenant_parts INTEGER NOT NULL DEFAULT 0 CHECK (tenant_parts IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE contractors (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  email TEXT NOT NULL,
  phone TEXT NOT NULL,
  hourly_rate_cents INTEGER NOT NULL CHECK (hourly_rate_cents > 0),
  order_cap_cents INTEGER NOT NULL CHECK (order_cap_cents > 0),
  visits_per_day INTEGER NOT NULL CHECK (visits_per_day BETWEEN 1 AND 4),
  insured_until TEXT NOT NULL CHECK (insured_until IS date(insured_until))
) STRICT, WITHOUT ROWID;

CREATE TABLE contractor_trades (
  contractor_id TEXT NOT NULL REFERENCES contractors (id),
  trade_id TEXT NOT NULL REFERENCES trades (id),
  PRIMARY KEY (contractor_id, trade_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
  id TEXT PRIMARY KEY,
  tenancy_id TEXT NOT NULL REFERENCES tenancies (id),
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  priority_id TEXT NOT NULL DEFAULT 'normal' REFERENCES priorities (id),
  status TEXT NOT NULL DEFAULT 'reported'
    CHECK (status IN ('reported', 'accepted', 'in_work', 'resolved', 'closed', 'rejected')),
  reported_at TEXT NOT NULL CHECK (reported_at IS datetime(reported_at)),
  accepted_on TEXT CHECK (accepted_on IS date(accepted_on)),
  resolved_on TEXT CHECK (resolved_on IS date(resolved_on)),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  reopened_on TEXT CHECK (reopened_on IS date(reopened_on)),
  reopenings INTEGER NOT NULL DEFAULT 0 CHECK (reopenings >= 0),
  rejection_reason TEXT,
  CHECK ((status = 'rejected') = (rejection_reason IS NOT NULL)),
  CHECK (status <> 'reported' OR accepted_on IS NULL),
  CHECK (status IN ('reported', 'rejected') OR accepted_on IS NOT NULL),
  CHECK ((status IN ('resolved', 'closed')) = (resolved_on IS NOT NULL)),
  CHECK ((status = 'closed') = (closed_on IS NOT NULL)),
  CHECK ((reopenings = 0) = (reopened_on IS NULL)),
  CHECK (accepted_on >= date(reported_at)),
  CHECK (resolved_on >= accepted_on),
  CONSTRAINT closed_after_seven_days CHECK (closed_on >= date(resolved_on, '+7 days'))
) STRICT, WITHOUT ROWID;

CREATE TABLE work_orders (
  id TEXT PRIMARY KEY,
  ticket_id TEXT NOT NULL REFERENCES tickets (id),
  trade_id TEXT NOT NULL REFERENCES trades (id),
  contractor_id TEXT REFERENCES contractors (id),
  summary TEXT NOT NULL,
  estimate_cents INTEGER NOT NULL CHECK (estimate_cents > 0),
  status TEXT NOT NULL DEFAULT 'draft'
    CHECK (status IN ('draft', 'awaiting_approval', 'released', 'done', 'cancelled')),
  created_on TEXT NOT NULL CHECK (created_on IS date(created_on)),
  approved_by TEXT,
  approved_on TEXT CHECK (approved_on IS date(approved_on)),
  released_on TEXT CHECK (released_on IS date(released_on)),
  done_on TEXT CHECK (done_on IS date(done_on)),
  cancelled_on TEXT CHECK (cancelled_on IS date(cancelled_on)),
  FOREIGN KEY (contractor_id, trade_id) REFERENCES contractor_trades (contractor_id, trade_id),
  CHECK (status NOT IN ('awaiting_approval', 'released', 'done') OR contractor_id IS NOT NULL),
  CHECK (status NOT IN ('released', 'done') OR released_on IS NOT NULL),
  CHECK (status NOT IN ('draft', 'awaiting_approval') OR (released_on IS NULL AND approved_on IS NULL)),
  CHECK ((approved_by IS NULL) = (approved_on IS NULL)),
  CHECK ((status = 'done') = (done_on IS NOT NULL)),
  CHECK ((status = 'cancelled') = (cancelled_on IS NOT NULL)),
  CHECK (released_on >= created_on),
  CHECK (done_on >= released_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE quotes (
  id TEXT PRIMARY KEY,
  work_order_id TEXT NOT NULL REFERENCES work_orders (id),
  contractor_id TEXT NOT NULL REFERENCES contractors (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  received_on TEXT NOT NULL CHECK (received_on IS date(received_on)),
  valid_until TEXT NOT NULL CHECK (valid_until IS date(valid_until)),
  status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'accepted', 'declined')),
  decided_on TEXT CHECK (decided_on IS date(decided_on)),
  UNIQUE (work_order_id, contractor_id),
  CHECK (valid_until >= received_on),
  CHECK ((status = 'received') = (decided_on IS NULL)),
  CHECK (decided_on >= received_on),
  CONSTRAINT accepted_while_valid CHECK (status <> 'accepted' OR decided_on <= valid_until)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_accepted_quote_an_order ON quotes (work_order_id) WHERE status = 'accepted';

CREATE TABLE visits (
  id TEXT PRIMARY KEY,
  work_order_id TEXT NOT NULL REFERENCES work_orders (id),
  contractor_id TEXT NOT NULL REFERENCES contractors (id),
  apartment_id TEXT NOT NULL REFERENCES apartments (id),
  visit_on TEXT NOT NULL CHECK (visit_on IS date(visit_on)),
  slot TEXT NOT NULL CHECK (slot IN ('08-10', '10-12', '13-15', '15-17')),
  announced_on TEXT NOT NULL CHECK (announced_on IS date(announced_on)),
  tenant_consented INTEGER NOT NULL DEFAULT 0 CHECK (tenant_consented IN (0, 1)),
  moves INTEGER NOT NULL DEFAULT 0 CHECK (moves BETWEEN 0 AND 2),
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'completed', 'no_access', 'cancelled')),
  note TEXT,
  CHECK (announced_on <= visit_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_visit_a_contractor_slot ON visits (contractor_id, visit_on, slot) WHERE status <> 'cancelled';
CREATE UNIQUE INDEX one_visit_an_apartment_slot ON visits (apartment_id, visit_on, slot) WHERE status <> 'cancelled';

CREATE TABLE invoices (
  id TEXT PRIMARY KEY,
  work_order_id TEXT NOT NULL UNIQUE REFERENCES work_orders (id),
  invoice_number TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  received_on TEXT NOT NULL CHECK (received_on IS date(received_on)),
  status TEXT NOT NULL DEFAULT 'received' CHECK (status IN ('received', 'approved', 'disputed', 'paid')),
  approved_on TEXT CHECK (approved_on IS date(approved_on)),
  paid_on TEXT CHECK (paid_on IS date(paid_on)),
  dispute_reason TEXT,
  CHECK ((status IN ('approved', 'paid')) = (approved_on IS NOT NULL)),
  CHECK ((status = 'paid') = (paid_on IS NOT NULL)),
  CHECK ((status = 'disputed') = (dispute_reason IS NOT NULL)),
  CHECK (approved_on >= received_on),
  CHECK (paid_on >= approved_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE charges (
  id TEXT PRIMARY KEY,
  work_order_id TEXT NOT NULL REFERENCES work_orders (id),
  kind TEXT NOT NULL CHECK (kind IN ('small_repair', 'no_access', 'damage')),
  visit_id TEXT REFERENCES visits (id),
  invoice_id TEXT REFERENCES invoices (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  charged_on TEXT NOT NULL CHECK (charged_on IS date(charged_on)),
  reason TEXT NOT NULL,
  CHECK ((kind = 'no_access') = (visit_id IS NOT NULL)),
  CHECK ((kind = 'no_access') = (invoice_id IS NULL)),
  CHECK (kind <> 'no_access' OR amount_cents = 4500)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_fee_a_failed_visit ON charges (visit_id) WHERE visit_id IS NOT NULL;
CREATE UNIQUE INDEX one_repair_charge_an_order ON charges (work_order_id) WHERE kind <> 'no_access';

CREATE VIEW ticket_details AS
SELECT tickets.id AS ticket_id, tickets.title, tickets.description, tickets.status, tickets.priority_id,
  tickets.reported_at, tickets.accepted_on, tickets.resolved_on, tickets.closed_on, tickets.reopened_on,
  tickets.reopenings, tickets.rejection_reason,
  tenancies.id AS tenancy_id, tenancies.tenant_name, tenancies.starts_on, tenancies.ends_on,
  apartments.id AS apartment_id, apartments.label AS apartment_label,
  buildings.id AS building_id, buildings.name AS building_name, buildings.manager_name,
  priorities.first_visit_days, priorities.notice_days, priorities.approval_over_cents, priorities.quotes_over_cents,
  date(coalesce(tickets.reopened_on, tickets.reported_at), '+' || priorities.first_visit_days || ' days') AS first_visit_due_on,
  (SELECT min(visits.visit_on) FROM visits JOIN work_orders ON work_orders.id = visits.work_order_id
    WHERE work_orders.ticket_id = tickets.id AND visits.status <> 'cancelled'
      AND visits.visit_on >= date(coalesce(tickets.reopened_on, tickets.reported_at))) AS first_visit_on
FROM tickets
JOIN tenancies ON tenancies.id = tickets.tenancy_id
JOIN apartments ON apartments.id = tenancies.apartment_id
JOIN buildings ON buildings.id = apartments.building_id
JOIN priorities ON priorities.id = tickets.priority_id;

CREATE VIEW order_details AS
SELECT work_orders.id AS work_order_id, work_orders.summary, work_orders.status, work_orders.estimate_cents,
  work_orders.trade_id, trades.name AS trade_name, trades.tenant_parts,
  work_orders.contractor_id, contractors.name AS contractor_name,
  work_orders.created_on, work_orders.approved_by, work_orders.approved_on, work_orders.released_on,
  work_orders.done_on, work_orders.cancelled_on,
  ticket_details.ticket_id, ticket_details.title AS ticket_title, ticket_details.status AS ticket_status,
  ticket_details.priority_id, ticket_details.notice_days, ticket_details.approval_over_cents, ticket_details.quotes_over_cents,
  ticket_details.tenancy_id, ticket_details.tenant_name, ticket_details.apartment_id, ticket_details.apartment_label,
  ticket_details.building_id, ticket_details.building_name, ticket_details.manager_name,
  (work_orders.estimate_cents > ticket_details.approval_over_cents) AS needs_approval,
  (work_orders.estimate_cents > ticket_details.quotes_over_cents) AS needs_quotes
FROM work_orders
JOIN trades ON trades.id = work_orders.trade_id
JOIN ticket_details ON ticket_details.ticket_id = work_orders.ticket_id
LEFT JOIN contractors ON contractors.id = work_orders.contractor_id;

CREATE VIEW visit_details AS
SELECT visits.id AS visit_id, visits.visit_on, visits.slot, visits.status, visits.announced_on, visits.tenant_consented,
  visits.moves, visits.note, visits.work_order_id, order_details.summary, order_details.ticket_id, order_details.priority_id,
  visits.contractor_id, contractors.name AS contractor_name, contractors.visits_per_day, contractors.insured_until,
  visits.apartment_id, order_details.apartment_label, order_details.building_name, order_details.tenant_name
FROM visits
JOIN order_details ON order_details.work_order_id = visits.work_order_id
JOIN contractors ON contractors.id = visits.contractor_id;

CREATE VIEW quote_details AS
SELECT quotes.id AS quote_id, quotes.work_order_id, order_details.summary, order_details.status AS order_status,
  quotes.contractor_id, contractors.name AS contractor_name, quotes.amount_cents, quotes.received_on, quotes.valid_until,
  quotes.status, quotes.decided_on
FROM quotes
JOIN order_details ON order_details.work_order_id = quotes.work_order_id
JOIN contractors ON contractors.id = quotes.contractor_id;

CREATE VIEW invoice_details AS
SELECT invoices.id AS invoice_id, invoices.invoice_number, invoices.amount_cents, invoices.received_on, invoices.status,
  invoices.approved_on, invoices.paid_on, invoices.dispute_reason,
  invoices.work_order_id, order_details.summary, order_details.estimate_cents,
  (invoices.amount_cents * 100 > order_details.estimate_cents * 110) AS over_limit,
  order_details.contractor_id, order_details.contractor_name, order_details.building_id, order_details.building_name
FROM invoices JOIN order_details ON order_details.work_order_id = invoices.work_order_id;

CREATE VIEW charge_details AS
SELECT charges.id AS charge_id, charges.kind, charges.amount_cents, charges.charged_on, charges.reason,
  charges.visit_id, charges.invoice_id, charges.work_order_id, order_details.ticket_id,
  order_details.tenancy_id, order_details.tenant_name, order_details.apartment_id
FROM charges JOIN order_details ON order_details.work_order_id = charges.work_order_id;

CREATE VIEW order_costs AS
SELECT work_orders.id AS work_order_id, apartments.building_id, strftime('%Y', work_orders.released_on) AS year,
  coalesce((SELECT invoices.amount_cents FROM invoices
    WHERE invoices.work_order_id = work_orders.id AND invoices.status IN ('approved', 'paid')),
    work_orders.estimate_cents) AS cost_cents
FROM work_orders
JOIN tickets ON tickets.id = work_orders.ticket_id
JOIN tenancies ON tenancies.id = tickets.tenancy_id
JOIN apartments ON apartments.id = tenancies.apartment_id
WHERE work_orders.status IN ('released', 'done');

CREATE VIEW building_years AS
SELECT buildings.id AS building_id, buildings.name AS building_name, years.year, buildings.yearly_budget_cents,
  coalesce((SELECT sum(order_costs.cost_cents) FROM order_costs
    WHERE order_costs.building_id = buildings.id AND order_costs.year = years.year), 0) AS used_cents
FROM buildings CROSS JOIN (SELECT DISTINCT year FROM order_costs) AS years;

CREATE VIEW contractor_details AS
SELECT contractors.id AS contractor_id, contractors.name, contractors.email, contractors.phone,
  contractors.hourly_rate_cents, contractors.order_cap_cents, contractors.visits_per_day, contractors.insured_until,
  (SELECT group_concat(contractor_trades.trade_id, ', ') FROM contractor_trades
    WHERE contractor_trades.contractor_id = contractors.id) AS trades
FROM contractors;

CREATE TRIGGER one_tenancy_at_a_time BEFORE INSERT ON tenancies
BEGIN
  SELECT RAISE(ABORT, 'this apartment has a tenancy in that time already; the earlier one must end first')
  FROM tenancies WHERE apartment_id = NEW.apartment_id
    AND starts_on <= coalesce(NEW.ends_on, '9999-12-31') AND coalesce(ends_on, '9999-12-31') >= NEW.starts_on;
END;

CREATE TRIGGER report_in_a_running_tenancy BEFORE INSERT ON tickets
BEGIN
  SELECT RAISE(ABORT, 'this tenancy is not running on the day of the report; only the present tenant can report a defect')
  FROM tenancies WHERE id = NEW.tenancy_id
    AND (date(NEW.reported_at) < starts_on OR date(NEW.reported_at) > ends_on);
END;

CREATE TRIGGER ticket_keeps_its_report BEFORE UPDATE OF tenancy_id, reported_at ON tickets
WHEN NEW.tenancy_id <> OLD.tenancy_id OR NEW.reported_at <> OLD.reported_at
BEGIN
  SELECT RAISE(ABORT, 'a ticket keeps its tenancy and the time of its report');
END;

CREATE TRIGGER ticket_steps BEFORE UPDATE OF status ON tickets
WHEN NEW.status <> OLD.status AND OLD.status || '>' || NEW.status NOT IN (
  'reported>accepted', 'reported>rejected', 'accepted>in_work', 'accepted>rejected', 'in_work>rejected',
  'in_work>resolved', 'resolved>closed', 'resolved>in_work', 'closed>in_work')
BEGIN
  SELECT RAISE(ABORT, 'a ticket does not go from its present state to that one; look at its state first');
END;

CREATE TRIGGER rejected_without_work BEFORE UPDATE OF status ON tickets
WHEN NEW.status = 'rejected' AND OLD.status <> 'rejected'
BEGIN
  SELECT RAISE(ABORT, 'this ticket has orders that are open or done; open ones must be cancelled first, with work done it cannot be rejected')
  FROM work_orders WHERE ticket_id = NEW.id AND status <> 'cancelled';
END;

CREATE TRIGGER resolved_when_orders_are_settled BEFORE UPDATE OF status ON tickets
WHEN NEW.status = 'resolved' AND OLD.status <> 'resolved'
BEGIN
  SELECT RAISE(ABORT, 'an order of this ticket is still open; it must be done or cancelled first')
  FROM work_orders WHERE ticket_id = NEW.id AND status NOT IN ('done', 'cancelled');
  SELECT RAISE(ABORT, 'no order of this ticket is done; a ticket without any work is rejected, not resolved')
  WHERE NOT EXISTS (SELECT 1 FROM work_orders WHERE ticket_id = NEW.id AND status = 'done');
END;

CREATE TRIGGER reopen_within_thirty_days BEFORE UPDATE OF status ON tickets
WHEN OLD.status IN ('resolved', 'closed') AND NEW.status = 'in_work'
BEGIN
  SELECT RAISE(ABORT, 'this ticket was resolved more than 30 days ago; the tenant has to report the defect anew')
  WHERE date('now') > date(OLD.resolved_on, '+30 days');
END;

CREATE TRIGGER priority_is_not_lowered_late BEFORE UPDATE OF priority_id ON tickets
WHEN NEW.priority_id <> OLD.priority_id
BEGIN
  SELECT RAISE(ABORT, 'the priority of a resolved, closed or rejected ticket stays as it is')
  WHERE OLD.status NOT IN ('reported', 'accepted', 'in_work');
  SELECT RAISE(ABORT, 'this ticket has an order already; its priority can only be raised')
  FROM priorities AS before_it JOIN priorities AS after_it ON after_it.id = NEW.priority_id
  WHERE before_it.id = OLD.priority_id AND after_it.first_visit_days > before_it.first_visit_days
    AND EXISTS (SELECT 1 FROM work_orders WHERE ticket_id = NEW.id);
END;

CREATE TRIGGER order_needs_an_accepted_ticket BEFORE INSERT ON work_orders
WHEN NEW.status IN ('draft', 'awaiting_approval', 'released')
BEGIN
  SELECT RAISE(ABORT, 'orders are opened only for a ticket that is accepted or in work; accept or reopen it first')
  FROM tickets WHERE id = NEW.ticket_id AND status NOT IN ('accepted', 'in_work');
END;

CREATE TRIGGER order_in_the_trade_on_opening BEFORE INSERT ON work_orders WHEN NEW.contractor_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this contractor does not work in the trade of the order; choose one who does')
  WHERE NOT EXISTS (SELECT 1 FROM contractor_trades WHERE contractor_id = NEW.contractor_id AND trade_id = NEW.trade_id);
END;

CREATE TRIGGER order_in_the_trade BEFORE UPDATE OF contractor_id ON work_orders WHEN NEW.contractor_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this contractor does not work in the trade of the order; choose one who does')
  WHERE NOT EXISTS (SELECT 1 FROM contractor_trades WHERE contractor_id = NEW.contractor_id AND trade_id = NEW.trade_id);
END;

CREATE TRIGGER order_within_the_cap_on_opening BEFORE INSERT ON work_orders
WHEN NEW.contractor_id IS NOT NULL AND NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'the estimate is above the spending cap of this contractor; choose another contractor')
  FROM contractors WHERE id = NEW.contractor_id AND NEW.estimate_cents > order_cap_cents;
END;

CREATE TRIGGER order_within_the_cap BEFORE UPDATE OF contractor_id, estimate_cents ON work_orders
WHEN NEW.contractor_id IS NOT NULL AND NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'the estimate is above the spending cap of this contractor; choose another contractor')
  FROM contractors WHERE id = NEW.contractor_id AND NEW.estimate_cents > order_cap_cents;
END;

CREATE TRIGGER order_terms_change_in_draft BEFORE UPDATE ON work_orders
BEGIN
  SELECT RAISE(ABORT, 'an order keeps its ticket and its trade; cancel it and open another')
  WHERE NEW.ticket_id <> OLD.ticket_id OR NEW.trade_id <> OLD.trade_id;
  SELECT RAISE(ABORT, 'contractor and estimate change only while the order is a draft; one that awaits approval can go back to draft')
  WHERE OLD.status <> 'draft'
    AND (NEW.contractor_id IS NOT OLD.contractor_id OR NEW.estimate_cents <> OLD.estimate_cents);
END;

CREATE TRIGGER order_follows_the_accepted_quote BEFORE UPDATE OF contractor_id, estimate_cents ON work_orders
BEGIN
  SELECT RAISE(ABORT, 'a quote was accepted for this order; its contractor and amount stay')
  FROM quotes WHERE work_order_id = NEW.id AND status = 'accepted'
    AND (NEW.contractor_id IS NOT contractor_id OR NEW.estimate_cents <> amount_cents);
END;

CREATE TRIGGER order_steps BEFORE UPDATE OF status ON work_orders
WHEN NEW.status <> OLD.status AND OLD.status || '>' || NEW.status NOT IN (
  'draft>awaiting_approval', 'draft>released', 'draft>cancelled', 'awaiting_approval>released',
  'awaiting_approval>draft', 'awaiting_approval>cancelled', 'released>done', 'released>cancelled')
BEGIN
  SELECT RAISE(ABORT, 'an order does not go from its present state to that one; done and cancelled orders stay so');
END;

CREATE TRIGGER two_quotes_and_one_accepted BEFORE UPDATE OF status ON work_orders
WHEN OLD.status = 'draft' AND NEW.status IN ('awaiting_approval', 'released')
BEGIN
  SELECT RAISE(ABORT, 'an estimate this high needs quotes from two contractors, one of them accepted, before it goes on')
  FROM ticket_details WHERE ticket_id = NEW.ticket_id AND NEW.estimate_cents > quotes_over_cents
    AND ((SELECT count(*) FROM quotes WHERE work_order_id = NEW.id) < 2
      OR NOT EXISTS (SELECT 1 FROM quotes WHERE work_order_id = NEW.id AND status = 'accepted'));
END;

CREATE TRIGGER approval_before_release BEFORE UPDATE OF status ON work_orders
WHEN NEW.status = 'released' AND OLD.status <> 'released' AND NEW.approved_on IS NULL
BEGIN
  SELECT RAISE(ABORT, 'an estimate this high needs the approval of the property manager; send the order for approval')
  FROM ticket_details WHERE ticket_id = NEW.ticket_id AND NEW.estimate_cents > approval_over_cents;
END;

CREATE TRIGGER release_within_the_budget BEFORE UPDATE OF status ON work_orders
WHEN NEW.status = 'released' AND OLD.status <> 'released'
BEGIN
  SELECT RAISE(ABORT, 'the yearly budget of the building does not cover this order; the property manager must be told')
  FROM ticket_details JOIN buildings ON buildings.id = ticket_details.building_id
  WHERE ticket_details.ticket_id = NEW.ticket_id
    AND NEW.estimate_cents + coalesce((SELECT sum(order_costs.cost_cents) FROM order_costs
      WHERE order_costs.building_id = buildings.id AND order_costs.year = strftime('%Y', NEW.released_on)), 0)
      > buildings.yearly_budget_cents;
END;

CREATE TRIGGER done_after_a_completed_visit BEFORE UPDATE OF status ON work_orders
WHEN NEW.status = 'done' AND OLD.status <> 'done'
BEGIN
  SELECT RAISE(ABORT, 'a visit of this order is still planned; record its outcome or cancel it first')
  FROM visits WHERE work_order_id = NEW.id AND status = 'planned';
  SELECT RAISE(ABORT, 'no visit of this order was completed; without one it is cancelled, not done')
  WHERE NOT EXISTS (SELECT 1 FROM visits WHERE work_order_id = NEW.id AND status = 'completed');
END;

CREATE TRIGGER no_cancelling_after_work BEFORE UPDATE OF status ON work_orders
WHEN NEW.status = 'cancelled' AND OLD.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'a visit of this order was completed; it can be finished, not cancelled')
  FROM visits WHERE work_order_id = NEW.id AND status = 'completed';
END;

CREATE TRIGGER leaving_draft_declines_quotes AFTER UPDATE OF status ON work_orders
WHEN OLD.status = 'draft' AND NEW.status <> 'draft'
BEGIN
  UPDATE quotes SET status = 'declined', decided_on = date('now') WHERE work_order_id = NEW.id AND status = 'received';
END;

CREATE TRIGGER release_puts_the_ticket_in_work AFTER UPDATE OF status ON work_orders
WHEN NEW.status = 'released' AND OLD.status <> 'released'
BEGIN
  UPDATE tickets SET status = 'in_work' WHERE id = NEW.ticket_id AND status = 'accepted';
END;

CREATE TRIGGER cancelled_order_cancels_visits AFTER UPDATE OF status ON work_orders
WHEN NEW.status = 'cancelled' AND OLD.status <> 'cancelled'
BEGIN
  UPDATE visits SET status = 'cancelled' WHERE work_order_id = NEW.id AND status = 'planned';
END;

CREATE TRIGGER open_quotes_for_drafts BEFORE INSERT ON quotes WHEN NEW.status = 'received'
BEGIN
  SELECT RAISE(ABORT, 'quotes are taken only while the order is a draft')
  FROM work_orders WHERE id = NEW.work_order_id AND status <> 'draft';
  SELECT RAISE(ABORT, 'a quote was accepted for this order already; no further one is taken')
  FROM quotes WHERE work_order_id = NEW.work_order_id AND status = 'accepted';
END;

CREATE TRIGGER quote_in_the_trade BEFORE INSERT ON quotes
BEGIN
  SELECT RAISE(ABORT, 'this contractor does not work in the trade of the order; no quote is taken')
  FROM work_orders WHERE work_orders.id = NEW.work_order_id
    AND NOT EXISTS (SELECT 1 FROM contractor_trades
      WHERE contractor_trades.contractor_id = NEW.contractor_id AND contractor_trades.trade_id = work_orders.trade_id);
END;

CREATE TRIGGER decided_quotes_stay BEFORE UPDATE ON quotes WHEN OLD.status <> 'received'
BEGIN
  SELECT RAISE(ABORT, 'this quote is decided already; to start again cancel the order and open another');
END;

CREATE TRIGGER accepted_quote_sets_the_order AFTER UPDATE OF status ON quotes
WHEN NEW.status = 'accepted' AND OLD.status = 'received'
BEGIN
  UPDATE quotes SET status = 'declined', decided_on = NEW.decided_on
  WHERE work_order_id = NEW.work_order_id AND id <> NEW.id AND status = 'received';
  UPDATE work_orders SET contractor_id = NEW.contractor_id, estimate_cents = NEW.amount_cents
  WHERE id = NEW.work_order_id;
END;

CREATE TRIGGER visit_for_a_released_order BEFORE INSERT ON visits WHEN NEW.status = 'planned'
BEGIN
  SELECT RAISE(ABORT, 'visits are planned only for a released order; release it first')
  FROM work_orders WHERE id = NEW.work_order_id AND status <> 'released';
END;

CREATE TRIGGER visit_matches_the_order BEFORE INSERT ON visits
BEGIN
  SELECT RAISE(ABORT, 'a visit is made by the contractor of the order, in the apartment of the ticket')
  WHERE NOT EXISTS (SELECT 1 FROM order_details WHERE work_order_id = NEW.work_order_id
    AND contractor_id = NEW.contractor_id AND apartment_id = NEW.apartment_id);
END;

CREATE TRIGGER visit_keeps_its_order BEFORE UPDATE OF work_order_id, contractor_id, apartment_id ON visits
WHEN NEW.work_order_id <> OLD.work_order_id OR NEW.contractor_id <> OLD.contractor_id OR NEW.apartment_id <> OLD.apartment_id
BEGIN
  SELECT RAISE(ABORT, 'a visit keeps its order, contractor and apartment; cancel it and plan another');
END;

CREATE TRIGGER insured_on_the_visit_day BEFORE INSERT ON visits WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'the insurance of this contractor has run out by the day of the visit; choose an earlier day or another contractor')
  FROM contractors WHERE id = NEW.contractor_id AND insured_until < NEW.visit_on;
END;

CREATE TRIGGER insured_on_the_new_day BEFORE UPDATE OF visit_on ON visits WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'the insurance of this contractor has run out by the day of the visit; choose an earlier day')
  FROM contractors WHERE id = NEW.contractor_id AND insured_until < NEW.visit_on;
END;

CREATE TRIGGER contractor_day_limit BEFORE INSERT ON visits WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this contractor has as many visits on that day as agreed; choose another day')
  FROM contractors WHERE id = NEW.contractor_id
    AND (SELECT count(*) FROM visits WHERE visits.contractor_id = NEW.contractor_id
      AND visits.visit_on = NEW.visit_on AND visits.status <> 'cancelled') >= visits_per_day;
END;

CREATE TRIGGER contractor_day_limit_on_moving BEFORE UPDATE OF visit_on ON visits
WHEN NEW.status <> 'cancelled' AND NEW.visit_on <> OLD.visit_on
BEGIN
  SELECT RAISE(ABORT, 'this contractor has as many visits on that day as agreed; choose another day')
  FROM contractors WHERE id = NEW.contractor_id
    AND (SELECT count(*) FROM visits WHERE visits.contractor_id = NEW.contractor_id
      AND visits.visit_on = NEW.visit_on AND visits.status <> 'cancelled') >= visits_per_day;
END;

CREATE TRIGGER entry_notice BEFORE INSERT ON visits WHEN NEW.status <> 'cancelled' AND NEW.tenant_consented = 0
BEGIN
  SELECT RAISE(ABORT, 'entry needs 2 days of notice; choose a later day or ask for the consent of the tenant')
  FROM order_details WHERE work_order_id = NEW.work_order_id
    AND NEW.visit_on < date(NEW.announced_on, '+' || notice_days || ' days');
END;

CREATE TRIGGER entry_notice_on_moving BEFORE UPDATE OF visit_on, announced_on, tenant_consented ON visits
WHEN NEW.status <> 'cancelled' AND NEW.tenant_consented = 0
BEGIN
  SELECT RAISE(ABORT, 'entry needs 2 days of notice; choose a later day or ask for the consent of the tenant')
  FROM order_details WHERE work_order_id = NEW.work_order_id
    AND NEW.visit_on < date(NEW.announced_on, '+' || notice_days || ' days');
END;

CREATE TRIGGER held_visits_stay BEFORE UPDATE ON visits WHEN OLD.status <> 'planned'
BEGIN
  SELECT RAISE(ABORT, 'this visit was held or cancelled already; plan another one');
END;

CREATE TRIGGER two_moves_a_visit BEFORE UPDATE OF visit_on, slot ON visits
WHEN (NEW.visit_on <> OLD.visit_on OR NEW.slot <> OLD.slot) AND OLD.moves >= 2
BEGIN
  SELECT RAISE(ABORT, 'this visit was moved twice already; it takes place as planned or is cancelled');
END;

CREATE TRIGGER moves_are_counted AFTER UPDATE OF visit_on, slot ON visits
WHEN NEW.visit_on <> OLD.visit_on OR NEW.slot <> OLD.slot
BEGIN
  UPDATE visits SET moves = OLD.moves + 1 WHERE id = NEW.id;
END;

CREATE TRIGGER invoice_after_the_work BEFORE INSERT ON invoices
BEGIN
  SELECT RAISE(ABORT, 'this order is not done; an invoice is booked only for work that is done')
  FROM work_orders WHERE id = NEW.work_order_id AND status <> 'done';
END;

CREATE TRIGGER invoice_steps BEFORE UPDATE OF status ON invoices
WHEN NEW.status <> OLD.status AND OLD.status || '>' || NEW.status NOT IN (
  'received>approved', 'received>disputed', 'disputed>received', 'approved>paid')
BEGIN
  SELECT RAISE(ABORT, 'an invoice does not go from its present state to that one; look at its state first');
END;

CREATE TRIGGER invoice_corrected_in_dispute BEFORE UPDATE OF amount_cents, work_order_id ON invoices
WHEN NEW.work_order_id <> OLD.work_order_id OR (NEW.amount_cents <> OLD.amount_cents AND OLD.status <> 'disputed')
BEGIN
  SELECT RAISE(ABORT, 'the amount of an invoice is corrected only while it is disputed, and it stays with its order');
END;

CREATE TRIGGER no_overcharge_booked BEFORE INSERT ON invoices WHEN NEW.status IN ('approved', 'paid')
BEGIN
  SELECT RAISE(ABORT, 'this invoice is more than 110 percent of the estimate; it must be disputed')
  FROM work_orders WHERE id = NEW.work_order_id AND NEW.amount_cents * 100 > estimate_cents * 110;
END;

CREATE TRIGGER no_overcharge_approved BEFORE UPDATE ON invoices WHEN NEW.status IN ('approved', 'paid')
BEGIN
  SELECT RAISE(ABORT, 'this invoice is more than 110 percent of the estimate; it must be disputed')
  FROM work_orders WHERE id = NEW.work_order_id AND NEW.amount_cents * 100 > estimate_cents * 110;
END;

CREATE TRIGGER invoice_within_the_budget BEFORE UPDATE OF status ON invoices
WHEN NEW.status = 'approved' AND OLD.status <> 'approved'
BEGIN
  SELECT RAISE(ABORT, 'the yearly budget of the building does not cover this invoice; it stays unapproved and the property manager must be told')
  FROM order_details JOIN buildings ON buildings.id = order_details.building_id
  WHERE order_details.work_order_id = NEW.work_order_id
    AND NEW.amount_cents + coalesce((SELECT sum(order_costs.cost_cents) FROM order_costs
      WHERE order_costs.building_id = buildings.id AND order_costs.work_order_id <> NEW.work_order_id
        AND order_costs.year = strftime('%Y', order_details.released_on)), 0) > buildings.yearly_budget_cents;
END;

CREATE TRIGGER fee_from_the_second_failed_visit BEFORE INSERT ON charges WHEN NEW.kind = 'no_access'
BEGIN
  SELECT RAISE(ABORT, 'the fee is due only for a visit of this order that met no access, after another one before it did')
  WHERE NOT EXISTS (SELECT 1 FROM visits WHERE id = NEW.visit_id AND work_order_id = NEW.work_order_id AND status = 'no_access')
    OR (SELECT count(*) FROM visits WHERE work_order_id = NEW.work_order_id AND status = 'no_access') < 2;
END;

CREATE TRIGGER repair_charge_up_to_the_invoice BEFORE INSERT ON charges WHEN NEW.kind IN ('small_repair', 'damage')
BEGIN
  SELECT RAISE(ABORT, 'a repair is charged only from the approved invoice of the order, up to its amount')
  WHERE NOT EXISTS (SELECT 1 FROM invoices WHERE id = NEW.invoice_id AND work_order_id = NEW.work_order_id
    AND status IN ('approved', 'paid') AND amount_cents >= NEW.amount_cents);
END;

CREATE TRIGGER small_repairs_are_small BEFORE INSERT ON charges WHEN NEW.kind = 'small_repair'
BEGIN
  SELECT RAISE(ABORT, 'this invoice is above 110 euros; the repair is no small repair and the cooperative bears it')
  FROM invoices WHERE id = NEW.invoice_id AND amount_cents > 11000;
END;

CREATE TRIGGER small_repairs_of_tenant_parts BEFORE INSERT ON charges WHEN NEW.kind = 'small_repair'
BEGIN
  SELECT RAISE(ABORT, 'this trade does not work on parts that tenants handle; the cooperative bears the repair')
  FROM order_details WHERE work_order_id = NEW.work_order_id AND tenant_parts = 0;
END;

CREATE TRIGGER small_repairs_within_the_year BEFORE INSERT ON charges WHEN NEW.kind = 'small_repair'
BEGIN
  SELECT RAISE(ABORT, 'small repairs of this tenancy would pass 300 euros in the year; charge no more than what is left')
  FROM order_details WHERE order_details.work_order_id = NEW.work_order_id
    AND NEW.amount_cents + coalesce((SELECT sum(charge_details.amount_cents) FROM charge_details
      WHERE charge_details.tenancy_id = order_details.tenancy_id AND charge_details.kind = 'small_repair'
        AND strftime('%Y', charge_details.charged_on) = strftime('%Y', NEW.charged_on)), 0) > 30000;
END;

CREATE TRIGGER charges_stay_as_booked BEFORE UPDATE ON charges
BEGIN
  SELECT RAISE(ABORT, 'a charge stays as it was booked');
END;
