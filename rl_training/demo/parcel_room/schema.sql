CREATE TABLE shelves (
    id TEXT PRIMARY KEY,
    item TEXT NOT NULL UNIQUE,
    stock INTEGER NOT NULL CHECK (stock >= 0)
) WITHOUT ROWID;

-- What lies on the table, taken from one shelf and not sent yet.
CREATE TABLE taken (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    item TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0)
);

CREATE TABLE parcels (
    id TEXT PRIMARY KEY,
    town TEXT NOT NULL CHECK (town <> ''),
    item TEXT NOT NULL,
    count INTEGER NOT NULL
) WITHOUT ROWID;
