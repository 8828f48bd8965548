CREATE TABLE equipment (
  equipment_id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  model TEXT NOT NULL,
  condition TEXT NOT NULL,
  location TEXT NOT NULL,
  availability_status TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  name TEXT NOT NULL CHECK (trim(name) <> ''),
  contact_info TEXT NOT NULL CHECK (trim(contact_info) <> ''),
  user_type TEXT NOT NULL CHECK (trim(user_type) <> '')
) STRICT, WITHOUT ROWID;

CREATE TABLE loans (
  loan_id TEXT PRIMARY KEY,
  equipment_id TEXT NOT NULL REFERENCES equipment (equipment_id),
  user_id TEXT NOT NULL REFERENCES users (user_id),
  borrowed_date TEXT NOT NULL,
  due_date TEXT NOT NULL,
  returned_date TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'overdue', 'returned'))
) STRICT, WITHOUT ROWID;
