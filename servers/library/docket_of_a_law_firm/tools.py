"""Tools of the docket desk of a law firm."""

from datetime import date, datetime
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

MOST_PEOPLE = 4
LEAST_DAYS_AHEAD = 5
MOST_MOVES = 2


class Person(TypedDict):
    person_id: str
    name: str
    rank: str
    status: str
    admitted_to: list[str]
    leads: int
    set_hearings: int


class People(TypedDict):
    people: list[Person]


class Party(TypedDict):
    party_id: str
    name: str
    kind: str
    waivers_against: list[str]


class Parties(TypedDict):
    parties: list[Party]


class Holiday(TypedDict):
    day: str
    reason: str


class Court(TypedDict):
    court_id: str
    name: str
    city: str
    filing_cutoff: str
    holidays: list[Holiday]


class Courts(TypedDict):
    courts: list[Court]


class Adverse(TypedDict):
    party_id: str
    name: str


class Member(TypedDict):
    person_id: str
    name: str
    role: str


class Matter(TypedDict):
    matter_id: str
    title: str
    client_id: str
    client: str
    adverse: list[Adverse]
    court_id: str
    court: str
    status: str
    docket_number: str | None
    opened_on: str | None
    closed_on: str | None
    outcome: str | None
    staff: list[Member]


class Matters(TypedDict):
    matters: list[Matter]


class Conflict(TypedDict):
    client_id: str
    client: str
    adverse_id: str
    adverse: str
    other_matter_id: str
    why: str


class Conflicts(TypedDict):
    matter_id: str
    conflicts: list[Conflict]


class Deadline(TypedDict):
    deadline_id: str
    matter_id: str
    matter: str
    kind: str
    first_due_on: str
    due_on: str
    extensions: int
    most_extensions: int
    most_days: int
    status: str


class Deadlines(TypedDict):
    deadlines: list[Deadline]


class Hearing(TypedDict):
    hearing_id: str
    matter_id: str
    matter: str
    court: str
    kind: str
    starts_at: str
    minutes: int
    person_id: str
    appears: str
    moves: int
    status: str


class Hearings(TypedDict):
    hearings: list[Hearing]


class Document(TypedDict):
    document_id: str
    matter_id: str
    matter: str
    title: str
    deadline_id: str | None
    deadline_kind: str | None
    due_on: str | None
    drafter: str
    approver: str | None
    status: str
    filed_at: str | None


class Documents(TypedDict):
    documents: list[Document]


def find_people(db: Database, *, name: str | None = None, rank: Literal["partner", "senior_associate", "associate", "paralegal"] | None = None, status: Literal["active", "on_leave", "left"] | None = None) -> People:
    """Find people of the firm by name, with the courts that they are admitted to, the matters that they lead and their set hearings.

    Args:
        name: A part of the name, in any case.
        rank: Only this rank.
        status: Only people in this status.
    """
    _filter(name, "name")
    rows = db.all(
        "SELECT person_id, name, rank, status, leads, set_hearings FROM people_details"
        " WHERE (:name IS NULL OR instr(lower(name), lower(:name)) > 0)"
        " AND (:rank IS NULL OR rank = :rank) AND (:status IS NULL OR status = :status) ORDER BY name, person_id",
        name=name, rank=rank, status=status,
    )
    people: list[Person] = []
    for row in rows:
        courts = db.all(
            "SELECT k.name FROM admissions a JOIN courts k ON k.id = a.court_id WHERE a.person_id = :id ORDER BY k.name",
            id=row["person_id"],
        )
        people.append(
            {
                "person_id": row["person_id"], "name": row["name"], "rank": row["rank"], "status": row["status"],
                "admitted_to": [court["name"] for court in courts], "leads": row["leads"], "set_hearings": row["set_hearings"],
            }
        )
    return {"people": people}


def find_parties(db: Database, *, name: str | None = None) -> Parties:
    """Find clients and adverse parties by name, with the parties against whom each has signed a waiver as our client.

    Args:
        name: A part of the name, in any case.
    """
    _filter(name, "name")
    rows = db.all(
        "SELECT id FROM parties WHERE :name IS NULL OR instr(lower(name), lower(:name)) > 0 ORDER BY name, id", name=name
    )
    return {"parties": [_party(db, row["id"]) for row in rows]}


def find_courts(db: Database, *, name: str | None = None) -> Courts:
    """Find courts, with the daily filing cutoff and the holidays from today on.

    Args:
        name: A part of the name, in any case.
    """
    _filter(name, "name")
    courts: list[Court] = []
    for row in db.all(
        "SELECT * FROM courts WHERE :name IS NULL OR instr(lower(name), lower(:name)) > 0 ORDER BY name, id", name=name
    ):
        holidays = db.all(
            "SELECT day, reason FROM court_holidays WHERE court_id = :id AND day >= :today ORDER BY day",
            id=row["id"], today=db.now()[:10],
        )
        courts.append(
            {
                "court_id": row["id"], "name": row["name"], "city": row["city"], "filing_cutoff": row["filing_cutoff"],
                "holidays": cast("list[Holiday]", holidays),
            }
        )
    return {"courts": courts}


def find_matters(db: Database, *, text: str | None = None, party_id: str | None = None, person_id: str | None = None, status: Literal["intake", "open", "stayed", "closed"] | None = None) -> Matters:
    """Find matters, with client, adverse parties, court and staff, in the order of their titles.

    Args:
        text: A part of the title or of the docket number, in any case.
        party_id: Only matters with this party on either side, as `find_parties` shows it.
        person_id: Only matters with this person on the staff, as `find_people` shows it.
        status: Only matters in this status.
    """
    _filter(text, "text")
    if party_id is not None:
        _party(db, party_id)
    if person_id is not None:
        _person(db, person_id)
    rows = db.all(
        "SELECT m.id FROM matters m WHERE (:text IS NULL OR instr(lower(m.title), lower(:text)) > 0"
        " OR instr(lower(coalesce(m.docket_number, '')), lower(:text)) > 0)"
        " AND (:party IS NULL OR m.client_id = :party OR EXISTS"
        " (SELECT 1 FROM adverse_parties x WHERE x.matter_id = m.id AND x.party_id = :party))"
        " AND (:person IS NULL OR EXISTS (SELECT 1 FROM staff s WHERE s.matter_id = m.id AND s.person_id = :person))"
        " AND (:status IS NULL OR m.status = :status) ORDER BY m.title, m.id",
        text=text, party=party_id, person=person_id, status=status,
    )
    return {"matters": [_matter(db, row["id"]) for row in rows]}


def check_conflicts(db: Database, *, matter_id: str) -> Conflicts:
    """Show the conflicts of interest of a matter that no waiver lifts. An empty list is a clean check.

    Args:
        matter_id: The matter, as `find_matters` shows it.
    """
    _matter(db, matter_id)
    rows = db.all(
        "SELECT c.client_id, a.name AS client, c.adverse_id, b.name AS adverse, c.other_matter_id, c.why"
        " FROM conflicts c JOIN parties a ON a.id = c.client_id JOIN parties b ON b.id = c.adverse_id"
        " WHERE c.matter_id = :id ORDER BY c.other_matter_id, c.adverse_id, c.why",
        id=matter_id,
    )
    return {"matter_id": matter_id, "conflicts": cast("list[Conflict]", rows)}


def find_deadlines(db: Database, *, matter_id: str | None = None, status: Literal["pending", "met", "vacated", "missed"] | None = None, kind: Literal["answer", "discovery", "motion", "appeal"] | None = None, due_by: str | None = None) -> Deadlines:
    """Find deadlines, those due first at the top, with the extensions used and allowed.

    Args:
        matter_id: Only those of this matter, as `find_matters` shows it.
        status: Only deadlines in this status. An overdue deadline is pending.
        kind: Only this kind.
        due_by: Only those due on this day or before it, `YYYY-MM-DD`.
    """
    if matter_id is not None:
        _matter(db, matter_id)
    if due_by is not None:
        _day(due_by, "due_by")
    rows = db.all(
        "SELECT id FROM deadlines WHERE (:matter IS NULL OR matter_id = :matter) AND (:status IS NULL OR status = :status)"
        " AND (:kind IS NULL OR kind = :kind) AND (:due IS NULL OR due_on <= :due) ORDER BY due_on, id",
        matter=matter_id, status=status, kind=kind, due=due_by,
    )
    return {"deadlines": [_deadline(db, row["id"]) for row in rows]}


def find_hearings(db: Database, *, matter_id: str | None = None, person_id: str | None = None, court_id: str | None = None, status: Literal["set", "held", "vacated"] | None = None, on: str | None = None) -> Hearings:
    """Find hearings, the earliest first.

    Args:
        matter_id: Only those of this matter, as `find_matters` shows it.
        person_id: Only those at which this person appears, as `find_people` shows it.
        court_id: Only those at this court, as `find_courts` shows it.
        status: Only hearings in this status.
        on: Only those on this day, `YYYY-MM-DD`.
    """
    if matter_id is not None:
        _matter(db, matter_id)
    if person_id is not None:
        _person(db, person_id)
    if court_id is not None:
        _court(db, court_id)
    if on is not None:
        _day(on, "on")
    rows = db.all(
        "SELECT hearing_id FROM hearing_details WHERE (:matter IS NULL OR matter_id = :matter)"
        " AND (:person IS NULL OR person_id = :person) AND (:court IS NULL OR court_id = :court)"
        " AND (:status IS NULL OR status = :status) AND (:day IS NULL OR date(starts_at) = :day) ORDER BY starts_at, hearing_id",
        matter=matter_id, person=person_id, court=court_id, status=status, day=on,
    )
    return {"hearings": [_hearing(db, row["hearing_id"]) for row in rows]}


def find_documents(db: Database, *, matter_id: str | None = None, status: Literal["draft", "approved", "filed", "rejected"] | None = None, text: str | None = None) -> Documents:
    """Find documents, in the order of their ids, with the deadline that each was made for.

    Args:
        matter_id: Only those of this matter, as `find_matters` shows it.
        status: Only documents in this status.
        text: A part of the title, in any case.
    """
    if matter_id is not None:
        _matter(db, matter_id)
    _filter(text, "text")
    rows = db.all(
        "SELECT id FROM filings WHERE (:matter IS NULL OR matter_id = :matter) AND (:status IS NULL OR status = :status)"
        " AND (:text IS NULL OR instr(lower(title), lower(:text)) > 0) ORDER BY id",
        matter=matter_id, status=status, text=text,
    )
    return {"documents": [_document(db, row["id"]) for row in rows]}


def add_party(db: Database, *, name: str, kind: Literal["person", "company", "public_body"]) -> Party:
    """Register a client or adverse party that is not known yet.

    Args:
        name: The full name.
        kind: What it is.
    """
    name = name.strip()
    if len(name) < 3:
        raise ToolError("the name of a party is too short; give the full name")
    known = db.one("SELECT id FROM parties WHERE lower(name) = lower(:name)", name=name)
    if known is not None:
        raise ToolError(f"{name} is known already as {known['id']}")
    party_id = db.new_id("pty")
    db.run("INSERT INTO parties (id, name, kind) VALUES (:id, :name, :kind)", id=party_id, name=name, kind=kind)
    return _party(db, party_id)


def create_intake(db: Database, *, title: str, client_id: str, court_id: str, adverse_ids: list[str]) -> Matter:
    """Begin an intake: a new matter with its client, its court and the other side. It has no staff yet.

    Args:
        title: The title, such as `Weir v Petrov Haulage`.
        client_id: The client, as `find_parties` shows it.
        court_id: The court, as `find_courts` shows it.
        adverse_ids: The adverse parties, at least one, as `find_parties` shows them.
    """
    title = title.strip()
    if len(title) < 5:
        raise ToolError("the title is too short; it names both sides")
    _party(db, client_id)
    _court(db, court_id)
    if not adverse_ids:
        raise ToolError("a matter needs at least one adverse party")
    if len(set(adverse_ids)) < len(adverse_ids):
        raise ToolError("an adverse party is named twice; name each once")
    for party_id in adverse_ids:
        _party(db, party_id)
    known = db.one("SELECT id FROM matters WHERE lower(title) = lower(:title)", title=title)
    if known is not None:
        raise ToolError(f"there is a matter of that title already: {known['id']}")
    matter_id = db.new_id("mat")
    db.run(
        "INSERT INTO matters (id, title, client_id, court_id) VALUES (:id, :title, :client, :court)",
        id=matter_id, title=title, client=client_id, court=court_id,
    )
    for party_id in adverse_ids:
        db.run("INSERT INTO adverse_parties (matter_id, party_id) VALUES (:matter, :party)", matter=matter_id, party=party_id)
    return _matter(db, matter_id)


def record_waiver(db: Database, *, client_id: str, adverse_id: str) -> Party:
    """Record that a waiver was signed today: our client accepts that the adverse party is or was our client too. Returns the client.

    Args:
        client_id: The client who needs the waiver, as `find_parties` shows it.
        adverse_id: The party against whom, as `find_parties` shows it.
    """
    client = _party(db, client_id)
    adverse = _party(db, adverse_id)
    if client_id == adverse_id:
        raise ToolError("a waiver is between two different parties")
    if adverse["name"] in client["waivers_against"]:
        raise ToolError(f"a waiver of {client['name']} against {adverse['name']} is on file already")
    db.run(
        "INSERT INTO waivers (client_id, adverse_id, signed_on) VALUES (:client, :adverse, :today)",
        client=client_id, adverse=adverse_id, today=db.now()[:10],
    )
    return _party(db, client_id)


def assign_person(db: Database, *, matter_id: str, person_id: str, role: Literal["lead", "second", "paralegal"]) -> Matter:
    """Put a person on the staff of a matter that is not closed.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        person_id: The person, as `find_people` shows it.
        role: What the person does there.
    """
    matter = _not_closed(db, matter_id)
    person = _person(db, person_id)
    if person["status"] != "active":
        # rule: active_people_staffed
        raise ToolError(f"{person['name']} is not active ({person['status']}); only active people are put on a matter")
    if any(member["person_id"] == person_id for member in matter["staff"]):
        raise ToolError(f"{person['name']} is on the staff of {matter['title']} already")
    lead = _lead(matter)
    if role == "lead" and lead is not None:
        raise ToolError(f"{matter['title']} has a lead already, {lead['name']}; hand_over_lead changes it")
    if len(matter["staff"]) >= MOST_PEOPLE:
        # rule: four_people_a_matter
        raise ToolError(f"{matter['title']} has {MOST_PEOPLE} people, which is the most; take somebody off first")
    db.run(
        "INSERT INTO staff (matter_id, person_id, role, since) VALUES (:matter, :person, :role, :today)",
        matter=matter_id, person=person_id, role=role, today=db.now()[:10],
    )
    return _matter(db, matter_id)


def take_off_person(db: Database, *, matter_id: str, person_id: str) -> Matter:
    """Take a person off the staff of a matter.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        person_id: The person, as `find_people` shows it.
    """
    matter = _not_closed(db, matter_id)
    person = _person(db, person_id)
    member = _member(matter, person)
    if member["role"] == "lead":
        # rule: lead_hands_over
        raise ToolError(f"{person['name']} leads {matter['title']} and is not taken off; hand over the lead first")
    db.run("DELETE FROM staff WHERE matter_id = :matter AND person_id = :person", matter=matter_id, person=person_id)
    return _matter(db, matter_id)


def hand_over_lead(db: Database, *, matter_id: str, person_id: str) -> Matter:
    """Make another person of the staff the lead of a matter. The former lead becomes a second.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        person_id: The new lead, on the staff already, as `find_matters` shows it.
    """
    matter = _not_closed(db, matter_id)
    person = _person(db, person_id)
    member = _member(matter, person)
    if member["role"] == "lead":
        raise ToolError(f"{person['name']} leads {matter['title']} already")
    if person["status"] != "active":
        # rule: active_people_staffed
        raise ToolError(f"{person['name']} is away ({person['status']}) and cannot take over a lead")
    lead = _lead(matter)
    if lead is None:
        raise ToolError(f"{matter['title']} has no lead that could be handed over; assign_person gives it one")
    db.run(
        "UPDATE staff SET role = 'second' WHERE matter_id = :matter AND person_id = :person",
        matter=matter_id, person=lead["person_id"],
    )
    db.run(
        "UPDATE staff SET role = 'lead' WHERE matter_id = :matter AND person_id = :person", matter=matter_id, person=person_id
    )
    return _matter(db, matter_id)


def open_matter(db: Database, *, matter_id: str, docket_number: str) -> Matter:
    """Open a matter that is in intake, with the number that the court gave.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        docket_number: The court's number, such as `AC-2026-0107`.
    """
    matter = _matter(db, matter_id)
    if matter["status"] != "intake":
        # rule: matter_ways
        raise ToolError(f"{matter['title']} is {matter['status']}; only a matter in intake is opened")
    number = docket_number.strip()
    if len(number) < 6:
        raise ToolError("the docket number is too short; it is the court's, such as AC-2026-0107")
    taken = db.one("SELECT title FROM matters WHERE docket_number = :number", number=number)
    if taken is not None:
        # rule: own_docket_number
        raise ToolError(f"the docket number {number} belongs to {taken['title']}; ask the court for the right one")
    db.run(
        "UPDATE matters SET status = 'open', docket_number = :number, opened_on = :today WHERE id = :id",
        number=number, today=db.now()[:10], id=matter_id,
    )
    return _matter(db, matter_id)


def stay_matter(db: Database, *, matter_id: str) -> Matter:
    """Stay an open matter.

    Args:
        matter_id: The matter, as `find_matters` shows it.
    """
    matter = _matter(db, matter_id)
    if matter["status"] != "open":
        # rule: matter_ways
        raise ToolError(f"{matter['title']} is {matter['status']}; only an open matter is stayed")
    near = db.one(
        "SELECT id, starts_at FROM hearings WHERE matter_id = :id AND status = 'set' AND starts_at >= :now"
        " AND date(starts_at) <= date(:now, '+7 days') ORDER BY starts_at, id LIMIT 1",
        id=matter_id, now=db.now(),
    )
    if near is not None:
        # rule: stayed_rests
        raise ToolError(f"hearing {near['id']} is set for {near['starts_at'][:16]}, within 7 days; vacate or move it first")
    db.run("UPDATE matters SET status = 'stayed' WHERE id = :id", id=matter_id)
    return _matter(db, matter_id)


def resume_matter(db: Database, *, matter_id: str) -> Matter:
    """Resume a stayed matter: it is open again.

    Args:
        matter_id: The matter, as `find_matters` shows it.
    """
    matter = _matter(db, matter_id)
    if matter["status"] != "stayed":
        # rule: matter_ways
        raise ToolError(f"{matter['title']} is {matter['status']}; only a stayed matter is resumed")
    db.run("UPDATE matters SET status = 'open' WHERE id = :id", id=matter_id)
    return _matter(db, matter_id)


def close_matter(db: Database, *, matter_id: str, outcome: Literal["settled", "won", "lost", "withdrawn", "declined"]) -> Matter:
    """Close a matter today. An intake is closed as declined.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        outcome: How it ended.
    """
    matter = _matter(db, matter_id)
    if matter["status"] == "closed":
        # rule: matter_ways
        raise ToolError(f"{matter['title']} was closed on {matter['closed_on']} already and stays closed")
    if (matter["status"] == "intake") != (outcome == "declined"):
        # rule: declined_intakes_only
        raise ToolError(f"{matter['title']} is {matter['status']}: an intake is closed as declined, and nothing else is")
    db.run(
        "UPDATE matters SET status = 'closed', closed_on = :today, outcome = :outcome WHERE id = :id",
        today=db.now()[:10], outcome=outcome, id=matter_id,
    )
    return _matter(db, matter_id)


def calendar_deadline(db: Database, *, matter_id: str, kind: Literal["answer", "discovery", "motion", "appeal"], due_on: str) -> Deadline:
    """Put a deadline of an open matter on the calendar.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        kind: The kind of deadline.
        due_on: The day, `YYYY-MM-DD`.
    """
    matter = _open(db, matter_id)
    _day(due_on, "due_on")
    if due_on <= db.now()[:10]:
        raise ToolError(f"{due_on} is not after today; a new deadline lies ahead")
    pending = db.one(
        "SELECT id, due_on FROM deadlines WHERE matter_id = :id AND kind = :kind AND status = 'pending'", id=matter_id, kind=kind
    )
    if pending is not None:
        # rule: one_deadline_a_kind
        raise ToolError(f"{matter['title']} has a pending deadline of this kind already, {pending['id']} on {pending['due_on']}")
    deadline_id = db.new_id("ddl")
    db.run(
        "INSERT INTO deadlines (id, matter_id, kind, first_due_on, due_on) VALUES (:id, :matter, :kind, :due, :due)",
        id=deadline_id, matter=matter_id, kind=kind, due=due_on,
    )
    return _deadline(db, deadline_id)


def extend_deadline(db: Database, *, deadline_id: str, due_on: str) -> Deadline:
    """Extend a pending deadline to a later day, which counts as one extension.

    Args:
        deadline_id: The deadline, as `find_deadlines` shows it.
        due_on: The new day, `YYYY-MM-DD`.
    """
    deadline = _pending(db, deadline_id)
    _day(due_on, "due_on")
    if deadline["due_on"] < db.now()[:10]:
        # rule: no_late_extension
        raise ToolError(f"{deadline_id} was due on {deadline['due_on']}; a deadline whose day is past is not extended")
    if due_on <= deadline["due_on"]:
        raise ToolError(f"{due_on} is not later than {deadline['due_on']}; an extension goes to a later day")
    db.run("UPDATE deadlines SET due_on = :due, extensions = extensions + 1 WHERE id = :id", due=due_on, id=deadline_id)
    return _deadline(db, deadline_id)


def vacate_deadline(db: Database, *, deadline_id: str) -> Deadline:
    """Take a pending deadline off the calendar because the court lifted it.

    Args:
        deadline_id: The deadline, as `find_deadlines` shows it.
    """
    _pending(db, deadline_id)
    db.run("UPDATE deadlines SET status = 'vacated' WHERE id = :id", id=deadline_id)
    return _deadline(db, deadline_id)


def set_hearing(db: Database, *, matter_id: str, kind: Literal["status_conference", "motion", "settlement", "trial"], starts_at: str, minutes: int, person_id: str) -> Hearing:
    """Set a hearing of an open matter.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        kind: What is heard.
        starts_at: The beginning, `YYYY-MM-DD HH:MM`.
        minutes: How long it takes, 15 to 480.
        person_id: Who appears, as `find_people` shows it.
    """
    _open(db, matter_id)
    _appearing(db, person_id)
    if not 15 <= minutes <= 480:
        raise ToolError(f"a hearing takes 15 to 480 minutes, not {minutes}")
    start = _start(db, starts_at)
    hearing_id = db.new_id("hrg")
    db.run(
        "INSERT INTO hearings (id, matter_id, kind, starts_at, minutes, person_id)"
        " VALUES (:id, :matter, :kind, :start, :minutes, :person)",
        id=hearing_id, matter=matter_id, kind=kind, start=start, minutes=minutes, person=person_id,
    )
    return _hearing(db, hearing_id)


def move_hearing(db: Database, *, hearing_id: str, starts_at: str) -> Hearing:
    """Move a set hearing to another time, which counts as one move.

    Args:
        hearing_id: The hearing, as `find_hearings` shows it.
        starts_at: The new beginning, `YYYY-MM-DD HH:MM`.
    """
    hearing = _set(db, hearing_id)
    soon = db.one("SELECT datetime(:now, '+48 hours') AS soon", now=db.now())
    if soon is not None and hearing["starts_at"] < soon["soon"]:
        # rule: no_move_within_48_hours
        raise ToolError(f"{hearing_id} starts at {hearing['starts_at'][:16]}, in less than 48 hours; it is not moved any more")
    if hearing["moves"] >= MOST_MOVES:
        # rule: two_moves
        raise ToolError(f"{hearing_id} was moved {MOST_MOVES} times, which is the most")
    start = _start(db, starts_at)
    if start == hearing["starts_at"]:
        raise ToolError(f"{hearing_id} is set for {start[:16]} already")
    db.run("UPDATE hearings SET starts_at = :start, moves = moves + 1 WHERE id = :id", start=start, id=hearing_id)
    return _hearing(db, hearing_id)


def vacate_hearing(db: Database, *, hearing_id: str) -> Hearing:
    """Vacate a set hearing: it does not take place.

    Args:
        hearing_id: The hearing, as `find_hearings` shows it.
    """
    hearing = _set(db, hearing_id)
    if hearing["starts_at"] <= db.now():
        raise ToolError(f"{hearing_id} began at {hearing['starts_at'][:16]} and is not vacated any more")
    db.run("UPDATE hearings SET status = 'vacated' WHERE id = :id", id=hearing_id)
    return _hearing(db, hearing_id)


def change_appearance(db: Database, *, hearing_id: str, person_id: str) -> Hearing:
    """Have another attorney appear at a set hearing.

    Args:
        hearing_id: The hearing, as `find_hearings` shows it.
        person_id: Who appears instead, as `find_people` shows it.
    """
    hearing = _set(db, hearing_id)
    person = _appearing(db, person_id)
    if hearing["starts_at"] <= db.now():
        raise ToolError(f"{hearing_id} began at {hearing['starts_at'][:16]}; nobody else can appear any more")
    if hearing["person_id"] == person_id:
        raise ToolError(f"{person['name']} appears at {hearing_id} already")
    db.run("UPDATE hearings SET person_id = :person WHERE id = :id", person=person_id, id=hearing_id)
    return _hearing(db, hearing_id)


def draft_document(db: Database, *, matter_id: str, title: str, person_id: str, deadline_id: str | None = None) -> Document:
    """Enter a draft of a document for an open matter.

    Args:
        matter_id: The matter, as `find_matters` shows it.
        title: The title of the document.
        person_id: Who drafts it, of the matter's staff, as `find_matters` shows it.
        deadline_id: The pending deadline of this matter that it is made for, as `find_deadlines` shows it; none if it is for no deadline.
    """
    matter = _open(db, matter_id)
    title = _title(title)
    person = _person(db, person_id)
    _member(matter, person)
    if deadline_id is not None:
        deadline = _pending(db, deadline_id)
        if deadline["matter_id"] != matter_id:
            raise ToolError(f"{deadline_id} is a deadline of {deadline['matter']}, not of {matter['title']}")
    document_id = db.new_id("fil")
    db.run(
        "INSERT INTO filings (id, matter_id, deadline_id, title, drafted_by) VALUES (:id, :matter, :deadline, :title, :person)",
        id=document_id, matter=matter_id, deadline=deadline_id, title=title, person=person_id,
    )
    return _document(db, document_id)


def approve_document(db: Database, *, document_id: str, person_id: str) -> Document:
    """Record that an attorney approved a draft.

    Args:
        document_id: The draft, as `find_documents` shows it.
        person_id: Who approved it, as `find_people` shows it.
    """
    document = _document(db, document_id)
    person = _person(db, person_id)
    if document["status"] != "draft":
        raise ToolError(f"{document_id} is {document['status']}; only a draft is approved")
    _not_closed(db, document["matter_id"])
    if person["name"] == document["drafter"]:
        # rule: approved_by_another
        raise ToolError(f"{person['name']} drafted {document_id} and cannot approve it; somebody else does")
    if person["rank"] == "paralegal" or person["status"] != "active":
        raise ToolError(f"{person['name']} cannot approve; an active attorney does")
    db.run("UPDATE filings SET status = 'approved', approved_by = :person WHERE id = :id", person=person_id, id=document_id)
    return _document(db, document_id)


def revise_document(db: Database, *, document_id: str, title: str) -> Document:
    """Change the title of a document that is not filed. An approved one becomes a draft again.

    Args:
        document_id: The document, as `find_documents` shows it.
        title: The new title.
    """
    document = _document(db, document_id)
    title = _title(title)
    if document["status"] not in ("draft", "approved"):
        raise ToolError(f"{document_id} is {document['status']} and is not changed any more")
    _not_closed(db, document["matter_id"])
    if document["title"] == title:
        raise ToolError(f"{document_id} has that title already")
    db.run("UPDATE filings SET title = :title, status = 'draft', approved_by = NULL WHERE id = :id", title=title, id=document_id)
    return _document(db, document_id)


def file_document(db: Database, *, document_id: str) -> Document:
    """File an approved document with the court now. The deadline that it was made for is met by it.

    Args:
        document_id: The document, as `find_documents` shows it.
    """
    document = _document(db, document_id)
    if document["status"] != "approved":
        raise ToolError(f"{document_id} is {document['status']}; only an approved document is filed")
    matter = _open(db, document["matter_id"])
    today = db.now()[:10]
    if _rests(db, matter["court_id"], today):
        # rule: filed_before_cutoff
        raise ToolError(f"{matter['court']} takes no filings today; file on its next court day")
    court = _court(db, matter["court_id"])
    if db.now()[11:16] >= court["filing_cutoff"]:
        # rule: filed_before_cutoff
        raise ToolError(f"the cutoff of {matter['court']} at {court['filing_cutoff']} is past for today")
    if document["due_on"] is not None and document["due_on"] < today:
        # rule: filed_before_cutoff
        raise ToolError(f"the deadline of {document_id} was {document['due_on']}; it is too late to file for it")
    db.run("UPDATE filings SET status = 'filed', filed_at = :now WHERE id = :id", now=db.now(), id=document_id)
    db.run("UPDATE deadlines SET status = 'met' WHERE id = :id AND status = 'pending'", id=document["deadline_id"])
    return _document(db, document_id)


def record_rejection(db: Database, *, document_id: str) -> Document:
    """Record that the court rejected a filed document of an open matter. Its deadline is pending again while its day is not past, and missed otherwise.

    Args:
        document_id: The document, as `find_documents` shows it.
    """
    document = _document(db, document_id)
    if document["status"] != "filed":
        raise ToolError(f"{document_id} is {document['status']}; only a filed document is rejected")
    _open(db, document["matter_id"])
    db.run("UPDATE filings SET status = 'rejected' WHERE id = :id", id=document_id)
    other = db.one(
        "SELECT id FROM filings WHERE deadline_id = :deadline AND status = 'filed' LIMIT 1", deadline=document["deadline_id"]
    )
    if document["deadline_id"] is None or other is not None:
        return _document(db, document_id)
    deadline = _deadline(db, document["deadline_id"])
    if deadline["status"] != "met":
        return _document(db, document_id)
    again = "pending" if deadline["due_on"] >= db.now()[:10] else "missed"
    pending = db.one(
        "SELECT id FROM deadlines WHERE matter_id = :matter AND kind = :kind AND status = 'pending' LIMIT 1",
        matter=document["matter_id"], kind=deadline["kind"],
    )
    if again == "pending" and pending is not None:
        # rule: one_deadline_a_kind
        raise ToolError(f"another deadline of that kind, {pending['id']}, is pending by now; settle it before the rejection")
    db.run("UPDATE deadlines SET status = :again WHERE id = :id", again=again, id=deadline["deadline_id"])
    return _document(db, document_id)


def _filter(value: str | None, what: str) -> None:
    if value is not None and not value.strip():
        raise ToolError(f"{what} is blank; leave it out to see all")


def _day(value: str, what: str) -> None:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise ToolError(f"{what} is no day: {value!r}; write it as YYYY-MM-DD") from None
    if day.isoformat() != value:
        raise ToolError(f"{what} is no day: {value!r}; write it as YYYY-MM-DD")


def _person(db: Database, person_id: str) -> dict[str, str]:
    row = db.one("SELECT id, name, rank, status FROM people WHERE id = :id", id=person_id)
    if row is None:
        raise ToolError(f"no person {person_id!r}; find_people lists them")
    return cast("dict[str, str]", row)


def _party(db: Database, party_id: str) -> Party:
    row = db.one("SELECT id, name, kind FROM parties WHERE id = :id", id=party_id)
    if row is None:
        raise ToolError(f"no party {party_id!r}; find_parties lists them")
    waived = db.all(
        "SELECT p.name FROM waivers w JOIN parties p ON p.id = w.adverse_id WHERE w.client_id = :id ORDER BY p.name", id=party_id
    )
    return {
        "party_id": row["id"], "name": row["name"], "kind": row["kind"], "waivers_against": [other["name"] for other in waived]
    }


def _matter(db: Database, matter_id: str) -> Matter:
    row = db.one("SELECT * FROM matter_details WHERE matter_id = :id", id=matter_id)
    if row is None:
        raise ToolError(f"no matter {matter_id!r}; find_matters lists them")
    adverse = db.all(
        "SELECT p.id AS party_id, p.name FROM adverse_parties x JOIN parties p ON p.id = x.party_id"
        " WHERE x.matter_id = :id ORDER BY p.name, p.id",
        id=matter_id,
    )
    staff = db.all(
        "SELECT p.id AS person_id, p.name, s.role FROM staff s JOIN people p ON p.id = s.person_id"
        " WHERE s.matter_id = :id ORDER BY s.role, p.name, p.id",
        id=matter_id,
    )
    return {
        "matter_id": row["matter_id"], "title": row["title"], "client_id": row["client_id"], "client": row["client"],
        "adverse": cast("list[Adverse]", adverse), "court_id": row["court_id"], "court": row["court"], "status": row["status"],
        "docket_number": row["docket_number"], "opened_on": row["opened_on"], "closed_on": row["closed_on"],
        "outcome": row["outcome"], "staff": cast("list[Member]", staff),
    }


def _deadline(db: Database, deadline_id: str) -> Deadline:
    row = db.one(
        "SELECT deadline_id, matter_id, matter, kind, first_due_on, due_on, extensions, most_extensions, most_days, status"
        " FROM deadline_details WHERE deadline_id = :id",
        id=deadline_id,
    )
    if row is None:
        raise ToolError(f"no deadline {deadline_id!r}; find_deadlines lists them")
    return cast("Deadline", row)


def _court(db: Database, court_id: str) -> dict[str, str]:
    row = db.one("SELECT id, name, city, filing_cutoff FROM courts WHERE id = :id", id=court_id)
    if row is None:
        raise ToolError(f"no court {court_id!r}; find_courts lists them")
    return cast("dict[str, str]", row)


def _not_closed(db: Database, matter_id: str) -> Matter:
    matter = _matter(db, matter_id)
    if matter["status"] == "closed":
        raise ToolError(f"{matter['title']} is closed since {matter['closed_on']}; nothing in it is changed")
    return matter


def _lead(matter: Matter) -> Member | None:
    for member in matter["staff"]:
        if member["role"] == "lead":
            return member
    return None


def _hearing(db: Database, hearing_id: str) -> Hearing:
    row = db.one(
        "SELECT hearing_id, matter_id, matter, court, kind, starts_at, minutes, person_id, appears, moves, status"
        " FROM hearing_details WHERE hearing_id = :id",
        id=hearing_id,
    )
    if row is None:
        raise ToolError(f"no hearing {hearing_id!r}; find_hearings lists them")
    return cast("Hearing", row)


def _document(db: Database, document_id: str) -> Document:
    row = db.one(
        "SELECT filing_id AS document_id, matter_id, matter, title, deadline_id, deadline_kind, due_on, drafter, approver,"
        " status, filed_at FROM filing_details WHERE filing_id = :id",
        id=document_id,
    )
    if row is None:
        raise ToolError(f"no document {document_id!r}; find_documents lists them")
    return cast("Document", row)


def _member(matter: Matter, person: dict[str, str]) -> Member:
    for member in matter["staff"]:
        if member["person_id"] == person["id"]:
            return member
    raise ToolError(f"{person['name']} is not on the staff of {matter['title']}; assign_person puts people on it")


def _open(db: Database, matter_id: str) -> Matter:
    matter = _matter(db, matter_id)
    if matter["status"] == "stayed":
        # rule: stayed_rests
        raise ToolError(f"{matter['title']} is stayed and rests; it must be resumed first")
    if matter["status"] != "open":
        raise ToolError(f"{matter['title']} is {matter['status']}; this takes an open matter")
    return matter


def _pending(db: Database, deadline_id: str) -> Deadline:
    deadline = _deadline(db, deadline_id)
    if deadline["status"] != "pending":
        raise ToolError(f"{deadline_id} is {deadline['status']}; this takes a pending deadline")
    return deadline


def _set(db: Database, hearing_id: str) -> Hearing:
    hearing = _hearing(db, hearing_id)
    if hearing["status"] != "set":
        raise ToolError(f"{hearing_id} is {hearing['status']}; this takes a hearing that is set")
    return hearing


def _appearing(db: Database, person_id: str) -> dict[str, str]:
    person = _person(db, person_id)
    if person["status"] != "active":
        raise ToolError(f"{person['name']} is not active ({person['status']}) and cannot appear")
    return person


def _start(db: Database, value: str) -> str:
    try:
        start = datetime.strptime(value, "%Y-%m-%d %H:%M")
    except ValueError:
        raise ToolError(f"starts_at is no time: {value!r}; write it as YYYY-MM-DD HH:MM") from None
    if not "08:30" <= start.strftime("%H:%M") <= "16:30":
        raise ToolError(f"a hearing begins between 08:30 and 16:30, not at {start.strftime('%H:%M')}")
    today = date.fromisoformat(db.now()[:10])
    if (start.date() - today).days < LEAST_DAYS_AHEAD:
        # rule: hearing_five_days_ahead
        raise ToolError(f"{start.date().isoformat()} is less than {LEAST_DAYS_AHEAD} days ahead of today, {today.isoformat()}")
    return start.strftime("%Y-%m-%d %H:%M:%S")


def _title(value: str) -> str:
    title = value.strip()
    if len(title) < 4:
        raise ToolError("the title of a document is too short")
    return title


def _rests(db: Database, court_id: str, day: str) -> bool:
    if date.fromisoformat(day).weekday() >= 5:
        return True
    return db.one("SELECT 1 AS yes FROM court_holidays WHERE court_id = :court AND day = :day", court=court_id, day=day) is not None
