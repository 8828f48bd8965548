CREATE TABLE guests (
    guest_id TEXT PRIMARY KEY,
    full_name TEXT NOT NULL CHECK (trim(full_name) <> ''),
    email TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (email LIKE '%_@_%._%' AND email NOT LIKE '% %'),
    phone TEXT,
    level TEXT NOT NULL DEFAULT 'standard' CHECK (level IN ('standard', 'gold')),
    blocked_reason TEXT CHECK (trim(blocked_reason) <> ''),
    registered_on TEXT NOT NULL CHECK (registered_on = date(registered_on))
) WITHOUT ROWID, STRICT;

-- A higher grade is a better room; types of one grade cost the same.
CREATE TABLE room_types (
    room_type_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    beds TEXT NOT NULL,
    grade INTEGER NOT NULL CHECK (grade >= 1),
    capacity INTEGER NOT NULL CHECK (capacity >= 1)
) WITHOUT ROWID, STRICT;

-- A closed room is let again for nights from closed_until on.
CREATE TABLE rooms (
    room_id TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    floor INTEGER NOT NULL CHECK (floor = number / 100),
    room_type_id TEXT NOT NULL REFERENCES room_types (room_type_id),
    bathroom TEXT NOT NULL CHECK (bathroom IN ('shower', 'bath', 'roll-in shower')),
    condition TEXT NOT NULL CHECK (condition IN ('clean', 'dirty')),
    closed_until TEXT CHECK (closed_until = date(closed_until))
) WITHOUT ROWID, STRICT;

CREATE TABLE seasons (
    season_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    first_night TEXT NOT NULL CHECK (first_night = date(first_night)),
    last_night TEXT NOT NULL CHECK (last_night = date(last_night)),
    min_nights INTEGER NOT NULL CHECK (min_nights >= 1),
    CHECK (first_night <= last_night)
) WITHOUT ROWID, STRICT;

CREATE TRIGGER seasons_do_not_overlap BEFORE INSERT ON seasons
WHEN EXISTS (SELECT 1 FROM seasons WHERE first_night <= NEW.last_night AND last_night >= NEW.first_night)
BEGIN
    SELECT RAISE(ABORT, 'the season overlaps another one');
END;

-- Full prices of one night; the weekend nights are Friday and Saturday.
CREATE TABLE rates (
    room_type_id TEXT NOT NULL REFERENCES room_types (room_type_id),
    season_id TEXT NOT NULL REFERENCES seasons (season_id),
    weekday_cents INTEGER NOT NULL CHECK (weekday_cents > 0),
    weekend_cents INTEGER NOT NULL CHECK (weekend_cents >= weekday_cents),
    PRIMARY KEY (room_type_id, season_id)
) WITHOUT ROWID, STRICT;

-- free_cancel_days is NULL where cancelling is never free.
CREATE TABLE rate_plans (
    rate_plan_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    min_nights INTEGER NOT NULL CHECK (min_nights >= 1),
    book_ahead_days INTEGER NOT NULL CHECK (book_ahead_days >= 0),
    discount_percent INTEGER NOT NULL CHECK (discount_percent BETWEEN 0 AND 99),
    deposit_percent INTEGER NOT NULL CHECK (deposit_percent BETWEEN 0 AND 100),
    free_cancel_days INTEGER CHECK (free_cancel_days >= 0),
    late_fee_percent INTEGER NOT NULL CHECK (late_fee_percent BETWEEN 0 AND 100)
) WITHOUT ROWID, STRICT;

-- charged_type_id is the type that the guest pays for; after a free upgrade it differs from the room's.
CREATE TABLE bookings (
    booking_id TEXT PRIMARY KEY,
    guest_id TEXT NOT NULL REFERENCES guests (guest_id),
    room_id TEXT NOT NULL REFERENCES rooms (room_id),
    charged_type_id TEXT NOT NULL REFERENCES room_types (room_type_id),
    rate_plan_id TEXT NOT NULL REFERENCES rate_plans (rate_plan_id),
    arrival TEXT NOT NULL CHECK (arrival = date(arrival)),
    departure TEXT NOT NULL CHECK (departure = date(departure)),
    adults INTEGER NOT NULL CHECK (adults >= 1),
    children INTEGER NOT NULL DEFAULT 0 CHECK (children >= 0),
    status TEXT NOT NULL CHECK (status IN ('tentative', 'confirmed', 'in_house', 'departed', 'cancelled')),
    room_total_cents INTEGER NOT NULL CHECK (room_total_cents > 0),
    deposit_cents INTEGER NOT NULL CHECK (deposit_cents >= 0),
    created_at TEXT NOT NULL CHECK (created_at = datetime(created_at)),
    CHECK (arrival < departure)
) WITHOUT ROWID, STRICT;

CREATE INDEX bookings_by_room ON bookings (room_id, arrival);
CREATE INDEX bookings_by_guest ON bookings (guest_id);
CREATE UNIQUE INDEX one_stay_per_room ON bookings (room_id) WHERE status = 'in_house';

CREATE TABLE charges (
    charge_id TEXT PRIMARY KEY,
    booking_id TEXT NOT NULL REFERENCES bookings (booking_id),
    kind TEXT NOT NULL CHECK (kind IN ('restaurant', 'minibar', 'parking', 'laundry', 'damage', 'cancellation_fee')),
    description TEXT NOT NULL CHECK (trim(description) <> ''),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    posted_at TEXT NOT NULL CHECK (posted_at = datetime(posted_at)),
    CHECK (kind = 'cancellation_fee' OR amount_cents <= 50000)
) WITHOUT ROWID, STRICT;

CREATE INDEX charges_by_booking ON charges (booking_id);
CREATE UNIQUE INDEX one_cancellation_fee ON charges (booking_id) WHERE kind = 'cancellation_fee';

CREATE TABLE payments (
    payment_id TEXT PRIMARY KEY,
    booking_id TEXT NOT NULL REFERENCES bookings (booking_id),
    kind TEXT NOT NULL CHECK (kind IN ('payment', 'refund')),
    method TEXT NOT NULL CHECK (method IN ('card', 'cash', 'transfer')),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    refunded_payment_id TEXT REFERENCES payments (payment_id),
    made_at TEXT NOT NULL CHECK (made_at = datetime(made_at)),
    CHECK ((kind = 'refund') = (refunded_payment_id IS NOT NULL))
) WITHOUT ROWID, STRICT;

CREATE INDEX payments_by_booking ON payments (booking_id);

CREATE TABLE housekeeping_tasks (
    task_id TEXT PRIMARY KEY,
    room_id TEXT NOT NULL REFERENCES rooms (room_id),
    kind TEXT NOT NULL CHECK (kind IN ('cleaning', 'repair', 'setup')),
    note TEXT NOT NULL CHECK (trim(note) <> ''),
    due_on TEXT NOT NULL CHECK (due_on = date(due_on)),
    created_at TEXT NOT NULL CHECK (created_at = datetime(created_at)),
    done_at TEXT CHECK (done_at = datetime(done_at) AND done_at >= created_at)
) WITHOUT ROWID, STRICT;

CREATE UNIQUE INDEX one_open_task_of_a_kind ON housekeeping_tasks (room_id, kind) WHERE done_at IS NULL;

-- What a booking costs, what was paid, what is open. A negative balance is money that the guest gets back.
CREATE VIEW folios AS
WITH sums AS (
    SELECT
        booking_id,
        iif(status = 'cancelled', 0, room_total_cents) AS room_cents,
        (SELECT coalesce(sum(amount_cents), 0) FROM charges AS c WHERE c.booking_id = b.booking_id) AS extra_cents,
        (
            SELECT coalesce(sum(iif(kind = 'payment', amount_cents, -amount_cents)), 0)
            FROM payments AS p WHERE p.booking_id = b.booking_id
        ) AS paid_cents
    FROM bookings AS b
)
SELECT
    booking_id,
    room_cents + extra_cents AS due_cents,
    paid_cents,
    room_cents + extra_cents - paid_cents AS balance_cents
FROM sums;

CREATE VIEW booking_list AS
SELECT
    booking_id,
    guest_id,
    full_name AS guest_name,
    status,
    room_id,
    room_type_id,
    charged_type_id,
    rate_plan_id,
    arrival,
    departure,
    adults,
    children,
    room_total_cents,
    deposit_cents
FROM bookings
JOIN guests USING (guest_id)
JOIN rooms USING (room_id);

CREATE VIEW room_list AS
SELECT
    room_id,
    number,
    floor,
    room_type_id,
    name AS type_name,
    grade,
    capacity,
    bathroom,
    condition,
    closed_until,
    (SELECT booking_id FROM bookings AS b WHERE b.room_id = r.room_id AND status = 'in_house') AS occupied_by
FROM rooms AS r
JOIN room_types USING (room_type_id);

CREATE TRIGGER new_bookings_fit BEFORE INSERT ON bookings
WHEN NEW.status IN ('tentative', 'confirmed', 'in_house')
BEGIN
    -- rule: room_for_all
    SELECT RAISE(ABORT, 'the party is too large for the room; find_rooms lists the rooms for a party')
    FROM room_list WHERE room_id = NEW.room_id AND NEW.adults + NEW.children > capacity;
    -- rule: closed_rooms
    SELECT RAISE(ABORT, 'the room is closed for some of these nights; find_rooms lists the rooms that are free')
    FROM rooms WHERE room_id = NEW.room_id AND NEW.arrival < closed_until;
    -- rule: one_booking_a_night
    SELECT RAISE(ABORT, 'the room is taken for some of these nights; find_rooms lists the rooms that are free')
    FROM bookings
    WHERE room_id = NEW.room_id AND status IN ('tentative', 'confirmed', 'in_house')
        AND arrival < NEW.departure AND departure > NEW.arrival;
END;

CREATE TRIGGER changed_bookings_fit BEFORE UPDATE OF room_id, arrival, departure, adults, children ON bookings
WHEN NEW.status IN ('tentative', 'confirmed', 'in_house')
BEGIN
    -- rule: room_for_all
    SELECT RAISE(ABORT, 'the party is too large for the room; find_rooms lists the rooms for a party')
    FROM room_list WHERE room_id = NEW.room_id AND NEW.adults + NEW.children > capacity;
    -- rule: closed_rooms
    SELECT RAISE(ABORT, 'the room is closed for some of these nights; find_rooms lists the rooms that are free')
    FROM rooms WHERE room_id = NEW.room_id AND NEW.arrival < closed_until;
    -- rule: one_booking_a_night
    SELECT RAISE(ABORT, 'the room is taken for some of these nights; find_rooms lists the rooms that are free')
    FROM bookings
    WHERE room_id = NEW.room_id AND status IN ('tentative', 'confirmed', 'in_house') AND booking_id <> NEW.booking_id
        AND arrival < NEW.departure AND departure > NEW.arrival;
END;

CREATE TRIGGER blocked_guests_book_nothing BEFORE INSERT ON bookings
WHEN NEW.status IN ('tentative', 'confirmed')
BEGIN
    -- rule: blocked_guests
    SELECT RAISE(ABORT, 'the guest is blocked and gets no booking; find_guests shows why, only the manager lifts it')
    FROM guests WHERE guest_id = NEW.guest_id AND blocked_reason IS NOT NULL;
END;

CREATE TRIGGER bookings_take_one_step BEFORE UPDATE OF status ON bookings
WHEN NEW.status <> OLD.status
    AND OLD.status || ' to ' || NEW.status NOT IN (
        'tentative to confirmed', 'tentative to cancelled', 'confirmed to cancelled',
        'confirmed to in_house', 'in_house to departed'
    )
BEGIN
    SELECT RAISE(ABORT, 'a booking goes from tentative to confirmed to in_house to departed, or is cancelled before');
END;

CREATE TRIGGER deposits_come_before_confirmation BEFORE UPDATE OF status ON bookings
WHEN NEW.status = 'confirmed' AND OLD.status <> 'confirmed'
BEGIN
    -- rule: deposit_first
    SELECT RAISE(ABORT, 'the deposit has not been paid in full; show_booking tells what is missing')
    FROM folios WHERE booking_id = NEW.booking_id AND paid_cents < NEW.deposit_cents;
END;

CREATE TRIGGER guests_enter_ready_rooms BEFORE UPDATE OF status, room_id ON bookings
WHEN NEW.status = 'in_house' AND (OLD.status <> 'in_house' OR OLD.room_id <> NEW.room_id)
BEGIN
    -- rule: blocked_guests
    SELECT RAISE(ABORT, 'the guest is blocked and is not checked in; find_guests shows why, only the manager lifts it')
    FROM guests WHERE guest_id = NEW.guest_id AND blocked_reason IS NOT NULL AND OLD.status <> 'in_house';
    -- rule: rooms_are_ready
    SELECT RAISE(ABORT, 'another guest is still in the room; find_rooms shows which rooms are occupied')
    FROM bookings WHERE room_id = NEW.room_id AND status = 'in_house' AND booking_id <> NEW.booking_id;
    -- rule: rooms_are_ready
    SELECT RAISE(ABORT, 'the room waits for a repair; find_tasks shows it, find_rooms lists other rooms')
    FROM housekeeping_tasks WHERE room_id = NEW.room_id AND kind = 'repair' AND done_at IS NULL;
    -- rule: rooms_are_ready
    SELECT RAISE(ABORT, 'the room has not been cleaned; find_tasks shows its cleaning, find_rooms the clean rooms')
    FROM rooms WHERE room_id = NEW.room_id AND condition <> 'clean';
END;

CREATE TRIGGER guests_leave_settled BEFORE UPDATE OF status ON bookings
WHEN NEW.status = 'departed' AND OLD.status <> 'departed'
BEGIN
    -- rule: bills_are_settled
    SELECT RAISE(ABORT, 'the bill is not settled; show_booking tells what is open')
    FROM folios WHERE booking_id = NEW.booking_id AND balance_cents <> 0;
END;

CREATE TRIGGER bookings_are_kept BEFORE DELETE ON bookings
BEGIN
    SELECT RAISE(ABORT, 'a booking is cancelled, not deleted');
END;

CREATE TRIGGER cash_has_a_limit BEFORE INSERT ON payments
WHEN NEW.kind = 'payment' AND NEW.method = 'cash'
BEGIN
    -- rule: little_cash
    SELECT RAISE(ABORT, 'no more than 1000.00 EUR in cash are taken for a booking; the rest goes by card or transfer')
    WHERE NEW.amount_cents + (
        SELECT coalesce(sum(iif(kind = 'payment', amount_cents, -amount_cents)), 0)
        FROM payments WHERE booking_id = NEW.booking_id AND method = 'cash'
    ) > 100000;
END;

CREATE TRIGGER refunds_follow_their_payment BEFORE INSERT ON payments
WHEN NEW.kind = 'refund'
BEGIN
    -- rule: refunds_by_the_same_method
    SELECT RAISE(ABORT, 'a refund goes to the booking and the method of a payment')
    WHERE NOT EXISTS (
        SELECT 1 FROM payments
        WHERE payment_id = NEW.refunded_payment_id AND kind = 'payment'
            AND booking_id = NEW.booking_id AND method = NEW.method
    );
    -- rule: refunds_are_bounded
    SELECT RAISE(ABORT, 'a refund is no more than what is left of its payment')
    WHERE NEW.amount_cents + (
        SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE refunded_payment_id = NEW.refunded_payment_id
    ) > (SELECT amount_cents FROM payments WHERE payment_id = NEW.refunded_payment_id);
    -- rule: refunds_are_bounded
    SELECT RAISE(ABORT, 'a refund is no more than what the guest has paid too much')
    FROM folios WHERE booking_id = NEW.booking_id AND NEW.amount_cents > -balance_cents;
END;

CREATE TRIGGER payments_are_not_changed BEFORE UPDATE ON payments
BEGIN
    SELECT RAISE(ABORT, 'a payment is not changed; refund it');
END;

CREATE TRIGGER payments_are_kept BEFORE DELETE ON payments
BEGIN
    SELECT RAISE(ABORT, 'a payment is not deleted; refund it');
END;
