-- What lies on each shelf. A shelf holds one item, and never more pieces than there is room for.
CREATE TABLE shelves (
    id TEXT PRIMARY KEY,
    item TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (trim(item) <> ''),
    pieces INTEGER NOT NULL CHECK (pieces >= 0),
    room INTEGER NOT NULL CHECK (room >= 1),
    CHECK (pieces <= room)
) WITHOUT ROWID, STRICT;

-- Each town that the post serves has its counter, and a van that leaves once a day.
CREATE TABLE counters (
    id TEXT PRIMARY KEY,
    town TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (trim(town) <> ''),
    van_leaves TEXT NOT NULL CHECK (van_leaves = strftime('%H:%M', van_leaves))
) WITHOUT ROWID, STRICT;

CREATE TABLE parcels (
    id TEXT PRIMARY KEY,
    shelf_id TEXT NOT NULL REFERENCES shelves (id),
    pieces INTEGER NOT NULL CHECK (pieces BETWEEN 1 AND 9),
    counter_id TEXT NOT NULL REFERENCES counters (id),
    sent_at TEXT NOT NULL CHECK (sent_at = datetime(sent_at)),
    status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'gone', 'called_back'))
) WITHOUT ROWID, STRICT;

CREATE INDEX parcels_by_counter ON parcels (counter_id, status);

CREATE TRIGGER parcels_are_never_rewritten BEFORE UPDATE ON parcels
WHEN NEW.shelf_id <> OLD.shelf_id OR NEW.pieces <> OLD.pieces OR NEW.counter_id <> OLD.counter_id
BEGIN
    SELECT RAISE(ABORT, 'a parcel keeps what is in it and where it goes');
END;
