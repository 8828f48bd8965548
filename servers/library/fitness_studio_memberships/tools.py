"""Tools of the membership desk of the fitness studio Kettlewerk."""

from datetime import date, datetime, timedelta
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

MEMBER_SQL = """
SELECT members.id AS member_id, members.name, members.email, members.phone, members.born_on, members.guardian_name,
  (SELECT memberships.id FROM memberships WHERE memberships.member_id = members.id
    AND memberships.status IN ('active', 'cancelled')) AS running_membership_id
FROM members
"""
MEMBERSHIP_SQL = """
SELECT membership_id, member_id, member_name, plan_id, plan_name, signed_on, starts_on, status, notice_on, ends_on,
  next_plan_id, next_plan_from, term_until, freeze_months,
  (SELECT count(*) FROM dues WHERE dues.membership_id = membership_details.membership_id
    AND dues.status = 'open' AND dues.due_on < :today) AS overdue_dues,
  coalesce((SELECT sum(dues.amount_cents + dues.reminder_cents) FROM dues
    WHERE dues.membership_id = membership_details.membership_id
    AND dues.status = 'open' AND dues.due_on < :today), 0) AS overdue_cents
FROM membership_details
"""
FREEZE_SQL = """
SELECT freeze_id, membership_id, member_name, starts_on, until, months, asked_on, status, withdrawn_on
FROM freeze_details
"""
DUE_SQL = """
SELECT due_id, membership_id, member_name, due_on, amount_cents, reminder_cents, total_cents, status, settled_on,
  reminded_on, waived_by
FROM due_details
"""
SESSION_SQL = """
SELECT session_id, course, trainer_name, room, starts_at, ends_at, places, taken, waiting, status, call_off_reason
FROM session_details
"""
BOOKING_SQL = """
SELECT booking_id, session_id, course, starts_at, ends_at, membership_id, member_name, booked_at, status
FROM booking_details
"""
WITHDRAWAL_DAYS = 14
GUEST_SQL = """
SELECT guest_visits.id AS guest_visit_id, guest_visits.membership_id, members.name AS member_name,
  guest_visits.guest_name, guest_visits.visit_on
FROM guest_visits
JOIN memberships ON memberships.id = guest_visits.membership_id
JOIN members ON members.id = memberships.member_id
"""
FREEZE_DAYS_AHEAD = 7
MOST_FREEZE_MONTHS = 3
REMINDER_AFTER_DAYS = 10
REMINDER_CENTS = 500
OVERDUE_THAT_BLOCK = 2
BOOKING_ENDS_HOURS_BEFORE = 1
FREE_CANCELLING_HOURS_BEFORE = 4
MISSED_THAT_BLOCK = 3
MISSED_WITHIN_DAYS = 30
BLOCKED_DAYS = 14


class Member(TypedDict):
    member_id: str
    name: str
    email: str
    phone: str | None
    born_on: str
    guardian_name: str | None
    running_membership_id: str | None


class Members(TypedDict):
    members: list[Member]


class Membership(TypedDict):
    membership_id: str
    member_id: str
    member_name: str
    plan_id: str
    plan_name: str
    signed_on: str
    starts_on: str
    status: str
    notice_on: str | None
    ends_on: str | None
    next_plan_id: str | None
    next_plan_from: str | None
    term_until: str
    freeze_months: int
    overdue_dues: int
    overdue_cents: int


class Memberships(TypedDict):
    memberships: list[Membership]


class Freeze(TypedDict):
    freeze_id: str
    membership_id: str
    member_name: str
    starts_on: str
    until: str
    months: int
    asked_on: str
    status: str
    withdrawn_on: str | None


class Freezes(TypedDict):
    freezes: list[Freeze]


class Due(TypedDict):
    due_id: str
    membership_id: str
    member_name: str
    due_on: str
    amount_cents: int
    reminder_cents: int
    total_cents: int
    status: str
    settled_on: str | None
    reminded_on: str | None
    waived_by: str | None


class Dues(TypedDict):
    dues: list[Due]


class Session(TypedDict):
    session_id: str
    course: str
    trainer_name: str
    room: str
    starts_at: str
    ends_at: str
    places: int
    taken: int
    waiting: int
    status: str
    call_off_reason: str | None


class Sessions(TypedDict):
    sessions: list[Session]


class Booking(TypedDict):
    booking_id: str
    session_id: str
    course: str
    starts_at: str
    ends_at: str
    membership_id: str
    member_name: str
    booked_at: str
    status: str


class Bookings(TypedDict):
    bookings: list[Booking]


class GuestVisit(TypedDict):
    guest_visit_id: str
    membership_id: str
    member_name: str
    guest_name: str
    visit_on: str


class GuestVisits(TypedDict):
    guest_visits: list[GuestVisit]


class Plan(TypedDict):
    plan_id: str
    name: str
    level: int
    monthly_cents: int
    min_term_months: int
    freeze_months_a_year: int
    book_days_ahead: int
    sessions_a_week: int
    guests_a_month: int


class Plans(TypedDict):
    plans: list[Plan]


def find_members(db: Database, *, name: str | None = None) -> Members:
    """Find people by name, members and former ones, with the membership that runs or is about to start.

    Args:
        name: A part of the name.
    """
    _check_filter(name, "the name")
    rows = db.all(
        f"""{MEMBER_SQL}
        WHERE :name IS NULL OR instr(lower(members.name), lower(trim(:name))) > 0
        ORDER BY members.name, members.id
        """,
        name=name,
    )
    return {"members": [cast("Member", row) for row in rows]}


def find_memberships(
    db: Database,
    *,
    member_name: str | None = None,
    member_id: str | None = None,
    plan_id: str | None = None,
    status: Literal["active", "cancelled", "ended", "withdrawn"] | None = None,
) -> Memberships:
    """Find memberships with their plan, dates and arrears, by the name of the member.

    `cancelled` means that notice was given; such a membership runs until `ends_on`. `term_until` is the last day of the minimum term, freezes
    included. `overdue_dues` counts the open dues whose due day is past.

    Args:
        member_name: A part of the name of the member.
        member_id: Only memberships of this person, as `find_members` shows it.
        plan_id: Only memberships in this plan, as `list_plans` shows it.
        status: Only memberships in this status.
    """
    _check_filter(member_name, "the name of the member")
    if member_id is not None:
        _member(db, member_id)
    if plan_id is not None:
        _check_plan(db, plan_id)
    rows = db.all(
        f"""{MEMBERSHIP_SQL}
        WHERE (:member_name IS NULL OR instr(lower(member_name), lower(trim(:member_name))) > 0)
          AND (:member_id IS NULL OR member_id = :member_id)
          AND (:plan_id IS NULL OR plan_id = :plan_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY member_name, starts_on, membership_id
        """,
        today=db.now()[:10],
        member_name=member_name,
        member_id=member_id,
        plan_id=plan_id,
        status=status,
    )
    return {"memberships": [cast("Membership", row) for row in rows]}


def list_freezes(
    db: Database,
    *,
    membership_id: str | None = None,
    status: Literal["granted", "withdrawn"] | None = None,
) -> Freezes:
    """List freezes, the latest start first.

    Args:
        membership_id: Only those of this membership, as `find_memberships` shows it.
        status: Only freezes in this status.
    """
    if membership_id is not None:
        _membership(db, membership_id)
    rows = db.all(
        f"""{FREEZE_SQL}
        WHERE (:membership_id IS NULL OR membership_id = :membership_id) AND (:status IS NULL OR status = :status)
        ORDER BY starts_on DESC, freeze_id
        """,
        membership_id=membership_id,
        status=status,
    )
    return {"freezes": [cast("Freeze", row) for row in rows]}


def list_dues(
    db: Database,
    *,
    membership_id: str | None = None,
    status: Literal["open", "paid", "waived"] | None = None,
    overdue_only: bool = False,
) -> Dues:
    """List monthly dues, the oldest due day first.

    `total_cents` is the amount with the cost of a reminder.

    Args:
        membership_id: Only those of this membership, as `find_memberships` shows it.
        status: Only dues in this status.
        overdue_only: Only open dues whose due day is past.
    """
    if membership_id is not None:
        _membership(db, membership_id)
    rows = db.all(
        f"""{DUE_SQL}
        WHERE (:membership_id IS NULL OR membership_id = :membership_id)
          AND (:status IS NULL OR status = :status)
          AND (:overdue_only = 0 OR (status = 'open' AND due_on < :today))
        ORDER BY due_on, due_id
        """,
        membership_id=membership_id,
        status=status,
        overdue_only=int(overdue_only),
        today=db.now()[:10],
    )
    return {"dues": [cast("Due", row) for row in rows]}


def find_sessions(
    db: Database,
    *,
    course: str | None = None,
    trainer_name: str | None = None,
    status: Literal["scheduled", "held", "called_off"] | None = None,
    from_on: str | None = None,
    to_on: str | None = None,
    free_only: bool = False,
) -> Sessions:
    """Find course sessions by their start, with places, those taken and those who wait.

    Args:
        course: A part of the name of the course.
        trainer_name: A part of the name of the trainer.
        status: Only sessions in this status.
        from_on: Only sessions on this day or later, YYYY-MM-DD.
        to_on: Only sessions on this day or earlier, YYYY-MM-DD.
        free_only: Only scheduled sessions with a free place.
    """
    _check_filter(course, "the name of the course")
    _check_filter(trainer_name, "the name of the trainer")
    if from_on is not None:
        _day(from_on)
    if to_on is not None:
        _day(to_on)
    if from_on is not None and to_on is not None and to_on < from_on:
        raise ToolError(f"the last day {to_on} is before the first day {from_on}; exchange them")
    rows = db.all(
        f"""{SESSION_SQL}
        WHERE (:course IS NULL OR instr(lower(course), lower(trim(:course))) > 0)
          AND (:trainer_name IS NULL OR instr(lower(trainer_name), lower(trim(:trainer_name))) > 0)
          AND (:status IS NULL OR status = :status)
          AND (:from_on IS NULL OR date(starts_at) >= :from_on)
          AND (:to_on IS NULL OR date(starts_at) <= :to_on)
          AND (:free_only = 0 OR (status = 'scheduled' AND taken < places))
        ORDER BY starts_at, session_id
        """,
        course=course,
        trainer_name=trainer_name,
        status=status,
        from_on=from_on,
        to_on=to_on,
        free_only=int(free_only),
    )
    return {"sessions": [cast("Session", row) for row in rows]}


def find_bookings(
    db: Database,
    *,
    membership_id: str | None = None,
    session_id: str | None = None,
    status: Literal["booked", "waiting", "attended", "missed", "cancelled"] | None = None,
    from_on: str | None = None,
) -> Bookings:
    """Find bookings by the start of their sessions; those of one session in the order in which they were made.

    Args:
        membership_id: Only those of this membership, as `find_memberships` shows it.
        session_id: Only bookings of this session, as `find_sessions` shows it.
        status: Only bookings in this status.
        from_on: Only bookings of sessions on this day or later, YYYY-MM-DD.
    """
    if membership_id is not None:
        _membership(db, membership_id)
    if session_id is not None:
        _session(db, session_id)
    if from_on is not None:
        _day(from_on)
    rows = db.all(
        f"""{BOOKING_SQL}
        WHERE (:membership_id IS NULL OR membership_id = :membership_id)
          AND (:session_id IS NULL OR session_id = :session_id)
          AND (:status IS NULL OR status = :status)
          AND (:from_on IS NULL OR date(starts_at) >= :from_on)
        ORDER BY starts_at, session_id, booked_at, booking_id
        """,
        membership_id=membership_id,
        session_id=session_id,
        status=status,
        from_on=from_on,
    )
    return {"bookings": [cast("Booking", row) for row in rows]}


def list_guests(db: Database, *, membership_id: str | None = None, guest_name: str | None = None) -> GuestVisits:
    """List visits of guests, the latest first.

    Args:
        membership_id: Only guests of this membership, as `find_memberships` shows it.
        guest_name: A part of the name of the guest.
    """
    if membership_id is not None:
        _membership(db, membership_id)
    _check_filter(guest_name, "the name of the guest")
    rows = db.all(
        f"""{GUEST_SQL}
        WHERE (:membership_id IS NULL OR guest_visits.membership_id = :membership_id)
          AND (:guest_name IS NULL OR instr(lower(guest_visits.guest_name), lower(trim(:guest_name))) > 0)
        ORDER BY guest_visits.visit_on DESC, guest_visits.id
        """,
        membership_id=membership_id,
        guest_name=guest_name,
    )
    return {"guest_visits": [cast("GuestVisit", row) for row in rows]}


def list_plans(db: Database) -> Plans:
    """List the plans with their prices and limits, the lowest first."""
    rows = db.all(
        """
        SELECT id AS plan_id, name, level, monthly_cents, min_term_months, freeze_months_a_year, book_days_ahead,
          sessions_a_week, guests_a_month
        FROM plans ORDER BY level, id
        """
    )
    return {"plans": [cast("Plan", row) for row in rows]}


def register_member(
    db: Database,
    *,
    name: str,
    email: str,
    born_on: str,
    phone: str | None = None,
    guardian_name: str | None = None,
) -> Member:
    """Register a new person, who can be signed up then.

    Args:
        name: The full name.
        email: The e-mail address.
        born_on: The day of birth, YYYY-MM-DD.
        phone: The telephone number, if there is one.
        guardian_name: The name of the guardian of somebody under 18.
    """
    address = _filled(email, "the e-mail address")
    if "@" not in address.strip("@"):
        raise ToolError(f"{address!r} is no e-mail address; ask for the right one")
    known = db.one("SELECT id, name FROM members WHERE lower(email) = lower(:email) ORDER BY id", email=address)
    if known is not None:
        raise ToolError(f"{address} belongs to {known['name']} ({known['id']}) already; use that entry")
    if _day(born_on).isoformat() >= db.now()[:10]:
        raise ToolError(f"nobody who signs up was born on {born_on}; ask for the right day")
    member_id = db.new_id("mem")
    db.run(
        """
        INSERT INTO members (id, name, email, phone, born_on, guardian_name)
        VALUES (:id, :name, :email, :phone, :born_on, :guardian_name)
        """,
        id=member_id,
        name=_filled(name, "the name"),
        email=address,
        phone=None if phone is None else _filled(phone, "the telephone number"),
        born_on=born_on,
        guardian_name=None if guardian_name is None else _filled(guardian_name, "the name of the guardian"),
    )
    return _member(db, member_id)


def sign_up(
    db: Database,
    *,
    member_id: str,
    plan_id: str,
    start: Literal["this_month", "next_month"] = "next_month",
) -> Membership:
    """Sign a registered person up for a plan today.

    Args:
        member_id: The person, as `find_members` shows it.
        plan_id: The plan, as `list_plans` shows it.
        start: Whether it starts on the 1st of this month or of the next.
    """
    member = _member(db, member_id)
    _check_plan(db, plan_id)
    if member["running_membership_id"] is not None:
        # rule: one_membership
        raise ToolError(
            f"{member['name']} has the running membership {member['running_membership_id']}; a person has one at most"
        )
    membership_id = db.new_id("ms")
    db.run(
        """
        INSERT INTO memberships (id, member_id, plan_id, signed_on, starts_on, status)
        VALUES (:id, :member_id, :plan_id, :today, date(:today, 'start of month', :later), 'active')
        """,
        id=membership_id,
        member_id=member_id,
        plan_id=plan_id,
        today=db.now()[:10],
        later="+0 months" if start == "this_month" else "+1 months",
    )
    return _membership(db, membership_id)


def withdraw_membership(db: Database, *, membership_id: str) -> Membership:
    """Withdraw a membership that was signed lately, as of today.

    Args:
        membership_id: The membership, as `find_memberships` shows it.
    """
    membership = _membership(db, membership_id)
    if membership["status"] not in ("active", "cancelled"):
        raise ToolError(f"{membership_id} is {membership['status']} already; it cannot be withdrawn")
    today = db.now()[:10]
    last_day = (_day(membership["signed_on"]) + timedelta(days=WITHDRAWAL_DAYS)).isoformat()
    if today > last_day:
        # rule: withdrawal_in_time
        raise ToolError(
            f"{membership_id} was signed on {membership['signed_on']} and could be withdrawn until {last_day}; "
            "give_notice ends it"
        )
    db.run(
        "UPDATE memberships SET status = 'withdrawn', notice_on = NULL, ends_on = :today WHERE id = :id",
        today=today,
        id=membership_id,
    )
    return _membership(db, membership_id)


def give_notice(db: Database, *, membership_id: str) -> Membership:
    """Note that notice was given today; the last day is worked out.

    Args:
        membership_id: The membership, as `find_memberships` shows it.
    """
    membership = _membership(db, membership_id)
    if membership["status"] != "active":
        raise ToolError(f"{membership_id} is {membership['status']}; notice is given only for an active membership")
    db.run(
        """
        UPDATE memberships SET status = 'cancelled', notice_on = :today,
          ends_on = max(date(:today, 'start of month', '+2 months', '-1 day'), :term_until)
        WHERE id = :id
        """,
        today=db.now()[:10],
        term_until=membership["term_until"],
        id=membership_id,
    )
    return _membership(db, membership_id)


def change_plan(db: Database, *, membership_id: str, plan_id: str) -> Membership:
    """Change the plan of an active membership from the 1st of the next month.

    The present plan stays in `plan_id` until then; a change planned before is replaced.

    Args:
        membership_id: The membership, as `find_memberships` shows it.
        plan_id: The new plan, as `list_plans` shows it.
    """
    membership = _membership(db, membership_id)
    _check_plan(db, plan_id)
    if membership["status"] != "active":
        # rule: lower_plan_after_term
        raise ToolError(f"{membership_id} is {membership['status']}; only an active membership changes its plan")
    if plan_id == membership["plan_id"]:
        raise ToolError(f"{membership_id} is in the plan {membership['plan_name']} already")
    if plan_id == membership["next_plan_id"]:
        raise ToolError(f"{membership_id} changes to that plan on {membership['next_plan_from']} already")
    levels = db.one(
        """
        SELECT present.level AS present, wanted.level AS wanted, date(:today, 'start of month', '+1 months') AS next_first
        FROM plans AS present JOIN plans AS wanted ON wanted.id = :wanted
        WHERE present.id = :present ORDER BY present.id
        """,
        today=db.now()[:10],
        present=membership["plan_id"],
        wanted=plan_id,
    )
    if levels is None:
        raise ToolError(f"no plan {plan_id!r}; list_plans lists them")
    if levels["wanted"] < levels["present"] and membership["term_until"] >= levels["next_first"]:
        # rule: lower_plan_after_term
        raise ToolError(
            f"the minimum term of {membership_id} lasts until {membership['term_until']}; "
            f"a lower plan cannot start on {levels['next_first']}"
        )
    db.run(
        "UPDATE memberships SET next_plan_id = :plan_id, next_plan_from = :next_first WHERE id = :id",
        plan_id=plan_id,
        next_first=levels["next_first"],
        id=membership_id,
    )
    return _membership(db, membership_id)


def grant_freeze(db: Database, *, membership_id: str, starts_on: str, months: int) -> Freeze:
    """Grant a freeze that is asked for today.

    Args:
        membership_id: The membership, as `find_memberships` shows it.
        starts_on: The first day, the 1st of a month, YYYY-MM-DD.
        months: The number of months, 1 to 3.
    """
    membership = _membership(db, membership_id)
    first = _day(starts_on)
    today = db.now()[:10]
    if starts_on <= today:
        # rule: freeze_in_time
        raise ToolError(f"a freeze from {starts_on} would have begun already; it is asked for {FREEZE_DAYS_AHEAD} days ahead")
    if first.day != 1:
        raise ToolError(f"a freeze starts on the 1st of a month, not on {starts_on}")
    if not 1 <= months <= MOST_FREEZE_MONTHS:
        raise ToolError(f"a freeze lasts 1 to {MOST_FREEZE_MONTHS} months, not {months}")
    if today > (first - timedelta(days=FREEZE_DAYS_AHEAD)).isoformat():
        # rule: freeze_in_time
        raise ToolError(
            f"a freeze from {starts_on} had to be asked for {FREEZE_DAYS_AHEAD} days ahead; take a later month"
        )
    if membership["status"] != "active":
        # rule: freeze_in_good_standing
        raise ToolError(f"{membership_id} is {membership['status']}; only an active membership is frozen")
    if membership["overdue_dues"] > 0:
        # rule: freeze_in_good_standing
        raise ToolError(
            f"{membership_id} has overdue dues of {_money(membership['overdue_cents'])} euros; "
            "they must be settled before a freeze is granted"
        )
    freeze_id = db.new_id("frz")
    db.run(
        """
        INSERT INTO freezes (id, membership_id, starts_on, months, asked_on, status)
        VALUES (:id, :membership_id, :starts_on, :months, :today, 'granted')
        """,
        id=freeze_id,
        membership_id=membership_id,
        starts_on=starts_on,
        months=months,
        today=today,
    )
    return _freeze(db, freeze_id)


def withdraw_freeze(db: Database, *, freeze_id: str) -> Freeze:
    """Withdraw a freeze that has not started.

    Args:
        freeze_id: The freeze, as `list_freezes` shows it.
    """
    freeze = _freeze(db, freeze_id)
    today = db.now()[:10]
    if freeze["status"] == "granted" and freeze["starts_on"] <= today:
        raise ToolError(f"{freeze_id} started on {freeze['starts_on']}; it can be withdrawn only before that")
    db.run("UPDATE freezes SET status = 'withdrawn', withdrawn_on = :today WHERE id = :id", today=today, id=freeze_id)
    return _freeze(db, freeze_id)


def take_payment(db: Database, *, due_id: str) -> Due:
    """Note that a due is paid today, in full with its reminder.

    Args:
        due_id: The due, as `list_dues` shows it.
    """
    _due(db, due_id)
    db.run("UPDATE dues SET status = 'paid', settled_on = :today WHERE id = :id", today=db.now()[:10], id=due_id)
    return _due(db, due_id)


def remind_due(db: Database, *, due_id: str) -> Due:
    """Remind of an open due today and add the cost of the reminder.

    Args:
        due_id: The due, as `list_dues` shows it.
    """
    due = _due(db, due_id)
    today = db.now()[:10]
    first_day = (_day(due["due_on"]) + timedelta(days=REMINDER_AFTER_DAYS)).isoformat()
    if today < first_day:
        # rule: reminder_in_time
        raise ToolError(f"{due_id} was due on {due['due_on']}; a reminder is possible from {first_day} on")
    db.run(
        "UPDATE dues SET reminded_on = :today, reminder_cents = :cents WHERE id = :id",
        today=today,
        cents=REMINDER_CENTS,
        id=due_id,
    )
    return _due(db, due_id)


def waive_due(db: Database, *, due_id: str, waived_by: str) -> Due:
    """Waive an open due, as somebody of the studio has decided.

    Args:
        due_id: The due, as `list_dues` shows it.
        waived_by: The full name of the person of the studio who waives it.
    """
    _due(db, due_id)
    person = db.one(
        "SELECT id FROM staff WHERE lower(name) = lower(:name) ORDER BY id",
        name=_filled(waived_by, "the name of the person who waives"),
    )
    if person is None:
        raise ToolError(f"nobody of the studio is called {waived_by.strip()}; ask who has decided")
    db.run(
        "UPDATE dues SET status = 'waived', settled_on = :today, waived_by = :person WHERE id = :id",
        today=db.now()[:10],
        person=person["id"],
        id=due_id,
    )
    return _due(db, due_id)


def book_session(db: Database, *, membership_id: str, session_id: str) -> Booking:
    """Book a session; when it is full the booking waits.

    Args:
        membership_id: The membership, as `find_memberships` shows it.
        session_id: The session, as `find_sessions` shows it.
    """
    membership = _membership(db, membership_id)
    session = _session(db, session_id)
    earlier = db.one(
        """
        SELECT id, status FROM bookings
        WHERE membership_id = :membership_id AND session_id = :session_id AND status <> 'cancelled' ORDER BY id
        """,
        membership_id=membership_id,
        session_id=session_id,
    )
    if earlier is not None:
        raise ToolError(f"{membership_id} has {session_id} already: {earlier['id']}, which is {earlier['status']}")
    if membership["overdue_dues"] >= OVERDUE_THAT_BLOCK:
        # rule: arrears_block
        raise ToolError(
            f"{membership['member_name']} has {membership['overdue_dues']} overdue dues, "
            f"{_money(membership['overdue_cents'])} euros in all; nothing is booked until at most one is left"
        )
    _check_booking_window(db, membership_id, session)
    _check_missed(db, membership_id)
    booking_id = db.new_id("bkg")
    db.run(
        """
        INSERT INTO bookings (id, session_id, membership_id, booked_at, status)
        VALUES (:id, :session_id, :membership_id, :now, :status)
        """,
        id=booking_id,
        session_id=session_id,
        membership_id=membership_id,
        now=db.now(),
        status="waiting" if session["taken"] >= session["places"] else "booked",
    )
    return _booking(db, booking_id)


def cancel_booking(db: Database, *, booking_id: str) -> Booking:
    """Cancel a booking or give up a place on the waiting list; late cancelling is noted as missed.

    Who waits first gets a place that becomes free.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    if booking["status"] not in ("booked", "waiting"):
        raise ToolError(f"{booking_id} is {booking['status']}; only what is booked or waiting is cancelled")
    now = db.now()
    if booking["starts_at"] <= now:
        raise ToolError(f"{booking['course']} has started at {booking['starts_at']}; {booking_id} cannot be cancelled now")
    late = now > _hours_before(booking["starts_at"], FREE_CANCELLING_HOURS_BEFORE)
    if booking["status"] == "booked" and late:
        db.run("UPDATE bookings SET status = 'missed' WHERE id = :id", id=booking_id)
        return _booking(db, booking_id)
    db.run("UPDATE bookings SET status = 'cancelled' WHERE id = :id", id=booking_id)
    if booking["status"] == "booked":
        db.run(
            """
            UPDATE bookings SET status = 'booked'
            WHERE id = (SELECT bookings.id FROM bookings
              WHERE bookings.session_id = :session_id AND bookings.status = 'waiting'
              ORDER BY bookings.booked_at, bookings.id LIMIT 1)
            """,
            session_id=booking["session_id"],
        )
    return _booking(db, booking_id)


def record_attendance(db: Database, *, booking_id: str) -> Booking:
    """Record that somebody who has booked a session came to it.

    Args:
        booking_id: The booking, as `find_bookings` shows it.
    """
    booking = _booking(db, booking_id)
    if booking["status"] == "booked" and booking["starts_at"] > db.now():
        # rule: attendance_from_start
        raise ToolError(f"{booking['course']} starts at {booking['starts_at']}; attendance is recorded from then on")
    db.run("UPDATE bookings SET status = 'attended' WHERE id = :id", id=booking_id)
    return _booking(db, booking_id)


def close_session(db: Database, *, session_id: str) -> Session:
    """Close a session that is over as held; who is still booked has missed it, waiting ends.

    Args:
        session_id: The session, as `find_sessions` shows it.
    """
    session = _session(db, session_id)
    if session["status"] != "scheduled":
        raise ToolError(f"{session_id} is {session['status']}; only a scheduled session is closed")
    if session["ends_at"] > db.now():
        raise ToolError(f"{session['course']} lasts until {session['ends_at']}; it is closed when it is over")
    db.run("UPDATE sessions SET status = 'held' WHERE id = :id", id=session_id)
    db.run("UPDATE bookings SET status = 'missed' WHERE session_id = :id AND status = 'booked'", id=session_id)
    db.run("UPDATE bookings SET status = 'cancelled' WHERE session_id = :id AND status = 'waiting'", id=session_id)
    return _session(db, session_id)


def call_off_session(db: Database, *, session_id: str, reason: str) -> Session:
    """Call off a session that has not started; all its bookings are cancelled.

    Args:
        session_id: The session, as `find_sessions` shows it.
        reason: Why it does not take place, in words for the members.
    """
    session = _session(db, session_id)
    if session["status"] != "scheduled":
        raise ToolError(f"{session_id} is {session['status']}; only a scheduled session is called off")
    if session["starts_at"] <= db.now():
        raise ToolError(f"{session['course']} has started at {session['starts_at']}; it cannot be called off any more")
    db.run(
        "UPDATE sessions SET status = 'called_off', call_off_reason = :reason WHERE id = :id",
        reason=_filled(reason, "the reason"),
        id=session_id,
    )
    db.run(
        "UPDATE bookings SET status = 'cancelled' WHERE session_id = :id AND status IN ('booked', 'waiting')",
        id=session_id,
    )
    return _session(db, session_id)


def bring_guest(db: Database, *, membership_id: str, guest_name: str) -> GuestVisit:
    """Register a guest whom a member brings today.

    Args:
        membership_id: The membership, as `find_memberships` shows it.
        guest_name: The full name of the guest.
    """
    membership = _membership(db, membership_id)
    guest = _filled(guest_name, "the name of the guest")
    today = db.now()[:10]
    ends_on = membership["ends_on"]
    if membership["starts_on"] > today or (ends_on is not None and ends_on < today):
        raise ToolError(
            f"{membership_id} does not run today; it starts on {membership['starts_on']} and ends on {ends_on or 'no day yet'}"
        )
    if membership["status"] == "withdrawn":
        raise ToolError(f"{membership_id} is withdrawn; it brings no guest")
    if membership["overdue_dues"] >= OVERDUE_THAT_BLOCK:
        # rule: arrears_block
        raise ToolError(
            f"{membership['member_name']} has {membership['overdue_dues']} overdue dues, "
            f"{_money(membership['overdue_cents'])} euros in all; no guest comes until at most one is left"
        )
    earlier = db.one(
        """
        SELECT id FROM guest_visits
        WHERE membership_id = :membership_id AND lower(guest_name) = lower(:guest) AND visit_on = :today ORDER BY id
        """,
        membership_id=membership_id,
        guest=guest,
        today=today,
    )
    if earlier is not None:
        raise ToolError(f"{guest} is registered for today already: {earlier['id']}")
    guest_visit_id = db.new_id("gst")
    db.run(
        """
        INSERT INTO guest_visits (id, membership_id, guest_name, visit_on)
        VALUES (:id, :membership_id, :guest, :today)
        """,
        id=guest_visit_id,
        membership_id=membership_id,
        guest=guest,
        today=today,
    )
    row = db.one(f"{GUEST_SQL} WHERE guest_visits.id = :id ORDER BY guest_visits.id", id=guest_visit_id)
    return cast("GuestVisit", row)


def _check_filter(text: str | None, what: str) -> None:
    if text is not None and not text.strip():
        raise ToolError(f"{what} is blank; leave it out to see all")


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise ToolError(f"{text!r} is no date; write it as YYYY-MM-DD") from error
    if day.isoformat() != text:
        raise ToolError(f"{text!r} is not written as a date should be; write it as YYYY-MM-DD")
    return day


def _check_plan(db: Database, plan_id: str) -> None:
    if db.one("SELECT id FROM plans WHERE id = :id ORDER BY id", id=plan_id) is None:
        raise ToolError(f"no plan {plan_id!r}; list_plans lists them")


def _member(db: Database, member_id: str) -> Member:
    row = db.one(f"{MEMBER_SQL} WHERE members.id = :id ORDER BY members.id", id=member_id)
    if row is None:
        raise ToolError(f"no member {member_id!r}; find_members lists them")
    return cast("Member", row)


def _membership(db: Database, membership_id: str) -> Membership:
    row = db.one(
        f"{MEMBERSHIP_SQL} WHERE membership_id = :id ORDER BY membership_id", today=db.now()[:10], id=membership_id
    )
    if row is None:
        raise ToolError(f"no membership {membership_id!r}; find_memberships lists them")
    return cast("Membership", row)


def _session(db: Database, session_id: str) -> Session:
    row = db.one(f"{SESSION_SQL} WHERE session_id = :id ORDER BY session_id", id=session_id)
    if row is None:
        raise ToolError(f"no session {session_id!r}; find_sessions lists them")
    return cast("Session", row)


def _filled(text: str, what: str) -> str:
    if not text.strip():
        raise ToolError(f"{what} is blank; it must be told")
    return text.strip()


def _freeze(db: Database, freeze_id: str) -> Freeze:
    row = db.one(f"{FREEZE_SQL} WHERE freeze_id = :id ORDER BY freeze_id", id=freeze_id)
    if row is None:
        raise ToolError(f"no freeze {freeze_id!r}; list_freezes lists them")
    return cast("Freeze", row)


def _due(db: Database, due_id: str) -> Due:
    row = db.one(f"{DUE_SQL} WHERE due_id = :id ORDER BY due_id", id=due_id)
    if row is None:
        raise ToolError(f"no due {due_id!r}; list_dues lists them")
    return cast("Due", row)


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _booking(db: Database, booking_id: str) -> Booking:
    row = db.one(f"{BOOKING_SQL} WHERE booking_id = :id ORDER BY booking_id", id=booking_id)
    if row is None:
        raise ToolError(f"no booking {booking_id!r}; find_bookings lists them")
    return cast("Booking", row)


def _hours_before(moment: str, hours: int) -> str:
    return (datetime.fromisoformat(moment) - timedelta(hours=hours)).isoformat(sep=" ")


def _check_booking_window(db: Database, membership_id: str, session: Session) -> None:
    plan = db.one(
        "SELECT plan_name, book_days_ahead FROM membership_details WHERE membership_id = :id ORDER BY membership_id",
        id=membership_id,
    )
    if plan is None:
        raise ToolError(f"no membership {membership_id!r}; find_memberships lists them")
    now = db.now()
    last_moment = _hours_before(session["starts_at"], BOOKING_ENDS_HOURS_BEFORE)
    first_day = (_day(session["starts_at"][:10]) - timedelta(days=plan["book_days_ahead"])).isoformat()
    if now > last_moment:
        # rule: booking_window
        raise ToolError(f"{session['course']} could be booked until {last_moment}; it is {now} now, choose another session")
    if now[:10] < first_day:
        # rule: booking_window
        raise ToolError(
            f"{session['course']} on {session['starts_at']} can be booked from {first_day} on in the plan {plan['plan_name']}"
        )


def _check_missed(db: Database, membership_id: str) -> None:
    rows = db.all(
        """
        SELECT date(starts_at) AS missed_on FROM booking_details
        WHERE membership_id = :id AND status = 'missed' ORDER BY starts_at, booking_id
        """,
        id=membership_id,
    )
    missed = [_day(row["missed_on"]) for row in rows]
    today = _day(db.now()[:10])
    for earliest, latest in zip(missed, missed[MISSED_THAT_BLOCK - 1 :], strict=False):
        until = latest + timedelta(days=BLOCKED_DAYS)
        if latest - earliest <= timedelta(days=MISSED_WITHIN_DAYS) and today <= until:
            # rule: missed_block
            raise ToolError(
                f"{membership_id} has missed {MISSED_THAT_BLOCK} sessions between {earliest.isoformat()} and "
                f"{latest.isoformat()}; nothing is booked until {until.isoformat()}"
            )
