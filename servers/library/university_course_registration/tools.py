"""Tools of the registration desk of Halden College."""

from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

STUDENT_ROWS = """
SELECT student_id, name, email, kind_id AS kind, class_year, status, advisor_id, advisor_name, credit_limit, overload_limit,
  waitlist_limit, withdrawal_limit, overdue_limit_cents, waitlists, withdrawals, active_holds, balance_cents, overdue_cents
FROM student_details"""
STAFF_ROWS = "SELECT id AS staff_id, name, email, role FROM staff"
TERM_ROWS = """
SELECT id AS term_id, name, status, registration_from, add_until, drop_until, withdraw_until, payment_due_on, credit_price_cents
FROM terms"""
SECTION_ROWS = """
SELECT section_id, course_id, title, label, credits, term_id, term_name, instructor_id, instructor_name, status, capacity,
  enrolled, offered, waiting, free_seats, waitlist_places, meets
FROM section_details"""
ENROLLMENT_ROWS = """
SELECT e.enrollment_id, e.student_id, e.student_name, e.section_id, e.course_id, e.title, e.label, e.credits, e.term_id, e.term_name,
  (SELECT group_concat(m.day || ' ' || m.starts || '-' || m.ends || ' ' || m.room, ', '
      ORDER BY instr('MonTueWedThuFri', m.day), m.starts)
    FROM meetings AS m WHERE m.section_id = e.section_id) AS meets,
  e.status, e.grade, e.enrolled_at, e.ended_at, e.charged_cents, e.refunded_cents
FROM enrollment_details AS e"""
WAITLIST_ROWS = """
SELECT entry_id, student_id, student_name, section_id, title, label, term_id, status, position, joined_at, offered_at, offer_until,
  closed_at
FROM waitlist_details"""
PERMISSION_ROWS = """
SELECT permission_id, kind, student_id, student_name, term_id, course_id, section_id, reason, status, decider_id, requested_at,
  decided_at, decided_by
FROM permission_details"""
HOLD_ROWS = """
SELECT holds.id AS hold_id, holds.student_id, students.name AS student_name, holds.kind, holds.reason, holds.status, holds.placed_at,
  holds.placed_by, holds.released_at, holds.released_by
FROM holds JOIN students ON students.id = holds.student_id"""
ACCOUNT_ROWS = """
SELECT a.id AS entry_id, a.student_id, a.kind, a.enrollment_id, courses.title, a.amount_cents, a.method, a.receipt_no, a.entered_at
FROM account_entries AS a
LEFT JOIN enrollments ON enrollments.id = a.enrollment_id
LEFT JOIN sections ON sections.id = enrollments.section_id
LEFT JOIN courses ON courses.id = sections.course_id"""
OFFICES = {"financial": "bursar", "advising": "advisor", "disciplinary": "dean"}
SMALLEST_CAPACITY = 1
LARGEST_CAPACITY = 40


class Student(TypedDict):
    student_id: str
    name: str
    email: str
    kind: str
    class_year: int
    status: str
    advisor_id: str
    advisor_name: str
    credit_limit: int
    overload_limit: int
    waitlist_limit: int
    withdrawal_limit: int
    overdue_limit_cents: int
    waitlists: int
    withdrawals: int
    active_holds: int
    balance_cents: int
    overdue_cents: int


class Students(TypedDict):
    students: list[Student]


class StaffMember(TypedDict):
    staff_id: str
    name: str
    email: str
    role: str


class StaffMembers(TypedDict):
    staff: list[StaffMember]


class Term(TypedDict):
    term_id: str
    name: str
    status: str
    registration_from: str
    add_until: str
    drop_until: str
    withdraw_until: str
    payment_due_on: str
    credit_price_cents: int


class Terms(TypedDict):
    terms: list[Term]


class Prerequisite(TypedDict):
    required_course_id: str
    title: str
    min_grade: str


class Course(TypedDict):
    course_id: str
    title: str
    credits: int
    level: int
    needs_consent: bool
    coordinator_id: str
    coordinator_name: str
    prerequisites: list[Prerequisite]


class Courses(TypedDict):
    courses: list[Course]


class Section(TypedDict):
    section_id: str
    course_id: str
    title: str
    label: str
    credits: int
    term_id: str
    term_name: str
    instructor_id: str
    instructor_name: str
    status: str
    capacity: int
    enrolled: int
    offered: int
    waiting: int
    free_seats: int
    waitlist_places: int
    meets: str | None


class Sections(TypedDict):
    sections: list[Section]


class Enrollment(TypedDict):
    enrollment_id: str
    student_id: str
    student_name: str
    section_id: str
    course_id: str
    title: str
    label: str
    credits: int
    term_id: str
    term_name: str
    meets: str | None
    status: str
    grade: str | None
    enrolled_at: str
    ended_at: str | None
    charged_cents: int
    refunded_cents: int


class Enrollments(TypedDict):
    enrollments: list[Enrollment]


class TermLoad(TypedDict):
    student_id: str
    term_id: str
    credits: int
    allowed_credits: int


class WaitlistEntry(TypedDict):
    entry_id: str
    student_id: str
    student_name: str
    section_id: str
    title: str
    label: str
    term_id: str
    status: str
    position: int | None
    joined_at: str
    offered_at: str | None
    offer_until: str | None
    closed_at: str | None


class WaitlistEntries(TypedDict):
    entries: list[WaitlistEntry]


class Permission(TypedDict):
    permission_id: str
    kind: str
    student_id: str
    student_name: str
    term_id: str
    course_id: str | None
    section_id: str | None
    reason: str
    status: str
    decider_id: str
    requested_at: str
    decided_at: str | None
    decided_by: str | None


class Permissions(TypedDict):
    permissions: list[Permission]


class Hold(TypedDict):
    hold_id: str
    student_id: str
    student_name: str
    kind: str
    reason: str
    status: str
    placed_at: str
    placed_by: str
    released_at: str | None
    released_by: str | None


class Holds(TypedDict):
    holds: list[Hold]


class AccountEntry(TypedDict):
    entry_id: str
    student_id: str
    kind: str
    enrollment_id: str | None
    title: str | None
    amount_cents: int
    method: str | None
    receipt_no: str | None
    entered_at: str


class AccountEntries(TypedDict):
    entries: list[AccountEntry]


def find_students(
    db: Database,
    *,
    name: str | None = None,
    status: Literal["active", "on_leave", "suspended", "graduated"] | None = None,
    advisor_id: str | None = None,
) -> Students:
    """Find students by name, with their limits, account and holds, in order of name.

    The balance is everything owed, a negative one is a credit; the overdue part is what should have been paid already.

    Args:
        name: Part of the name, in any case.
        status: Only students in this status.
        advisor_id: Only students of this advisor, as `find_staff` shows it.
    """
    if name is not None:
        name = _text(name, "name")
    if advisor_id is not None and _staff_member(db, advisor_id)["role"] != "advisor":
        raise ToolError(f"{advisor_id} is not an advisor; find_staff lists the advisors")
    rows = db.all(
        f"""{STUDENT_ROWS}
        WHERE (:name IS NULL OR instr(lower(name), lower(:name)) > 0)
          AND (:status IS NULL OR status = :status)
          AND (:advisor_id IS NULL OR advisor_id = :advisor_id)
        ORDER BY name, student_id""",
        name=name,
        status=status,
        advisor_id=advisor_id,
    )
    return {"students": cast("list[Student]", rows)}


def find_staff(
    db: Database,
    *,
    name: str | None = None,
    role: Literal["instructor", "advisor", "bursar", "dean"] | None = None,
) -> StaffMembers:
    """Find members of the staff, in order of name.

    Args:
        name: Part of the name, in any case.
        role: Only staff in this role.
    """
    if name is not None:
        name = _text(name, "name")
    rows = db.all(
        f"""{STAFF_ROWS}
        WHERE (:name IS NULL OR instr(lower(name), lower(:name)) > 0) AND (:role IS NULL OR role = :role)
        ORDER BY name, id""",
        name=name,
        role=role,
    )
    return {"staff": cast("list[StaffMember]", rows)}


def list_terms(db: Database, *, status: Literal["planned", "open", "closed"] | None = None) -> Terms:
    """List the terms with their deadlines and prices, the earliest first.

    Args:
        status: Only terms in this status.
    """
    rows = db.all(
        f"{TERM_ROWS} WHERE (:status IS NULL OR status = :status) ORDER BY add_until, registration_from, id",
        status=status,
    )
    return {"terms": cast("list[Term]", rows)}


def find_courses(
    db: Database, *, title: str | None = None, level: Literal[100, 200, 300, 400] | None = None
) -> Courses:
    """Find courses with their credits, coordinator and prerequisites, in order of title.

    Args:
        title: Part of the title, in any case.
        level: Only courses of this level.
    """
    if title is not None:
        title = _text(title, "title")
    rows = db.all(
        """
        SELECT courses.id AS course_id, courses.title, courses.credits, courses.level, courses.needs_consent,
          courses.coordinator_id, staff.name AS coordinator_name
        FROM courses JOIN staff ON staff.id = courses.coordinator_id
        WHERE (:title IS NULL OR instr(lower(courses.title), lower(:title)) > 0) AND (:level IS NULL OR courses.level = :level)
        ORDER BY courses.title, courses.id""",
        title=title,
        level=level,
    )
    found: list[Course] = []
    for row in rows:
        required = db.all(
            """
            SELECT prerequisites.required_course_id, courses.title, prerequisites.min_grade
            FROM prerequisites JOIN courses ON courses.id = prerequisites.required_course_id
            WHERE prerequisites.course_id = :course_id
            ORDER BY courses.title, prerequisites.required_course_id""",
            course_id=row["course_id"],
        )
        found.append(
            {
                "course_id": row["course_id"],
                "title": row["title"],
                "credits": row["credits"],
                "level": row["level"],
                "needs_consent": bool(row["needs_consent"]),
                "coordinator_id": row["coordinator_id"],
                "coordinator_name": row["coordinator_name"],
                "prerequisites": cast("list[Prerequisite]", required),
            }
        )
    return {"courses": found}


def find_sections(
    db: Database,
    *,
    title: str | None = None,
    course_id: str | None = None,
    term_id: str | None = None,
    instructor_id: str | None = None,
    status: Literal["open", "closed", "cancelled"] | None = None,
) -> Sections:
    """Find sections of courses with their seats, waitlist and meeting times, in order of term and title.

    Seats on offer are not free. No meeting time means that the section meets by arrangement.

    Args:
        title: Part of the title of the course, in any case.
        course_id: Only sections of this course, as `find_courses` shows it.
        term_id: Only sections in this term, as `list_terms` shows it.
        instructor_id: Only sections of this instructor, as `find_staff` shows it.
        status: Only sections in this status.
    """
    if title is not None:
        title = _text(title, "title")
    if course_id is not None:
        _check_course(db, course_id)
    if term_id is not None:
        _term(db, term_id)
    if instructor_id is not None and _staff_member(db, instructor_id)["role"] != "instructor":
        raise ToolError(f"{instructor_id} is not an instructor; find_staff lists the instructors")
    rows = db.all(
        f"""{SECTION_ROWS}
        WHERE (:title IS NULL OR instr(lower(title), lower(:title)) > 0)
          AND (:course_id IS NULL OR course_id = :course_id)
          AND (:term_id IS NULL OR term_id = :term_id)
          AND (:instructor_id IS NULL OR instructor_id = :instructor_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY add_until, term_id, title, label, section_id""",
        title=title,
        course_id=course_id,
        term_id=term_id,
        instructor_id=instructor_id,
        status=status,
    )
    return {"sections": cast("list[Section]", rows)}


def find_enrollments(
    db: Database,
    *,
    student_id: str | None = None,
    section_id: str | None = None,
    term_id: str | None = None,
    status: Literal["enrolled", "dropped", "withdrawn", "completed"] | None = None,
) -> Enrollments:
    """Find enrolments with meeting times, grades, tuition and refunds, the latest first.

    Args:
        student_id: Only enrolments of this student, as `find_students` shows it.
        section_id: Only enrolments in this section, as `find_sections` shows it.
        term_id: Only enrolments in this term, as `list_terms` shows it.
        status: Only enrolments in this status.
    """
    if student_id is not None:
        _student(db, student_id)
    if section_id is not None:
        _section(db, section_id)
    if term_id is not None:
        _term(db, term_id)
    rows = db.all(
        f"""{ENROLLMENT_ROWS}
        WHERE (:student_id IS NULL OR e.student_id = :student_id)
          AND (:section_id IS NULL OR e.section_id = :section_id)
          AND (:term_id IS NULL OR e.term_id = :term_id)
          AND (:status IS NULL OR e.status = :status)
        ORDER BY e.enrolled_at DESC, e.enrollment_id""",
        student_id=student_id,
        section_id=section_id,
        term_id=term_id,
        status=status,
    )
    return {"enrollments": cast("list[Enrollment]", rows)}


def get_term_load(db: Database, *, student_id: str, term_id: str) -> TermLoad:
    """Show how many credits a student is enrolled in within a term, and how many are allowed, permissions counted.

    Args:
        student_id: The student, as `find_students` shows it.
        term_id: The term, as `list_terms` shows it.
    """
    _student(db, student_id)
    _term(db, term_id)
    return _load(db, student_id, term_id)


def find_waitlist_entries(
    db: Database,
    *,
    student_id: str | None = None,
    section_id: str | None = None,
    status: Literal["waiting", "offered", "enrolled", "expired", "removed"] | None = None,
) -> WaitlistEntries:
    """Find places on waitlists, those who joined first at the top.

    Only those who are waiting have a position; 1 is the first in line. An offer that has run out stays offered until it is marked as lapsed.

    Args:
        student_id: Only places of this student, as `find_students` shows it.
        section_id: Only places on the waitlist of this section, as `find_sections` shows it.
        status: Only places in this status.
    """
    if student_id is not None:
        _student(db, student_id)
    if section_id is not None:
        _section(db, section_id)
    rows = db.all(
        f"""{WAITLIST_ROWS}
        WHERE (:student_id IS NULL OR student_id = :student_id)
          AND (:section_id IS NULL OR section_id = :section_id)
          AND (:status IS NULL OR status = :status)
        ORDER BY joined_at, entry_id""",
        student_id=student_id,
        section_id=section_id,
        status=status,
    )
    return {"entries": cast("list[WaitlistEntry]", rows)}


def find_permissions(
    db: Database,
    *,
    student_id: str | None = None,
    term_id: str | None = None,
    kind: Literal["overload", "prerequisite_waiver", "instructor_consent"] | None = None,
    status: Literal["requested", "approved", "denied", "used"] | None = None,
) -> Permissions:
    """Find permissions and who decides on them, the latest request first.

    Args:
        student_id: Only permissions of this student, as `find_students` shows it.
        term_id: Only permissions for this term, as `list_terms` shows it.
        kind: Only permissions of this kind.
        status: Only permissions in this status.
    """
    if student_id is not None:
        _student(db, student_id)
    if term_id is not None:
        _term(db, term_id)
    rows = db.all(
        f"""{PERMISSION_ROWS}
        WHERE (:student_id IS NULL OR student_id = :student_id)
          AND (:term_id IS NULL OR term_id = :term_id)
          AND (:kind IS NULL OR kind = :kind)
          AND (:status IS NULL OR status = :status)
        ORDER BY requested_at DESC, permission_id""",
        student_id=student_id,
        term_id=term_id,
        kind=kind,
        status=status,
    )
    return {"permissions": cast("list[Permission]", rows)}


def find_holds(
    db: Database,
    *,
    student_id: str | None = None,
    kind: Literal["financial", "advising", "disciplinary"] | None = None,
    status: Literal["active", "released"] | None = None,
) -> Holds:
    """Find holds on students, the latest first.

    Args:
        student_id: Only holds on this student, as `find_students` shows it.
        kind: Only holds of this kind.
        status: Only holds in this status.
    """
    if student_id is not None:
        _student(db, student_id)
    rows = db.all(
        f"""{HOLD_ROWS}
        WHERE (:student_id IS NULL OR holds.student_id = :student_id)
          AND (:kind IS NULL OR holds.kind = :kind)
          AND (:status IS NULL OR holds.status = :status)
        ORDER BY holds.placed_at DESC, holds.id""",
        student_id=student_id,
        kind=kind,
        status=status,
    )
    return {"holds": cast("list[Hold]", rows)}


def list_account_entries(
    db: Database, *, student_id: str, kind: Literal["tuition", "refund", "payment"] | None = None
) -> AccountEntries:
    """List the charges, refunds and payments of a student, the latest first. All amounts are positive.

    Args:
        student_id: The student, as `find_students` shows it.
        kind: Only entries of this kind.
    """
    _student(db, student_id)
    rows = db.all(
        f"""{ACCOUNT_ROWS}
        WHERE a.student_id = :student_id AND (:kind IS NULL OR a.kind = :kind)
        ORDER BY a.entered_at DESC, a.id""",
        student_id=student_id,
        kind=kind,
    )
    return {"entries": cast("list[AccountEntry]", rows)}


def enroll_student(db: Database, *, student_id: str, section_id: str) -> Enrollment:
    """Enrol a student directly in a section and charge the tuition.

    Permissions that the enrolment relies on are marked as used. A seat that was offered is taken with `accept_offer` instead.

    Args:
        student_id: The student, as `find_students` shows it.
        section_id: The section, as `find_sections` shows it.
    """
    student = _student(db, student_id)
    section = _section(db, section_id)
    return _enroll(db, student, section)


def drop_enrollment(db: Database, *, enrollment_id: str) -> Enrollment:
    """Drop a student from a section and refund the tuition. Nobody on the waitlist is offered the seat by this.

    Args:
        enrollment_id: The enrolment, as `find_enrollments` shows it.
    """
    enrollment = _current_enrollment(db, enrollment_id)
    _check_drop_date(db, enrollment)
    _drop(db, enrollment)
    return _enrollment(db, enrollment_id)


def withdraw_enrollment(db: Database, *, enrollment_id: str) -> Enrollment:
    """Withdraw a student from a section once it can no longer be dropped, and refund what is due.

    Args:
        enrollment_id: The enrolment, as `find_enrollments` shows it.
    """
    enrollment = _current_enrollment(db, enrollment_id)
    db.run("UPDATE enrollments SET status = 'withdrawn', ended_at = :now WHERE id = :id", now=db.now(), id=enrollment_id)
    _refund(db, enrollment, enrollment["charged_cents"] // 2)
    return _enrollment(db, enrollment_id)


def swap_section(db: Database, *, enrollment_id: str, section_id: str) -> Enrollment:
    """Drop an enrolment and enrol the student in another section of the same term, in one step; shows the new enrolment.

    Args:
        enrollment_id: The enrolment to give up, as `find_enrollments` shows it.
        section_id: The section to enrol in instead, as `find_sections` shows it.
    """
    enrollment = _current_enrollment(db, enrollment_id)
    section = _section(db, section_id)
    if section_id == enrollment["section_id"]:
        raise ToolError(f"{enrollment['student_name']} is in section {section_id} already; choose another section")
    if section["term_id"] != enrollment["term_id"]:
        raise ToolError(
            f"section {section_id} is in {section['term_name']}, the enrolment in {enrollment['term_name']};"
            " a swap stays within one term"
        )
    _check_drop_date(db, enrollment)
    _drop(db, enrollment)
    return _enroll(db, _student(db, enrollment["student_id"]), _section(db, section_id))


def join_waitlist(db: Database, *, student_id: str, section_id: str) -> WaitlistEntry:
    """Put a student at the end of the waitlist of a section.

    Args:
        student_id: The student, as `find_students` shows it.
        section_id: The section, as `find_sections` shows it.
    """
    student = _student(db, student_id)
    section = _section(db, section_id)
    _check_registration(db, section)
    there = db.one(
        """
        SELECT id, status FROM waitlist_entries
        WHERE student_id = :student_id AND section_id = :section_id AND status IN ('waiting', 'offered')""",
        student_id=student_id,
        section_id=section_id,
    )
    if there is not None:
        raise ToolError(f"{student['name']} is on the waitlist of {section_id} already, as {there['id']} ({there['status']})")
    if section["free_seats"] > 0 and section["waiting"] == 0 and section["offered"] == 0:
        # rule: waiting_needs_a_full_section
        raise ToolError(f"section {section_id} has {section['free_seats']} free seats and no queue; enrol the student instead")
    entry_id = db.new_id("wtl")
    db.run(
        """
        INSERT INTO waitlist_entries (id, student_id, section_id, status, joined_at)
        VALUES (:id, :student_id, :section_id, 'waiting', :now)""",
        id=entry_id,
        student_id=student_id,
        section_id=section_id,
        now=db.now(),
    )
    return _waitlist_entry(db, entry_id)


def leave_waitlist(db: Database, *, entry_id: str) -> WaitlistEntry:
    """Take a student off a waitlist, or decline the seat on offer. The seat is not offered to anybody else by this.

    Args:
        entry_id: The place on the waitlist, as `find_waitlist_entries` shows it.
    """
    entry = _waitlist_entry(db, entry_id)
    if entry["status"] not in ("waiting", "offered"):
        raise ToolError(f"{entry_id} has ended already ({entry['status']} since {entry['closed_at']})")
    db.run("UPDATE waitlist_entries SET status = 'removed', closed_at = :now WHERE id = :id", now=db.now(), id=entry_id)
    return _waitlist_entry(db, entry_id)


def offer_seat(db: Database, *, entry_id: str) -> WaitlistEntry:
    """Offer a free seat of the section to a student who waits for it.

    Args:
        entry_id: The place on the waitlist, as `find_waitlist_entries` shows it.
    """
    entry = _waitlist_entry(db, entry_id)
    if entry["status"] != "waiting":
        raise ToolError(f"{entry_id} is {entry['status']}, not waiting; a seat is offered only to somebody who waits")
    _check_registration(db, _section(db, entry["section_id"]))
    now = db.now()
    db.run(
        """
        UPDATE waitlist_entries SET status = 'offered', offered_at = :now, offer_until = datetime(:now, '+48 hours')
        WHERE id = :id""",
        now=now,
        id=entry_id,
    )
    return _waitlist_entry(db, entry_id)


def accept_offer(db: Database, *, entry_id: str) -> Enrollment:
    """Enrol a student in the seat on offer and charge the tuition.

    Permissions that the enrolment relies on are marked as used.

    Args:
        entry_id: The place with the offer, as `find_waitlist_entries` shows it.
    """
    entry = _offered_entry(db, entry_id)
    now = db.now()
    if entry["offer_until"] is not None and now > entry["offer_until"]:
        # rule: offer_48_hours
        raise ToolError(f"the offer {entry_id} has run out at {entry['offer_until']}; it can only be marked as lapsed")
    db.run("UPDATE waitlist_entries SET status = 'enrolled', closed_at = :now WHERE id = :id", now=now, id=entry_id)
    return _enroll(db, _student(db, entry["student_id"]), _section(db, entry["section_id"]))


def lapse_offer(db: Database, *, entry_id: str) -> WaitlistEntry:
    """Mark an offer that has run out as lapsed, which sets its seat free.

    Args:
        entry_id: The place with the offer, as `find_waitlist_entries` shows it.
    """
    entry = _offered_entry(db, entry_id)
    now = db.now()
    if entry["offer_until"] is not None and now <= entry["offer_until"]:
        # rule: offer_48_hours
        raise ToolError(f"the offer {entry_id} is still good until {entry['offer_until']}; it cannot lapse before")
    db.run("UPDATE waitlist_entries SET status = 'expired', closed_at = :now WHERE id = :id", now=now, id=entry_id)
    return _waitlist_entry(db, entry_id)


def request_permission(
    db: Database,
    *,
    student_id: str,
    kind: Literal["overload", "prerequisite_waiver", "instructor_consent"],
    term_id: str,
    reason: str,
    course_id: str | None = None,
    section_id: str | None = None,
) -> Permission:
    """Record a student's request for a permission; it is decided with `decide_permission`.

    Args:
        student_id: The student, as `find_students` shows it.
        kind: What is asked for. A waiver needs `course_id`, a consent needs `section_id`, an overload neither.
        term_id: The term that it is for, as `list_terms` shows it.
        reason: The reason, in the student's words.
        course_id: For a waiver only: the course, as `find_courses` shows it.
        section_id: For a consent only: the section, as `find_sections` shows it.
    """
    student = _student(db, student_id)
    term = _term(db, term_id)
    reason = _text(reason, "reason")
    if (kind == "prerequisite_waiver") != (course_id is not None):
        raise ToolError("a waiver names the course that it is for, and no other kind of permission does")
    if (kind == "instructor_consent") != (section_id is not None):
        raise ToolError("a consent names the section that it is for, and no other kind of permission does")
    if course_id is not None:
        _check_course(db, course_id)
    if section_id is not None:
        section = _section(db, section_id)
        if section["term_id"] != term_id:
            raise ToolError(f"section {section_id} is in {section['term_name']}, not in {term['name']}; name its own term")
    if student["status"] != "active":
        raise ToolError(f"{student['name']} is {student['status']}; only active students request permissions")
    if term["status"] != "open":
        raise ToolError(f"{term['name']} is {term['status']}; permissions are requested for open terms only")
    there = db.one(
        """
        SELECT id, status FROM permissions
        WHERE student_id = :student_id AND term_id = :term_id AND kind = :kind AND course_id IS :course_id
          AND section_id IS :section_id AND status <> 'denied'""",
        student_id=student_id,
        term_id=term_id,
        kind=kind,
        course_id=course_id,
        section_id=section_id,
    )
    if there is not None:
        raise ToolError(f"the same permission is there already: {there['id']} is {there['status']}")
    permission_id = db.new_id("prm")
    db.run(
        """
        INSERT INTO permissions (id, kind, student_id, term_id, course_id, section_id, reason, status, requested_at)
        VALUES (:id, :kind, :student_id, :term_id, :course_id, :section_id, :reason, 'requested', :now)""",
        id=permission_id,
        kind=kind,
        student_id=student_id,
        term_id=term_id,
        course_id=course_id,
        section_id=section_id,
        reason=reason,
        now=db.now(),
    )
    return _permission(db, permission_id)


def decide_permission(
    db: Database, *, permission_id: str, decision: Literal["approved", "denied"], decided_by: str
) -> Permission:
    """Record the decision on a requested permission.

    Args:
        permission_id: The permission, as `find_permissions` shows it.
        decision: What was decided.
        decided_by: Who decided, as `find_staff` shows it.
    """
    permission = _permission(db, permission_id)
    _staff_member(db, decided_by)
    if permission["status"] != "requested":
        raise ToolError(f"{permission_id} was decided on {permission['decided_at']} ({permission['status']}); this is final")
    db.run(
        "UPDATE permissions SET status = :decision, decided_at = :now, decided_by = :decided_by WHERE id = :id",
        decision=decision,
        now=db.now(),
        decided_by=decided_by,
        id=permission_id,
    )
    return _permission(db, permission_id)


def place_hold(
    db: Database,
    *,
    student_id: str,
    kind: Literal["financial", "advising", "disciplinary"],
    reason: str,
    placed_by: str,
) -> Hold:
    """Place a hold on a student.

    Args:
        student_id: The student, as `find_students` shows it.
        kind: The kind of hold.
        reason: The reason, as it was given.
        placed_by: Who places it, as `find_staff` shows it.
    """
    student = _student(db, student_id)
    _staff_member(db, placed_by)
    reason = _text(reason, "reason")
    there = db.one(
        "SELECT id, placed_at FROM holds WHERE student_id = :student_id AND kind = :kind AND status = 'active'",
        student_id=student_id,
        kind=kind,
    )
    if there is not None:
        raise ToolError(f"{student['name']} has an active {kind} hold already: {there['id']} of {there['placed_at']}")
    hold_id = db.new_id("hld")
    db.run(
        """
        INSERT INTO holds (id, student_id, kind, reason, status, placed_at, placed_by)
        VALUES (:id, :student_id, :kind, :reason, 'active', :now, :placed_by)""",
        id=hold_id,
        student_id=student_id,
        kind=kind,
        reason=reason,
        now=db.now(),
        placed_by=placed_by,
    )
    return _hold(db, hold_id)


def release_hold(db: Database, *, hold_id: str, released_by: str) -> Hold:
    """Release an active hold.

    Args:
        hold_id: The hold, as `find_holds` shows it.
        released_by: Who releases it, as `find_staff` shows it.
    """
    hold = _hold(db, hold_id)
    member = _staff_member(db, released_by)
    if hold["status"] != "active":
        raise ToolError(f"{hold_id} was released already on {hold['released_at']}")
    office = OFFICES[hold["kind"]]
    if member["role"] != office:
        # rule: hold_offices
        raise ToolError(f"a {hold['kind']} hold is lifted by the role {office} only; {member['name']} is {member['role']}")
    db.run(
        "UPDATE holds SET status = 'released', released_at = :now, released_by = :released_by WHERE id = :id",
        now=db.now(),
        released_by=released_by,
        id=hold_id,
    )
    return _hold(db, hold_id)


def switch_section(
    db: Database, *, section_id: str, to: Literal["open", "closed"], requested_by: str
) -> Section:
    """Close an open section to new students, or open a closed one again.

    Args:
        section_id: The section, as `find_sections` shows it.
        to: What it should be from now on.
        requested_by: The instructor who asks, as `find_staff` shows it.
    """
    section = _section_of_instructor(db, section_id, requested_by)
    if section["status"] == to:
        raise ToolError(f"section {section_id} is {to} already")
    db.run("UPDATE sections SET status = :to WHERE id = :id", to=to, id=section_id)
    return _section(db, section_id)


def change_capacity(db: Database, *, section_id: str, capacity: int, requested_by: str) -> Section:
    """Change the number of seats of a section. Nobody on the waitlist is offered a seat by this.

    Args:
        section_id: The section, as `find_sections` shows it.
        capacity: The new number of seats.
        requested_by: The instructor who asks, as `find_staff` shows it.
    """
    section = _section_of_instructor(db, section_id, requested_by)
    if not SMALLEST_CAPACITY <= capacity <= LARGEST_CAPACITY:
        # rule: capacity_ceiling
        raise ToolError(f"a capacity lies between {SMALLEST_CAPACITY} and {LARGEST_CAPACITY}, {capacity} does not")
    taken = section["enrolled"] + section["offered"]
    if capacity < taken:
        # rule: seats_within_capacity
        raise ToolError(
            f"{section['enrolled']} seats are taken and {section['offered']} on offer in {section_id};"
            f" the capacity can be {taken} at the least"
        )
    db.run("UPDATE sections SET capacity = :capacity WHERE id = :id", capacity=capacity, id=section_id)
    return _section(db, section_id)


def cancel_section(db: Database, *, section_id: str, requested_by: str) -> Section:
    """Cancel a section for good: everyone in it is dropped with a full refund, and its waitlist is ended.

    Args:
        section_id: The section, as `find_sections` shows it.
        requested_by: The instructor who asks, as `find_staff` shows it.
    """
    _section_of_instructor(db, section_id, requested_by)
    rows = db.all(
        f"{ENROLLMENT_ROWS} WHERE e.section_id = :id AND e.status = 'enrolled' ORDER BY e.enrolled_at, e.enrollment_id",
        id=section_id,
    )
    for row in rows:
        _drop(db, cast("Enrollment", row))
    db.run(
        """
        UPDATE waitlist_entries SET status = 'removed', closed_at = :now
        WHERE section_id = :id AND status IN ('waiting', 'offered')""",
        now=db.now(),
        id=section_id,
    )
    db.run("UPDATE sections SET status = 'cancelled' WHERE id = :id", id=section_id)
    return _section(db, section_id)


def record_payment(
    db: Database, *, student_id: str, amount_cents: int, method: Literal["cash", "card", "transfer"], receipt_no: str
) -> AccountEntry:
    """Record a payment that a student has made. It releases no hold.

    Args:
        student_id: The student, as `find_students` shows it.
        amount_cents: The amount in cents.
        method: How it was paid.
        receipt_no: The number on the receipt.
    """
    student = _student(db, student_id)
    receipt_no = _text(receipt_no, "receipt number")
    if amount_cents <= 0:
        raise ToolError(f"a payment of {_money(amount_cents)} is not positive; give the amount in cents")
    if amount_cents > student["balance_cents"]:
        raise ToolError(
            f"the balance of {student['name']} is {_money(student['balance_cents'])};"
            f" a payment of {_money(amount_cents)} would be more than that"
        )
    there = db.one("SELECT id, entered_at FROM account_entries WHERE receipt_no = :receipt_no", receipt_no=receipt_no)
    if there is not None:
        raise ToolError(f"receipt {receipt_no} was recorded already on {there['entered_at']}")
    entry_id = db.new_id("acc")
    db.run(
        """
        INSERT INTO account_entries (id, student_id, kind, amount_cents, method, receipt_no, entered_at)
        VALUES (:id, :student_id, 'payment', :amount_cents, :method, :receipt_no, :now)""",
        id=entry_id,
        student_id=student_id,
        amount_cents=amount_cents,
        method=method,
        receipt_no=receipt_no,
        now=db.now(),
    )
    row = db.one(f"{ACCOUNT_ROWS} WHERE a.id = :id", id=entry_id)
    return cast("AccountEntry", row)


def post_grade(
    db: Database, *, enrollment_id: str, grade: Literal["A", "B", "C", "D", "F"], posted_by: str
) -> Enrollment:
    """Post the final grade of a student in a section, which completes the enrolment.

    Args:
        enrollment_id: The enrolment, as `find_enrollments` shows it.
        grade: The grade.
        posted_by: The instructor who gives it, as `find_staff` shows it.
    """
    enrollment = _current_enrollment(db, enrollment_id)
    _check_instructor(db, _section(db, enrollment["section_id"]), posted_by)
    db.run(
        "UPDATE enrollments SET status = 'completed', grade = :grade, ended_at = :now WHERE id = :id",
        grade=grade,
        now=db.now(),
        id=enrollment_id,
    )
    return _enrollment(db, enrollment_id)


def record_leave(db: Database, *, student_id: str, to: Literal["on_leave", "active"]) -> Student:
    """Record that an active student goes on leave, or that one on leave is back.

    Args:
        student_id: The student, as `find_students` shows it.
        to: What the student is from now on.
    """
    student = _student(db, student_id)
    if student["status"] not in ("active", "on_leave"):
        raise ToolError(f"{student['name']} is {student['status']}; only active students take a leave or come back from one")
    if student["status"] == to:
        raise ToolError(f"{student['name']} is {to} already")
    current = db.one(
        "SELECT count(*) AS number FROM enrollments WHERE student_id = :id AND status = 'enrolled'", id=student_id
    )
    if to == "on_leave" and current is not None and current["number"] > 0:
        # rule: active_students
        raise ToolError(f"{student['name']} is enrolled in {current['number']} sections; these must end before a leave")
    db.run("UPDATE students SET status = :to WHERE id = :id", to=to, id=student_id)
    return _student(db, student_id)


def _text(value: str, what: str) -> str:
    text = value.strip()
    if not text:
        raise ToolError(f"the {what} is blank; give some text")
    return text


def _student(db: Database, student_id: str) -> Student:
    row = db.one(f"{STUDENT_ROWS} WHERE student_id = :id", id=student_id)
    if row is None:
        raise ToolError(f"no student {student_id!r}; find_students lists them")
    return cast("Student", row)


def _staff_member(db: Database, staff_id: str) -> StaffMember:
    row = db.one(f"{STAFF_ROWS} WHERE id = :id", id=staff_id)
    if row is None:
        raise ToolError(f"no member of the staff {staff_id!r}; find_staff lists them")
    return cast("StaffMember", row)


def _term(db: Database, term_id: str) -> Term:
    row = db.one(f"{TERM_ROWS} WHERE id = :id", id=term_id)
    if row is None:
        raise ToolError(f"no term {term_id!r}; list_terms lists them")
    return cast("Term", row)


def _section(db: Database, section_id: str) -> Section:
    row = db.one(f"{SECTION_ROWS} WHERE section_id = :id", id=section_id)
    if row is None:
        raise ToolError(f"no section {section_id!r}; find_sections lists them")
    return cast("Section", row)


def _check_course(db: Database, course_id: str) -> None:
    if db.one("SELECT id FROM courses WHERE id = :id", id=course_id) is None:
        raise ToolError(f"no course {course_id!r}; find_courses lists them")


def _enroll(db: Database, student: Student, section: Section) -> Enrollment:
    student_id = student["student_id"]
    section_id = section["section_id"]
    if section["status"] == "closed":
        # rule: closed_sections
        raise ToolError(f"section {section_id} is closed to new students; choose another section or ask its instructor")
    if student["overdue_cents"] > student["overdue_limit_cents"]:
        # rule: tuition_and_arrears
        raise ToolError(
            f"{student['name']} is overdue by {_money(student['overdue_cents'])}, more than the"
            f" {_money(student['overdue_limit_cents'])} accepted; a payment must come first"
        )
    missing = db.all(
        """
        SELECT courses.title, unmet_prerequisites.min_grade
        FROM unmet_prerequisites JOIN courses ON courses.id = unmet_prerequisites.required_course_id
        WHERE unmet_prerequisites.student_id = :student_id AND unmet_prerequisites.course_id = :course_id
        ORDER BY courses.title, courses.id""",
        student_id=student_id,
        course_id=section["course_id"],
    )
    waiver = db.one(
        """
        SELECT id FROM permissions
        WHERE kind = 'prerequisite_waiver' AND student_id = :student_id AND course_id = :course_id AND term_id = :term_id
          AND status IN ('approved', 'used')""",
        student_id=student_id,
        course_id=section["course_id"],
        term_id=section["term_id"],
    )
    if missing and waiver is None:
        wanted = ", ".join(f"{row['title']} with {row['min_grade']} or better" for row in missing)
        # rule: prerequisites_met
        raise ToolError(f"{student['name']} lacks a prerequisite of {section['title']}: {wanted}; a waiver can be requested")
    load = _load(db, student_id, section["term_id"])
    now = db.now()
    enrollment_id = db.new_id("enr")
    db.run(
        """
        INSERT INTO enrollments (id, student_id, section_id, status, enrolled_at)
        VALUES (:id, :student_id, :section_id, 'enrolled', :now)""",
        id=enrollment_id,
        student_id=student_id,
        section_id=section_id,
        now=now,
    )
    db.run(
        """
        INSERT INTO account_entries (id, student_id, kind, enrollment_id, amount_cents, entered_at)
        SELECT :id, :student_id, 'tuition', :enrollment_id, credits * credit_price_cents, :now
        FROM section_details WHERE section_id = :section_id""",
        id=db.new_id("acc"),
        student_id=student_id,
        enrollment_id=enrollment_id,
        section_id=section_id,
        now=now,
    )
    if missing:
        db.run(
            """
            UPDATE permissions SET status = 'used'
            WHERE kind = 'prerequisite_waiver' AND student_id = :student_id AND course_id = :course_id AND term_id = :term_id
              AND status = 'approved'""",
            student_id=student_id,
            course_id=section["course_id"],
            term_id=section["term_id"],
        )
    if load["credits"] + section["credits"] > student["credit_limit"]:
        db.run(
            """
            UPDATE permissions SET status = 'used'
            WHERE kind = 'overload' AND student_id = :student_id AND term_id = :term_id AND status = 'approved'""",
            student_id=student_id,
            term_id=section["term_id"],
        )
    db.run(
        """
        UPDATE permissions SET status = 'used'
        WHERE kind = 'instructor_consent' AND student_id = :student_id AND section_id = :section_id AND status = 'approved'
          AND EXISTS (SELECT 1 FROM section_details AS s WHERE s.section_id = :section_id AND s.needs_consent = 1)""",
        student_id=student_id,
        section_id=section_id,
    )
    return _enrollment(db, enrollment_id)


def _enrollment(db: Database, enrollment_id: str) -> Enrollment:
    row = db.one(f"{ENROLLMENT_ROWS} WHERE e.enrollment_id = :id", id=enrollment_id)
    if row is None:
        raise ToolError(f"no enrolment {enrollment_id!r}; find_enrollments lists them")
    return cast("Enrollment", row)


def _load(db: Database, student_id: str, term_id: str) -> TermLoad:
    row = db.one(
        """
        SELECT student_id, term_id, credits, allowed_credits FROM term_loads
        WHERE student_id = :student_id AND term_id = :term_id""",
        student_id=student_id,
        term_id=term_id,
    )
    if row is None:
        raise ToolError(f"nothing is known about {student_id} in {term_id}; list_terms lists the terms")
    return cast("TermLoad", row)


def _money(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _current_enrollment(db: Database, enrollment_id: str) -> Enrollment:
    enrollment = _enrollment(db, enrollment_id)
    if enrollment["status"] != "enrolled":
        raise ToolError(f"{enrollment_id} has ended already ({enrollment['status']} on {enrollment['ended_at']})")
    return enrollment


def _check_drop_date(db: Database, enrollment: Enrollment) -> None:
    last_day = _term(db, enrollment["term_id"])["drop_until"]
    if db.now()[:10] > last_day:
        # rule: drop_window
        raise ToolError(
            f"the drop deadline of {enrollment['term_name']} was {last_day}; a withdrawal may still be possible"
        )


def _drop(db: Database, enrollment: Enrollment) -> None:
    db.run(
        "UPDATE enrollments SET status = 'dropped', ended_at = :now WHERE id = :id",
        now=db.now(),
        id=enrollment["enrollment_id"],
    )
    _refund(db, enrollment, enrollment["charged_cents"])


def _refund(db: Database, enrollment: Enrollment, amount_cents: int) -> None:
    if amount_cents > 0:
        db.run(
            """
            INSERT INTO account_entries (id, student_id, kind, enrollment_id, amount_cents, entered_at)
            VALUES (:id, :student_id, 'refund', :enrollment_id, :amount_cents, :now)""",
            id=db.new_id("acc"),
            student_id=enrollment["student_id"],
            enrollment_id=enrollment["enrollment_id"],
            amount_cents=amount_cents,
            now=db.now(),
        )


def _check_registration(db: Database, section: Section) -> None:
    if section["status"] != "open":
        # rule: closed_sections
        raise ToolError(f"section {section['section_id']} is {section['status']} and takes nobody now; choose another section")
    term = _term(db, section["term_id"])
    if term["status"] != "open":
        raise ToolError(f"{term['name']} is {term['status']}; only an open term can be registered for")
    if not term["registration_from"] <= db.now()[:10] <= term["add_until"]:
        # rule: closed_sections
        raise ToolError(
            f"registration for {term['name']} runs from {term['registration_from']} until {term['add_until']};"
            " seats and waitlists are given only then"
        )


def _waitlist_entry(db: Database, entry_id: str) -> WaitlistEntry:
    row = db.one(f"{WAITLIST_ROWS} WHERE entry_id = :id", id=entry_id)
    if row is None:
        raise ToolError(f"no place on a waitlist {entry_id!r}; find_waitlist_entries lists them")
    return cast("WaitlistEntry", row)


def _offered_entry(db: Database, entry_id: str) -> WaitlistEntry:
    entry = _waitlist_entry(db, entry_id)
    if entry["status"] != "offered":
        raise ToolError(f"{entry_id} is {entry['status']}; no seat is on offer there")
    return entry


def _permission(db: Database, permission_id: str) -> Permission:
    row = db.one(f"{PERMISSION_ROWS} WHERE permission_id = :id", id=permission_id)
    if row is None:
        raise ToolError(f"no permission {permission_id!r}; find_permissions lists them")
    return cast("Permission", row)


def _hold(db: Database, hold_id: str) -> Hold:
    row = db.one(f"{HOLD_ROWS} WHERE holds.id = :id", id=hold_id)
    if row is None:
        raise ToolError(f"no hold {hold_id!r}; find_holds lists them")
    return cast("Hold", row)


def _section_of_instructor(db: Database, section_id: str, staff_id: str) -> Section:
    section = _section(db, section_id)
    _check_instructor(db, section, staff_id)
    if section["status"] == "cancelled":
        raise ToolError(f"section {section_id} is cancelled for good")
    term = _term(db, section["term_id"])
    if term["status"] != "open":
        raise ToolError(f"{term['name']} is {term['status']}; only sections of open terms are changed")
    return section


def _check_instructor(db: Database, section: Section, staff_id: str) -> None:
    member = _staff_member(db, staff_id)
    if section["instructor_id"] != staff_id:
        raise ToolError(
            f"{member['name']} does not teach section {section['section_id']};"
            f" only its instructor {section['instructor_name']} ({section['instructor_id']}) may ask for this"
        )
