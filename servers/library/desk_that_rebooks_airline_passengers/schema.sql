CREATE TABLE airports (
  id TEXT PRIMARY KEY CHECK (length(id) = 3 AND id = upper(id)),
  name TEXT NOT NULL,
  city TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE fare_types (
  id TEXT PRIMARY KEY CHECK (id IN ('light', 'flex', 'plus')),
  name TEXT NOT NULL UNIQUE,
  cabin TEXT NOT NULL CHECK (cabin IN ('economy', 'plus')),
  change_allowed INTEGER NOT NULL CHECK (change_allowed IN (0, 1)),
  change_fee_cents INTEGER NOT NULL DEFAULT 0 CHECK (change_fee_cents >= 0),
  CHECK (change_allowed = 1 OR change_fee_cents = 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE tiers (
  id TEXT PRIMARY KEY CHECK (id IN ('gold', 'silver', 'none')),
  name TEXT NOT NULL UNIQUE,
  priority INTEGER NOT NULL UNIQUE CHECK (priority BETWEEN 1 AND 9)
) STRICT, WITHOUT ROWID;

CREATE TABLE flights (
  id TEXT PRIMARY KEY,
  flight_no TEXT NOT NULL,
  origin_id TEXT NOT NULL REFERENCES airports (id),
  destination_id TEXT NOT NULL REFERENCES airports (id),
  departs_at TEXT NOT NULL CHECK (departs_at IS datetime(departs_at)),
  arrives_at TEXT NOT NULL CHECK (arrives_at IS datetime(arrives_at)),
  status TEXT NOT NULL DEFAULT 'scheduled' CHECK (status IN ('scheduled', 'delayed', 'boarding', 'departed', 'cancelled')),
  delay_minutes INTEGER NOT NULL DEFAULT 0 CHECK (delay_minutes BETWEEN 0 AND 1440),
  cause TEXT CHECK (cause IN ('airline', 'weather', 'air_traffic_control')),
  UNIQUE (flight_no, departs_at),
  CHECK (origin_id <> destination_id),
  CHECK (arrives_at > departs_at),
  CHECK (status <> 'scheduled' OR delay_minutes = 0),
  CHECK (status <> 'delayed' OR delay_minutes > 0),
  CHECK ((status = 'cancelled' OR delay_minutes > 0) = (cause IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE cabins (
  flight_id TEXT NOT NULL REFERENCES flights (id),
  cabin TEXT NOT NULL CHECK (cabin IN ('economy', 'plus')),
  seats INTEGER NOT NULL CHECK (seats > 0),
  crew_seats INTEGER NOT NULL DEFAULT 0 CHECK (crew_seats >= 0),
  PRIMARY KEY (flight_id, cabin),
  CHECK (crew_seats <= seats)
) STRICT, WITHOUT ROWID;

CREATE TABLE bookings (
  id TEXT PRIMARY KEY,
  fare_type_id TEXT NOT NULL REFERENCES fare_types (id),
  contact_name TEXT NOT NULL,
  contact_email TEXT NOT NULL CHECK (contact_email LIKE '%_@_%'),
  booked_on TEXT NOT NULL CHECK (booked_on IS date(booked_on)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'cancelled')),
  split_from_booking_id TEXT REFERENCES bookings (id),
  CHECK (split_from_booking_id <> id)
) STRICT, WITHOUT ROWID;

CREATE TABLE passengers (
  id TEXT PRIMARY KEY,
  booking_id TEXT NOT NULL REFERENCES bookings (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('adult', 'child', 'infant')),
  tier_id TEXT NOT NULL DEFAULT 'none' REFERENCES tiers (id),
  home_airport_id TEXT REFERENCES airports (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE segments (
  id TEXT PRIMARY KEY,
  passenger_id TEXT NOT NULL REFERENCES passengers (id),
  leg INTEGER NOT NULL CHECK (leg BETWEEN 1 AND 6),
  flight_id TEXT NOT NULL REFERENCES flights (id),
  cabin TEXT NOT NULL CHECK (cabin IN ('economy', 'plus')),
  fare_paid_cents INTEGER NOT NULL CHECK (fare_paid_cents >= 0),
  status TEXT NOT NULL DEFAULT 'confirmed'
    CHECK (status IN ('confirmed', 'checked_in', 'boarded', 'flown', 'moved', 'cancelled', 'no_show')),
  replaces_segment_id TEXT REFERENCES segments (id),
  move_kind TEXT CHECK (move_kind IN ('disruption', 'voluntary')),
  booked_at TEXT NOT NULL CHECK (booked_at IS datetime(booked_at)),
  FOREIGN KEY (flight_id, cabin) REFERENCES cabins (flight_id, cabin),
  CHECK (replaces_segment_id <> id),
  CHECK ((replaces_segment_id IS NULL) = (move_kind IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE waitlist_entries (
  id TEXT PRIMARY KEY,
  segment_id TEXT NOT NULL REFERENCES segments (id),
  flight_id TEXT NOT NULL REFERENCES flights (id),
  status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'cleared', 'withdrawn', 'expired')),
  joined_at TEXT NOT NULL CHECK (joined_at IS datetime(joined_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK ((status = 'waiting') = (closed_at IS NULL)),
  CHECK (closed_at >= joined_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE hotel_nights (
  id TEXT PRIMARY KEY,
  hotel TEXT NOT NULL,
  airport_id TEXT NOT NULL REFERENCES airports (id),
  night_on TEXT NOT NULL CHECK (night_on IS date(night_on)),
  rooms INTEGER NOT NULL CHECK (rooms >= 0),
  UNIQUE (hotel, night_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE hotel_rooms (
  id TEXT PRIMARY KEY,
  hotel_night_id TEXT NOT NULL REFERENCES hotel_nights (id),
  status TEXT NOT NULL DEFAULT 'booked' CHECK (status IN ('booked', 'released')),
  booked_at TEXT NOT NULL CHECK (booked_at IS datetime(booked_at))
) STRICT, WITHOUT ROWID;

CREATE TABLE vouchers (
  id TEXT PRIMARY KEY,
  segment_id TEXT NOT NULL REFERENCES segments (id),
  kind TEXT NOT NULL CHECK (kind IN ('meal', 'hotel', 'taxi')),
  amount_cents INTEGER NOT NULL,
  hotel_room_id TEXT REFERENCES hotel_rooms (id),
  status TEXT NOT NULL DEFAULT 'issued' CHECK (status IN ('issued', 'used', 'void')),
  issued_at TEXT NOT NULL CHECK (issued_at IS datetime(issued_at)),
  closed_at TEXT CHECK (closed_at IS datetime(closed_at)),
  CHECK ((kind = 'hotel') = (hotel_room_id IS NOT NULL)),
  CHECK (kind <> 'meal' OR amount_cents = 15000),
  CHECK (kind <> 'taxi' OR amount_cents BETWEEN 1 AND 60000),
  CHECK (kind <> 'hotel' OR amount_cents = 0),
  CHECK ((status = 'issued') = (closed_at IS NULL)),
  CHECK (closed_at >= issued_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE refund_requests (
  id TEXT PRIMARY KEY,
  segment_id TEXT NOT NULL REFERENCES segments (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  reason TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'requested' CHECK (status IN ('requested', 'approved', 'refused', 'paid')),
  requested_at TEXT NOT NULL CHECK (requested_at IS datetime(requested_at)),
  decided_at TEXT CHECK (decided_at IS datetime(decided_at)),
  decided_by TEXT CHECK (decided_by IN ('desk', 'duty_manager')),
  paid_at TEXT CHECK (paid_at IS datetime(paid_at)),
  CHECK ((status = 'requested') = (decided_at IS NULL)),
  CHECK ((decided_at IS NULL) = (decided_by IS NULL)),
  CHECK ((status = 'paid') = (paid_at IS NOT NULL)),
  CHECK (decided_at >= requested_at),
  CHECK (paid_at >= decided_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE fee_charges (
  id TEXT PRIMARY KEY,
  segment_id TEXT NOT NULL UNIQUE REFERENCES segments (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  status TEXT NOT NULL DEFAULT 'due' CHECK (status IN ('due', 'paid', 'waived')),
  charged_at TEXT NOT NULL CHECK (charged_at IS datetime(charged_at)),
  settled_at TEXT CHECK (settled_at IS datetime(settled_at)),
  waive_reason TEXT CHECK (length(trim(waive_reason)) >= 5),
  CHECK ((status = 'due') = (settled_at IS NULL)),
  CHECK ((status = 'waived') = (waive_reason IS NOT NULL)),
  CHECK (settled_at >= charged_at)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_live_flight_a_leg ON segments (passenger_id, leg) WHERE status IN ('confirmed', 'checked_in', 'boarded');
CREATE UNIQUE INDEX one_replacement_a_flight ON segments (replaces_segment_id) WHERE replaces_segment_id IS NOT NULL;
CREATE INDEX segments_by_flight ON segments (flight_id, cabin);
CREATE INDEX passengers_by_booking ON passengers (booking_id);
CREATE UNIQUE INDEX one_wait_a_flight ON waitlist_entries (segment_id, flight_id) WHERE status = 'waiting';
CREATE UNIQUE INDEX one_bed_or_taxi_a_flight ON vouchers (segment_id) WHERE kind <> 'meal' AND status <> 'void';
CREATE UNIQUE INDEX one_refund_a_flight ON refund_requests (segment_id) WHERE status <> 'refused';

-- leaves_at and lands_at are the expected times: timetable plus delay
CREATE VIEW flight_details AS
SELECT flights.id AS flight_id, flights.flight_no,
  flights.origin_id, origins.city AS origin_city,
  flights.destination_id, destinations.city AS destination_city,
  flights.departs_at, flights.arrives_at, flights.status, flights.delay_minutes, flights.cause,
  datetime(flights.departs_at, '+' || flights.delay_minutes || ' minutes') AS leaves_at,
  datetime(flights.arrives_at, '+' || flights.delay_minutes || ' minutes') AS lands_at
FROM flights
JOIN airports AS origins ON origins.id = flights.origin_id
JOIN airports AS destinations ON destinations.id = flights.destination_id;

CREATE VIEW live_segments AS
SELECT segments.id AS segment_id, segments.passenger_id, passengers.booking_id, passengers.kind,
  segments.leg, segments.flight_id, segments.cabin, segments.status,
  flights.status AS flight_status, flights.departs_at, flights.arrives_at
FROM segments
JOIN passengers ON passengers.id = segments.passenger_id
JOIN flights ON flights.id = segments.flight_id
WHERE segments.status IN ('confirmed', 'checked_in', 'boarded');

CREATE VIEW cabin_details AS
SELECT counted.flight_id, counted.flight_no, counted.cabin, counted.seats, counted.crew_seats, counted.taken,
  counted.seats - counted.crew_seats - counted.taken AS free_seats, counted.waiting
FROM (
  SELECT cabins.flight_id, flights.flight_no, cabins.cabin, cabins.seats, cabins.crew_seats,
    (SELECT count(*) FROM live_segments
     WHERE live_segments.flight_id = cabins.flight_id AND live_segments.cabin = cabins.cabin
       AND live_segments.kind <> 'infant') AS taken,
    (SELECT count(*) FROM waitlist_entries JOIN segments ON segments.id = waitlist_entries.segment_id
     WHERE waitlist_entries.flight_id = cabins.flight_id AND segments.cabin = cabins.cabin
       AND waitlist_entries.status = 'waiting') AS waiting
  FROM cabins JOIN flights ON flights.id = cabins.flight_id
) AS counted;

-- disrupted: cancelled, 120 minutes late or more, or the connection into it is broken
CREATE VIEW segment_details AS
SELECT segments.id AS segment_id, passengers.booking_id, segments.passenger_id, passengers.name AS passenger_name,
  passengers.kind, passengers.tier_id, bookings.fare_type_id, segments.leg,
  segments.flight_id, f.flight_no, f.origin_id, f.destination_id, f.departs_at, f.arrives_at, f.leaves_at, f.lands_at,
  f.status AS flight_status, f.delay_minutes, f.cause, segments.cabin, segments.fare_paid_cents, segments.status,
  segments.replaces_segment_id, segments.move_kind, segments.booked_at,
  CASE
    WHEN f.status = 'cancelled' OR f.delay_minutes >= 120 THEN 1
    WHEN EXISTS (
      SELECT 1 FROM segments AS earlier JOIN flight_details AS e ON e.flight_id = earlier.flight_id
      WHERE earlier.passenger_id = segments.passenger_id AND earlier.leg = segments.leg - 1
        AND earlier.status IN ('confirmed', 'checked_in', 'boarded', 'flown')
        AND ((e.status = 'cancelled' AND e.arrives_at >= datetime(f.departs_at, '-6 hours'))
          OR (e.status <> 'cancelled' AND datetime(e.lands_at, '+45 minutes') > f.leaves_at))
    ) THEN 1
    ELSE 0
  END AS disrupted,
  CASE
    WHEN f.delay_minutes >= 300 THEN 2
    WHEN f.delay_minutes >= 120 OR f.status = 'cancelled' THEN 1
    ELSE 0
  END AS meals_allowed,
  (SELECT count(*) FROM vouchers
   WHERE vouchers.segment_id = segments.id AND vouchers.kind = 'meal' AND vouchers.status <> 'void') AS meals_given
FROM segments
JOIN passengers ON passengers.id = segments.passenger_id
JOIN bookings ON bookings.id = passengers.booking_id
JOIN flight_details AS f ON f.flight_id = segments.flight_id;

CREATE VIEW booking_details AS
SELECT bookings.id AS booking_id, bookings.fare_type_id, fare_types.name AS fare_name, fare_types.cabin,
  fare_types.change_allowed, fare_types.change_fee_cents,
  bookings.contact_name, bookings.contact_email, bookings.booked_on, bookings.status, bookings.split_from_booking_id,
  (SELECT count(*) FROM passengers WHERE passengers.booking_id = bookings.id) AS party,
  (SELECT count(*) FROM passengers WHERE passengers.booking_id = bookings.id AND passengers.kind = 'adult') AS adults,
  (SELECT count(*) FROM passengers WHERE passengers.booking_id = bookings.id AND passengers.kind = 'child') AS children,
  (SELECT count(*) FROM passengers WHERE passengers.booking_id = bookings.id AND passengers.kind = 'infant') AS infants,
  (SELECT coalesce(sum(fee_details.amount_cents), 0) FROM fee_details
   WHERE fee_details.booking_id = bookings.id AND fee_details.status = 'due') AS fees_due_cents,
  (SELECT count(*) FROM fee_details
   WHERE fee_details.booking_id = bookings.id AND fee_details.status = 'waived') AS waivers,
  (SELECT coalesce(sum(refund_details.amount_cents), 0) FROM refund_details
   WHERE refund_details.booking_id = bookings.id AND refund_details.decided_by = 'desk'
     AND refund_details.status IN ('approved', 'paid')) AS desk_refunds_cents
FROM bookings JOIN fare_types ON fare_types.id = bookings.fare_type_id;

CREATE VIEW waitlist_details AS
SELECT waitlist_entries.id AS entry_id, waitlist_entries.status, waitlist_entries.joined_at, waitlist_entries.closed_at,
  waitlist_entries.flight_id, flights.flight_no, flights.departs_at, flights.status AS flight_status, segments.cabin,
  waitlist_entries.segment_id, segments.flight_id AS held_flight_id,
  segments.passenger_id, passengers.name AS passenger_name, passengers.booking_id, passengers.tier_id, tiers.priority
FROM waitlist_entries
JOIN flights ON flights.id = waitlist_entries.flight_id
JOIN segments ON segments.id = waitlist_entries.segment_id
JOIN passengers ON passengers.id = segments.passenger_id
JOIN tiers ON tiers.id = passengers.tier_id;

CREATE VIEW hotel_night_details AS
SELECT hotel_nights.id AS hotel_night_id, hotel_nights.hotel, hotel_nights.airport_id, airports.city,
  hotel_nights.night_on, hotel_nights.rooms,
  hotel_nights.rooms - (SELECT count(*) FROM hotel_rooms
    WHERE hotel_rooms.hotel_night_id = hotel_nights.id AND hotel_rooms.status = 'booked') AS rooms_free
FROM hotel_nights JOIN airports ON airports.id = hotel_nights.airport_id;

-- the flights from which somebody was moved, after a disruption, to a later calendar day
CREATE VIEW overnight_stays AS
SELECT held.id AS segment_id, held.passenger_id, passengers.name AS passenger_name, passengers.booking_id,
  was.origin_id AS airport_id, date(was.departs_at) AS night_on,
  later.id AS new_segment_id, later.flight_id AS new_flight_id,
  (passengers.home_airport_id IS was.origin_id) AS lives_there
FROM segments AS held
JOIN segments AS later ON later.replaces_segment_id = held.id AND later.move_kind = 'disruption'
JOIN flights AS was ON was.id = held.flight_id
JOIN flights AS becomes ON becomes.id = later.flight_id
JOIN passengers ON passengers.id = held.passenger_id
WHERE date(becomes.departs_at) > date(was.departs_at);

CREATE VIEW voucher_details AS
SELECT vouchers.id AS voucher_id, vouchers.kind, vouchers.amount_cents, vouchers.status, vouchers.issued_at, vouchers.closed_at,
  vouchers.segment_id, flights.flight_no, flights.departs_at, segments.passenger_id, passengers.name AS passenger_name,
  passengers.booking_id, vouchers.hotel_room_id, hotel_rooms.hotel_night_id, hotel_nights.hotel, hotel_nights.night_on
FROM vouchers
JOIN segments ON segments.id = vouchers.segment_id
JOIN flights ON flights.id = segments.flight_id
JOIN passengers ON passengers.id = segments.passenger_id
LEFT JOIN hotel_rooms ON hotel_rooms.id = vouchers.hotel_room_id
LEFT JOIN hotel_nights ON hotel_nights.id = hotel_rooms.hotel_night_id;

CREATE VIEW refund_details AS
SELECT refund_requests.id AS refund_request_id, refund_requests.status, refund_requests.amount_cents, refund_requests.reason,
  refund_requests.requested_at, refund_requests.decided_at, refund_requests.decided_by, refund_requests.paid_at,
  refund_requests.segment_id, flights.flight_no, flights.departs_at, segments.passenger_id,
  passengers.name AS passenger_name, passengers.booking_id
FROM refund_requests
JOIN segments ON segments.id = refund_requests.segment_id
JOIN flights ON flights.id = segments.flight_id
JOIN passengers ON passengers.id = segments.passenger_id;

CREATE VIEW fee_details AS
SELECT fee_charges.id AS fee_charge_id, fee_charges.status, fee_charges.amount_cents, fee_charges.charged_at,
  fee_charges.settled_at, fee_charges.waive_reason, fee_charges.segment_id, flights.flight_no, flights.departs_at,
  segments.passenger_id, passengers.name AS passenger_name, passengers.booking_id
FROM fee_charges
JOIN segments ON segments.id = fee_charges.segment_id
JOIN flights ON flights.id = segments.flight_id
JOIN passengers ON passengers.id = segments.passenger_id;

CREATE TRIGGER timetable_is_fixed BEFORE UPDATE OF flight_no, origin_id, destination_id, departs_at, arrives_at ON flights
BEGIN
  SELECT RAISE(ABORT, 'the timetable is fixed; announce a delay or cancel the flight instead');
END;

CREATE TRIGGER flight_states_in_order BEFORE UPDATE OF status ON flights
WHEN NOT (NEW.status = OLD.status
  OR (OLD.status = 'scheduled' AND NEW.status IN ('delayed', 'boarding', 'cancelled'))
  OR (OLD.status = 'delayed' AND NEW.status IN ('boarding', 'cancelled'))
  OR (OLD.status = 'boarding' AND NEW.status = 'departed'))
BEGIN
  SELECT RAISE(ABORT, 'a flight can be delayed or cancelled only before boarding; a departed or cancelled flight stays so');
END;

CREATE TRIGGER delays_only_grow BEFORE UPDATE OF delay_minutes ON flights WHEN NEW.delay_minutes < OLD.delay_minutes
BEGIN
  SELECT RAISE(ABORT, 'an announced delay is never shortened; give the total delay in minutes, at least as long as before');
END;

CREATE TRIGGER cancelling_undoes_check_in AFTER UPDATE OF status ON flights
WHEN NEW.status = 'cancelled' AND OLD.status <> 'cancelled'
BEGIN
  UPDATE segments SET status = 'confirmed' WHERE flight_id = NEW.id AND status = 'checked_in';
END;

CREATE TRIGGER flight_over_ends_waiting AFTER UPDATE OF status ON flights
WHEN NEW.status IN ('cancelled', 'departed') AND OLD.status <> NEW.status
BEGIN
  UPDATE waitlist_entries SET status = 'expired', closed_at = CURRENT_TIMESTAMP
  WHERE flight_id = NEW.id AND status = 'waiting';
END;

CREATE TRIGGER cabin_not_below_taken BEFORE UPDATE OF seats, crew_seats ON cabins
BEGIN
  SELECT RAISE(ABORT, 'more passengers are booked in this cabin than that would leave; move some of them first')
  FROM cabin_details
  WHERE flight_id = NEW.flight_id AND cabin = NEW.cabin AND taken > NEW.seats - NEW.crew_seats;
END;

CREATE TRIGGER cancelled_bookings_hold_no_seats BEFORE UPDATE OF status ON bookings WHEN NEW.status = 'cancelled'
BEGIN
  SELECT RAISE(ABORT, 'this booking still holds seats; it can be cancelled only when none is left')
  FROM live_segments WHERE booking_id = NEW.id;
END;

CREATE TRIGGER six_in_a_booking BEFORE INSERT ON passengers
BEGIN
  SELECT RAISE(ABORT, 'a booking has six passengers at most; use another booking')
  WHERE (SELECT count(*) FROM passengers WHERE booking_id = NEW.booking_id) >= 6;
END;

CREATE TRIGGER six_in_a_booking_after_split BEFORE UPDATE OF booking_id ON passengers WHEN NEW.booking_id <> OLD.booking_id
BEGIN
  SELECT RAISE(ABORT, 'a booking has six passengers at most; use another booking')
  WHERE (SELECT count(*) FROM passengers WHERE booking_id = NEW.booking_id) >= 6;
  SELECT RAISE(ABORT, 'nobody can be put into a cancelled booking; use an active one')
  FROM bookings WHERE id = NEW.booking_id AND status = 'cancelled';
END;

CREATE TRIGGER passengers_keep_their_kind BEFORE UPDATE OF kind ON passengers WHEN NEW.kind <> OLD.kind
BEGIN
  SELECT RAISE(ABORT, 'adult, child or infant is fixed when the booking is made');
END;

CREATE TRIGGER seats_within_the_cabin BEFORE INSERT ON segments
WHEN NEW.status IN ('confirmed', 'checked_in', 'boarded')
  AND (SELECT kind FROM passengers WHERE id = NEW.passenger_id) <> 'infant'
BEGIN
  SELECT RAISE(ABORT, 'no seat is free in this cabin of the flight; choose another flight or join its waiting list')
  FROM cabin_details
  WHERE flight_id = NEW.flight_id AND cabin = NEW.cabin AND free_seats < 1;
END;

CREATE TRIGGER cabin_of_the_fare BEFORE INSERT ON segments
BEGIN
  SELECT RAISE(ABORT, 'the cabin must be the one of the fare: economy for light and flex, plus for plus')
  FROM passengers
  JOIN bookings ON bookings.id = passengers.booking_id
  JOIN fare_types ON fare_types.id = bookings.fare_type_id
  WHERE passengers.id = NEW.passenger_id AND fare_types.cabin <> NEW.cabin;
END;

CREATE TRIGGER no_seats_for_cancelled_bookings BEFORE INSERT ON segments
WHEN NEW.status IN ('confirmed', 'checked_in', 'boarded')
BEGIN
  SELECT RAISE(ABORT, 'this booking is cancelled; it can hold no seats any more')
  FROM passengers JOIN bookings ON bookings.id = passengers.booking_id
  WHERE passengers.id = NEW.passenger_id AND bookings.status = 'cancelled';
END;

CREATE TRIGGER flights_in_order BEFORE INSERT ON segments
WHEN NEW.status IN ('confirmed', 'checked_in', 'boarded')
BEGIN
  SELECT RAISE(ABORT, 'by the timetable this overlaps another flight of the passenger or leaves the order of the journey; choose another flight or move the later leg first')
  FROM live_segments AS other JOIN flights AS wanted ON wanted.id = NEW.flight_id
  WHERE other.passenger_id = NEW.passenger_id
    AND ((other.leg < NEW.leg AND other.arrives_at > wanted.departs_at)
      OR (other.leg > NEW.leg AND other.departs_at < wanted.arrives_at));
END;

-- a move first sets the old row to moved, then inserts the new one
CREATE TRIGGER a_move_keeps_the_journey BEFORE INSERT ON segments WHEN NEW.replaces_segment_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a move puts the same passenger on another flight between the same two airports, in the same cabin, for the same fare; choose such a flight')
  WHERE NOT EXISTS (
    SELECT 1 FROM segments AS held
    JOIN flights AS was ON was.id = held.flight_id
    JOIN flights AS wanted ON wanted.id = NEW.flight_id
    WHERE held.id = NEW.replaces_segment_id AND held.status = 'moved'
      AND held.passenger_id = NEW.passenger_id AND held.leg = NEW.leg AND held.cabin = NEW.cabin
      AND held.fare_paid_cents = NEW.fare_paid_cents AND held.flight_id <> NEW.flight_id
      AND was.origin_id = wanted.origin_id AND was.destination_id = wanted.destination_id);
END;

CREATE TRIGGER free_moves_within_72_hours BEFORE INSERT ON segments WHEN NEW.move_kind = 'disruption'
BEGIN
  SELECT RAISE(ABORT, 'a disrupted passenger is moved only to a departure within 72 hours of the one replaced; choose a nearer flight')
  FROM segments AS held
  JOIN flights AS was ON was.id = held.flight_id
  JOIN flights AS wanted ON wanted.id = NEW.flight_id
  WHERE held.id = NEW.replaces_segment_id
    AND abs(unixepoch(wanted.departs_at) - unixepoch(was.departs_at)) > 259200;
END;

CREATE TRIGGER light_fares_do_not_change BEFORE INSERT ON segments WHEN NEW.move_kind = 'voluntary'
BEGIN
  SELECT RAISE(ABORT, 'this fare allows no voluntary change; it can be moved only when the flight is disrupted')
  FROM passengers
  JOIN bookings ON bookings.id = passengers.booking_id
  JOIN fare_types ON fare_types.id = bookings.fare_type_id
  WHERE passengers.id = NEW.passenger_id AND fare_types.change_allowed = 0;
END;

CREATE TRIGGER segments_are_not_rewritten
BEFORE UPDATE OF passenger_id, leg, flight_id, cabin, fare_paid_cents, replaces_segment_id, move_kind ON segments
BEGIN
  SELECT RAISE(ABORT, 'a booked flight is not rewritten; move the passenger, which keeps the old flight on record');
END;

CREATE TRIGGER segment_states_in_order BEFORE UPDATE OF status ON segments
WHEN NOT (NEW.status = OLD.status
  OR (OLD.status = 'confirmed' AND NEW.status IN ('checked_in', 'moved', 'cancelled', 'no_show'))
  OR (OLD.status = 'checked_in' AND NEW.status IN ('confirmed', 'boarded', 'no_show'))
  OR (OLD.status = 'boarded' AND NEW.status = 'flown')
  OR (OLD.status = 'no_show' AND NEW.status = 'moved'))
BEGIN
  SELECT RAISE(ABORT, 'this step is not possible: a checked-in passenger must be unchecked first, a boarded one cannot be moved, and a flight that is flown, moved or cancelled is closed');
END;

CREATE TRIGGER no_move_while_refund_is_asked BEFORE UPDATE OF status ON segments
WHEN NEW.status = 'moved' AND OLD.status <> 'moved'
BEGIN
  SELECT RAISE(ABORT, 'a refund of this flight has been requested; the request must be decided before anybody is moved')
  FROM refund_requests WHERE segment_id = NEW.id AND status = 'requested';
END;

-- who is cleared from a waiting list: set the entry to cleared before the old flight becomes moved
CREATE TRIGGER who_left_waits_no_more AFTER UPDATE OF status ON segments
WHEN NEW.status IN ('moved', 'cancelled', 'flown') AND OLD.status <> NEW.status
BEGIN
  UPDATE waitlist_entries SET status = 'withdrawn', closed_at = CURRENT_TIMESTAMP
  WHERE segment_id = NEW.id AND status = 'waiting';
END;

CREATE TRIGGER three_waits_a_passenger BEFORE INSERT ON waitlist_entries WHEN NEW.status = 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'this passenger is on three waiting lists already; one must be left first')
  FROM segments
  WHERE segments.id = NEW.segment_id
    AND (SELECT count(*) FROM waitlist_details
         WHERE waitlist_details.passenger_id = segments.passenger_id AND waitlist_details.status = 'waiting') >= 3;
END;

CREATE TRIGGER waiting_for_a_coming_flight BEFORE INSERT ON waitlist_entries WHEN NEW.status = 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'one can wait only for a scheduled or delayed flight between the same two airports that has the same cabin, in place of a flight still held; choose such a flight')
  WHERE NOT EXISTS (
    SELECT 1 FROM segments AS held
    JOIN flights AS was ON was.id = held.flight_id
    JOIN flights AS wanted ON wanted.id = NEW.flight_id
    JOIN cabins ON cabins.flight_id = wanted.id AND cabins.cabin = held.cabin
    WHERE held.id = NEW.segment_id AND held.status IN ('confirmed', 'checked_in', 'no_show')
      AND held.flight_id <> NEW.flight_id AND wanted.status IN ('scheduled', 'delayed')
      AND was.origin_id = wanted.origin_id AND was.destination_id = wanted.destination_id);
END;

CREATE TRIGGER no_waiting_with_children BEFORE INSERT ON waitlist_entries WHEN NEW.status = 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'a booking with a child or an infant cannot use waiting lists; look for a flight with seats for all, or split the booking')
  FROM segments
  JOIN passengers ON passengers.id = segments.passenger_id
  JOIN passengers AS companions ON companions.booking_id = passengers.booking_id
  WHERE segments.id = NEW.segment_id AND companions.kind <> 'adult';
END;

CREATE TRIGGER waits_are_not_rewritten BEFORE UPDATE OF segment_id, flight_id, joined_at ON waitlist_entries
BEGIN
  SELECT RAISE(ABORT, 'a place on a waiting list is not rewritten; leave this list and join the other');
END;

CREATE TRIGGER ended_waits_stay_ended BEFORE UPDATE OF status ON waitlist_entries WHEN OLD.status <> 'waiting'
BEGIN
  SELECT RAISE(ABORT, 'this place on the waiting list is closed already; the passenger may join again');
END;

CREATE TRIGGER waitlist_in_order BEFORE UPDATE OF status ON waitlist_entries
WHEN OLD.status = 'waiting' AND NEW.status = 'cleared'
BEGIN
  SELECT RAISE(ABORT, 'somebody else is ahead on this waiting list; seats go by tier, gold before silver before none, then by the time of joining')
  FROM waitlist_details AS mine
  JOIN waitlist_details AS ahead ON ahead.flight_id = mine.flight_id AND ahead.cabin = mine.cabin
  WHERE mine.entry_id = NEW.id AND ahead.status = 'waiting' AND ahead.entry_id <> mine.entry_id
    AND (ahead.priority, ahead.joined_at, ahead.entry_id) < (mine.priority, mine.joined_at, mine.entry_id);
END;

CREATE TRIGGER rooms_within_the_allotment BEFORE INSERT ON hotel_rooms WHEN NEW.status = 'booked'
BEGIN
  SELECT RAISE(ABORT, 'the hotel has no room left for us that night; try another hotel in the city')
  FROM hotel_night_details WHERE hotel_night_id = NEW.hotel_night_id AND rooms_free < 1;
END;

CREATE TRIGGER allotment_not_below_booked BEFORE UPDATE OF rooms ON hotel_nights
BEGIN
  SELECT RAISE(ABORT, 'more rooms are booked that night than this; release some first')
  WHERE (SELECT count(*) FROM hotel_rooms WHERE hotel_night_id = NEW.id AND status = 'booked') > NEW.rooms;
END;

CREATE TRIGGER rooms_are_not_rebooked BEFORE UPDATE ON hotel_rooms
WHEN OLD.status = 'released' OR NEW.hotel_night_id <> OLD.hotel_night_id
BEGIN
  SELECT RAISE(ABORT, 'a room is not changed or taken up again; book another one');
END;

CREATE TRIGGER meals_by_delay BEFORE INSERT ON vouchers WHEN NEW.kind = 'meal' AND NEW.status <> 'void'
BEGIN
  SELECT RAISE(ABORT, 'no further meal voucher for this passenger and flight: one from 120 minutes of delay or on cancellation, a second from 300 minutes')
  FROM segment_details WHERE segment_id = NEW.segment_id AND meals_given >= meals_allowed;
END;

CREATE TRIGGER hotel_for_the_stranded BEFORE INSERT ON vouchers WHEN NEW.kind = 'hotel' AND NEW.status <> 'void'
BEGIN
  SELECT RAISE(ABORT, 'no hotel: the passenger must have been moved after a disruption to a later day, must not live in that city, and the room must be there for the night of the replaced flight')
  WHERE NOT EXISTS (
    SELECT 1 FROM overnight_stays
    JOIN hotel_nights ON hotel_nights.airport_id = overnight_stays.airport_id AND hotel_nights.night_on = overnight_stays.night_on
    JOIN hotel_rooms ON hotel_rooms.hotel_night_id = hotel_nights.id
    WHERE overnight_stays.segment_id = NEW.segment_id AND overnight_stays.lives_there = 0
      AND hotel_rooms.id = NEW.hotel_room_id AND hotel_rooms.status = 'booked');
END;

CREATE TRIGGER two_share_a_room BEFORE INSERT ON vouchers WHEN NEW.kind = 'hotel' AND NEW.status <> 'void'
BEGIN
  SELECT RAISE(ABORT, 'two guests have this room already; book another room')
  WHERE (SELECT count(*) FROM vouchers WHERE hotel_room_id = NEW.hotel_room_id AND status <> 'void') >= 2;
  SELECT RAISE(ABORT, 'only passengers of one booking share a room; book another room')
  FROM voucher_details AS guest
  JOIN segments ON segments.id = NEW.segment_id
  JOIN passengers ON passengers.id = segments.passenger_id
  WHERE guest.hotel_room_id = NEW.hotel_room_id AND guest.status <> 'void' AND guest.booking_id <> passengers.booking_id;
END;

CREATE TRIGGER taxi_for_residents BEFORE INSERT ON vouchers WHEN NEW.kind = 'taxi' AND NEW.status <> 'void'
BEGIN
  SELECT RAISE(ABORT, 'no taxi: only a passenger who lives in the city of departure and was moved after a disruption to a later day gets one')
  WHERE NOT EXISTS (SELECT 1 FROM overnight_stays WHERE segment_id = NEW.segment_id AND lives_there = 1);
END;

CREATE TRIGGER vouchers_are_not_rewritten BEFORE UPDATE ON vouchers
WHEN OLD.status <> 'issued' OR NEW.segment_id <> OLD.segment_id OR NEW.kind <> OLD.kind OR NEW.hotel_room_id IS NOT OLD.hotel_room_id
BEGIN
  SELECT RAISE(ABORT, 'a used or void voucher is closed, and an issued one can only be used or voided');
END;

CREATE TRIGGER empty_rooms_are_released AFTER UPDATE OF status ON vouchers
WHEN NEW.status = 'void' AND NEW.hotel_room_id IS NOT NULL
BEGIN
  UPDATE hotel_rooms SET status = 'released'
  WHERE id = NEW.hotel_room_id AND status = 'booked'
    AND NOT EXISTS (SELECT 1 FROM vouchers WHERE vouchers.hotel_room_id = NEW.hotel_room_id AND vouchers.status <> 'void');
END;

CREATE TRIGGER refund_only_when_due BEFORE INSERT ON refund_requests WHEN NEW.status <> 'refused'
BEGIN
  SELECT RAISE(ABORT, 'no refund: the flight must be cancelled or at least 300 minutes late, must not come from a move, and the amount is the fare paid for it')
  WHERE NOT EXISTS (
    SELECT 1 FROM segments JOIN flights ON flights.id = segments.flight_id
    WHERE segments.id = NEW.segment_id AND segments.replaces_segment_id IS NULL
      AND segments.fare_paid_cents = NEW.amount_cents
      AND (flights.status = 'cancelled' OR flights.delay_minutes >= 300));
  SELECT RAISE(ABORT, 'no refund: only a flight that is confirmed can be given back; a check-in must be undone first, and a flown, missed or moved flight is not refunded')
  FROM segments WHERE segments.id = NEW.segment_id AND NEW.status = 'requested' AND segments.status <> 'confirmed';
END;

CREATE TRIGGER desk_refunds_up_to_5000 BEFORE INSERT ON refund_requests
WHEN NEW.status IN ('approved', 'paid') AND NEW.decided_by = 'desk'
BEGIN
  SELECT RAISE(ABORT, 'the desk approves at most 5,000 NOK of refunds for one booking; the duty manager must decide this one')
  FROM segments JOIN passengers ON passengers.id = segments.passenger_id
  WHERE segments.id = NEW.segment_id
    AND NEW.amount_cents + (SELECT coalesce(sum(refund_details.amount_cents), 0) FROM refund_details
      WHERE refund_details.booking_id = passengers.booking_id AND refund_details.refund_request_id <> NEW.id
        AND refund_details.decided_by = 'desk' AND refund_details.status IN ('approved', 'paid')) > 500000;
END;

CREATE TRIGGER desk_approvals_up_to_5000 BEFORE UPDATE ON refund_requests
WHEN NEW.status IN ('approved', 'paid') AND NEW.decided_by = 'desk'
BEGIN
  SELECT RAISE(ABORT, 'the desk approves at most 5,000 NOK of refunds for one booking; the duty manager must decide this one')
  FROM segments JOIN passengers ON passengers.id = segments.passenger_id
  WHERE segments.id = NEW.segment_id
    AND NEW.amount_cents + (SELECT coalesce(sum(refund_details.amount_cents), 0) FROM refund_details
      WHERE refund_details.booking_id = passengers.booking_id AND refund_details.refund_request_id <> NEW.id
        AND refund_details.decided_by = 'desk' AND refund_details.status IN ('approved', 'paid')) > 500000;
END;

CREATE TRIGGER refund_states_in_order BEFORE UPDATE ON refund_requests
WHEN NEW.segment_id <> OLD.segment_id OR NEW.amount_cents <> OLD.amount_cents
  OR NOT (NEW.status = OLD.status
    OR (OLD.status = 'requested' AND NEW.status IN ('approved', 'refused'))
    OR (OLD.status = 'approved' AND NEW.status = 'paid'))
BEGIN
  SELECT RAISE(ABORT, 'a refund goes from requested to approved or refused, and from approved to paid; flight and amount stay');
END;

CREATE TRIGGER approval_gives_the_seat_back AFTER UPDATE OF status ON refund_requests
WHEN NEW.status = 'approved' AND OLD.status = 'requested'
BEGIN
  UPDATE segments SET status = 'cancelled' WHERE id = NEW.segment_id;
END;

CREATE TRIGGER fees_only_for_voluntary_changes BEFORE INSERT ON fee_charges
BEGIN
  SELECT RAISE(ABORT, 'no such fee: only a voluntary change of an adult or a child is charged, with the exact change fee of the fare')
  WHERE NOT EXISTS (
    SELECT 1 FROM segments
    JOIN passengers ON passengers.id = segments.passenger_id
    JOIN bookings ON bookings.id = passengers.booking_id
    JOIN fare_types ON fare_types.id = bookings.fare_type_id
    WHERE segments.id = NEW.segment_id AND segments.move_kind = 'voluntary' AND passengers.kind <> 'infant'
      AND fare_types.change_fee_cents = NEW.amount_cents);
END;

CREATE TRIGGER one_waiver_a_booking BEFORE UPDATE OF status ON fee_charges WHEN NEW.status = 'waived'
BEGIN
  SELECT RAISE(ABORT, 'a fee of this booking has been waived already; this one must be paid')
  FROM segments
  JOIN passengers ON passengers.id = segments.passenger_id
  JOIN fee_details ON fee_details.booking_id = passengers.booking_id
  WHERE segments.id = NEW.segment_id AND fee_details.status = 'waived' AND fee_details.fee_charge_id <> NEW.id;
END;

CREATE TRIGGER one_waiver_from_the_start BEFORE INSERT ON fee_charges WHEN NEW.status = 'waived'
BEGIN
  SELECT RAISE(ABORT, 'a fee of this booking has been waived already; this one must be paid')
  FROM segments
  JOIN passengers ON passengers.id = segments.passenger_id
  JOIN fee_details ON fee_details.booking_id = passengers.booking_id
  WHERE segments.id = NEW.segment_id AND fee_details.status = 'waived';
END;

CREATE TRIGGER settled_fees_stay_settled BEFORE UPDATE ON fee_charges
WHEN OLD.status <> 'due' OR NEW.segment_id <> OLD.segment_id OR NEW.amount_cents <> OLD.amount_cents
BEGIN
  SELECT RAISE(ABORT, 'a paid or waived fee is closed, and a due one can only be paid or waived as it stands');
END;
