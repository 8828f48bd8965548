CREATE TABLE folders (
  folder_id TEXT PRIMARY KEY,
  name TEXT NOT NULL CHECK (trim(name) <> ''),
  parent_folder_id TEXT REFERENCES folders (folder_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tags (
  tag_id TEXT PRIMARY KEY,
  name TEXT NOT NULL CHECK (trim(name) <> '')
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX tags_by_name ON tags (lower(trim(name)));

CREATE TABLE bookmarks (
  bookmark_id TEXT PRIMARY KEY,
  title TEXT NOT NULL CHECK (trim(title) <> ''),
  url TEXT NOT NULL CHECK (substr(url, 1, 7) = 'http://' OR substr(url, 1, 8) = 'https://'),
  added_date TEXT NOT NULL CHECK (added_date <> ''),
  folder_id TEXT NOT NULL REFERENCES folders (folder_id),
  description TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX bookmarks_by_folder_and_url ON bookmarks (folder_id, url);

CREATE TABLE bookmark_tags (
  bookmark_id TEXT NOT NULL REFERENCES bookmarks (bookmark_id) ON DELETE CASCADE,
  place INTEGER NOT NULL CHECK (place >= 1),
  tag_id TEXT NOT NULL REFERENCES tags (tag_id),
  PRIMARY KEY (bookmark_id, place)
) STRICT, WITHOUT ROWID;
