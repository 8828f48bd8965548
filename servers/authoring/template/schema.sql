-- The rows of an instance. An agent sees them only through the tools.
-- Every table has a primary key. WITHOUT ROWID keeps rows in the order of their keys, so each replay reads the same.
-- Let the database hold the rules that it can hold: NOT NULL, CHECK, UNIQUE, foreign keys, triggers.

CREATE TABLE games (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL COLLATE NOCASE UNIQUE CHECK (trim(title) <> ''),
    players INTEGER NOT NULL CHECK (players BETWEEN 1 AND 12)
) WITHOUT ROWID, STRICT;

CREATE TABLE loans (
    id TEXT PRIMARY KEY,
    game_id TEXT NOT NULL REFERENCES games (id),
    member TEXT NOT NULL COLLATE NOCASE CHECK (trim(member) <> ''),
    lent_on TEXT NOT NULL CHECK (lent_on = date(lent_on)), -- a date is text: YYYY-MM-DD
    due_on TEXT NOT NULL CHECK (due_on = date(due_on)),
    returned_on TEXT CHECK (returned_on = date(returned_on)) -- NULL while the game is out
) WITHOUT ROWID, STRICT;

-- A game is out once at a time. rules.json names this index as the holder of the rule `one_loan_a_game`.
CREATE UNIQUE INDEX one_open_loan_a_game ON loans (game_id) WHERE returned_on IS NULL;
