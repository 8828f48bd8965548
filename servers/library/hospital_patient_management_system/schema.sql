CREATE TABLE patients (
  patient_id TEXT PRIMARY KEY,
  place INTEGER NOT NULL CHECK (place >= 1),
  name TEXT NOT NULL,
  date_of_birth TEXT NOT NULL,
  gender TEXT NOT NULL,
  contact_info TEXT NOT NULL,
  medical_history TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE departments (
  department_id TEXT PRIMARY KEY CHECK (department_id <> ''),
  place INTEGER NOT NULL CHECK (place >= 1),
  name TEXT NOT NULL CHECK (name <> ''),
  location TEXT NOT NULL CHECK (location <> '')
) STRICT, WITHOUT ROWID;

CREATE TABLE procedures (
  procedure_id TEXT PRIMARY KEY,
  place INTEGER NOT NULL CHECK (place >= 1),
  name TEXT NOT NULL,
  description TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX procedures_by_name ON procedures (lower(name));

CREATE TABLE department_procedures (
  department_id TEXT NOT NULL REFERENCES departments (department_id),
  place INTEGER NOT NULL CHECK (place >= 1),
  procedure_id TEXT NOT NULL REFERENCES procedures (procedure_id),
  PRIMARY KEY (department_id, place)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX procedure_once_in_department ON department_procedures (department_id, procedure_id);

CREATE TABLE surgery_waitlist_entries (
  entry_id TEXT PRIMARY KEY,
  place INTEGER NOT NULL CHECK (place >= 1),
  patient_id TEXT NOT NULL REFERENCES patients (patient_id),
  department_id TEXT NOT NULL REFERENCES departments (department_id),
  procedure_id TEXT NOT NULL REFERENCES procedures (procedure_id),
  status TEXT NOT NULL CHECK (status IN ('pending', 'scheduled', 'completed', 'cancelled')),
  added_date TEXT NOT NULL,
  scheduled_date TEXT NOT NULL
) STRICT, WITHOUT ROWID;
