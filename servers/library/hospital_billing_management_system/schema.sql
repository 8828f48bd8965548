CREATE TABLE patients (
  patient_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  date_of_birth TEXT NOT NULL,
  contact_information TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bills (
  bill_id TEXT PRIMARY KEY,
  patient_id TEXT NOT NULL REFERENCES patients (patient_id),
  treatment_details TEXT NOT NULL,
  issue_date TEXT NOT NULL,
  amount_due REAL NOT NULL CHECK (amount_due >= 0),
  amount_paid REAL NOT NULL CHECK (amount_paid >= 0),
  status TEXT NOT NULL,
  CHECK (amount_paid <= amount_due + 0.000001)
) STRICT, WITHOUT ROWID;

CREATE TABLE payments (
  payment_id TEXT PRIMARY KEY,
  bill_id TEXT NOT NULL REFERENCES bills (bill_id),
  date TEXT NOT NULL,
  amount REAL NOT NULL CHECK (amount > 0),
  payment_method TEXT NOT NULL,
  status TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE disputes (
  dispute_id TEXT PRIMARY KEY,
  bill_id TEXT NOT NULL REFERENCES bills (bill_id),
  patient_id TEXT NOT NULL REFERENCES patients (patient_id),
  date_created TEXT NOT NULL,
  description TEXT NOT NULL CHECK (trim(description) <> ''),
  status TEXT NOT NULL CHECK (trim(status) <> ''),
  resolution_detail TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE customer_support_interactions (
  interaction_id TEXT PRIMARY KEY,
  patient_id TEXT NOT NULL REFERENCES patients (patient_id),
  dispute_id TEXT REFERENCES disputes (dispute_id),
  timestamp TEXT NOT NULL,
  support_agent_id TEXT NOT NULL,
  note TEXT NOT NULL
) STRICT, WITHOUT ROWID;
