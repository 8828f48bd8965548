CREATE TABLE products (
  product_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  description TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  username TEXT NOT NULL,
  account_status TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE reviews (
  review_id TEXT PRIMARY KEY,
  product_id TEXT NOT NULL REFERENCES products (product_id),
  user_id TEXT NOT NULL REFERENCES users (user_id),
  rating INTEGER NOT NULL,
  review_text TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  moderation_status TEXT NOT NULL,
  UNIQUE (product_id, user_id)
) STRICT, WITHOUT ROWID;
