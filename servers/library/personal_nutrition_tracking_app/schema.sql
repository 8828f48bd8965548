CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  shown_id TEXT NOT NULL,
  name TEXT NOT NULL,
  profile_info TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE meal_records (
  record_id TEXT PRIMARY KEY,
  shown_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  meal_name TEXT NOT NULL,
  calories REAL NOT NULL CHECK (calories >= 0),
  consumed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX meals_of_user ON meal_records (user_id);
