CREATE TABLE departments (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  budget_year INTEGER NOT NULL CHECK (budget_year BETWEEN 2020 AND 2100),
  budget_cents INTEGER NOT NULL CHECK (budget_cents >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE employees (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  job_title TEXT NOT NULL,
  department_id TEXT NOT NULL REFERENCES departments (id),
  manager_id TEXT REFERENCES employees (id) CHECK (manager_id <> id),
  is_head_of_it INTEGER NOT NULL DEFAULT 0 CHECK (is_head_of_it IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'on_leave', 'leaving', 'left')),
  last_day TEXT CHECK (last_day IS date(last_day)),
  CHECK ((status IN ('leaving', 'left')) = (last_day IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_head_of_it ON employees (is_head_of_it) WHERE is_head_of_it = 1;

CREATE TABLE technicians (
  id TEXT PRIMARY KEY,
  employee_id TEXT NOT NULL UNIQUE REFERENCES employees (id),
  since_on TEXT NOT NULL CHECK (since_on IS date(since_on))
) STRICT, WITHOUT ROWID;

CREATE TABLE technician_skills (
  technician_id TEXT NOT NULL REFERENCES technicians (id),
  category TEXT NOT NULL CHECK (category IN ('hardware', 'software', 'network', 'printing', 'accounts')),
  PRIMARY KEY (technician_id, category)
) STRICT, WITHOUT ROWID;

CREATE TABLE priorities (
  id TEXT PRIMARY KEY CHECK (id IN ('P1', 'P2', 'P3', 'P4')),
  meaning TEXT NOT NULL,
  hours INTEGER NOT NULL CHECK (hours > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE tickets (
  id TEXT PRIMARY KEY,
  requester_id TEXT NOT NULL REFERENCES employees (id),
  category TEXT NOT NULL CHECK (category IN ('hardware', 'software', 'network', 'printing', 'accounts')),
  summary TEXT NOT NULL CHECK (length(summary) > 0),
  priority_id TEXT NOT NULL REFERENCES priorities (id),
  affected_people INTEGER NOT NULL DEFAULT 1 CHECK (affected_people >= 1)
    CONSTRAINT p1_is_only_for_faults_that_stop_five_or_more_people CHECK (priority_id <> 'P1' OR affected_people >= 5),
  status TEXT NOT NULL DEFAULT 'new'
    CHECK (status IN ('new', 'assigned', 'waiting', 'resolved', 'closed', 'cancelled')),
  technician_id TEXT REFERENCES technicians (id),
  opened_at TEXT NOT NULL CHECK (opened_at IS datetime(opened_at)),
  deadline_at TEXT NOT NULL CHECK (deadline_at IS datetime(deadline_at)),
  waiting_for TEXT,
  reopened INTEGER NOT NULL DEFAULT 0
    CONSTRAINT a_ticket_is_reopened_twice_at_most CHECK (reopened BETWEEN 0 AND 2),
  resolved_at TEXT CHECK (resolved_at IS datetime(resolved_at)),
  resolution TEXT,
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK (deadline_at > opened_at),
  CHECK (status <> 'new' OR technician_id IS NULL),
  CHECK (status IN ('new', 'cancelled') OR technician_id IS NOT NULL),
  CHECK ((status = 'waiting') = (waiting_for IS NOT NULL)),
  CHECK ((status IN ('resolved', 'closed')) = (resolved_at IS NOT NULL)),
  CHECK ((resolved_at IS NULL) = (resolution IS NULL)),
  CHECK ((status IN ('closed', 'cancelled')) = (closed_at IS NOT NULL)),
  CHECK (resolved_at >= opened_at),
  CHECK (closed_at >= opened_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX tickets_of_technicians ON tickets (technician_id, status);

CREATE TABLE device_kinds (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  permanent_limit INTEGER NOT NULL CHECK (permanent_limit >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE device_models (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind_id TEXT NOT NULL REFERENCES device_kinds (id),
  price_cents INTEGER NOT NULL CHECK (price_cents > 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
  id TEXT PRIMARY KEY,
  model_id TEXT NOT NULL REFERENCES device_models (id),
  serial TEXT NOT NULL UNIQUE,
  bought_on TEXT NOT NULL CHECK (bought_on IS date(bought_on)),
  warranty_until TEXT NOT NULL CHECK (warranty_until IS date(warranty_until)),
  status TEXT NOT NULL DEFAULT 'in_stock'
    CHECK (status IN ('in_stock', 'reserved', 'handed_out', 'in_repair', 'retired')),
  reserved_for TEXT REFERENCES employees (id),
  reserved_on TEXT CHECK (reserved_on IS date(reserved_on)),
  reserved_until TEXT CHECK (reserved_until IS date(reserved_until)),
  CHECK (warranty_until >= bought_on),
  CHECK ((status = 'reserved') = (reserved_for IS NOT NULL)),
  CHECK ((reserved_for IS NULL) = (reserved_on IS NULL)),
  CHECK ((reserved_for IS NULL) = (reserved_until IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE assignments (
  id TEXT PRIMARY KEY,
  device_id TEXT NOT NULL REFERENCES devices (id),
  employee_id TEXT NOT NULL REFERENCES employees (id),
  ticket_id TEXT REFERENCES tickets (id),
  kind TEXT NOT NULL CHECK (kind IN ('permanent', 'loan')),
  handed_out_on TEXT NOT NULL CHECK (handed_out_on IS date(handed_out_on)),
  due_on TEXT CHECK (due_on IS date(due_on))
    CONSTRAINT a_loan_runs_14_days_at_most_and_7_more_when_extended
    CHECK (due_on <= date(handed_out_on, '+' || (14 + 7 * extensions) || ' days')),
  extensions INTEGER NOT NULL DEFAULT 0
    CONSTRAINT a_loan_is_extended_only_once CHECK (extensions BETWEEN 0 AND 1),
  charged_cents INTEGER NOT NULL DEFAULT 0 CHECK (charged_cents >= 0),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'returned')),
  returned_on TEXT CHECK (returned_on IS date(returned_on)),
  CHECK ((kind = 'loan') = (due_on IS NOT NULL)),
  CHECK (due_on >= handed_out_on),
  CHECK (kind = 'loan' OR extensions = 0),
  CHECK (kind = 'permanent' OR charged_cents = 0),
  CHECK ((status = 'open') = (returned_on IS NULL)),
  CHECK (returned_on >= handed_out_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_assignment_a_device ON assignments (device_id) WHERE status = 'open';
CREATE INDEX assignments_of_employees ON assignments (employee_id, status);

CREATE TABLE repairs (
  id TEXT PRIMARY KEY,
  device_id TEXT NOT NULL REFERENCES devices (id),
  fault TEXT NOT NULL CHECK (length(fault) > 0),
  quote_cents INTEGER NOT NULL CHECK (quote_cents >= 0),
  sent_on TEXT NOT NULL CHECK (sent_on IS date(sent_on)),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'done')),
  back_on TEXT CHECK (back_on IS date(back_on)),
  CHECK ((status = 'open') = (back_on IS NULL)),
  CHECK (back_on >= sent_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_repair_a_device ON repairs (device_id) WHERE status = 'open';

CREATE TABLE products (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  yearly_price_cents INTEGER NOT NULL CHECK (yearly_price_cents >= 0),
  paid_seats INTEGER NOT NULL CHECK (paid_seats >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE seats (
  id TEXT PRIMARY KEY,
  product_id TEXT NOT NULL REFERENCES products (id),
  employee_id TEXT NOT NULL REFERENCES employees (id),
  ticket_id TEXT REFERENCES tickets (id),
  granted_on TEXT NOT NULL CHECK (granted_on IS date(granted_on)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'released')),
  released_on TEXT CHECK (released_on IS date(released_on)),
  CHECK ((status = 'active') = (released_on IS NULL)),
  CHECK (released_on >= granted_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_seat_a_person ON seats (product_id, employee_id) WHERE status = 'active';

CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  ticket_id TEXT NOT NULL REFERENCES tickets (id),
  employee_id TEXT NOT NULL REFERENCES employees (id),
  approver_id TEXT NOT NULL REFERENCES employees (id)
    CONSTRAINT nobody_approves_for_themselves CHECK (approver_id <> employee_id),
  level TEXT NOT NULL CHECK (level IN ('manager', 'head_of_it')),
  model_id TEXT REFERENCES device_models (id),
  product_id TEXT REFERENCES products (id),
  asked_on TEXT NOT NULL CHECK (asked_on IS date(asked_on)),
  expires_on TEXT NOT NULL CHECK (expires_on IS date(asked_on, '+14 days')),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'expired')),
  decided_on TEXT CHECK (decided_on IS date(decided_on)),
  used_on TEXT CHECK (used_on IS date(used_on)),
  CHECK ((model_id IS NULL) <> (product_id IS NULL)),
  CHECK ((status IN ('approved', 'rejected')) = (decided_on IS NOT NULL)),
  CHECK (decided_on >= asked_on),
  CHECK (used_on IS NULL OR status = 'approved'),
  CHECK (used_on >= decided_on)
) STRICT, WITHOUT ROWID;

CREATE INDEX approvals_of_tickets ON approvals (ticket_id, status);

CREATE VIEW employee_details AS
SELECT employees.id AS employee_id, employees.name, employees.email, employees.job_title, employees.status, employees.last_day,
  employees.department_id, departments.name AS department, employees.manager_id, managers.name AS manager, employees.is_head_of_it,
  (SELECT count(*) FROM assignments WHERE assignments.employee_id = employees.id AND assignments.status = 'open' AND assignments.kind = 'loan') AS open_loans,
  (SELECT count(*) FROM assignments WHERE assignments.employee_id = employees.id AND assignments.status = 'open' AND assignments.kind = 'permanent') AS permanent_devices,
  (SELECT min(assignments.due_on) FROM assignments WHERE assignments.employee_id = employees.id AND assignments.status = 'open') AS first_due_on,
  (SELECT count(*) FROM seats WHERE seats.employee_id = employees.id AND seats.status = 'active') AS active_seats
FROM employees
JOIN departments ON departments.id = employees.department_id
LEFT JOIN employees AS managers ON managers.id = employees.manager_id;

CREATE VIEW department_budgets AS
SELECT sums.id AS department_id, sums.name, sums.budget_year, sums.budget_cents, sums.spent_cents,
  sums.budget_cents - sums.spent_cents AS left_cents
FROM (
  SELECT departments.id, departments.name, departments.budget_year, departments.budget_cents,
    (SELECT coalesce(sum(assignments.charged_cents), 0)
     FROM assignments JOIN employees ON employees.id = assignments.employee_id
     WHERE employees.department_id = departments.id
       AND substr(assignments.handed_out_on, 1, 4) = CAST(departments.budget_year AS TEXT)) AS spent_cents
  FROM departments
) AS sums;

CREATE VIEW technician_load AS
SELECT technicians.id AS technician_id, technicians.employee_id, employees.name, employees.status,
  (SELECT group_concat(technician_skills.category, ', ') FROM technician_skills WHERE technician_skills.technician_id = technicians.id) AS skills,
  (SELECT count(*) FROM tickets WHERE tickets.technician_id = technicians.id AND tickets.status IN ('assigned', 'waiting')) AS open_tickets,
  (SELECT count(*) FROM tickets WHERE tickets.technician_id = technicians.id AND tickets.status IN ('assigned', 'waiting') AND tickets.priority_id = 'P1') AS open_p1
FROM technicians JOIN employees ON employees.id = technicians.employee_id;

CREATE VIEW ticket_details AS
SELECT tickets.id AS ticket_id, tickets.summary, tickets.category, tickets.priority_id, tickets.affected_people, tickets.status,
  tickets.requester_id, requesters.name AS requester, tickets.technician_id, workers.name AS technician,
  tickets.opened_at, tickets.deadline_at, tickets.waiting_for, tickets.reopened, tickets.resolved_at, tickets.resolution, tickets.closed_at,
  (SELECT count(*) FROM approvals WHERE approvals.ticket_id = tickets.id AND approvals.status = 'pending') AS pending_approvals
FROM tickets
JOIN employees AS requesters ON requesters.id = tickets.requester_id
LEFT JOIN technicians ON technicians.id = tickets.technician_id
LEFT JOIN employees AS workers ON workers.id = technicians.employee_id;

CREATE VIEW device_details AS
SELECT devices.id AS device_id, devices.serial, devices.status, devices.model_id, device_models.name AS model,
  device_models.kind_id, device_models.price_cents, devices.bought_on, devices.warranty_until,
  devices.reserved_for, devices.reserved_on, devices.reserved_until,
  holders.id AS assignment_id, holders.employee_id AS holder_id, people.name AS holder, holders.kind AS held_as, holders.due_on,
  (SELECT count(*) FROM repairs WHERE repairs.device_id = devices.id) AS repairs,
  EXISTS (SELECT 1 FROM assignments WHERE assignments.device_id = devices.id AND assignments.kind = 'permanent') AS is_used
FROM devices
JOIN device_models ON device_models.id = devices.model_id
LEFT JOIN assignments AS holders ON holders.device_id = devices.id AND holders.status = 'open'
LEFT JOIN employees AS people ON people.id = holders.employee_id;

CREATE VIEW assignment_details AS
SELECT assignments.id AS assignment_id, assignments.device_id, device_models.name AS model, device_models.kind_id,
  assignments.employee_id, employees.name AS employee, assignments.ticket_id, assignments.kind, assignments.handed_out_on,
  assignments.due_on, assignments.extensions, assignments.charged_cents, assignments.status, assignments.returned_on
FROM assignments
JOIN devices ON devices.id = assignments.device_id
JOIN device_models ON device_models.id = devices.model_id
JOIN employees ON employees.id = assignments.employee_id;

CREATE VIEW product_use AS
SELECT products.id AS product_id, products.name, products.yearly_price_cents, products.paid_seats,
  (SELECT count(*) FROM seats WHERE seats.product_id = products.id AND seats.status = 'active') AS active_seats
FROM products;

CREATE VIEW approval_details AS
SELECT approvals.id AS approval_id, approvals.ticket_id, approvals.employee_id, employees.name AS employee,
  approvals.approver_id, approvers.name AS approver, approvals.level, approvals.model_id, approvals.product_id,
  coalesce(device_models.name, products.name) AS item, coalesce(device_models.price_cents, products.yearly_price_cents) AS price_cents,
  approvals.asked_on, approvals.expires_on, approvals.status, approvals.decided_on, approvals.used_on
FROM approvals
JOIN employees ON employees.id = approvals.employee_id
JOIN employees AS approvers ON approvers.id = approvals.approver_id
LEFT JOIN device_models ON device_models.id = approvals.model_id
LEFT JOIN products ON products.id = approvals.product_id;

CREATE TRIGGER ticket_steps BEFORE UPDATE OF status ON tickets
WHEN NEW.status <> OLD.status AND (OLD.status || '>' || NEW.status) NOT IN (
  'new>assigned', 'new>cancelled', 'assigned>waiting', 'assigned>resolved', 'assigned>cancelled',
  'waiting>assigned', 'waiting>cancelled', 'resolved>new', 'resolved>closed')
BEGIN
  SELECT RAISE(ABORT, 'a ticket cannot go from its present state to that one; a waiting ticket must be taken up before it is resolved, a new one must be assigned first, a closed or cancelled one is final and needs a new ticket');
END;

CREATE TRIGGER ended_tickets_stay_as_they_are BEFORE UPDATE ON tickets WHEN OLD.status IN ('closed', 'cancelled')
BEGIN
  SELECT RAISE(ABORT, 'this ticket is closed or cancelled and cannot be changed any more; open a new ticket');
END;

CREATE TRIGGER decide_before_resolving BEFORE UPDATE OF status ON tickets WHEN NEW.status IN ('resolved', 'cancelled') AND OLD.status <> NEW.status
BEGIN
  SELECT RAISE(ABORT, 'an approval on this ticket is still pending; it must be decided or have lapsed before the ticket is resolved or cancelled')
  WHERE EXISTS (SELECT 1 FROM approvals WHERE approvals.ticket_id = NEW.id AND approvals.status = 'pending');
END;

CREATE TRIGGER technician_has_the_skill BEFORE UPDATE ON tickets WHEN NEW.status IN ('assigned', 'waiting')
BEGIN
  SELECT RAISE(ABORT, 'this technician lacks the skill for the category of the ticket; choose one who has it')
  WHERE NOT EXISTS (SELECT 1 FROM technician_skills
    WHERE technician_skills.technician_id = NEW.technician_id AND technician_skills.category = NEW.category);
END;

CREATE TRIGGER technician_within_load BEFORE UPDATE ON tickets WHEN NEW.status IN ('assigned', 'waiting')
BEGIN
  SELECT RAISE(ABORT, 'this technician has eight open tickets already; choose another technician or hand one over first')
  WHERE (SELECT count(*) FROM tickets AS others WHERE others.technician_id = NEW.technician_id
    AND others.status IN ('assigned', 'waiting') AND others.id <> NEW.id) >= 8;
  SELECT RAISE(ABORT, 'this technician has two open P1 tickets already; choose another technician or hand one over first')
  WHERE NEW.priority_id = 'P1' AND (SELECT count(*) FROM tickets AS others WHERE others.technician_id = NEW.technician_id
    AND others.status IN ('assigned', 'waiting') AND others.priority_id = 'P1' AND others.id <> NEW.id) >= 2;
END;

CREATE TRIGGER tickets_come_in_within_load BEFORE INSERT ON tickets WHEN NEW.status IN ('assigned', 'waiting')
BEGIN
  SELECT RAISE(ABORT, 'this technician lacks the skill for the category of the ticket; choose one who has it')
  WHERE NOT EXISTS (SELECT 1 FROM technician_skills
    WHERE technician_skills.technician_id = NEW.technician_id AND technician_skills.category = NEW.category);
  SELECT RAISE(ABORT, 'this technician has eight open tickets already; choose another technician')
  WHERE (SELECT count(*) FROM tickets AS others WHERE others.technician_id = NEW.technician_id
    AND others.status IN ('assigned', 'waiting')) >= 8;
  SELECT RAISE(ABORT, 'this technician has two open P1 tickets already; choose another technician')
  WHERE NEW.priority_id = 'P1' AND (SELECT count(*) FROM tickets AS others WHERE others.technician_id = NEW.technician_id
    AND others.status IN ('assigned', 'waiting') AND others.priority_id = 'P1') >= 2;
END;

CREATE TRIGGER only_free_devices BEFORE INSERT ON assignments WHEN NEW.status = 'open'
BEGIN
  SELECT RAISE(ABORT, 'this device is in repair or retired and cannot be handed out; choose another one in stock')
  FROM devices WHERE devices.id = NEW.device_id AND devices.status IN ('in_repair', 'retired');
  SELECT RAISE(ABORT, 'this device is handed out to somebody; it must be taken back first, or choose another one in stock')
  WHERE EXISTS (SELECT 1 FROM assignments AS others WHERE others.device_id = NEW.device_id AND others.status = 'open');
  SELECT RAISE(ABORT, 'this device is reserved for somebody else; choose another one in stock')
  FROM devices WHERE devices.id = NEW.device_id AND devices.status = 'reserved'
    AND devices.reserved_for <> NEW.employee_id AND devices.reserved_until >= date('now');
END;

CREATE TRIGGER permanent_within_limit BEFORE INSERT ON assignments WHEN NEW.status = 'open' AND NEW.kind = 'permanent'
BEGIN
  SELECT RAISE(ABORT, 'this person may not hold one more permanent device of this kind; one must be taken back first, or lend it for a while')
  FROM devices
  JOIN device_models ON device_models.id = devices.model_id
  JOIN device_kinds ON device_kinds.id = device_models.kind_id
  WHERE devices.id = NEW.device_id AND device_kinds.permanent_limit <= (
    SELECT count(*) FROM assignment_details
    WHERE assignment_details.employee_id = NEW.employee_id AND assignment_details.status = 'open'
      AND assignment_details.kind = 'permanent' AND assignment_details.kind_id = device_models.kind_id);
END;

CREATE TRIGGER two_loans_at_a_time BEFORE INSERT ON assignments WHEN NEW.status = 'open' AND NEW.kind = 'loan'
BEGIN
  SELECT RAISE(ABORT, 'this person has two devices on loan already; one must come back first')
  WHERE (SELECT count(*) FROM assignments AS others WHERE others.employee_id = NEW.employee_id
    AND others.status = 'open' AND others.kind = 'loan') >= 2;
END;

CREATE TRIGGER permanent_within_budget BEFORE INSERT ON assignments WHEN NEW.charged_cents > 0
BEGIN
  SELECT RAISE(ABORT, 'the rest of the department budget for this year does not cover this device; choose a cheaper or a used one')
  FROM employees JOIN department_budgets ON department_budgets.department_id = employees.department_id
  WHERE employees.id = NEW.employee_id
    AND substr(NEW.handed_out_on, 1, 4) = CAST(department_budgets.budget_year AS TEXT)
    AND department_budgets.left_cents < NEW.charged_cents;
END;

CREATE TRIGGER no_device_for_those_who_left BEFORE INSERT ON assignments WHEN NEW.status = 'open'
BEGIN
  SELECT RAISE(ABORT, 'this person has left the company and gets nothing any more')
  FROM employees WHERE employees.id = NEW.employee_id AND employees.status = 'left';
END;

CREATE TRIGGER loan_until_the_last_day BEFORE INSERT ON assignments WHEN NEW.status = 'open' AND NEW.kind = 'loan'
BEGIN
  SELECT RAISE(ABORT, 'this person is leaving; the loan must be due on the last working day or before')
  FROM employees WHERE employees.id = NEW.employee_id AND employees.status = 'leaving' AND employees.last_day < NEW.due_on;
END;

CREATE TRIGGER extension_until_the_last_day BEFORE UPDATE OF due_on ON assignments WHEN NEW.status = 'open' AND NEW.kind = 'loan'
BEGIN
  SELECT RAISE(ABORT, 'this person is leaving; the loan must be due on the last working day or before')
  FROM employees WHERE employees.id = NEW.employee_id AND employees.status = 'leaving' AND employees.last_day < NEW.due_on;
END;

CREATE TRIGGER returned_stays_returned BEFORE UPDATE ON assignments WHEN OLD.status = 'returned'
BEGIN
  SELECT RAISE(ABORT, 'this device was taken back already; hand it out anew if it is needed again');
END;

CREATE TRIGGER retired_stays_retired BEFORE UPDATE ON devices WHEN OLD.status = 'retired'
BEGIN
  SELECT RAISE(ABORT, 'this device is retired for good; choose another one');
END;

CREATE TRIGGER repair_worth_it BEFORE INSERT ON repairs
BEGIN
  SELECT RAISE(ABORT, 'only a device that lies in stock goes to repair; take it back or free it first')
  FROM devices WHERE NEW.status = 'open' AND devices.id = NEW.device_id AND devices.status NOT IN ('in_stock', 'in_repair');
  SELECT RAISE(ABORT, 'this device was in repair three times already; it is to be retired instead')
  WHERE (SELECT count(*) FROM repairs AS others WHERE others.device_id = NEW.device_id) >= 3;
  SELECT RAISE(ABORT, 'the warranty is over and the quote is more than half the list price; the device is to be retired instead')
  FROM devices JOIN device_models ON device_models.id = devices.model_id
  WHERE devices.id = NEW.device_id AND devices.warranty_until < NEW.sent_on AND NEW.quote_cents * 2 > device_models.price_cents;
END;

CREATE TRIGGER seats_within_paid BEFORE INSERT ON seats WHEN NEW.status = 'active'
BEGIN
  SELECT RAISE(ABORT, 'all paid seats of this product are taken; a seat must be released first')
  FROM product_use WHERE product_use.product_id = NEW.product_id AND product_use.active_seats >= product_use.paid_seats;
END;

CREATE TRIGGER no_seat_for_those_who_left BEFORE INSERT ON seats WHEN NEW.status = 'active'
BEGIN
  SELECT RAISE(ABORT, 'this person has left the company and gets nothing any more')
  FROM employees WHERE employees.id = NEW.employee_id AND employees.status = 'left';
END;

CREATE TRIGGER released_stays_released BEFORE UPDATE ON seats WHEN OLD.status = 'released'
BEGIN
  SELECT RAISE(ABORT, 'this seat was released already; grant a new one if it is needed again');
END;

CREATE TRIGGER approval_asked_of_the_right_person BEFORE INSERT ON approvals WHEN NEW.status = 'pending'
BEGIN
  SELECT RAISE(ABORT, 'an approval is asked on an open ticket of the person who is to get the thing; open such a ticket first')
  WHERE NOT EXISTS (SELECT 1 FROM tickets WHERE tickets.id = NEW.ticket_id AND tickets.requester_id = NEW.employee_id
    AND tickets.status IN ('new', 'assigned', 'waiting'));
  SELECT RAISE(ABORT, 'that person is not the manager of the one who is to get it; ask their own manager')
  WHERE NEW.level = 'manager' AND NOT EXISTS (SELECT 1 FROM employees
    WHERE employees.id = NEW.employee_id AND employees.manager_id = NEW.approver_id);
  SELECT RAISE(ABORT, 'that person is not the head of IT; ask the head of IT for the second approval')
  WHERE NEW.level = 'head_of_it' AND NOT EXISTS (SELECT 1 FROM employees
    WHERE employees.id = NEW.approver_id AND employees.is_head_of_it = 1);
END;

CREATE TRIGGER decided_stays_decided BEFORE UPDATE ON approvals WHEN OLD.status <> 'pending' AND NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'this approval is decided or has expired already; ask for a new one');
END;
