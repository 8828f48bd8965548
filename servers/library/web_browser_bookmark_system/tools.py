"""The tools of: Web browser bookmark system."""

import calendar
import re
from datetime import datetime
from typing import TypedDict, cast

from servers.toolkit import Database, ToolError

URL_PATTERN = r"^https?://[^\s]+$"
BELOW = "SELECT :folder_id UNION SELECT f.folder_id FROM folders AS f JOIN below AS b ON f.parent_folder_id = b.folder_id"


class FolderRow(TypedDict):
    folder_id: str
    name: str
    parent_folder_id: str | None


class FolderNode(TypedDict):
    folder_id: str
    name: str
    children: list[dict]


class BookmarkRow(TypedDict):
    bookmark_id: str
    title: str
    url: str
    added_date: str
    folder_id: str
    tags: list[str]
    description: str


class TagRow(TypedDict):
    tag_id: str
    name: str


class Folders(TypedDict):
    data: list[FolderRow]


class FolderTree(TypedDict):
    data: list[FolderNode]


class OneBookmark(TypedDict):
    data: BookmarkRow


class Bookmarks(TypedDict):
    data: list[BookmarkRow]


class Tags(TypedDict):
    data: list[TagRow]


class YesNo(TypedDict):
    data: bool


class Done(TypedDict):
    message: str


def list_folders(db: Database) -> Folders:
    """Retrieve all folders available for organizing bookmarks.

    - None directly applicable; always returns all folders present in folders.
    """
    return {"data": [cast("FolderRow", row) for row in _folders(db)]}


def get_folder_by_name(db: Database, *, name: str) -> Folders:
    """Query details of folder(s) by folder name.

    - Folder names may not be unique, so return all matches.

    Args:
        name: The name of the folder to query.
    """
    rows = db.all("SELECT * FROM folders WHERE name = :name ORDER BY folder_id", name=name)
    if not rows:
        raise ToolError("No folder found with the specified name")
    return {"data": [cast("FolderRow", row) for row in rows]}


def get_folder_hierarchy(db: Database) -> FolderTree:
    """Retrieve the folder nesting structure as a hierarchy tree for navigation/organization.

    - Folders may be nested. Tree structure only; no cycles.
    - If there are no folders, returns empty list.
    """
    rows = _folders(db)
    roots = [row for row in rows if row["parent_folder_id"] is None]
    return {"data": [cast("FolderNode", _tree(rows, root)) for root in roots]}


def list_bookmarks_in_folder(db: Database, *, folder_id: str) -> Bookmarks:
    """Retrieve all bookmarks located in the specified folder.

    - The folder_id must exist in the system.

    Args:
        folder_id: The ID of the folder whose bookmarks should be listed.
    """
    if _folder(db, folder_id) is None:
        raise ToolError("Folder does not exist")
    rows = db.all("SELECT * FROM bookmarks WHERE folder_id = :folder_id ORDER BY bookmark_id", folder_id=folder_id)
    return {"data": [_shown(db, row) for row in rows]}


def find_bookmark_by_url_and_folder(db: Database, *, url: str, folder_id: str) -> Bookmarks:
    """Determines whether a bookmark with the specified URL exists in the given folder.

    - folder_id must refer to an existing folder.
    - (URL validation for finding is not strictly required.)

    Args:
        url: The URL of the web resource to check.
        folder_id: The folder to search within.
    """
    if _folder(db, folder_id) is None:
        raise ToolError("Folder does not exist.")
    rows = db.all(
        "SELECT * FROM bookmarks WHERE url = :url AND folder_id = :folder_id ORDER BY bookmark_id",
        url=url, folder_id=folder_id,
    )
    return {"data": [_shown(db, row) for row in rows]}


def list_tags(db: Database) -> Tags:
    """Retrieve all tags available for bookmarks.

    - No input or filtering. All existing tags are listed.
    """
    return {"data": [cast("TagRow", row) for row in db.all("SELECT * FROM tags ORDER BY tag_id")]}


def find_tag_by_name(db: Database, *, name: str) -> Tags:
    """Query tags by their human-readable name.

    - 'name' must be a non-empty string.

    Args:
        name: The name of the tag to search for.
    """
    if not name:
        raise ToolError("Tag name must be a non-empty string.")
    rows = db.all("SELECT * FROM tags WHERE name = :name ORDER BY tag_id", name=name)
    return {"data": [cast("TagRow", row) for row in rows]}


def get_bookmark_by_id(db: Database, *, bookmark_id: str) -> OneBookmark:
    """Retrieve full details of a bookmark given its unique bookmark_id.

    Args:
        bookmark_id: The unique identifier for the bookmark.
    """
    row = _bookmark(db, bookmark_id)
    if row is None:
        raise ToolError("Bookmark ID not found")
    return {"data": _shown(db, row)}


def validate_url_format(db: Database, *, url: str) -> YesNo:
    """Verify that a given URL is valid per the system’s rules.

    - URL must be a non-empty string.
    - URL should start with 'http://' or 'https://'.

    Args:
        url: The URL string to validate.
    """
    stripped = url.strip()
    if not stripped.startswith(("http://", "https://")) or " " in stripped:
        return {"data": False}
    return {"data": "." in stripped.split("//", 1)[-1]}


def add_bookmark(db: Database, *, title: str, url: str, folder_id: str, tags: list[str], description: str='', added_date: str | None=None) -> Done:
    """Save a new bookmark specifying title, URL, folder, tags, and metadata.

    - Title must not be empty.
    - URL must be valid format.
    - Bookmark must not already exist in same folder with same URL.
    - Folder must exist.
    - Each tag in tags must exist in tags.

    Args:
        title: Title for the bookmark (must be non-empty).
        url: URL to bookmark (must be valid format).
        folder_id: ID of the folder to contain this bookmark.
        tags: List of tag_ids to associate.
        description: Description of the bookmark.
        added_date: Date when added (ISO8601 recommended), auto-set if not provided.
    """
    if title.strip() == "":
        # rule: title_not_blank
        raise ToolError("Bookmark title must not be empty.")
    if _folder(db, folder_id) is None:
        # rule: bookmark_in_folder
        raise ToolError("Specified folder does not exist.")
    if not re.match(URL_PATTERN, url):
        # rule: address_is_http
        raise ToolError("Bookmark URL is not valid.")
    if _address_taken(db, url, folder_id, None):
        # rule: no_duplicate_address
        raise ToolError("Bookmark with this URL already exists in the specified folder.")
    unknown = [tag_id for tag_id in tags if _tag(db, tag_id) is None]
    if unknown:
        # rule: tags_exist
        raise ToolError(f"Invalid tag_ids: {', '.join(unknown)}")
    moment = datetime.strptime(db.now(), "%Y-%m-%d %H:%M:%S")
    number = len(db.all("SELECT bookmark_id FROM bookmarks ORDER BY bookmark_id")) + 1
    bookmark_id = f"bm_{number}_{calendar.timegm(moment.timetuple())}"
    db.run(
        "INSERT INTO bookmarks (bookmark_id, title, url, added_date, folder_id, description)"
        " VALUES (:bookmark_id, :title, :url, :added_date, :folder_id, :description)",
        bookmark_id=bookmark_id, title=title, url=url, added_date=added_date or moment.isoformat(),
        folder_id=folder_id, description=description,
    )
    _put_tags(db, bookmark_id, tags)
    return {"message": "Bookmark added successfully."}


def create_folder(db: Database, *, name: str, parent_folder_id: str | None=None) -> Done:
    """Add a new folder to organize bookmarks.

    - Folder name must not be empty.
    - If parent_folder_id is provided, it must exist.

    Args:
        name: Name of the new folder (must not be empty).
        parent_folder_id: If provided, creates as a child of this folder id; if None, creates as root-level folder.
    """
    if not name.strip():
        # rule: folder_name_not_blank
        raise ToolError("Folder name must not be empty")
    if parent_folder_id is not None and _folder(db, parent_folder_id) is None:
        # rule: parent_exists
        raise ToolError("Parent folder does not exist")
    folder_id = db.new_id("folder")
    db.run(
        "INSERT INTO folders (folder_id, name, parent_folder_id) VALUES (:folder_id, :name, :parent_folder_id)",
        folder_id=folder_id, name=name, parent_folder_id=parent_folder_id,
    )
    return {"message": f"Folder '{name}' created with id {folder_id}"}


def create_tag(db: Database, *, name: str) -> Done:
    """Create a new tag for categorizing bookmarks.

    - Tag names should not be empty or whitespace only.
    - No duplicate tag names allowed.

    Args:
        name: The name for the new tag.
    """
    stripped = name.strip()
    if not stripped:
        # rule: tag_name_not_blank
        raise ToolError("Tag name cannot be empty.")
    rows = db.all("SELECT * FROM tags ORDER BY tag_id")
    for row in rows:
        if row["name"].strip().lower() == stripped.lower():
            # rule: tag_name_unique
            raise ToolError(f"Tag '{stripped}' already exists.")
    tag_id = f"tag_{len(rows) + 1}"
    db.run(
        "INSERT INTO tags (tag_id, name) VALUES (:tag_id, :name) ON CONFLICT (tag_id) DO UPDATE SET name = excluded.name",
        tag_id=tag_id, name=stripped,
    )
    return {"message": f"Tag '{stripped}' created with id '{tag_id}'."}


def update_bookmark(db: Database, *, bookmark_id: str, title: str | None=None, url: str | None=None, folder_id: str | None=None, tags: list[str] | None=None, description: str | None=None) -> Done:
    """Modify details of an existing bookmark. Only provided fields will be updated.

    - bookmark_id must exist.
    - Provided title (if any) must not be empty.
    - Provided url (if any) must be valid format and not conflict with another bookmark in target folder.
    - Provided folder_id (if any) must exist.
    - Provided tags (if any) must all exist.
    - After update, no duplicate bookmark (same URL and folder).

    Args:
        bookmark_id: ID of bookmark to update.
        title: New title (cannot be empty if provided).
        url: New URL (must be valid if provided).
        folder_id: New folder to move bookmark to (must exist).
        tags: New tags for the bookmark (must all exist).
        description: New description.
    """
    bookmark = _bookmark(db, bookmark_id)
    if bookmark is None:
        raise ToolError("Bookmark does not exist")
    if title is not None and title.strip() == "":
        # rule: title_not_blank
        raise ToolError("Title cannot be empty")
    if url is not None:
        if not url.strip():
            # rule: address_is_http
            raise ToolError("URL cannot be empty")
        if not url.startswith(("http://", "https://")):
            # rule: address_is_http
            raise ToolError("Invalid URL format")
    if folder_id is not None and _folder(db, folder_id) is None:
        # rule: bookmark_in_folder
        raise ToolError("Target folder does not exist")
    for tag_id in tags or []:
        if _tag(db, tag_id) is None:
            # rule: tags_exist
            raise ToolError(f"Tag '{tag_id}' does not exist")
    new_url = bookmark["url"] if url is None else url
    new_folder_id = bookmark["folder_id"] if folder_id is None else folder_id
    if _address_taken(db, new_url, new_folder_id, bookmark_id):
        # rule: no_duplicate_address
        raise ToolError("Duplicate bookmark with same URL exists in target folder")
    db.run(
        "UPDATE bookmarks SET title = :title, url = :url, folder_id = :folder_id, description = :description WHERE bookmark_id = :bookmark_id",
        title=bookmark["title"] if title is None else title, url=new_url, folder_id=new_folder_id,
        description=bookmark["description"] if description is None else description, bookmark_id=bookmark_id,
    )
    if tags is not None:
        db.run("DELETE FROM bookmark_tags WHERE bookmark_id = :bookmark_id", bookmark_id=bookmark_id)
        _put_tags(db, bookmark_id, tags)
    return {"message": "Bookmark updated successfully"}


def delete_bookmark(db: Database, *, bookmark_id: str) -> Done:
    """Remove a bookmark from the system given its unique identifier.

    - The bookmark with the given id must exist.

    Args:
        bookmark_id: Unique identifier of the bookmark to remove.
    """
    if _bookmark(db, bookmark_id) is None:
        raise ToolError("Bookmark not found.")
    db.run("DELETE FROM bookmarks WHERE bookmark_id = :bookmark_id", bookmark_id=bookmark_id)
    return {"message": "Bookmark deleted successfully."}


def move_bookmark_to_folder(db: Database, *, bookmark_id: str, target_folder_id: str) -> Done:
    """Relocate a bookmark to a different folder.

    - The bookmark must exist.
    - The target folder must exist.
    - No duplicate bookmarks (same URL and folder) allowed within the same folder.

    Args:
        bookmark_id: The unique ID of the bookmark to move.
        target_folder_id: The target folder's ID.
    """
    bookmark = _bookmark(db, bookmark_id)
    if bookmark is None:
        raise ToolError("Bookmark does not exist.")
    if _folder(db, target_folder_id) is None:
        # rule: bookmark_in_folder
        raise ToolError("Target folder does not exist.")
    if _address_taken(db, bookmark["url"], target_folder_id, bookmark_id):
        # rule: no_duplicate_address
        raise ToolError("A bookmark with the same URL already exists in the target folder.")
    db.run("UPDATE bookmarks SET folder_id = :folder_id WHERE bookmark_id = :bookmark_id", folder_id=target_folder_id, bookmark_id=bookmark_id)
    return {"message": "Bookmark moved to folder."}


def delete_folder(db: Database, *, folder_id: str) -> Done:
    """Delete the specified folder and recursively its subfolders; Also deletes all bookmarks that belong to these folders.

    - Removes the folder and all its descendant subfolders.
    - Deletes all bookmarks in the deleted folders.
    - Folder_id must exist.

    Args:
        folder_id: ID of the folder to delete.
    """
    if _folder(db, folder_id) is None:
        raise ToolError("Folder not found.")
    below = f"(WITH RECURSIVE below (folder_id) AS ({BELOW}) SELECT folder_id FROM below)"
    lost = db.all(f"SELECT bookmark_id FROM bookmarks WHERE folder_id IN {below} ORDER BY bookmark_id", folder_id=folder_id)
    db.run(f"DELETE FROM bookmarks WHERE folder_id IN {below}", folder_id=folder_id)
    db.run(f"DELETE FROM folders WHERE folder_id IN {below}", folder_id=folder_id)
    return {"message": f"Folder '{folder_id}' and {len(lost)} bookmarks deleted."}


def update_folder(db: Database, *, folder_id: str, name: str | None=None, parent_folder_id: str | None=None) -> Done:
    """Change folder attributes (name, parent_folder_id).

    - Folder must exist.
    - If name is provided, it must not be empty.
    - If parent_folder_id is provided: parent folder must exist or be None; cannot create cycles.

    Args:
        folder_id: The folder to modify.
        name: New name for the folder. Must not be empty if provided.
        parent_folder_id: New parent folder id (None for root). Must not create cycles.
    """
    folder = _folder(db, folder_id)
    if folder is None:
        raise ToolError("Folder does not exist.")
    if name is not None and not name.strip():
        # rule: folder_name_not_blank
        raise ToolError("Folder name must not be empty.")
    if parent_folder_id is not None:
        if parent_folder_id == folder_id:
            # rule: no_cycles
            raise ToolError("Folder cannot be its own parent.")
        if _folder(db, parent_folder_id) is None:
            # rule: parent_exists
            raise ToolError("New parent folder does not exist.")
        below = db.one(
            f"WITH RECURSIVE below (folder_id) AS ({BELOW}) SELECT folder_id FROM below WHERE folder_id = :parent",
            folder_id=folder_id, parent=parent_folder_id,
        )
        if below is not None:
            # rule: no_cycles
            raise ToolError("Cannot set parent_folder_id to a descendant (would create cycle).")
    db.run(
        "UPDATE folders SET name = :name, parent_folder_id = :parent_folder_id WHERE folder_id = :folder_id",
        name=folder["name"] if name is None else name,
        parent_folder_id=folder["parent_folder_id"] if parent_folder_id is None else parent_folder_id,
        folder_id=folder_id,
    )
    return {"message": "Folder updated successfully."}


def add_tag_to_bookmark(db: Database, *, bookmark_id: str, tag_id: str) -> Done:
    """Associate a tag with a bookmark.

    - The bookmark must exist.
    - The tag must exist.
    - No duplicate association (cannot add the same tag twice).

    Args:
        bookmark_id: The ID of the bookmark to which the tag will be added.
        tag_id: The ID of the tag to associate with the bookmark.
    """
    if _bookmark(db, bookmark_id) is None:
        raise ToolError("Bookmark does not exist.")
    if _tag(db, tag_id) is None:
        # rule: tags_exist
        raise ToolError("Tag does not exist.")
    if _place_of(db, bookmark_id, tag_id) is not None:
        # rule: tag_not_added_twice
        raise ToolError("Tag already associated with bookmark.")
    _put_tags(db, bookmark_id, [tag_id])
    return {"message": "Tag added to bookmark."}


def remove_tag_from_bookmark(db: Database, *, bookmark_id: str, tag_id: str) -> Done:
    """Remove association between a tag and a bookmark.

    - Bookmark must exist.
    - Tag must exist.
    - Tag must be currently associated with bookmark.

    Args:
        bookmark_id: ID of the bookmark to update.
        tag_id: ID of the tag to remove.
    """
    if _bookmark(db, bookmark_id) is None:
        raise ToolError(f"Bookmark '{bookmark_id}' not found.")
    if _tag(db, tag_id) is None:
        raise ToolError(f"Tag '{tag_id}' not found.")
    place = _place_of(db, bookmark_id, tag_id)
    if place is None:
        raise ToolError(f"Tag '{tag_id}' is not associated with bookmark '{bookmark_id}'.")
    db.run("DELETE FROM bookmark_tags WHERE bookmark_id = :bookmark_id AND place = :place", bookmark_id=bookmark_id, place=place)
    return {"message": f"Tag '{tag_id}' removed from bookmark '{bookmark_id}'."}


def _folders(db: Database) -> list[dict]:
    return db.all("SELECT * FROM folders ORDER BY folder_id")


def _tree(rows: list[dict], folder: dict) -> dict:
    children = [_tree(rows, row) for row in rows if row["parent_folder_id"] == folder["folder_id"]]
    return {"folder_id": folder["folder_id"], "name": folder["name"], "children": children}


def _folder(db: Database, folder_id: str) -> dict | None:
    return db.one("SELECT * FROM folders WHERE folder_id = :folder_id", folder_id=folder_id)


def _shown(db: Database, row: dict) -> BookmarkRow:
    tags = db.all("SELECT tag_id FROM bookmark_tags WHERE bookmark_id = :bookmark_id ORDER BY place", bookmark_id=row["bookmark_id"])
    return {
        "bookmark_id": row["bookmark_id"], "title": row["title"], "url": row["url"], "added_date": row["added_date"],
        "folder_id": row["folder_id"], "tags": [tag["tag_id"] for tag in tags], "description": row["description"],
    }


def _bookmark(db: Database, bookmark_id: str) -> dict | None:
    return db.one("SELECT * FROM bookmarks WHERE bookmark_id = :bookmark_id", bookmark_id=bookmark_id)


def _tag(db: Database, tag_id: str) -> dict | None:
    return db.one("SELECT * FROM tags WHERE tag_id = :tag_id", tag_id=tag_id)


def _address_taken(db: Database, url: str, folder_id: str, but: str | None) -> bool:
    row = db.one(
        "SELECT bookmark_id FROM bookmarks WHERE url = :url AND folder_id = :folder_id AND bookmark_id IS NOT :but ORDER BY bookmark_id LIMIT 1",
        url=url, folder_id=folder_id, but=but,
    )
    return row is not None


def _put_tags(db: Database, bookmark_id: str, tags: list[str]) -> None:
    for tag_id in tags:
        db.run(
            "INSERT INTO bookmark_tags (bookmark_id, place, tag_id)"
            " SELECT :bookmark_id, coalesce(max(place), 0) + 1, :tag_id FROM bookmark_tags WHERE bookmark_id = :bookmark_id",
            bookmark_id=bookmark_id, tag_id=tag_id,
        )


def _place_of(db: Database, bookmark_id: str, tag_id: str) -> int | None:
    row = db.one(
        "SELECT min(place) AS place FROM bookmark_tags WHERE bookmark_id = :bookmark_id AND tag_id = :tag_id",
        bookmark_id=bookmark_id, tag_id=tag_id,
    )
    return None if row is None else row["place"]
