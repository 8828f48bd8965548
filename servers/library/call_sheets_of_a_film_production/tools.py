"""Tools of the second assistant directors' office of a film."""

from datetime import date, datetime
from typing import Literal, TypedDict, cast

from servers.toolkit import Database, ToolError

MOST_REVISIONS = 4
LAST_ISSUE = "18:00"


class Person(TypedDict):
    person_id: str
    name: str
    job: str
    plays: str | None
    minor: bool
    from_on: str
    to_on: str
    status: str
    away: list[str]


class People(TypedDict):
    people: list[Person]


class Location(TypedDict):
    location_id: str
    name: str
    permit_from: str
    permit_to: str
    opens: str
    closes: str
    most_people: int


class Locations(TypedDict):
    locations: list[Location]


class Performer(TypedDict):
    person_id: str
    name: str
    plays: str


class Scene(TypedDict):
    scene_id: str
    number: str
    title: str
    side: str
    light: str
    eighths: int
    location: str
    status: str
    shoot_on: str | None
    performers: list[Performer]


class Scenes(TypedDict):
    scenes: list[Scene]


class Day(TypedDict):
    day_id: str
    shoot_on: str
    unit_call_at: str
    wrap_at: str
    status: str
    revision: int
    issued_at: str | None
    scenes: int
    eighths: int
    called: int


class Days(TypedDict):
    days: list[Day]


class Call(TypedDict):
    call_id: str
    day_id: str
    shoot_on: str
    person_id: str
    name: str
    job: str
    call_at: str
    status: str


class Calls(TypedDict):
    calls: list[Call]


class Pickup(TypedDict):
    pickup_id: str
    call_id: str
    shoot_on: str
    name: str
    car_id: str
    car: str
    pickup_at: str
    status: str


class Sheet(TypedDict):
    day: Day
    scenes: list[Scene]
    calls: list[Call]
    pickups: list[Pickup]


class Car(TypedDict):
    car_id: str
    name: str
    seats: int
    free_seats: int
    status: str


class Cars(TypedDict):
    day_id: str
    cars: list[Car]


def find_people(db: Database, *, text: str | None = None, job: Literal["performer", "assistant_director", "medic", "chaperone", "camera", "sound", "electric", "wardrobe", "makeup", "props"] | None = None, status: Literal["hired", "released"] | None = None) -> People:
    """Find cast and crew by name or character, with contract and the days on which they are away.

    Args:
        text: A part of the name or of the character's name, in any case.
        job: Only this job.
        status: Only people in this status.
    """
    _filter(text, "text")
    rows = db.all(
        "SELECT id FROM people WHERE (:text IS NULL OR instr(lower(name), lower(:text)) > 0"
        " OR instr(lower(coalesce(plays, '')), lower(:text)) > 0) AND (:job IS NULL OR job = :job)"
        " AND (:status IS NULL OR status = :status) ORDER BY name, id",
        text=text, job=job, status=status,
    )
    return {"people": [_person(db, row["id"]) for row in rows]}


def find_locations(db: Database, *, name: str | None = None) -> Locations:
    """Find locations, with the dates and hours of the permit and the most people it allows.

    Args:
        name: A part of the name, in any case.
    """
    _filter(name, "name")
    rows = db.all(
        "SELECT id AS location_id, name, permit_from, permit_to, opens, closes, most_people FROM locations"
        " WHERE :name IS NULL OR instr(lower(name), lower(:name)) > 0 ORDER BY name, id",
        name=name,
    )
    return {"locations": cast("list[Location]", rows)}


def find_scenes(db: Database, *, text: str | None = None, location_id: str | None = None, person_id: str | None = None, light: Literal["day", "night"] | None = None, status: Literal["open", "scheduled", "shot", "omitted"] | None = None) -> Scenes:
    """Find scenes in the order of their numbers, with length, location, performers and the date they are on.

    Args:
        text: The number itself, or a part of the title in any case.
        location_id: Only scenes at this location, as `find_locations` shows it.
        person_id: Only scenes with this performer, as `find_people` shows it.
        light: Only day or only night scenes.
        status: Only scenes in this status.
    """
    _filter(text, "text")
    if location_id is not None and db.one("SELECT 1 AS yes FROM locations WHERE id = :id", id=location_id) is None:
        raise ToolError(f"no location {location_id!r}; find_locations lists them")
    if person_id is not None:
        _person(db, person_id)
    rows = db.all(
        "SELECT id FROM scenes s WHERE (:text IS NULL OR lower(number) = lower(:text) OR instr(lower(title), lower(:text)) > 0)"
        " AND (:location IS NULL OR location_id = :location) AND (:light IS NULL OR light = :light)"
        " AND (:status IS NULL OR status = :status) AND (:person IS NULL OR EXISTS"
        " (SELECT 1 FROM scene_cast c WHERE c.scene_id = s.id AND c.person_id = :person))"
        " ORDER BY cast(number AS INTEGER), number, id",
        text=text, location=location_id, light=light, status=status, person=person_id,
    )
    return {"scenes": [_scene(db, row["id"]) for row in rows]}


def find_days(db: Database, *, from_on: str | None = None, to_on: str | None = None, status: Literal["planned", "issued", "wrapped", "cancelled"] | None = None) -> Days:
    """Find shooting days, the earliest first, with how many eighths and calls they have.

    Args:
        from_on: Only on this date or later, `YYYY-MM-DD`.
        to_on: Only on this date or earlier, `YYYY-MM-DD`.
        status: Only days in this status.
    """
    if from_on is not None:
        _date(from_on, "from_on")
    if to_on is not None:
        _date(to_on, "to_on")
    if from_on is not None and to_on is not None and to_on < from_on:
        raise ToolError(f"the period ends on {to_on}, before it begins on {from_on}")
    rows = db.all(
        "SELECT * FROM day_details WHERE (:first IS NULL OR shoot_on >= :first) AND (:last IS NULL OR shoot_on <= :last)"
        " AND (:status IS NULL OR status = :status) ORDER BY shoot_on, day_id",
        first=from_on, last=to_on, status=status,
    )
    return {"days": cast("list[Day]", rows)}


def show_sheet(db: Database, *, day_id: str) -> Sheet:
    """Show everything that is on a day: its scenes, its calls in the order of their times, and its pick-ups.

    Args:
        day_id: The shooting day, as `find_days` shows it.
    """
    return _sheet(db, day_id)


def find_calls(db: Database, *, person_id: str | None = None, on: str | None = None, status: Literal["open", "confirmed", "released"] | None = None) -> Calls:
    """Find calls, the earliest first.

    Args:
        person_id: Only calls of this person, as `find_people` shows it.
        on: Only calls on this date, `YYYY-MM-DD`.
        status: Only calls in this status.
    """
    if person_id is not None:
        _person(db, person_id)
    if on is not None:
        _date(on, "on")
    rows = db.all(
        "SELECT c.id FROM calls c JOIN days d ON d.id = c.day_id WHERE (:person IS NULL OR c.person_id = :person)"
        " AND (:day IS NULL OR d.shoot_on = :day) AND (:status IS NULL OR c.status = :status) ORDER BY c.call_at, c.id",
        person=person_id, day=on, status=status,
    )
    return {"calls": [_call(db, row["id"]) for row in rows]}


def find_cars(db: Database, *, day_id: str) -> Cars:
    """Show all cars, with the seats that are free on a day.

    Args:
        day_id: The shooting day, as `find_days` shows it.
    """
    _day(db, day_id)
    rows = db.all(
        "SELECT v.id AS car_id, v.name, v.seats, v.seats - (SELECT count(*) FROM pickup_details k WHERE k.car_id = v.id"
        " AND k.day_id = :day AND k.status = 'booked') AS free_seats, v.status FROM cars v ORDER BY v.name, v.id",
        day=day_id,
    )
    return {"day_id": day_id, "cars": cast("list[Car]", rows)}


def plan_day(db: Database, *, unit_call_at: str, wrap_at: str) -> Day:
    """Plan a new shooting day after today, without scenes and calls.

    Args:
        unit_call_at: When the unit is called, `YYYY-MM-DD HH:MM`.
        wrap_at: The estimated wrap on the same date, `YYYY-MM-DD HH:MM`.
    """
    start, end = _hours(db, unit_call_at, wrap_at)
    _free_date(db, start[:10], "")
    day_id = db.new_id("shd")
    db.run(
        "INSERT INTO days (id, shoot_on, unit_call_at, wrap_at) VALUES (:id, :day, :start, :end)",
        id=day_id, day=start[:10], start=start, end=end,
    )
    return _day(db, day_id)


def move_day(db: Database, *, day_id: str, unit_call_at: str, wrap_at: str) -> Day:
    """Give a planned day without calls another date or other hours. Its scenes stay on it.

    Args:
        day_id: The shooting day, as `find_days` shows it.
        unit_call_at: The new unit call, `YYYY-MM-DD HH:MM`.
        wrap_at: The new wrap on the same date, `YYYY-MM-DD HH:MM`.
    """
    day = _day(db, day_id)
    start, end = _hours(db, unit_call_at, wrap_at)
    if day["status"] != "planned":
        # rule: move_planned_only
        raise ToolError(f"the day of {day['shoot_on']} is {day['status']}; only a planned day is moved")
    if day["called"] > 0:
        # rule: move_planned_only
        raise ToolError(f"{day['called']} people are called on {day['shoot_on']}; a day with calls is not moved")
    if (start, end) == (day["unit_call_at"], day["wrap_at"]):
        raise ToolError("the day has these hours already")
    _free_date(db, start[:10], day_id)
    for row in db.all("SELECT scene_id FROM day_scenes WHERE day_id = :id ORDER BY scene_id", id=day_id):
        _cast_can_work(db, row["scene_id"], start[:10])
    db.run(
        "UPDATE days SET shoot_on = :day, unit_call_at = :start, wrap_at = :end WHERE id = :id",
        day=start[:10], start=start, end=end, id=day_id,
    )
    return _day(db, day_id)


def cancel_day(db: Database, *, day_id: str) -> Sheet:
    """Cancel a day after today: its scenes are open again, its calls released, its pick-ups cancelled.

    Args:
        day_id: The shooting day, as `find_days` shows it.
    """
    _ahead(db, _day(db, day_id))
    db.run("UPDATE scenes SET status = 'open' WHERE id IN (SELECT scene_id FROM day_scenes WHERE day_id = :id)", id=day_id)
    db.run("DELETE FROM day_scenes WHERE day_id = :id", id=day_id)
    db.run(
        "UPDATE pickups SET status = 'cancelled' WHERE status = 'booked' AND call_id IN"
        " (SELECT id FROM calls WHERE day_id = :id)",
        id=day_id,
    )
    db.run("UPDATE calls SET status = 'released' WHERE day_id = :id AND status <> 'released'", id=day_id)
    db.run("UPDATE days SET status = 'cancelled' WHERE id = :id", id=day_id)
    return _sheet(db, day_id)


def put_scene(db: Database, *, day_id: str, scene_id: str) -> Sheet:
    """Put an open scene on a day after today.

    Args:
        day_id: The shooting day, as `find_days` shows it.
        scene_id: The scene, as `find_scenes` shows it.
    """
    day = _ahead(db, _day(db, day_id))
    scene = _scene(db, scene_id)
    if scene["status"] != "open":
        # rule: open_scenes_only, one_day_a_scene
        raise ToolError(f"scene {scene['number']} is {scene['status']}; only an open scene is put on a day")
    _cast_can_work(db, scene_id, day["shoot_on"])
    if day["status"] == "issued":
        for performer in scene["performers"]:
            if not _is_called(db, day_id, performer["person_id"]):
                # rule: complete_sheet
                raise ToolError(f"the sheet of {day['shoot_on']} is out and {performer['name']} is not called; call first")
    _revise(db, day)
    db.run("INSERT INTO day_scenes (day_id, scene_id) VALUES (:day, :scene)", day=day_id, scene=scene_id)
    db.run("UPDATE scenes SET status = 'scheduled' WHERE id = :id", id=scene_id)
    return _sheet(db, day_id)


def take_scene_off(db: Database, *, day_id: str, scene_id: str) -> Sheet:
    """Take a scene that is not shot off a planned or issued day; it is open again.

    Args:
        day_id: The shooting day, as `find_days` shows it.
        scene_id: The scene, as `find_scenes` shows it.
    """
    day = _day(db, day_id)
    scene = _scene(db, scene_id)
    if day["status"] not in ("planned", "issued"):
        raise ToolError(f"the day of {day['shoot_on']} is {day['status']}; nothing on it is changed")
    _on_day(db, day, scene)
    if scene["status"] == "shot":
        raise ToolError(f"scene {scene['number']} was shot on that day and stays on it")
    if day["shoot_on"] > db.now()[:10]:
        if day["status"] == "issued" and day["scenes"] == 1:
            # rule: complete_sheet
            raise ToolError(f"the sheet of {day['shoot_on']} is out and has no other scene; cancel the day instead")
        _revise(db, day)
    db.run("DELETE FROM day_scenes WHERE day_id = :day AND scene_id = :scene", day=day_id, scene=scene_id)
    db.run("UPDATE scenes SET status = 'open' WHERE id = :id", id=scene_id)
    return _sheet(db, day_id)


def omit_scene(db: Database, *, scene_id: str) -> Scene:
    """Strike an open scene from the script.

    Args:
        scene_id: The scene, as `find_scenes` shows it.
    """
    scene = _scene(db, scene_id)
    if scene["status"] != "open":
        # rule: open_scenes_only
        raise ToolError(f"scene {scene['number']} is {scene['status']}; only an open scene is omitted")
    db.run("UPDATE scenes SET status = 'omitted' WHERE id = :id", id=scene_id)
    return _scene(db, scene_id)


def call_person(db: Database, *, day_id: str, person_id: str, call_at: str) -> Call:
    """Call a person on a day after today.

    Args:
        day_id: The shooting day, as `find_days` shows it.
        person_id: The person, as `find_people` shows it.
        call_at: When the person is called, `HH:MM` on that day.
    """
    day = _ahead(db, _day(db, day_id))
    person = _person(db, person_id)
    at = _clock(day["shoot_on"], call_at, "call_at")
    if person["status"] != "hired" or not person["from_on"] <= day["shoot_on"] <= person["to_on"]:
        # rule: called_under_contract
        raise ToolError(f"{person['name']} is not under contract on {day['shoot_on']} ({person['from_on']} to {person['to_on']})")
    if day["shoot_on"] in person["away"]:
        # rule: away_only_when_free
        raise ToolError(f"{person['name']} has reported to be away on {day['shoot_on']}")
    if _is_called(db, day_id, person_id):
        # rule: one_call
        raise ToolError(f"{person['name']} is called on {day['shoot_on']} already; change_call changes the time")
    _revise(db, day)
    call_id = db.new_id("cal")
    db.run(
        "INSERT INTO calls (id, day_id, person_id, call_at) VALUES (:id, :day, :person, :at)",
        id=call_id, day=day_id, person=person_id, at=at,
    )
    return _call(db, call_id)


def change_call(db: Database, *, call_id: str, call_at: str) -> Call:
    """Change the time of a call on a day after today. It has to be confirmed anew.

    Args:
        call_id: The call, as `find_calls` or `show_sheet` shows it.
        call_at: The new time, `HH:MM` on that day.
    """
    call, day = _live(db, call_id)
    at = _clock(day["shoot_on"], call_at, "call_at")
    if at == call["call_at"]:
        raise ToolError(f"{call['name']} is called for that time already")
    _revise(db, day)
    db.run("UPDATE calls SET call_at = :at, status = 'open' WHERE id = :id", at=at, id=call_id)
    return _call(db, call_id)


def release_call(db: Database, *, call_id: str) -> Call:
    """Release a person from a call on a day after today; a pick-up is cancelled with it.

    Args:
        call_id: The call, as `find_calls` or `show_sheet` shows it.
    """
    call, day = _live(db, call_id)
    if day["status"] == "issued":
        needed = db.one(
            "SELECT s.number FROM day_scenes x JOIN scene_cast c ON c.scene_id = x.scene_id JOIN scenes s ON s.id = x.scene_id"
            " WHERE x.day_id = :day AND c.person_id = :person ORDER BY s.number LIMIT 1",
            day=day["day_id"], person=call["person_id"],
        )
        if needed is not None:
            # rule: complete_sheet
            raise ToolError(f"the sheet is out and {call['name']} is in scene {needed['number']}; take that scene off first")
        others = db.one(
            "SELECT count(*) AS n FROM live_calls WHERE day_id = :day AND job = :job AND call_id <> :id",
            day=day["day_id"], job=call["job"], id=call_id,
        )
        last = others is not None and others["n"] == 0
        if last and call["job"] in ("assistant_director", "medic"):
            # rule: complete_sheet
            raise ToolError(f"the sheet is out and {call['name']} is the last {call['job']} on it; call another one first")
        minors = db.one("SELECT 1 AS yes FROM live_calls WHERE day_id = :day AND minor = 1 LIMIT 1", day=day["day_id"])
        if last and call["job"] == "chaperone" and minors is not None:
            # rule: chaperone
            raise ToolError(f"a minor is called on {day['shoot_on']} and {call['name']} is the last chaperone")
    _revise(db, day)
    db.run("UPDATE pickups SET status = 'cancelled' WHERE call_id = :id AND status = 'booked'", id=call_id)
    db.run("UPDATE calls SET status = 'released' WHERE id = :id", id=call_id)
    return _call(db, call_id)


def confirm_call(db: Database, *, call_id: str) -> Call:
    """Record that a person confirmed an open call.

    Args:
        call_id: The call, as `find_calls` or `show_sheet` shows it.
    """
    call, _ = _live(db, call_id)
    if call["status"] != "open":
        raise ToolError(f"the call of {call['name']} on {call['shoot_on']} is {call['status']} already")
    db.run("UPDATE calls SET status = 'confirmed' WHERE id = :id", id=call_id)
    return _call(db, call_id)


def book_pickup(db: Database, *, call_id: str, car_id: str, pickup_at: str) -> Pickup:
    """Book a car that fetches a performer for a call.

    Args:
        call_id: The call, as `find_calls` or `show_sheet` shows it.
        car_id: The car, as `find_cars` shows it.
        pickup_at: When it fetches the performer, `HH:MM` on that day.
    """
    call, day = _live(db, call_id)
    car = db.one("SELECT name, status FROM cars WHERE id = :id", id=car_id)
    if car is None:
        raise ToolError(f"no car {car_id!r}; find_cars lists them")
    if call["job"] != "performer":
        # rule: cars_in_order
        raise ToolError(f"{call['name']} is crew; cars fetch performers only")
    if car["status"] != "ready":
        # rule: cars_in_order
        raise ToolError(f"{car['name']} is in the workshop; take another car")
    booked = db.one("SELECT id FROM pickups WHERE call_id = :id AND status = 'booked'", id=call_id)
    if booked is not None:
        raise ToolError(f"{call['name']} has a pick-up for that call already, {booked['id']}; cancel it first")
    at = _clock(day["shoot_on"], pickup_at, "pickup_at")
    pickup_id = db.new_id("pku")
    db.run(
        "INSERT INTO pickups (id, call_id, car_id, pickup_at) VALUES (:id, :call, :car, :at)",
        id=pickup_id, call=call_id, car=car_id, at=at,
    )
    return _pickup(db, pickup_id)


def cancel_pickup(db: Database, *, pickup_id: str) -> Pickup:
    """Cancel a booked pick-up on a day after today.

    Args:
        pickup_id: The pick-up, as `show_sheet` shows it.
    """
    pickup = _pickup(db, pickup_id)
    if pickup["status"] != "booked":
        raise ToolError(f"{pickup_id} is cancelled already")
    if pickup["shoot_on"] <= db.now()[:10]:
        # rule: calls_for_days_ahead
        raise ToolError(f"{pickup_id} is for {pickup['shoot_on']}, which is not ahead; it stays as it is")
    db.run("UPDATE pickups SET status = 'cancelled' WHERE id = :id", id=pickup_id)
    return _pickup(db, pickup_id)


def report_away(db: Database, *, person_id: str, day: str, reason: str) -> Person:
    """Record that a person cannot work on a date after today.

    Args:
        person_id: The person, as `find_people` shows it.
        day: The date, `YYYY-MM-DD`.
        reason: Why, in a few words.
    """
    person = _person(db, person_id)
    _date(day, "day")
    reason = reason.strip()
    if day <= db.now()[:10]:
        raise ToolError(f"{day} is not after today; absences are reported for dates ahead")
    if len(reason) < 3:
        raise ToolError("the reason is too short; a few words are asked")
    if day in person["away"]:
        raise ToolError(f"{person['name']} is reported away on {day} already")
    called = db.one("SELECT call_id FROM live_calls WHERE person_id = :id AND shoot_on = :day LIMIT 1", id=person_id, day=day)
    if called is not None:
        # rule: away_only_when_free
        raise ToolError(f"{person['name']} is called on {day} ({called['call_id']}); release the call first")
    bound = db.one(
        "SELECT s.number FROM day_scenes x JOIN days d ON d.id = x.day_id JOIN scene_cast c ON c.scene_id = x.scene_id"
        " JOIN scenes s ON s.id = x.scene_id WHERE d.shoot_on = :day AND c.person_id = :id ORDER BY s.number LIMIT 1",
        day=day, id=person_id,
    )
    if bound is not None:
        # rule: away_only_when_free
        raise ToolError(f"scene {bound['number']} with {person['name']} is on {day}; take it off first")
    db.run(
        "INSERT INTO unavailable (person_id, day, reason) VALUES (:id, :day, :reason)", id=person_id, day=day, reason=reason
    )
    return _person(db, person_id)


def issue_sheet(db: Database, *, day_id: str) -> Sheet:
    """Issue the call sheet of a planned day.

    Args:
        day_id: The shooting day, as `find_days` shows it.
    """
    day = _day(db, day_id)
    if day["status"] != "planned":
        raise ToolError(f"the day of {day['shoot_on']} is {day['status']}; only a planned day's sheet is issued")
    before = db.one("SELECT date(:day, '-1 day') AS day", day=day["shoot_on"])
    if before is not None and db.now()[:16] > before["day"] + " " + LAST_ISSUE:
        # rule: issued_in_time
        raise ToolError(f"the sheet of {day['shoot_on']} had to be issued by {before['day']} {LAST_ISSUE}; it is too late")
    sheet = _sheet(db, day_id)
    if not sheet["scenes"]:
        # rule: complete_sheet
        raise ToolError(f"no scene is on {day['shoot_on']}; a sheet needs at least one")
    for scene in sheet["scenes"]:
        for performer in scene["performers"]:
            if not _is_called(db, day_id, performer["person_id"]):
                # rule: complete_sheet
                raise ToolError(f"{performer['name']} is in scene {scene['number']} and is missing on the sheet; call first")
    jobs = [call["job"] for call in sheet["calls"] if call["status"] != "released"]
    for job in ("assistant_director", "medic"):
        if job not in jobs:
            # rule: complete_sheet
            raise ToolError(f"no {job} is called on {day['shoot_on']}; a sheet needs one")
    minor = db.one("SELECT name FROM live_calls WHERE day_id = :day AND minor = 1 ORDER BY name LIMIT 1", day=day_id)
    if minor is not None and "chaperone" not in jobs:
        # rule: chaperone
        raise ToolError(f"{minor['name']} is a minor and no chaperone is called with the child; call one")
    db.run("UPDATE days SET status = 'issued', issued_at = :now WHERE id = :id", now=db.now(), id=day_id)
    return _sheet(db, day_id)


def record_shot(db: Database, *, day_id: str, scene_id: str) -> Scene:
    """Record that a scene of an issued day was shot.

    Args:
        day_id: The shooting day, as `find_days` shows it.
        scene_id: The scene, as `find_scenes` shows it.
    """
    day = _day(db, day_id)
    scene = _scene(db, scene_id)
    if day["status"] != "issued" or day["unit_call_at"] > db.now():
        # rule: wrap_when_done
        raise ToolError(f"the day of {day['shoot_on']} is {day['status']} or has not begun; nothing is shot on it now")
    _on_day(db, day, scene)
    if scene["status"] == "shot":
        raise ToolError(f"scene {scene['number']} is recorded as shot already")
    db.run("UPDATE scenes SET status = 'shot' WHERE id = :id", id=scene_id)
    return _scene(db, scene_id)


def wrap_day(db: Database, *, day_id: str) -> Day:
    """Record the wrap of an issued day.

    Args:
        day_id: The shooting day, as `find_days` shows it.
    """
    day = _day(db, day_id)
    if day["status"] != "issued":
        raise ToolError(f"the day of {day['shoot_on']} is {day['status']}; only an issued day is wrapped")
    if day["shoot_on"] > db.now()[:10]:
        # rule: wrap_when_done
        raise ToolError(f"{day['shoot_on']} is still ahead; a day is wrapped on its date or later")
    left = db.one(
        "SELECT s.number FROM day_scenes x JOIN scenes s ON s.id = x.scene_id WHERE x.day_id = :id AND s.status <> 'shot'"
        " ORDER BY s.number LIMIT 1",
        id=day_id,
    )
    if left is not None:
        # rule: wrap_when_done
        raise ToolError(f"scene {left['number']} of that day is not shot; record it, or take it off first")
    db.run("UPDATE days SET status = 'wrapped' WHERE id = :id", id=day_id)
    return _day(db, day_id)


def release_crew(db: Database, *, person_id: str) -> Person:
    """Release a crew member or performer from the production after the last call.

    Args:
        person_id: The person, as `find_people` shows it.
    """
    person = _person(db, person_id)
    if person["status"] != "hired":
        raise ToolError(f"{person['name']} is released already")
    ahead = db.one(
        "SELECT shoot_on FROM live_calls WHERE person_id = :id AND shoot_on >= :today ORDER BY shoot_on LIMIT 1",
        id=person_id, today=db.now()[:10],
    )
    if ahead is not None:
        # rule: called_under_contract
        raise ToolError(f"{person['name']} is called on {ahead['shoot_on']}; release that call before the person")
    bound = db.one(
        "SELECT d.shoot_on FROM day_scenes x JOIN days d ON d.id = x.day_id JOIN scene_cast c ON c.scene_id = x.scene_id"
        " WHERE c.person_id = :id AND d.shoot_on >= :today ORDER BY d.shoot_on LIMIT 1",
        id=person_id, today=db.now()[:10],
    )
    if bound is not None:
        raise ToolError(f"a scene with {person['name']} is on {bound['shoot_on']}; take it off first")
    db.run("UPDATE people SET status = 'released' WHERE id = :id", id=person_id)
    return _person(db, person_id)


def _filter(value: str | None, what: str) -> None:
    if value is not None and not value.strip():
        raise ToolError(f"{what} is blank; leave it out to see all")


def _date(value: str, what: str) -> None:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        raise ToolError(f"{what} is no date: {value!r}; write it as YYYY-MM-DD") from None
    if day.isoformat() != value:
        raise ToolError(f"{what} is no date: {value!r}; write it as YYYY-MM-DD")


def _person(db: Database, person_id: str) -> Person:
    row = db.one("SELECT * FROM people WHERE id = :id", id=person_id)
    if row is None:
        raise ToolError(f"no person {person_id!r}; find_people lists them")
    away = db.all("SELECT day FROM unavailable WHERE person_id = :id ORDER BY day", id=person_id)
    return {
        "person_id": row["id"], "name": row["name"], "job": row["job"], "plays": row["plays"], "minor": bool(row["minor"]),
        "from_on": row["from_on"], "to_on": row["to_on"], "status": row["status"], "away": [one["day"] for one in away],
    }


def _scene(db: Database, scene_id: str) -> Scene:
    row = db.one("SELECT * FROM scene_details WHERE scene_id = :id", id=scene_id)
    if row is None:
        raise ToolError(f"no scene {scene_id!r}; find_scenes lists them")
    performers = db.all(
        "SELECT p.id AS person_id, p.name, p.plays FROM scene_cast c JOIN people p ON p.id = c.person_id"
        " WHERE c.scene_id = :id ORDER BY p.name, p.id",
        id=scene_id,
    )
    return {
        "scene_id": row["scene_id"], "number": row["number"], "title": row["title"], "side": row["side"],
        "light": row["light"], "eighths": row["eighths"], "location": row["location"], "status": row["status"],
        "shoot_on": row["shoot_on"], "performers": cast("list[Performer]", performers),
    }


def _day(db: Database, day_id: str) -> Day:
    row = db.one("SELECT * FROM day_details WHERE day_id = :id", id=day_id)
    if row is None:
        raise ToolError(f"no shooting day {day_id!r}; find_days lists them")
    return cast("Day", row)


def _call(db: Database, call_id: str) -> Call:
    row = db.one(
        "SELECT c.id AS call_id, c.day_id, d.shoot_on, c.person_id, p.name, p.job, c.call_at, c.status FROM calls c"
        " JOIN days d ON d.id = c.day_id JOIN people p ON p.id = c.person_id WHERE c.id = :id",
        id=call_id,
    )
    if row is None:
        raise ToolError(f"no call {call_id!r}; find_calls lists them")
    return cast("Call", row)


def _pickup(db: Database, pickup_id: str) -> Pickup:
    row = db.one(
        "SELECT pickup_id, call_id, shoot_on, name, car_id, car, pickup_at, status FROM pickup_details WHERE pickup_id = :id",
        id=pickup_id,
    )
    if row is None:
        raise ToolError(f"no pick-up {pickup_id!r}; show_sheet shows those of a day")
    return cast("Pickup", row)


def _sheet(db: Database, day_id: str) -> Sheet:
    day = _day(db, day_id)
    scenes = db.all(
        "SELECT s.id FROM day_scenes x JOIN scenes s ON s.id = x.scene_id WHERE x.day_id = :id"
        " ORDER BY cast(s.number AS INTEGER), s.number, s.id",
        id=day_id,
    )
    calls = db.all("SELECT id FROM calls WHERE day_id = :id ORDER BY call_at, id", id=day_id)
    pickups = db.all("SELECT pickup_id FROM pickup_details WHERE day_id = :id ORDER BY pickup_at, pickup_id", id=day_id)
    return {
        "day": day, "scenes": [_scene(db, row["id"]) for row in scenes], "calls": [_call(db, row["id"]) for row in calls],
        "pickups": [_pickup(db, row["pickup_id"]) for row in pickups],
    }


def _time(value: str, what: str) -> str:
    try:
        time = datetime.strptime(value, "%Y-%m-%d %H:%M")
    except ValueError:
        raise ToolError(f"{what} is no time: {value!r}; write it as YYYY-MM-DD HH:MM") from None
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _hours(db: Database, unit_call_at: str, wrap_at: str) -> tuple[str, str]:
    start = _time(unit_call_at, "unit_call_at")
    end = _time(wrap_at, "wrap_at")
    if end <= start:
        raise ToolError("the wrap is not later than the unit call")
    if end[:10] != start[:10]:
        raise ToolError("a day wraps on the date on which it began")
    if start[:10] <= db.now()[:10]:
        raise ToolError(f"{start[:10]} is not after today; days are planned ahead")
    return start, end


def _free_date(db: Database, day: str, own_id: str) -> None:
    other = db.one(
        "SELECT id FROM days WHERE shoot_on = :day AND status <> 'cancelled' AND id <> :own LIMIT 1", day=day, own=own_id
    )
    if other is not None:
        # rule: one_day_on_a_date
        raise ToolError(f"a shooting day lies on {day} already, {other['id']}; take another date")


def _ahead(db: Database, day: Day) -> Day:
    if day["status"] not in ("planned", "issued"):
        raise ToolError(f"the day of {day['shoot_on']} is {day['status']}; nothing on it is changed")
    if day["shoot_on"] <= db.now()[:10]:
        # rule: calls_for_days_ahead
        raise ToolError(f"{day['shoot_on']} is not ahead; only days after today are changed so")
    return day


def _is_called(db: Database, day_id: str, person_id: str) -> bool:
    row = db.one(
        "SELECT 1 AS yes FROM calls WHERE day_id = :day AND person_id = :person AND status <> 'released' LIMIT 1",
        day=day_id, person=person_id,
    )
    return row is not None


def _cast_can_work(db: Database, scene_id: str, day: str) -> None:
    for performer in _scene(db, scene_id)["performers"]:
        person = _person(db, performer["person_id"])
        if person["status"] != "hired" or not person["from_on"] <= day <= person["to_on"]:
            # rule: cast_can_work
            raise ToolError(f"{person['name']} of that scene has no contract for {day} ({person['from_on']} to {person['to_on']})")
        if day in person["away"]:
            # rule: cast_can_work
            raise ToolError(f"{person['name']} of that scene cannot work on {day}; take another date")


def _on_day(db: Database, day: Day, scene: Scene) -> None:
    row = db.one(
        "SELECT 1 AS yes FROM day_scenes WHERE day_id = :day AND scene_id = :scene", day=day["day_id"], scene=scene["scene_id"]
    )
    if row is None:
        raise ToolError(f"scene {scene['number']} is not on the day of {day['shoot_on']}")


def _revise(db: Database, day: Day) -> None:
    if day["status"] != "issued":
        return
    if day["revision"] >= MOST_REVISIONS:
        # rule: four_revisions
        raise ToolError(f"the sheet of {day['shoot_on']} has {MOST_REVISIONS} revisions, which is the most; it stays as it is")
    db.run("UPDATE days SET revision = revision + 1 WHERE id = :id", id=day["day_id"])


def _clock(day: str, value: str, what: str) -> str:
    try:
        time = datetime.strptime(value, "%H:%M")
    except ValueError:
        raise ToolError(f"{what} is no time of day: {value!r}; write it as HH:MM") from None
    return day + time.strftime(" %H:%M:%S")


def _live(db: Database, call_id: str) -> tuple[Call, Day]:
    call = _call(db, call_id)
    if call["status"] == "released":
        raise ToolError(f"{call['name']} was released from the call on {call['shoot_on']}; call anew if needed")
    return call, _ahead(db, _day(db, call["day_id"]))
