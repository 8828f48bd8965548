"""Tools of the claims desk of Tideholm Mutual."""

import re
from datetime import date, timedelta
from typing import Any, Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

SLOTS = ("09:00", "11:00", "14:00", "16:00")
POLICY_COLUMNS = (
    "d.policy_id AS policy_id, d.status AS status, d.member_id AS member_id, d.member_name AS member_name, "
    "d.email AS email, m.phone AS phone, d.address AS address, d.starts_on AS starts_on, d.ends_on AS ends_on, "
    "d.plan_name AS plan_name, d.waiting_days AS waiting_days, d.deductible_cents AS deductible_cents, "
    "d.claim_limit_cents AS claim_limit_cents, d.year_limit_cents AS year_limit_cents, "
    "d.visit_above_cents AS visit_above_cents"
)
CLAIM_COLUMNS = (
    "claim_id, status, policy_id, member_id, member_name, peril_id, lost_on, reported_on, description, handler_id, "
    "handler_name, claimed_cents, allowed_cents, payable_cents, in_payment_cents, approved_cents, decided_by, decided_on, "
    "decline_reason, first_declined_by, first_declined_on, appealed_on"
)
VISIT_COLUMNS = (
    "visit_id, status, claim_id, peril_id, member_name, address, surveyor_id, surveyor_name, visit_on, slot, done_on, finding"
)
PAYMENT_COLUMNS = (
    "payment_id, status, claim_id, member_name, kind, amount_cents, proposed_by, proposed_on, released_by, closed_on"
)
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
FIRST_VISIT_DAY = 1
LAST_VISIT_DAY = 21
OPEN_STATES = ("reported", "in_review")
MOST_ADVANCE_CENTS = 100000


class Handler(TypedDict):
    handler_id: str
    name: str
    is_lead: bool
    authority_cents: int


class Surveyor(TypedDict):
    surveyor_id: str
    name: str
    perils: list[str]
    visits_a_day: int


class Peril(TypedDict):
    peril_id: str
    report_days: int
    proof_kind: str


class Desk(TypedDict):
    handlers: list[Handler]
    surveyors: list[Surveyor]
    perils: list[Peril]


class Policy(TypedDict):
    policy_id: str
    status: str
    member_id: str
    member_name: str
    email: str
    phone: str | None
    address: str
    starts_on: str
    ends_on: str
    plan_name: str
    waiting_days: int
    deductible_cents: int
    claim_limit_cents: int
    year_limit_cents: int
    visit_above_cents: int


class Policies(TypedDict):
    policies: list[Policy]


class Item(TypedDict):
    item_id: str
    name: str
    value_cents: int
    bought_on: str
    status: str
    most_cents: int
    allowed_cents: int | None
    strike_reason: str | None


class Evidence(TypedDict):
    evidence_id: str
    kind: str
    status: str
    asked_on: str
    settled_on: str | None
    waived_by: str | None


class Claim(TypedDict):
    claim_id: str
    status: str
    policy_id: str
    member_id: str
    member_name: str
    peril_id: str
    lost_on: str
    reported_on: str
    description: str
    handler_id: str | None
    handler_name: str | None
    claimed_cents: int
    allowed_cents: int
    payable_cents: int
    in_payment_cents: int
    approved_cents: int | None
    decided_by: str | None
    decided_on: str | None
    decline_reason: str | None
    first_declined_by: str | None
    first_declined_on: str | None
    appealed_on: str | None
    items: list[Item]
    evidence: list[Evidence]


class Claims(TypedDict):
    claims: list[Claim]


class Visit(TypedDict):
    visit_id: str
    status: str
    claim_id: str
    peril_id: str
    member_name: str
    address: str
    surveyor_id: str
    surveyor_name: str
    visit_on: str
    slot: str
    done_on: str | None
    finding: str | None


class Visits(TypedDict):
    visits: list[Visit]


class FreeSlot(TypedDict):
    surveyor_id: str
    surveyor_name: str
    slot: str


class FreeSlots(TypedDict):
    slots: list[FreeSlot]


class Payment(TypedDict):
    payment_id: str
    status: str
    claim_id: str
    member_name: str
    kind: str
    amount_cents: int
    proposed_by: str
    proposed_on: str
    released_by: str | None
    closed_on: str | None


class Payments(TypedDict):
    payments: list[Payment]


def list_desk(db: Database) -> Desk:
    """List the handlers, the surveyors with the perils they know, and the perils with their days for reporting and their proof."""
    handlers = [
        {**row, "is_lead": bool(row["is_lead"])}
        for row in db.all("SELECT id AS handler_id, name, is_lead, authority_cents FROM handlers ORDER BY name, id")
    ]
    known = db.all("SELECT surveyor_id, peril_id FROM surveyor_perils ORDER BY surveyor_id, peril_id")
    surveyors = [
        {
            "surveyor_id": row["id"],
            "name": row["name"],
            "perils": [pair["peril_id"] for pair in known if pair["surveyor_id"] == row["id"]],
            "visits_a_day": row["visits_a_day"],
        }
        for row in db.all("SELECT id, name, visits_a_day FROM surveyors ORDER BY name, id")
    ]
    perils = db.all("SELECT id AS peril_id, report_days, proof_kind FROM perils ORDER BY id")
    return cast("Desk", {"handlers": handlers, "surveyors": surveyors, "perils": perils})


def find_policies(
    db: Database,
    *,
    name: str | None = None,
    member_id: str | None = None,
    status: Literal["active", "suspended", "ended"] | None = None,
) -> Policies:
    """Find policies with their members and the limits of their plans, in the order of the members' names.

    Members may have similar names, and one member several policies; compare address and e-mail.

    Args:
        name: A part of the member's name.
        member_id: Only policies of this member, as this query shows it.
        status: Only policies in this status.
    """
    if name is not None and not name.strip():
        raise ToolError("name is blank; leave it out to see all")
    if member_id is not None:
        _require_member(db, member_id)
    rows = _policies(db, member_id)
    if name is not None:
        part = name.strip().casefold()
        rows = [row for row in rows if part in row["member_name"].casefold()]
    if status is not None:
        rows = [row for row in rows if row["status"] == status]
    return cast("Policies", {"policies": rows})


def find_claims(
    db: Database,
    *,
    claim_id: str | None = None,
    policy_id: str | None = None,
    member_id: str | None = None,
    handler_id: str | None = None,
    status: Literal["reported", "in_review", "approved", "declined", "paid", "withdrawn"] | None = None,
) -> Claims:
    """Find claims with their items and evidence, the earliest report first.

    `most_cents` is the most that an item can be allowed at; `payable_cents` is what an approval would approve now;
    `in_payment_cents` counts proposed and released payments.

    Args:
        claim_id: Only this claim.
        policy_id: Only claims under this policy, as `find_policies` shows it.
        member_id: Only claims of this member, as `find_policies` shows it.
        handler_id: Only claims in the hands of this handler, as `list_desk` shows it.
        status: Only claims in this status.
    """
    if claim_id is not None:
        _claim(db, claim_id)
    if policy_id is not None:
        _require_policy(db, policy_id)
    if member_id is not None:
        _require_member(db, member_id)
    if handler_id is not None:
        _handler(db, handler_id)
    rows = db.all(
        """
        SELECT claim_id FROM claim_details
        WHERE (:claim_id IS NULL OR claim_id = :claim_id)
          AND (:policy_id IS NULL OR policy_id = :policy_id)
          AND (:member_id IS NULL OR member_id = :member_id)
          AND (:handler_id IS NULL OR handler_id = :handler_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY reported_on, claim_id
        """,
        claim_id=claim_id,
        policy_id=policy_id,
        member_id=member_id,
        handler_id=handler_id,
        status=status,
    )
    return cast("Claims", {"claims": [_claim(db, row["claim_id"]) for row in rows]})


def find_visits(
    db: Database,
    *,
    claim_id: str | None = None,
    surveyor_id: str | None = None,
    visit_on: str | None = None,
    status: Literal["booked", "done", "cancelled"] | None = None,
) -> Visits:
    """Find surveyors' visits, the earliest first.

    Args:
        claim_id: Only visits for this claim, as `find_claims` shows it.
        surveyor_id: Only visits of this surveyor, as `list_desk` shows it.
        visit_on: Only visits on this day, `YYYY-MM-DD`.
        status: Only visits in this status.
    """
    if claim_id is not None:
        _claim(db, claim_id)
    if surveyor_id is not None:
        _require_surveyor(db, surveyor_id)
    if visit_on is not None:
        _check_date("visit_on", visit_on)
    visits = db.all(
        f"""
        SELECT {VISIT_COLUMNS} FROM visit_details
        WHERE (:claim_id IS NULL OR claim_id = :claim_id)
          AND (:surveyor_id IS NULL OR surveyor_id = :surveyor_id)
          AND (:visit_on IS NULL OR visit_on = :visit_on)
          AND (:status IS NULL OR status = :status)
        ORDER BY visit_on, slot, visit_id
        """,
        claim_id=claim_id,
        surveyor_id=surveyor_id,
        visit_on=visit_on,
        status=status,
    )
    return cast("Visits", {"visits": visits})


def find_free_slots(db: Database, *, claim_id: str, visit_on: str) -> FreeSlots:
    """Find the free slots of a day with the surveyors who know the peril of a claim.

    Args:
        claim_id: The claim, as `find_claims` shows it.
        visit_on: The day, `YYYY-MM-DD`.
    """
    claim = _claim(db, claim_id)
    _check_date("visit_on", visit_on)
    surveyors = db.all(
        """
        SELECT s.id AS surveyor_id, s.name AS surveyor_name, s.visits_a_day AS visits_a_day
        FROM surveyors s JOIN surveyor_perils k ON k.surveyor_id = s.id
        WHERE k.peril_id = :peril_id
        ORDER BY s.name, s.id
        """,
        peril_id=claim["peril_id"],
    )
    taken = db.all(
        """
        SELECT surveyor_id, slot FROM visits
        WHERE visit_on = :visit_on AND status <> 'cancelled'
        ORDER BY surveyor_id, slot
        """,
        visit_on=visit_on,
    )
    slots = []
    for surveyor in surveyors:
        own = [row["slot"] for row in taken if row["surveyor_id"] == surveyor["surveyor_id"]]
        if len(own) >= surveyor["visits_a_day"]:
            continue
        for slot in SLOTS:
            if slot not in own:
                slots.append(
                    {"surveyor_id": surveyor["surveyor_id"], "surveyor_name": surveyor["surveyor_name"], "slot": slot}
                )
    return cast("FreeSlots", {"slots": slots})


def find_payments(
    db: Database,
    *,
    claim_id: str | None = None,
    kind: Literal["advance", "settlement"] | None = None,
    status: Literal["proposed", "released", "stopped"] | None = None,
) -> Payments:
    """Find payments, the earliest proposal first.

    Args:
        claim_id: Only payments for this claim, as `find_claims` shows it.
        kind: Only advances or only settlements.
        status: Only payments in this status.
    """
    if claim_id is not None:
        _claim(db, claim_id)
    payments = db.all(
        f"""
        SELECT {PAYMENT_COLUMNS} FROM payment_details
        WHERE (:claim_id IS NULL OR claim_id = :claim_id)
          AND (:kind IS NULL OR kind = :kind)
          AND (:status IS NULL OR status = :status)
        ORDER BY proposed_on, payment_id
        """,
        claim_id=claim_id,
        kind=kind,
        status=status,
    )
    return cast("Payments", {"payments": payments})


def update_contact(db: Database, *, member_id: str, email: str | None = None, phone: str | None = None) -> Policies:
    """Change the e-mail address or the phone number of a member, and show the member's policies. What is left out stays.

    Args:
        member_id: The member, as `find_policies` shows it.
        email: The new e-mail address, which no other member has.
        phone: The new phone number.
    """
    present = db.one("SELECT id, email, phone FROM members WHERE id = :id", id=member_id)
    if present is None:
        raise ToolError(f"no member {member_id!r}; find_policies shows them")
    address = present["email"] if email is None else _text("email", email)
    number = present["phone"] if phone is None else _text("phone", phone)
    if address == present["email"] and number == present["phone"]:
        raise ToolError(f"nothing changes for {member_id}; give a new e-mail address or phone number")
    if EMAIL.fullmatch(address) is None:
        raise ToolError(f"{address!r} is not an e-mail address; ask the member for it")
    other = db.one(
        "SELECT id, name FROM members WHERE lower(email) = lower(:email) AND id <> :id ORDER BY id LIMIT 1",
        email=address,
        id=member_id,
    )
    if other is not None:
        raise ToolError(f"{address} is the address of another member, {other['id']}; each has one of their own")
    db.run("UPDATE members SET email = :email, phone = :phone WHERE id = :id", email=address, phone=number, id=member_id)
    return cast("Policies", {"policies": _policies(db, member_id)})


def report_loss(
    db: Database,
    *,
    policy_id: str,
    peril_id: Literal["fire", "water", "storm", "theft"],
    lost_on: str,
    description: str,
) -> Claim:
    """Register a loss as a claim reported today, and ask for its evidence. Items are added with `add_item`.

    Args:
        policy_id: The policy, as `find_policies` shows it.
        peril_id: The peril.
        lost_on: The day of the loss, `YYYY-MM-DD`.
        description: What happened, in a few words.
    """
    _require_policy(db, policy_id)
    _check_date("lost_on", lost_on)
    what_happened = _text("description", description)
    today = db.now()[:10]
    if lost_on > today:
        raise ToolError(f"lost_on {lost_on} is yet to come, today is {today}; losses are reported when they have happened")
    peril = db.one("SELECT proof_kind FROM perils WHERE id = :id", id=peril_id)
    if peril is None:
        raise ToolError(f"no peril {peril_id!r}; list_desk lists them")
    same = db.one(
        """
        SELECT id, status FROM claims
        WHERE policy_id = :policy_id AND peril_id = :peril_id AND lost_on = :lost_on
          AND status IN ('reported', 'in_review', 'approved')
        ORDER BY id LIMIT 1
        """,
        policy_id=policy_id,
        peril_id=peril_id,
        lost_on=lost_on,
    )
    if same is not None:
        # rule: one_claim_a_loss
        raise ToolError(f"{same['id']} ({same['status']}) is the claim for this very loss already; add items to it while it is open")
    claim_id = db.new_id("clm")
    db.run(
        """
        INSERT INTO claims (id, policy_id, peril_id, lost_on, reported_on, description, status)
        VALUES (:id, :policy_id, :peril_id, :lost_on, :today, :description, 'reported')
        """,
        id=claim_id,
        policy_id=policy_id,
        peril_id=peril_id,
        lost_on=lost_on,
        today=today,
        description=what_happened,
    )
    for kind in ("photos", peril["proof_kind"]):
        db.run(
            "INSERT INTO evidence (id, claim_id, kind, status, asked_on) VALUES (:id, :claim_id, :kind, 'missing', :today)",
            id=db.new_id("evd"),
            claim_id=claim_id,
            kind=kind,
            today=today,
        )
    return _claim(db, claim_id)


def add_item(db: Database, *, claim_id: str, name: str, value_cents: int, bought_on: str) -> Claim:
    """Add an item to an open claim.

    Args:
        claim_id: The claim, as `find_claims` shows it.
        name: What it is.
        value_cents: What it cost, in cents.
        bought_on: When it was bought, `YYYY-MM-DD`.
    """
    _claim(db, claim_id)
    what = _text("name", name)
    _check_amount("value_cents", value_cents)
    _check_date("bought_on", bought_on)
    db.run(
        """
        INSERT INTO items (id, claim_id, name, value_cents, bought_on, status)
        VALUES (:id, :claim_id, :name, :value_cents, :bought_on, 'claimed')
        """,
        id=db.new_id("itm"),
        claim_id=claim_id,
        name=what,
        value_cents=value_cents,
        bought_on=bought_on,
    )
    return _claim(db, claim_id)


def allow_item(db: Database, *, item_id: str, allowed_cents: int) -> Claim:
    """Allow an item of a claim in review at an amount. An item that was allowed or struck before can be allowed anew.

    Args:
        item_id: The item, as `find_claims` shows it.
        allowed_cents: The amount in cents, at most its `most_cents`.
    """
    item = _item(db, item_id)
    _check_amount("allowed_cents", allowed_cents)
    db.run(
        "UPDATE items SET status = 'allowed', allowed_cents = :allowed_cents, strike_reason = NULL WHERE id = :id",
        allowed_cents=allowed_cents,
        id=item_id,
    )
    return _claim(db, item["claim_id"])


def strike_item(db: Database, *, item_id: str, strike_reason: str) -> Claim:
    """Strike an item of a claim in review. It stays listed, and nothing is paid for it.

    Args:
        item_id: The item, as `find_claims` shows it.
        strike_reason: Why, in a few words.
    """
    item = _item(db, item_id)
    why = _text("strike_reason", strike_reason)
    if item["status"] == "struck":
        raise ToolError(f"{item_id}, {item['name']}, is struck already; it stays so unless it is allowed")
    db.run(
        "UPDATE items SET status = 'struck', allowed_cents = NULL, strike_reason = :why WHERE id = :id", why=why, id=item_id
    )
    return _claim(db, item["claim_id"])


def receive_evidence(db: Database, *, evidence_id: str) -> Claim:
    """Record that a missing piece of evidence has come in today.

    Args:
        evidence_id: The piece, as `find_claims` shows it.
    """
    piece = _evidence_to_settle(db, evidence_id)
    db.run("UPDATE evidence SET status = 'received', settled_on = :today WHERE id = :id", today=db.now()[:10], id=evidence_id)
    return _claim(db, piece["claim_id"])


def waive_evidence(db: Database, *, evidence_id: str, handler_id: str) -> Claim:
    """Waive a missing piece of evidence.

    Args:
        evidence_id: The piece, as `find_claims` shows it.
        handler_id: The handler who waives it, as `list_desk` shows it.
    """
    piece = _evidence_to_settle(db, evidence_id)
    _handler(db, handler_id)
    waived = db.one(
        "SELECT id, kind FROM evidence WHERE claim_id = :claim_id AND status = 'waived' ORDER BY id LIMIT 1",
        claim_id=piece["claim_id"],
    )
    if waived is not None:
        # rule: one_waiver
        raise ToolError(
            f"{waived['kind']} ({waived['id']}) is waived for {piece['claim_id']} already, and one piece a claim is the most;"
            f" the {piece['kind']} must come in"
        )
    db.run(
        "UPDATE evidence SET status = 'waived', settled_on = :today, waived_by = :handler_id WHERE id = :id",
        today=db.now()[:10],
        handler_id=handler_id,
        id=evidence_id,
    )
    return _claim(db, piece["claim_id"])


def take_into_review(db: Database, *, claim_id: str, handler_id: str) -> Claim:
    """Take a reported claim into review.

    Args:
        claim_id: The claim, as `find_claims` shows it.
        handler_id: The handler who takes it, as `list_desk` shows it.
    """
    claim = _claim(db, claim_id)
    _handler(db, handler_id)
    if claim["status"] != "reported":
        raise ToolError(f"{claim_id} is {claim['status']}; only reported claims are taken into review")
    db.run("UPDATE claims SET status = 'in_review', handler_id = :handler_id WHERE id = :id", handler_id=handler_id, id=claim_id)
    return _claim(db, claim_id)


def book_visit(
    db: Database,
    *,
    claim_id: str,
    surveyor_id: str,
    visit_on: str,
    slot: Literal["09:00", "11:00", "14:00", "16:00"],
) -> Visit:
    """Book a surveyor's visit for an open claim.

    Args:
        claim_id: The claim, as `find_claims` shows it.
        surveyor_id: The surveyor, as `find_free_slots` shows it.
        visit_on: The day, `YYYY-MM-DD`.
        slot: The time of day.
    """
    claim = _claim(db, claim_id)
    _require_surveyor(db, surveyor_id)
    _check_date("visit_on", visit_on)
    if claim["status"] not in OPEN_STATES:
        raise ToolError(f"{claim_id} is {claim['status']}; visits are booked for open claims only")
    present = db.one(
        "SELECT id, visit_on, slot FROM visits WHERE claim_id = :id AND status = 'booked' ORDER BY id LIMIT 1", id=claim_id
    )
    if present is not None:
        raise ToolError(
            f"{present['id']} is booked for {claim_id} on {present['visit_on']} at {present['slot']}; move, complete or cancel it"
        )
    _check_visit(db, "", surveyor_id, visit_on, slot)
    visit_id = db.new_id("vis")
    db.run(
        """
        INSERT INTO visits (id, claim_id, surveyor_id, visit_on, slot, status, arranged_on)
        VALUES (:id, :claim_id, :surveyor_id, :visit_on, :slot, 'booked', :today)
        """,
        id=visit_id,
        claim_id=claim_id,
        surveyor_id=surveyor_id,
        visit_on=visit_on,
        slot=slot,
        today=db.now()[:10],
    )
    return _visit(db, visit_id)


def move_visit(
    db: Database,
    *,
    visit_id: str,
    visit_on: str,
    slot: Literal["09:00", "11:00", "14:00", "16:00"],
    surveyor_id: str | None = None,
) -> Visit:
    """Move a booked visit to another day or slot, or to another surveyor too.

    Args:
        visit_id: The visit, as `find_visits` shows it.
        visit_on: The new day, `YYYY-MM-DD`.
        slot: The new time of day.
        surveyor_id: The new surveyor, as `find_free_slots` shows it; left out, the present one stays.
    """
    visit = _visit_to_come(db, visit_id)
    _check_date("visit_on", visit_on)
    if surveyor_id is not None:
        _require_surveyor(db, surveyor_id)
    surveyor = visit["surveyor_id"] if surveyor_id is None else surveyor_id
    if (surveyor, visit_on, slot) == (visit["surveyor_id"], visit["visit_on"], visit["slot"]):
        raise ToolError(f"{visit_id} is at that time with that surveyor already; say what is to change")
    _check_visit(db, visit_id, surveyor, visit_on, slot)
    db.run(
        """
        UPDATE visits SET surveyor_id = :surveyor_id, visit_on = :visit_on, slot = :slot, arranged_on = :today
        WHERE id = :id
        """,
        surveyor_id=surveyor,
        visit_on=visit_on,
        slot=slot,
        today=db.now()[:10],
        id=visit_id,
    )
    return _visit(db, visit_id)


def cancel_visit(db: Database, *, visit_id: str) -> Visit:
    """Cancel a booked visit.

    Args:
        visit_id: The visit, as `find_visits` shows it.
    """
    _visit_to_come(db, visit_id)
    db.run("UPDATE visits SET status = 'cancelled' WHERE id = :id", id=visit_id)
    return _visit(db, visit_id)


def complete_visit(db: Database, *, visit_id: str, finding: str) -> Visit:
    """Record that a booked visit has taken place, with what the surveyor found.

    Args:
        visit_id: The visit, as `find_visits` shows it.
        finding: The surveyor's finding, in a few words.
    """
    visit = _visit(db, visit_id)
    what = _text("finding", finding)
    if visit["status"] != "booked":
        raise ToolError(f"{visit_id} is {visit['status']}; only a booked visit is completed")
    today = db.now()[:10]
    if today < visit["visit_on"]:
        # rule: visit_done_not_before
        raise ToolError(f"{visit_id} takes place on {visit['visit_on']}; it cannot be completed before that day")
    db.run(
        "UPDATE visits SET status = 'done', done_on = :today, finding = :finding WHERE id = :id",
        today=today,
        finding=what,
        id=visit_id,
    )
    return _visit(db, visit_id)


def approve_claim(db: Database, *, claim_id: str, handler_id: str) -> Claim:
    """Approve a claim in review at its `payable_cents`.

    Args:
        claim_id: The claim, as `find_claims` shows it.
        handler_id: The handler who decides, as `list_desk` shows it.
    """
    claim = _claim_in_review(db, claim_id)
    _handler(db, handler_id)
    if claim["payable_cents"] <= 0:
        # rule: approved_amount
        raise ToolError(
            f"nothing remains to be approved on {claim_id}: {_euros(claim['allowed_cents'])} euros are allowed"
            " before the deductible and the limits of the plan; it can only be declined"
        )
    db.run(
        """
        UPDATE claims SET status = 'approved', approved_cents = :cents, decided_by = :handler_id, decided_on = :today
        WHERE id = :id
        """,
        cents=claim["payable_cents"],
        handler_id=handler_id,
        today=db.now()[:10],
        id=claim_id,
    )
    return _claim(db, claim_id)


def decline_claim(db: Database, *, claim_id: str, handler_id: str, decline_reason: str) -> Claim:
    """Decline a claim in review.

    Args:
        claim_id: The claim, as `find_claims` shows it.
        handler_id: The handler who decides, as `list_desk` shows it.
        decline_reason: Why, in a few words.
    """
    _claim_in_review(db, claim_id)
    _handler(db, handler_id)
    why = _text("decline_reason", decline_reason)
    db.run(
        """
        UPDATE claims SET status = 'declined', decline_reason = :why, decided_by = :handler_id, decided_on = :today
        WHERE id = :id
        """,
        why=why,
        handler_id=handler_id,
        today=db.now()[:10],
        id=claim_id,
    )
    return _claim(db, claim_id)


def appeal_claim(db: Database, *, claim_id: str) -> Claim:
    """Record a member's appeal against a refusal, which brings the claim back into review.

    Args:
        claim_id: The declined claim, as `find_claims` shows it.
    """
    claim = _claim(db, claim_id)
    if claim["status"] != "declined":
        raise ToolError(f"{claim_id} is {claim['status']}; only declined claims are appealed")
    other = db.one(
        """
        SELECT id FROM claims
        WHERE policy_id = :policy_id AND peril_id = :peril_id AND lost_on = :lost_on AND id <> :id
          AND status IN ('reported', 'in_review', 'approved')
        ORDER BY id LIMIT 1
        """,
        policy_id=claim["policy_id"],
        peril_id=claim["peril_id"],
        lost_on=claim["lost_on"],
        id=claim_id,
    )
    if other is not None:
        raise ToolError(f"{other['id']} is a newer claim for the same loss and still open; it has to be ended first")
    db.run(
        """
        UPDATE claims
        SET status = 'in_review', first_declined_by = decided_by, first_declined_on = decided_on, appealed_on = :today,
          decided_by = NULL, decided_on = NULL, decline_reason = NULL
        WHERE id = :id
        """,
        today=db.now()[:10],
        id=claim_id,
    )
    return _claim(db, claim_id)


def propose_settlement(db: Database, *, claim_id: str, handler_id: str) -> Payment:
    """Propose the payment of all that was approved on a claim and is not in payment yet.

    Args:
        claim_id: The approved claim, as `find_claims` shows it.
        handler_id: The handler who proposes it, as `list_desk` shows it.
    """
    claim = _claim(db, claim_id)
    _handler(db, handler_id)
    approved_cents = claim["approved_cents"]
    if claim["status"] != "approved" or approved_cents is None:
        raise ToolError(f"{claim_id} is {claim['status']}; settlements are proposed on approved claims only")
    _check_no_payment(db, claim_id, "settlement")
    advance = db.one(
        "SELECT id FROM payments WHERE claim_id = :id AND kind = 'advance' AND status = 'proposed' ORDER BY id LIMIT 1",
        id=claim_id,
    )
    if advance is not None:
        raise ToolError(f"the advance {advance['id']} is only proposed; release or stop it before the rest is proposed")
    rest_cents = approved_cents - claim["in_payment_cents"]
    if rest_cents <= 0:
        raise ToolError(f"all of the {_euros(approved_cents)} euros approved on {claim_id} are in payment; nothing is left")
    return _propose(db, claim_id, "settlement", rest_cents, handler_id)


def propose_advance(db: Database, *, claim_id: str, handler_id: str, amount_cents: int) -> Payment:
    """Propose an advance on a claim in review.

    Args:
        claim_id: The claim, as `find_claims` shows it.
        handler_id: The handler who proposes it, as `list_desk` shows it.
        amount_cents: The amount in cents.
    """
    claim = _claim_in_review(db, claim_id)
    _handler(db, handler_id)
    _check_amount("amount_cents", amount_cents)
    _check_no_payment(db, claim_id, "advance")
    most_cents = min(MOST_ADVANCE_CENTS, claim["payable_cents"] // 2)
    if amount_cents > most_cents:
        # rule: advance_limit
        raise ToolError(
            f"an advance of {_euros(amount_cents)} euros is too much; {_euros(most_cents)} is the most on {claim_id} at present"
        )
    return _propose(db, claim_id, "advance", amount_cents, handler_id)


def release_payment(db: Database, *, payment_id: str, handler_id: str) -> Payment:
    """Release a proposed payment. With its settlement a claim becomes paid.

    Args:
        payment_id: The payment, as `find_payments` shows it.
        handler_id: The handler who releases it, as `list_desk` shows it.
    """
    payment = _payment(db, payment_id)
    _handler(db, handler_id)
    if payment["status"] != "proposed":
        raise ToolError(f"{payment_id} is {payment['status']}; only proposed payments are released")
    db.run(
        "UPDATE payments SET status = 'released', released_by = :handler_id, closed_on = :today WHERE id = :id",
        handler_id=handler_id,
        today=db.now()[:10],
        id=payment_id,
    )
    if payment["kind"] == "settlement":
        db.run("UPDATE claims SET status = 'paid' WHERE id = :id", id=payment["claim_id"])
    return _payment(db, payment_id)


def stop_payment(db: Database, *, payment_id: str) -> Payment:
    """Stop a payment that is only proposed.

    Args:
        payment_id: The payment, as `find_payments` shows it.
    """
    payment = _payment(db, payment_id)
    if payment["status"] != "proposed":
        raise ToolError(f"{payment_id} is {payment['status']}; only proposed payments are stopped")
    db.run("UPDATE payments SET status = 'stopped', closed_on = :today WHERE id = :id", today=db.now()[:10], id=payment_id)
    return _payment(db, payment_id)


def withdraw_claim(db: Database, *, claim_id: str) -> Claim:
    """Withdraw an open claim at the member's wish, with its booked visit and its proposed advance.

    Args:
        claim_id: The claim, as `find_claims` shows it.
    """
    claim = _claim(db, claim_id)
    if claim["status"] not in OPEN_STATES:
        raise ToolError(f"{claim_id} is {claim['status']}; only open claims are withdrawn")
    db.run("UPDATE claims SET status = 'withdrawn' WHERE id = :id", id=claim_id)
    db.run("UPDATE visits SET status = 'cancelled' WHERE claim_id = :id AND status = 'booked'", id=claim_id)
    db.run(
        "UPDATE payments SET status = 'stopped', closed_on = :today WHERE claim_id = :id AND status = 'proposed'",
        today=db.now()[:10],
        id=claim_id,
    )
    return _claim(db, claim_id)


def _policies(db: Database, member_id: str | None) -> list[dict[str, Any]]:
    return db.all(
        f"""
        SELECT {POLICY_COLUMNS}
        FROM policy_details d JOIN members m ON m.id = d.member_id
        WHERE (:member_id IS NULL OR d.member_id = :member_id)
        ORDER BY d.member_name, d.policy_id
        """,
        member_id=member_id,
    )


def _claim(db: Database, claim_id: str) -> Claim:
    row = db.one(f"SELECT {CLAIM_COLUMNS} FROM claim_details WHERE claim_id = :id", id=claim_id)
    if row is None:
        raise ToolError(f"no claim {claim_id!r}; find_claims lists them")
    items = db.all(
        """
        SELECT item_id, name, value_cents, bought_on, status, most_cents, allowed_cents, strike_reason
        FROM item_details WHERE claim_id = :id ORDER BY item_id
        """,
        id=claim_id,
    )
    evidence = db.all(
        """
        SELECT id AS evidence_id, kind, status, asked_on, settled_on, waived_by
        FROM evidence WHERE claim_id = :id ORDER BY kind, id
        """,
        id=claim_id,
    )
    return cast("Claim", {**row, "items": items, "evidence": evidence})


def _require_member(db: Database, member_id: str) -> None:
    if db.one("SELECT id FROM members WHERE id = :id", id=member_id) is None:
        raise ToolError(f"no member {member_id!r}; find_policies shows them")


def _require_policy(db: Database, policy_id: str) -> None:
    if db.one("SELECT id FROM policies WHERE id = :id", id=policy_id) is None:
        raise ToolError(f"no policy {policy_id!r}; find_policies lists them")


def _require_surveyor(db: Database, surveyor_id: str) -> None:
    if db.one("SELECT id FROM surveyors WHERE id = :id", id=surveyor_id) is None:
        raise ToolError(f"no surveyor {surveyor_id!r}; list_desk lists them")


def _handler(db: Database, handler_id: str) -> dict[str, Any]:
    row = db.one("SELECT id, name, is_lead, authority_cents FROM handlers WHERE id = :id", id=handler_id)
    if row is None:
        raise ToolError(f"no handler {handler_id!r}; list_desk lists them")
    return row


def _check_date(argument: str, value: str) -> None:
    try:
        parsed = date.fromisoformat(value)
    except ValueError:
        raise ToolError(f"{argument} {value!r} is not a date; write it as YYYY-MM-DD") from None
    if parsed.isoformat() != value:
        raise ToolError(f"{argument} {value!r} is written otherwise than YYYY-MM-DD")


def _item(db: Database, item_id: str) -> dict[str, Any]:
    row = db.one("SELECT id, claim_id, name, status FROM items WHERE id = :id", id=item_id)
    if row is None:
        raise ToolError(f"no item {item_id!r}; find_claims shows them")
    return row


def _text(argument: str, value: str) -> str:
    text = value.strip()
    if not text:
        raise ToolError(f"{argument} is blank; say it in words")
    return text


def _check_amount(argument: str, cents: int) -> None:
    if cents <= 0:
        raise ToolError(f"{argument} is {cents}; an amount is more than nothing")


def _check_visit(db: Database, visit_id: str, surveyor_id: str, visit_on: str, slot: str) -> None:
    today = date.fromisoformat(db.now()[:10])
    first = (today + timedelta(days=FIRST_VISIT_DAY)).isoformat()
    last = (today + timedelta(days=LAST_VISIT_DAY)).isoformat()
    if not first <= visit_on <= last:
        # rule: visit_window
        raise ToolError(f"{visit_on} is no day for a visit; at present visits are arranged for {first} to {last}")
    other = db.one(
        """
        SELECT id FROM visits
        WHERE surveyor_id = :surveyor_id AND visit_on = :visit_on AND slot = :slot AND status <> 'cancelled' AND id <> :id
        ORDER BY id LIMIT 1
        """,
        surveyor_id=surveyor_id,
        visit_on=visit_on,
        slot=slot,
        id=visit_id,
    )
    if other is not None:
        # rule: one_visit_a_slot
        raise ToolError(f"{surveyor_id} has another visit on {visit_on} at {slot}; find_free_slots shows what is left")


def _visit(db: Database, visit_id: str) -> Visit:
    row = db.one(f"SELECT {VISIT_COLUMNS} FROM visit_details WHERE visit_id = :id", id=visit_id)
    if row is None:
        raise ToolError(f"no visit {visit_id!r}; find_visits lists them")
    return cast("Visit", row)


def _evidence_to_settle(db: Database, evidence_id: str) -> dict[str, Any]:
    row = db.one(
        """
        SELECT e.id AS id, e.claim_id AS claim_id, e.kind AS kind, e.status AS status, c.status AS claim_status
        FROM evidence e JOIN claims c ON c.id = e.claim_id
        WHERE e.id = :id
        """,
        id=evidence_id,
    )
    if row is None:
        raise ToolError(f"no evidence {evidence_id!r}; find_claims shows it")
    if row["status"] != "missing":
        raise ToolError(f"{evidence_id}, {row['kind']}, is {row['status']} already; nothing is left to do")
    if row["claim_status"] not in OPEN_STATES:
        raise ToolError(f"{row['claim_id']} is {row['claim_status']}; evidence is settled for open claims only")
    return row


def _claim_in_review(db: Database, claim_id: str) -> Claim:
    claim = _claim(db, claim_id)
    if claim["status"] != "in_review":
        raise ToolError(f"{claim_id} is {claim['status']}; this is done to claims in review only")
    return claim


def _visit_to_come(db: Database, visit_id: str) -> Visit:
    visit = _visit(db, visit_id)
    if visit["status"] != "booked":
        raise ToolError(f"{visit_id} is {visit['status']}; only booked visits are moved or cancelled")
    if visit["visit_on"] <= db.now()[:10]:
        raise ToolError(f"the day of {visit_id}, {visit['visit_on']}, has come; it is no longer moved or cancelled, only completed")
    return visit


def _euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _check_no_payment(db: Database, claim_id: str, kind: str) -> None:
    present = db.one(
        """
        SELECT id, status FROM payments
        WHERE claim_id = :claim_id AND kind = :kind AND status <> 'stopped'
        ORDER BY id LIMIT 1
        """,
        claim_id=claim_id,
        kind=kind,
    )
    if present is not None:
        raise ToolError(f"{present['id']} is the {kind} of {claim_id} already ({present['status']}); a claim has one")


def _propose(db: Database, claim_id: str, kind: str, amount_cents: int, handler_id: str) -> Payment:
    payment_id = db.new_id("pay")
    db.run(
        """
        INSERT INTO payments (id, claim_id, kind, amount_cents, status, proposed_by, proposed_on)
        VALUES (:id, :claim_id, :kind, :amount_cents, 'proposed', :handler_id, :today)
        """,
        id=payment_id,
        claim_id=claim_id,
        kind=kind,
        amount_cents=amount_cents,
        handler_id=handler_id,
        today=db.now()[:10],
    )
    return _payment(db, payment_id)


def _payment(db: Database, payment_id: str) -> Payment:
    row = db.one(f"SELECT {PAYMENT_COLUMNS} FROM payment_details WHERE payment_id = :id", id=payment_id)
    if row is None:
        raise ToolError(f"no payment {payment_id!r}; find_payments lists them")
    return cast("Payment", row)
