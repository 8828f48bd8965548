CREATE TABLE people (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (length(name) >= 3),
  job TEXT NOT NULL CHECK (job IN ('performer', 'assistant_director', 'medic', 'chaperone', 'camera', 'sound', 'electric', 'wardrobe', 'makeup', 'props')),
  plays TEXT UNIQUE CHECK (length(plays) >= 2),
  minor INTEGER NOT NULL DEFAULT 0 CHECK (minor IN (0, 1)),
  from_on TEXT NOT NULL CHECK (from_on IS date(from_on)),
  to_on TEXT NOT NULL CHECK (to_on IS date(to_on)),
  status TEXT NOT NULL DEFAULT 'hired' CHECK (status IN ('hired', 'released')),
  CHECK (to_on >= from_on),
  CHECK ((job = 'performer') = (plays IS NOT NULL)),
  CHECK (minor = 0 OR job = 'performer')
) STRICT, WITHOUT ROWID;

CREATE TABLE unavailable (
  person_id TEXT NOT NULL REFERENCES people (id),
  day TEXT NOT NULL CHECK (day IS date(day)),
  reason TEXT NOT NULL CHECK (length(reason) >= 3),
  PRIMARY KEY (person_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE locations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  permit_from TEXT NOT NULL CHECK (permit_from IS date(permit_from)),
  permit_to TEXT NOT NULL CHECK (permit_to IS date(permit_to)),
  opens TEXT NOT NULL CHECK (opens IS strftime('%H:%M', opens)),
  closes TEXT NOT NULL CHECK (closes IS strftime('%H:%M', closes)),
  most_people INTEGER NOT NULL CHECK (most_people BETWEEN 4 AND 60),
  CHECK (permit_to >= permit_from),
  CHECK (closes > opens)
) STRICT, WITHOUT ROWID;

CREATE TABLE scenes (
  id TEXT PRIMARY KEY,
  number TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL CHECK (length(title) >= 4),
  side TEXT NOT NULL CHECK (side IN ('interior', 'exterior')),
  light TEXT NOT NULL CHECK (light IN ('day', 'night')),
  eighths INTEGER NOT NULL CHECK (eighths BETWEEN 1 AND 40),
  location_id TEXT NOT NULL REFERENCES locations (id),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'scheduled', 'shot', 'omitted'))
) STRICT, WITHOUT ROWID;

CREATE TABLE scene_cast (
  scene_id TEXT NOT NULL REFERENCES scenes (id),
  person_id TEXT NOT NULL REFERENCES people (id),
  PRIMARY KEY (scene_id, person_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE days (
  id TEXT PRIMARY KEY,
  shoot_on TEXT NOT NULL CHECK (shoot_on IS date(shoot_on)),
  unit_call_at TEXT NOT NULL CHECK (unit_call_at IS datetime(unit_call_at)),
  wrap_at TEXT NOT NULL CHECK (wrap_at IS datetime(wrap_at)),
  status TEXT NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'issued', 'wrapped', 'cancelled')),
  revision INTEGER NOT NULL DEFAULT 0 CHECK (revision BETWEEN 0 AND 4),
  issued_at TEXT CHECK (issued_at IS datetime(issued_at)),
  CHECK (shoot_on = date(unit_call_at) AND shoot_on = date(wrap_at)),
  CHECK (wrap_at > unit_call_at),
  CHECK (status <> 'planned' OR issued_at IS NULL),
  CHECK (status NOT IN ('issued', 'wrapped') OR issued_at IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_day_a_date ON days (shoot_on) WHERE status <> 'cancelled';

CREATE TABLE day_scenes (
  day_id TEXT NOT NULL REFERENCES days (id),
  scene_id TEXT NOT NULL UNIQUE REFERENCES scenes (id),
  PRIMARY KEY (day_id, scene_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
  id TEXT PRIMARY KEY,
  day_id TEXT NOT NULL REFERENCES days (id),
  person_id TEXT NOT NULL REFERENCES people (id),
  call_at TEXT NOT NULL CHECK (call_at IS datetime(call_at)),
  status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'confirmed', 'released'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_call_a_day ON calls (day_id, person_id) WHERE status <> 'released';

CREATE TABLE cars (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  seats INTEGER NOT NULL CHECK (seats BETWEEN 1 AND 8),
  status TEXT NOT NULL DEFAULT 'ready' CHECK (status IN ('ready', 'workshop'))
) STRICT, WITHOUT ROWID;

CREATE TABLE pickups (
  id TEXT PRIMARY KEY,
  call_id TEXT NOT NULL REFERENCES calls (id),
  car_id TEXT NOT NULL REFERENCES cars (id),
  pickup_at TEXT NOT NULL CHECK (pickup_at IS datetime(pickup_at)),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'cancelled'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_pickup_a_call ON pickups (call_id) WHERE status = 'booked';

CREATE VIEW live_calls AS
SELECT c.id AS call_id, c.day_id, c.person_id, c.call_at, c.status, d.shoot_on, d.wrap_at, d.status AS day_status,
  p.name, p.job, p.plays, p.minor
FROM calls c JOIN days d ON d.id = c.day_id JOIN people p ON p.id = c.person_id
WHERE c.status <> 'released' AND d.status <> 'cancelled';

CREATE VIEW scene_details AS
SELECT s.id AS scene_id, s.number, s.title, s.side, s.light, s.eighths, s.location_id, l.name AS location, s.status,
  (SELECT d.shoot_on FROM day_scenes x JOIN days d ON d.id = x.day_id WHERE x.scene_id = s.id) AS shoot_on
FROM scenes s JOIN locations l ON l.id = s.location_id;

CREATE VIEW day_details AS
SELECT d.id AS day_id, d.shoot_on, d.unit_call_at, d.wrap_at, d.status, d.revision, d.issued_at,
  (SELECT count(*) FROM day_scenes x WHERE x.day_id = d.id) AS scenes,
  (SELECT coalesce(sum(s.eighths), 0) FROM day_scenes x JOIN scenes s ON s.id = x.scene_id WHERE x.day_id = d.id) AS eighths,
  (SELECT count(*) FROM calls c WHERE c.day_id = d.id AND c.status <> 'released') AS called
FROM days d;

CREATE VIEW pickup_details AS
SELECT k.id AS pickup_id, k.call_id, c.day_id, d.shoot_on, p.name, k.car_id, v.name AS car, k.pickup_at, c.call_at, k.status
FROM pickups k JOIN calls c ON c.id = k.call_id JOIN days d ON d.id = c.day_id JOIN people p ON p.id = c.person_id
  JOIN cars v ON v.id = k.car_id;

CREATE VIEW broken_permits AS
SELECT x.day_id, x.scene_id FROM day_scenes x JOIN days d ON d.id = x.day_id JOIN scenes s ON s.id = x.scene_id
  JOIN locations l ON l.id = s.location_id
WHERE d.shoot_on NOT BETWEEN l.permit_from AND l.permit_to
  OR strftime('%H:%M', d.unit_call_at) < l.opens OR strftime('%H:%M', d.wrap_at) > l.closes;

CREATE VIEW crowded_locations AS
SELECT d.id AS day_id FROM days d JOIN day_scenes x ON x.day_id = d.id JOIN scenes s ON s.id = x.scene_id
  JOIN locations l ON l.id = s.location_id
WHERE d.status <> 'cancelled'
  AND (SELECT count(*) FROM calls c WHERE c.day_id = d.id AND c.status <> 'released') > l.most_people;

CREATE TRIGGER at_most_44_eighths AFTER INSERT ON day_scenes
BEGIN
  SELECT RAISE(ABORT, 'this day would have more than 44 eighths of a page; take a shorter scene or another day')
  FROM day_details WHERE day_id = NEW.day_id AND eighths > 44;
END;

CREATE TRIGGER permit_holds AFTER INSERT ON day_scenes
BEGIN
  SELECT RAISE(ABORT, 'the permit of this location does not cover that day from unit call to wrap; take another day or scene')
  FROM broken_permits WHERE day_id = NEW.day_id AND scene_id = NEW.scene_id;
END;

CREATE TRIGGER permit_holds_when_moved AFTER UPDATE OF unit_call_at, wrap_at ON days
BEGIN
  SELECT RAISE(ABORT, 'the permit of a location on this day does not cover the new time from unit call to wrap; take the scene off first')
  FROM broken_permits WHERE day_id = NEW.id;
END;

CREATE TRIGGER at_most_two_locations AFTER INSERT ON day_scenes
BEGIN
  SELECT RAISE(ABORT, 'this day has two locations already, which is the most')
  WHERE (SELECT count(DISTINCT s.location_id) FROM day_scenes x JOIN scenes s ON s.id = x.scene_id WHERE x.day_id = NEW.day_id) > 2;
END;

CREATE TRIGGER night_needs_a_late_wrap AFTER INSERT ON day_scenes
BEGIN
  SELECT RAISE(ABORT, 'a night scene needs a wrap after 20:00; this day wraps earlier')
  FROM scenes s JOIN days d ON d.id = NEW.day_id WHERE s.id = NEW.scene_id AND s.light = 'night' AND time(d.wrap_at) <= '20:00:00';
END;

CREATE TRIGGER night_needs_a_late_wrap_when_moved AFTER UPDATE OF wrap_at ON days
BEGIN
  SELECT RAISE(ABORT, 'a night scene of this day needs a wrap after 20:00')
  FROM day_scenes x JOIN scenes s ON s.id = x.scene_id WHERE x.day_id = NEW.id AND s.light = 'night' AND time(NEW.wrap_at) <= '20:00:00';
END;

CREATE TRIGGER rest_of_eleven_hours AFTER INSERT ON calls WHEN NEW.status <> 'released'
BEGIN
  SELECT RAISE(ABORT, 'less than eleven hours lie between a wrap and a call of this person; take a later call')
  FROM live_calls a JOIN live_calls b ON b.person_id = a.person_id AND b.shoot_on > a.shoot_on
  WHERE a.person_id = NEW.person_id AND NEW.day_id IN (a.day_id, b.day_id) AND b.call_at < datetime(a.wrap_at, '+11 hours');
END;

CREATE TRIGGER rest_of_eleven_hours_when_changed AFTER UPDATE OF call_at ON calls WHEN NEW.status <> 'released'
BEGIN
  SELECT RAISE(ABORT, 'less than eleven hours lie between a wrap and a call of this person; take a later call')
  FROM live_calls a JOIN live_calls b ON b.person_id = a.person_id AND b.shoot_on > a.shoot_on
  WHERE a.person_id = NEW.person_id AND NEW.day_id IN (a.day_id, b.day_id) AND b.call_at < datetime(a.wrap_at, '+11 hours');
END;

CREATE TRIGGER six_days_in_a_row AFTER INSERT ON calls WHEN NEW.status <> 'released'
BEGIN
  SELECT RAISE(ABORT, 'this person would be called on seven days in a row; six are the most')
  FROM live_calls a WHERE a.person_id = NEW.person_id AND (SELECT count(*) FROM live_calls b WHERE b.person_id = a.person_id AND b.shoot_on BETWEEN a.shoot_on AND date(a.shoot_on, '+6 days')) >= 7;
END;

CREATE TRIGGER hours_of_minors AFTER INSERT ON calls WHEN NEW.status <> 'released'
BEGIN
  SELECT RAISE(ABORT, 'a minor is called at 08:00 or later, on a day that wraps by 19:00, with at most eight hours from the call to the wrap')
  FROM live_calls WHERE call_id = NEW.id AND minor = 1
  AND (time(call_at) < '08:00:00' OR time(wrap_at) > '19:00:00' OR datetime(call_at, '+8 hours') < wrap_at);
END;

CREATE TRIGGER hours_of_minors_when_changed AFTER UPDATE OF call_at ON calls WHEN NEW.status <> 'released'
BEGIN
  SELECT RAISE(ABORT, 'a minor is called at 08:00 or later, on a day that wraps by 19:00, with at most eight hours from the call to the wrap')
  FROM live_calls WHERE call_id = NEW.id AND minor = 1
  AND (time(call_at) < '08:00:00' OR time(wrap_at) > '19:00:00' OR datetime(call_at, '+8 hours') < wrap_at);
END;

CREATE TRIGGER permit_counts_people AFTER INSERT ON calls WHEN NEW.status <> 'released'
BEGIN
  SELECT RAISE(ABORT, 'with this call more people are called than the permit of a location on this day allows')
  FROM crowded_locations WHERE day_id = NEW.day_id;
END;

CREATE TRIGGER permit_counts_people_of_scenes AFTER INSERT ON day_scenes
BEGIN
  SELECT RAISE(ABORT, 'more people are called on this day than the permit of this location allows')
  FROM crowded_locations WHERE day_id = NEW.day_id;
END;

CREATE TRIGGER calls_within_the_day AFTER INSERT ON calls
BEGIN
  SELECT RAISE(ABORT, 'a call lies on its day, from two hours before the unit call until the wrap')
  FROM days WHERE id = NEW.day_id AND (date(NEW.call_at) <> shoot_on OR NEW.call_at >= wrap_at OR NEW.call_at < datetime(unit_call_at, '-2 hours'));
END;

CREATE TRIGGER calls_within_the_day_when_changed AFTER UPDATE OF call_at ON calls
BEGIN
  SELECT RAISE(ABORT, 'a call lies on its day, from two hours before the unit call until the wrap')
  FROM days WHERE id = NEW.day_id AND (date(NEW.call_at) <> shoot_on OR NEW.call_at >= wrap_at OR NEW.call_at < datetime(unit_call_at, '-2 hours'));
END;

CREATE TRIGGER seats_of_a_car AFTER INSERT ON pickups WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'this car has no free seat on that day; take another car')
  FROM cars v WHERE v.id = NEW.car_id AND (SELECT count(*) FROM pickup_details k WHERE k.car_id = NEW.car_id AND k.status = 'booked'
  AND k.day_id = (SELECT day_id FROM calls WHERE id = NEW.call_id)) > v.seats;
END;

CREATE TRIGGER twenty_minutes_before_the_call AFTER INSERT ON pickups WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'a pick-up is at least 20 minutes before the call, and on the same day')
  FROM calls c WHERE c.id = NEW.call_id AND (datetime(NEW.pickup_at, '+20 minutes') > c.call_at OR date(NEW.pickup_at) <> date(c.call_at));
END;

CREATE TRIGGER twenty_minutes_before_an_earlier_call AFTER UPDATE OF call_at ON calls
BEGIN
  SELECT RAISE(ABORT, 'the booked pick-up would be less than 20 minutes before this call; cancel it first')
  FROM pickups k WHERE k.call_id = NEW.id AND k.status = 'booked' AND datetime(k.pickup_at, '+20 minutes') > NEW.call_at;
END;

CREATE TRIGGER issued_days_stay BEFORE UPDATE OF unit_call_at, wrap_at ON days WHEN OLD.status <> 'planned'
BEGIN
  SELECT RAISE(ABORT, 'only a planned day is moved; the sheet of this one is out, or it is over')
  WHERE 1;
END;
