CREATE TABLE perils (
  id TEXT PRIMARY KEY CHECK (id IN ('fire', 'water', 'storm', 'theft')),
  report_days INTEGER NOT NULL CHECK (report_days > 0),
  proof_kind TEXT NOT NULL CHECK (proof_kind IN ('fire_report', 'repair_quote', 'weather_report', 'police_report'))
) STRICT, WITHOUT ROWID;

CREATE TABLE plans (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  waiting_days INTEGER NOT NULL CHECK (waiting_days >= 0),
  deductible_cents INTEGER NOT NULL CHECK (deductible_cents >= 0),
  claim_limit_cents INTEGER NOT NULL CHECK (claim_limit_cents > 0),
  year_limit_cents INTEGER NOT NULL,
  visit_above_cents INTEGER NOT NULL CHECK (visit_above_cents > 0),
  CHECK (year_limit_cents >= claim_limit_cents)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
  phone TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE policies (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  plan_id TEXT NOT NULL REFERENCES plans (id),
  address TEXT NOT NULL,
  starts_on TEXT NOT NULL CHECK (starts_on IS date(starts_on)),
  ends_on TEXT NOT NULL CHECK (ends_on IS date(ends_on)),
  status TEXT NOT NULL CHECK (status IN ('active', 'suspended', 'ended')),
  CHECK (starts_on < ends_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE handlers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  is_lead INTEGER NOT NULL DEFAULT 0 CHECK (is_lead IN (0, 1)),
  authority_cents INTEGER NOT NULL CHECK (authority_cents >= 0)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_team_lead ON handlers (is_lead) WHERE is_lead = 1;

CREATE TABLE surveyors (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  visits_a_day INTEGER NOT NULL DEFAULT 3 CHECK (visits_a_day BETWEEN 1 AND 4)
) STRICT, WITHOUT ROWID;

CREATE TABLE surveyor_perils (
  surveyor_id TEXT NOT NULL REFERENCES surveyors (id),
  peril_id TEXT NOT NULL REFERENCES perils (id),
  PRIMARY KEY (surveyor_id, peril_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
  id TEXT PRIMARY KEY,
  policy_id TEXT NOT NULL REFERENCES policies (id),
  peril_id TEXT NOT NULL REFERENCES perils (id),
  lost_on TEXT NOT NULL CHECK (lost_on IS date(lost_on)),
  reported_on TEXT NOT NULL CHECK (reported_on IS date(reported_on)),
  description TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'reported' CHECK (status IN ('reported', 'in_review', 'approved', 'declined', 'paid', 'withdrawn')),
  handler_id TEXT REFERENCES handlers (id),
  approved_cents INTEGER CHECK (approved_cents > 0),
  decided_by TEXT REFERENCES handlers (id),
  decided_on TEXT CHECK (decided_on IS date(decided_on)),
  decline_reason TEXT,
  first_declined_by TEXT REFERENCES handlers (id),
  first_declined_on TEXT CHECK (first_declined_on IS date(first_declined_on)),
  appealed_on TEXT CHECK (appealed_on IS date(appealed_on)),
  CHECK (lost_on <= reported_on),
  CHECK (decided_on >= reported_on),
  CHECK (status NOT IN ('in_review', 'approved', 'declined', 'paid') OR handler_id IS NOT NULL),
  CHECK ((status IN ('approved', 'paid')) = (approved_cents IS NOT NULL)),
  CHECK ((status IN ('approved', 'declined', 'paid')) = (decided_by IS NOT NULL)),
  CHECK ((decided_by IS NULL) = (decided_on IS NULL)),
  CHECK ((status = 'declined') = (decline_reason IS NOT NULL)),
  CHECK ((appealed_on IS NULL) = (first_declined_by IS NULL)),
  CHECK ((appealed_on IS NULL) = (first_declined_on IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_open_claim_a_loss ON claims (policy_id, peril_id, lost_on) WHERE status IN ('reported', 'in_review', 'approved');

CREATE TABLE items (
  id TEXT PRIMARY KEY,
  claim_id TEXT NOT NULL REFERENCES claims (id),
  name TEXT NOT NULL,
  value_cents INTEGER NOT NULL CHECK (value_cents > 0),
  bought_on TEXT NOT NULL CHECK (bought_on IS date(bought_on)),
  status TEXT NOT NULL DEFAULT 'claimed' CHECK (status IN ('claimed', 'allowed', 'struck')),
  allowed_cents INTEGER CHECK (allowed_cents > 0),
  strike_reason TEXT,
  CHECK ((status = 'allowed') = (allowed_cents IS NOT NULL)),
  CHECK ((status = 'struck') = (strike_reason IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX items_of_a_claim ON items (claim_id);

CREATE TABLE evidence (
  id TEXT PRIMARY KEY,
  claim_id TEXT NOT NULL REFERENCES claims (id),
  kind TEXT NOT NULL CHECK (kind IN ('photos', 'receipts', 'fire_report', 'repair_quote', 'weather_report', 'police_report')),
  status TEXT NOT NULL DEFAULT 'missing' CHECK (status IN ('missing', 'received', 'waived')),
  asked_on TEXT NOT NULL CHECK (asked_on IS date(asked_on)),
  settled_on TEXT CHECK (settled_on IS date(settled_on)),
  waived_by TEXT REFERENCES handlers (id),
  UNIQUE (claim_id, kind),
  CHECK ((status = 'missing') = (settled_on IS NULL)),
  CHECK ((status = 'waived') = (waived_by IS NOT NULL)),
  CHECK (settled_on >= asked_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_waiver_a_claim ON evidence (claim_id) WHERE status = 'waived';

CREATE TABLE visits (
  id TEXT PRIMARY KEY,
  claim_id TEXT NOT NULL REFERENCES claims (id),
  surveyor_id TEXT NOT NULL REFERENCES surveyors (id),
  visit_on TEXT NOT NULL CHECK (visit_on IS date(visit_on)),
  slot TEXT NOT NULL CHECK (slot IN ('09:00', '11:00', '14:00', '16:00')),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'done', 'cancelled')),
  arranged_on TEXT NOT NULL CHECK (arranged_on IS date(arranged_on)),
  done_on TEXT CHECK (done_on IS date(done_on)),
  finding TEXT,
  CHECK ((status = 'done') = (done_on IS NOT NULL)),
  CHECK ((status = 'done') = (finding IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_visit_a_slot ON visits (surveyor_id, visit_on, slot) WHERE status <> 'cancelled';

CREATE UNIQUE INDEX one_booked_visit_a_claim ON visits (claim_id) WHERE status = 'booked';

CREATE TABLE payments (
  id TEXT PRIMARY KEY,
  claim_id TEXT NOT NULL REFERENCES claims (id),
  kind TEXT NOT NULL CHECK (kind IN ('advance', 'settlement')),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  status TEXT NOT NULL DEFAULT 'proposed' CHECK (status IN ('proposed', 'released', 'stopped')),
  proposed_by TEXT NOT NULL REFERENCES handlers (id),
  proposed_on TEXT NOT NULL CHECK (proposed_on IS date(proposed_on)),
  released_by TEXT REFERENCES handlers (id),
  closed_on TEXT CHECK (closed_on IS date(closed_on)),
  CHECK (kind <> 'advance' OR amount_cents <= 100000),
  CHECK ((status = 'released') = (released_by IS NOT NULL)),
  CHECK ((status = 'proposed') = (closed_on IS NULL)),
  CHECK (closed_on >= proposed_on)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_payment_of_a_kind ON payments (claim_id, kind) WHERE status <> 'stopped';

CREATE VIEW policy_details AS
SELECT p.id AS policy_id, p.status, p.member_id, m.name AS member_name, m.email, p.address, p.starts_on, p.ends_on,
  p.plan_id, k.name AS plan_name, k.waiting_days, k.deductible_cents, k.claim_limit_cents, k.year_limit_cents, k.visit_above_cents
FROM policies p
JOIN members m ON m.id = p.member_id
JOIN plans k ON k.id = p.plan_id;

CREATE VIEW item_details AS
SELECT i.id AS item_id, i.claim_id, i.name, i.value_cents, i.bought_on, i.status, i.allowed_cents, i.strike_reason, c.lost_on,
  i.value_cents * max(30, 100 - 10 * (CAST(strftime('%Y', c.lost_on) AS INTEGER) - CAST(strftime('%Y', i.bought_on) AS INTEGER)
    - (strftime('%m-%d', c.lost_on) < strftime('%m-%d', i.bought_on)))) / 100 AS most_cents
FROM items i
JOIN claims c ON c.id = i.claim_id;

CREATE VIEW claim_sums AS
SELECT c.id AS claim_id,
  (SELECT count(*) FROM items i WHERE i.claim_id = c.id) AS items,
  (SELECT count(*) FROM items i WHERE i.claim_id = c.id AND i.status = 'claimed') AS open_items,
  (SELECT coalesce(sum(i.value_cents), 0) FROM items i WHERE i.claim_id = c.id) AS claimed_cents,
  (SELECT coalesce(sum(i.allowed_cents), 0) FROM items i WHERE i.claim_id = c.id) AS allowed_cents,
  (SELECT count(*) FROM evidence e WHERE e.claim_id = c.id AND e.status = 'missing') AS missing_evidence,
  (SELECT count(*) FROM visits v WHERE v.claim_id = c.id AND v.status = 'booked') AS booked_visits,
  (SELECT count(*) FROM visits v WHERE v.claim_id = c.id AND v.status = 'done') AS done_visits,
  (SELECT coalesce(sum(y.amount_cents), 0) FROM payments y WHERE y.claim_id = c.id AND y.status <> 'stopped') AS in_payment_cents,
  (SELECT coalesce(sum(o.approved_cents), 0) FROM claims o
    WHERE o.policy_id = c.policy_id AND o.id <> c.id AND strftime('%Y', o.lost_on) = strftime('%Y', c.lost_on)) AS other_approved_cents
FROM claims c;

CREATE VIEW claim_details AS
SELECT c.id AS claim_id, c.status, c.policy_id, p.member_id, p.member_name, c.peril_id, c.lost_on, c.reported_on, c.description,
  c.handler_id, h.name AS handler_name, s.items, s.open_items, s.claimed_cents, s.allowed_cents, s.missing_evidence,
  s.booked_visits, s.done_visits, s.in_payment_cents, p.deductible_cents, p.claim_limit_cents, p.visit_above_cents,
  p.year_limit_cents - s.other_approved_cents AS year_left_cents,
  max(0, min(s.allowed_cents - p.deductible_cents, p.claim_limit_cents, p.year_limit_cents - s.other_approved_cents)) AS payable_cents,
  c.approved_cents, c.decided_by, c.decided_on, c.decline_reason, c.first_declined_by, c.first_declined_on, c.appealed_on
FROM claims c
JOIN claim_sums s ON s.claim_id = c.id
JOIN policy_details p ON p.policy_id = c.policy_id
LEFT JOIN handlers h ON h.id = c.handler_id;

CREATE VIEW visit_details AS
SELECT v.id AS visit_id, v.status, v.claim_id, c.peril_id, p.member_name, p.address, v.surveyor_id, s.name AS surveyor_name,
  v.visit_on, v.slot, v.arranged_on, v.done_on, v.finding
FROM visits v
JOIN claims c ON c.id = v.claim_id
JOIN policy_details p ON p.policy_id = c.policy_id
JOIN surveyors s ON s.id = v.surveyor_id;

CREATE VIEW payment_details AS
SELECT y.id AS payment_id, y.status, y.claim_id, p.member_name, y.kind, y.amount_cents, y.proposed_by, x.name AS proposed_by_name,
  y.proposed_on, y.released_by, z.name AS released_by_name, y.closed_on
FROM payments y
JOIN claims c ON c.id = y.claim_id
JOIN policy_details p ON p.policy_id = c.policy_id
JOIN handlers x ON x.id = y.proposed_by
LEFT JOIN handlers z ON z.id = y.released_by;

CREATE TRIGGER loss_within_the_cover BEFORE INSERT ON claims
BEGIN
  SELECT RAISE(ABORT, 'the loss lies outside the term of the policy or within its waiting days; it is not covered by this policy')
  FROM policy_details p
  WHERE p.policy_id = NEW.policy_id
    AND NEW.lost_on NOT BETWEEN date(p.starts_on, '+' || p.waiting_days || ' days') AND p.ends_on;
END;

CREATE TRIGGER only_active_policies BEFORE INSERT ON claims WHEN NEW.status = 'reported'
BEGIN
  SELECT RAISE(ABORT, 'the policy is suspended or ended; losses are reported on active policies only')
  FROM policies p WHERE p.id = NEW.policy_id AND p.status <> 'active';
END;

CREATE TRIGGER reported_in_time BEFORE INSERT ON claims
BEGIN
  SELECT RAISE(ABORT, 'the loss is reported too late for its peril; it can no longer be taken up')
  FROM perils k WHERE k.id = NEW.peril_id AND NEW.reported_on > date(NEW.lost_on, '+' || k.report_days || ' days');
END;

CREATE TRIGGER claim_states_in_order BEFORE UPDATE OF status ON claims
WHEN NEW.status <> OLD.status
  AND OLD.status || '>' || NEW.status NOT IN ('reported>in_review', 'reported>withdrawn', 'in_review>approved', 'in_review>declined', 'in_review>withdrawn', 'declined>in_review', 'approved>paid')
BEGIN
  SELECT RAISE(ABORT, 'not possible in this state: a reported claim is taken into review or withdrawn, one in review is decided or withdrawn, a declined one is appealed, an approved one is paid');
END;

CREATE TRIGGER ended_claims_stay_ended BEFORE UPDATE ON claims WHEN OLD.status IN ('paid', 'withdrawn')
BEGIN
  SELECT RAISE(ABORT, 'this claim is paid or withdrawn and cannot be changed');
END;

CREATE TRIGGER decide_when_items_are_settled BEFORE UPDATE OF status ON claims WHEN OLD.status = 'in_review' AND NEW.status IN ('approved', 'declined')
BEGIN
  SELECT RAISE(ABORT, 'a claim is decided when it has items and every item is allowed or struck; settle them first')
  FROM claim_sums s WHERE s.claim_id = NEW.id AND (s.items = 0 OR s.open_items > 0);
END;

CREATE TRIGGER decide_with_evidence BEFORE UPDATE OF status ON claims WHEN OLD.status = 'in_review' AND NEW.status IN ('approved', 'declined')
BEGIN
  SELECT RAISE(ABORT, 'evidence is still missing; it must be received or waived before the claim is decided')
  FROM claim_sums s WHERE s.claim_id = NEW.id AND s.missing_evidence > 0;
END;

CREATE TRIGGER decide_after_the_visit BEFORE UPDATE OF status ON claims WHEN OLD.status = 'in_review' AND NEW.status IN ('approved', 'declined')
BEGIN
  SELECT RAISE(ABORT, 'a surveyor has to visit before this claim is decided, and no visit may still be booked; complete or cancel it, or book one')
  FROM claim_details d
  WHERE d.claim_id = NEW.id AND (d.booked_visits > 0 OR (d.claimed_cents > d.visit_above_cents AND d.done_visits = 0));
END;

CREATE TRIGGER approve_within_authority BEFORE UPDATE OF status ON claims WHEN OLD.status = 'in_review' AND NEW.status = 'approved'
BEGIN
  SELECT RAISE(ABORT, 'the amount is above the authority of this handler; a handler with a higher limit or the team lead must approve')
  FROM handlers h WHERE h.id = NEW.decided_by AND h.is_lead = 0 AND h.authority_cents < NEW.approved_cents;
END;

CREATE TRIGGER approval_covers_the_advance AFTER UPDATE OF status ON claims WHEN OLD.status = 'in_review' AND NEW.status = 'approved'
BEGIN
  SELECT RAISE(ABORT, 'more is in payment already than would be approved; stop the proposed advance first')
  FROM claim_sums s WHERE s.claim_id = NEW.id AND s.in_payment_cents > NEW.approved_cents;
END;

CREATE TRIGGER another_decides_the_appeal BEFORE UPDATE OF status ON claims
WHEN NEW.status IN ('approved', 'declined') AND NEW.decided_by = NEW.first_declined_by
BEGIN
  SELECT RAISE(ABORT, 'this handler declined the claim before the appeal; another handler must decide it now');
END;

CREATE TRIGGER one_appeal_a_claim BEFORE UPDATE OF status ON claims WHEN OLD.status = 'declined' AND NEW.status = 'in_review' AND OLD.appealed_on IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'this claim has been appealed before; the second refusal is final');
END;

CREATE TRIGGER appeal_within_thirty_days BEFORE UPDATE OF appealed_on ON claims WHEN NEW.appealed_on > date(NEW.first_declined_on, '+30 days')
BEGIN
  SELECT RAISE(ABORT, 'more than 30 days have passed since the claim was declined; it can no longer be appealed');
END;

CREATE TRIGGER no_withdrawal_after_an_advance BEFORE UPDATE OF status ON claims WHEN NEW.status = 'withdrawn'
BEGIN
  SELECT RAISE(ABORT, 'an advance has been released for this claim; it must be decided and cannot be withdrawn')
  FROM payments y WHERE y.claim_id = NEW.id AND y.status = 'released';
END;

CREATE TRIGGER items_for_open_claims BEFORE INSERT ON items WHEN NEW.status = 'claimed'
BEGIN
  SELECT RAISE(ABORT, 'the claim is decided or withdrawn; items are added to reported claims and claims in review only')
  FROM claims c WHERE c.id = NEW.claim_id AND c.status NOT IN ('reported', 'in_review');
END;

CREATE TRIGGER twelve_items_a_claim AFTER INSERT ON items
BEGIN
  SELECT RAISE(ABORT, 'a claim has 12 items at most; nothing more can be added')
  FROM claim_sums s WHERE s.claim_id = NEW.claim_id AND s.items > 12;
END;

CREATE TRIGGER items_older_than_the_loss BEFORE INSERT ON items
BEGIN
  SELECT RAISE(ABORT, 'the item was bought after the loss and cannot be claimed for it')
  FROM claims c WHERE c.id = NEW.claim_id AND NEW.bought_on > c.lost_on;
END;

CREATE TRIGGER items_settled_in_review BEFORE UPDATE ON items
BEGIN
  SELECT RAISE(ABORT, 'items are allowed and struck while the claim is in review; take it into review first, or leave a decided one as it is')
  FROM claims c WHERE c.id = NEW.claim_id AND c.status <> 'in_review';
END;

CREATE TRIGGER allowed_within_the_age AFTER INSERT ON items WHEN NEW.status = 'allowed'
BEGIN
  SELECT RAISE(ABORT, 'more is allowed than the value of the item at its age; allow less')
  FROM item_details d WHERE d.item_id = NEW.id AND d.allowed_cents > d.most_cents;
END;

CREATE TRIGGER allowed_within_the_age_on_change AFTER UPDATE ON items WHEN NEW.status = 'allowed'
BEGIN
  SELECT RAISE(ABORT, 'more is allowed than the value of the item at its age; allow less')
  FROM item_details d WHERE d.item_id = NEW.id AND d.allowed_cents > d.most_cents;
END;

CREATE TRIGGER only_the_lead_waives BEFORE INSERT ON evidence WHEN NEW.status = 'waived'
BEGIN
  SELECT RAISE(ABORT, 'only the team lead waives evidence; ask the team lead')
  FROM handlers h WHERE h.id = NEW.waived_by AND h.is_lead = 0;
END;

CREATE TRIGGER only_the_lead_waives_on_change BEFORE UPDATE OF status, waived_by ON evidence WHEN NEW.status = 'waived'
BEGIN
  SELECT RAISE(ABORT, 'only the team lead waives evidence; ask the team lead')
  FROM handlers h WHERE h.id = NEW.waived_by AND h.is_lead = 0;
END;

CREATE TRIGGER settled_evidence_stays BEFORE UPDATE ON evidence WHEN OLD.status <> 'missing'
BEGIN
  SELECT RAISE(ABORT, 'this evidence has been received or waived already');
END;

CREATE TRIGGER surveyor_knows_the_peril BEFORE INSERT ON visits WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this surveyor does not survey losses of that peril; choose one who does')
  FROM claims c
  WHERE c.id = NEW.claim_id
    AND NOT EXISTS (SELECT 1 FROM surveyor_perils k WHERE k.surveyor_id = NEW.surveyor_id AND k.peril_id = c.peril_id);
END;

CREATE TRIGGER surveyor_knows_the_peril_on_change BEFORE UPDATE OF surveyor_id ON visits WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this surveyor does not survey losses of that peril; choose one who does')
  FROM claims c
  WHERE c.id = NEW.claim_id
    AND NOT EXISTS (SELECT 1 FROM surveyor_perils k WHERE k.surveyor_id = NEW.surveyor_id AND k.peril_id = c.peril_id);
END;

CREATE TRIGGER visits_for_open_claims BEFORE INSERT ON visits WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'the claim is decided or withdrawn; visits are booked for reported claims and claims in review only')
  FROM claims c WHERE c.id = NEW.claim_id AND c.status NOT IN ('reported', 'in_review');
END;

CREATE TRIGGER visits_a_day AFTER INSERT ON visits WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'the surveyor has as many visits on that day as allowed; choose another day or surveyor')
  FROM surveyors s
  WHERE s.id = NEW.surveyor_id
    AND (SELECT count(*) FROM visits v WHERE v.surveyor_id = s.id AND v.visit_on = NEW.visit_on AND v.status <> 'cancelled') > s.visits_a_day;
END;

CREATE TRIGGER visits_a_day_on_change AFTER UPDATE OF surveyor_id, visit_on ON visits WHEN NEW.status <> 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'the surveyor has as many visits on that day as allowed; choose another day or surveyor')
  FROM surveyors s
  WHERE s.id = NEW.surveyor_id
    AND (SELECT count(*) FROM visits v WHERE v.surveyor_id = s.id AND v.visit_on = NEW.visit_on AND v.status <> 'cancelled') > s.visits_a_day;
END;

CREATE TRIGGER ended_visits_stay_ended BEFORE UPDATE ON visits WHEN OLD.status <> 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this visit is done or cancelled; book another one');
END;

CREATE TRIGGER advances_in_review BEFORE INSERT ON payments WHEN NEW.kind = 'advance' AND NEW.status = 'proposed'
BEGIN
  SELECT RAISE(ABORT, 'advances are proposed while the claim is in review only')
  FROM claims c WHERE c.id = NEW.claim_id AND c.status <> 'in_review';
END;

CREATE TRIGGER payments_within_the_approved AFTER INSERT ON payments WHEN NEW.kind = 'settlement' AND NEW.status <> 'stopped'
BEGIN
  SELECT RAISE(ABORT, 'a settlement is paid on an approved claim, and no more than was approved less what is in payment')
  FROM claim_details d
  WHERE d.claim_id = NEW.claim_id AND (d.approved_cents IS NULL OR d.in_payment_cents > d.approved_cents);
END;

CREATE TRIGGER another_hand_releases BEFORE UPDATE OF status ON payments WHEN NEW.status = 'released' AND NEW.released_by = NEW.proposed_by
BEGIN
  SELECT RAISE(ABORT, 'who proposed a payment does not release it; another handler must');
END;

CREATE TRIGGER ended_payments_stay_ended BEFORE UPDATE ON payments WHEN OLD.status <> 'proposed'
BEGIN
  SELECT RAISE(ABORT, 'this payment is released or stopped already');
END;

CREATE TRIGGER release_for_living_claims BEFORE UPDATE OF status ON payments WHEN NEW.status = 'released'
BEGIN
  SELECT RAISE(ABORT, 'the claim is neither in review nor approved; the payment can only be stopped')
  FROM claims c WHERE c.id = NEW.claim_id AND c.status NOT IN ('in_review', 'approved');
END;
