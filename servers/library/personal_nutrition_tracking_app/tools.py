"""The tools of: Personal nutrition tracking app."""

import math
import re
from datetime import datetime
from typing import Any, TypedDict, cast

from servers.toolkit import Database, ToolError

USER = "shown_id AS _id, name, profile_info"
MEAL = "shown_id AS record_id, user_id, meal_name, calories, consumed_at"
FIELDS = ("meal_name", "calories", "consumed_at")
DAY_OR_SECOND = r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2})?$"


class UserRow(TypedDict):
    _id: str
    name: str
    profile_info: str


class MealRow(TypedDict):
    record_id: str
    user_id: str
    meal_name: str
    calories: float
    consumed_at: str


class OneUser(TypedDict):
    data: UserRow


class Users(TypedDict):
    data: list[UserRow]


class OneMeal(TypedDict):
    data: MealRow


class Meals(TypedDict):
    data: list[MealRow]


class Summary(TypedDict):
    meal_count: int
    calorie_total: float


class OneSummary(TypedDict):
    data: Summary


class Done(TypedDict):
    message: str


def get_user_by_name(db: Database, *, name: str) -> Users:
    """Retrieve user(s) information using the user's name.

    - Supports multiple users with the same name (returns all).

    Args:
        name: The name of the user to search for.
    """
    rows = db.all(f"SELECT {USER} FROM users WHERE name = :name ORDER BY user_id", name=name)
    if not rows:
        raise ToolError("No user found with that name")
    return {"data": cast("list[UserRow]", rows)}


def get_user_by_id(db: Database, *, user_id: str) -> OneUser:
    """Retrieve user information using the user's unique _id.

    - The given user_id must exist in the application's users database.

    Args:
        user_id: The unique identifier of the user to retrieve.
    """
    row = db.one(f"SELECT {USER} FROM users WHERE user_id = :id", id=user_id)
    if row is None:
        raise ToolError("User not found")
    return {"data": cast("UserRow", row)}


def list_all_users(db: Database) -> Users:
    """List all registered users in the nutrition tracking app.

    - No constraints; returns all UserInfo in the system.
    - If no users are registered, returns an empty list (not an error).
    """
    return {"data": cast("list[UserRow]", db.all(f"SELECT {USER} FROM users ORDER BY user_id"))}


def get_meal_records_by_user(db: Database, *, user_id: str) -> Meals:
    """Retrieve all meal records linked to a specific user.

    - user_id must exist in users.
    - Each MealRecord must be linked to a specific User.

    Args:
        user_id: Unique identifier for the user.
    """
    if not _is_user(db, user_id):
        # rule: known_user
        raise ToolError("User not found")
    return {"data": _meals_of(db, user_id)}


def get_meal_records_by_date_range(db: Database, *, user_id: str, start_time: str, end_time: str) -> Meals:
    """Retrieve all meal records for a user within a specific consumed_at time/date interval.

    - user_id must correspond to an existing user.
    - start_time and end_time must be valid ISO timestamp strings.
    - All returned meal records must have consumed_at between start_time and end_time (inclusive).

    Args:
        user_id: The user's unique identifier.
        start_time: ISO timestamp string (inclusive lower bound).
        end_time: ISO timestamp string (inclusive upper bound).
    """
    if not _is_user(db, user_id):
        # rule: known_user
        raise ToolError("User not found")
    start, end = _moment(start_time), _moment(end_time)
    if start is None or end is None:
        raise ToolError("Invalid start_time or end_time format")
    return {"data": _meals_between(db, user_id, start, end)}


def search_meal_records_by_name(db: Database, *, user_id: str, meal_name: str) -> Meals:
    """Search for meal records belonging to the specified user and matching the given meal name.

    - User with user_id must exist.
    - Meal name matching is by exact string match (case sensitive).

    Args:
        user_id: The user's unique identifier.
        meal_name: The meal name to search for (case-sensitive exact match).
    """
    if not _is_user(db, user_id):
        # rule: known_user
        raise ToolError("User not found")
    return {"data": [meal for meal in _meals_of(db, user_id) if meal["meal_name"] == meal_name]}


def get_meal_record_by_id(db: Database, *, record_id: str) -> OneMeal:
    """Retrieve details of a specific meal record by its unique record_id.

    - record_id must exist in meal_records.

    Args:
        record_id: Unique identifier for the meal record.
    """
    row = db.one(f"SELECT {MEAL} FROM meal_records WHERE meal_records.record_id = :id", id=record_id)
    if row is None:
        # rule: known_record
        raise ToolError("Meal record not found")
    return {"data": cast("MealRow", row)}


def get_user_nutrition_summary(db: Database, *, user_id: str, start_date: str, end_date: str) -> OneSummary:
    """Aggregate the total calories and meal counts logged by a user over a specified period.

    - user_id must be present in users.
    - start_date and end_date must be valid ISO timestamps and start_date <= end_date.

    Args:
        user_id: The unique user identifier.
        start_date: Start of period, ISO format timestamp.
        end_date: End of period, ISO format timestamp.
    """
    if not _is_user(db, user_id):
        # rule: known_user
        raise ToolError("User does not exist")
    start, end = _moment(start_date), _moment(end_date)
    if start is None or end is None:
        raise ToolError("Start or end date is not a valid ISO timestamp")
    if _is_after(start, end):
        raise ToolError("Start date must be before or equal to end date")
    meals = _meals_between(db, user_id, start, end)
    return {"data": {"meal_count": len(meals), "calorie_total": sum((meal["calories"] for meal in meals), 0.0)}}


def add_meal_record(db: Database, *, user_id: str, meal_name: str, calories: float, consumed_at: str, record_id: str | None=None) -> Done:
    """Add a new MealRecord for a user, validating constraints.

    - user_id must exist in users.
    - calories >= 0.
    - consumed_at must be a valid ISO timestamp.
    - record_id must be unique if given; autogenerated otherwise.

    Args:
        user_id: User ID to link the record.
        meal_name: Descriptive name of the meal.
        calories: Non-negative calorie value.
        consumed_at: Timestamp (ISO string).
        record_id: Record ID if supplied, else autogenerated.
    """
    if not _is_user(db, user_id):
        # rule: known_user
        raise ToolError("User ID does not exist.")
    if calories < 0:
        # rule: no_negative_calories
        raise ToolError("Calories value must be non-negative.")
    if _moment(consumed_at) is None:
        # rule: valid_time
        raise ToolError("consumed_at must be a valid ISO timestamp.")
    if record_id is not None and _is_meal(db, record_id):
        # rule: unique_record_ids
        raise ToolError("record_id already exists.")
    _insert_meal(db, db.new_id("meal") if record_id is None else record_id, user_id, meal_name, calories, consumed_at)
    return {"message": f"Meal record added for user {user_id}"}


def update_meal_record(db: Database, *, record_id: str, meal_name: str | None=None, calories: float | None=None, consumed_at: str | None=None) -> Done:
    """Modify details of an existing MealRecord.

    - record_id must exist in meal_records.
    - If calories is provided, it must be non-negative.
    - If consumed_at is provided, it must be a valid ISO 8601 string.
    - At least one field to update should be provided.

    Args:
        record_id: The unique id of the MealRecord to modify.
        meal_name: New meal name.
        calories: New calories value (must be non-negative).
        consumed_at: New timestamp (ISO string recommended).
    """
    if not _is_meal(db, record_id):
        # rule: known_record
        raise ToolError("MealRecord with given record_id does not exist.")
    if meal_name is None and calories is None and consumed_at is None:
        # rule: something_to_change
        raise ToolError("No update fields provided.")
    if calories is not None and calories < 0:
        # rule: no_negative_calories
        raise ToolError("Calorie value must be a non-negative number.")
    if consumed_at is not None and not re.match(DAY_OR_SECOND, consumed_at):
        # rule: valid_time
        raise ToolError("consumed_at must be a valid ISO 8601 timestamp string.")
    db.run(
        "UPDATE meal_records SET meal_name = coalesce(:meal_name, meal_name), calories = coalesce(:calories, calories),"
        " consumed_at = coalesce(:consumed_at, consumed_at) WHERE record_id = :id",
        meal_name=meal_name,
        calories=calories,
        consumed_at=consumed_at,
        id=record_id,
    )
    return {"message": f"MealRecord {record_id} updated successfully."}


def delete_meal_record(db: Database, *, record_id: str) -> Done:
    """Remove a meal record from the app for a user.

    - The record_id must exist in the meal_records database.
    - No other constraints limit removal.

    Args:
        record_id: Unique identifier of the meal record to be deleted.
    """
    if not _is_meal(db, record_id):
        # rule: known_record
        raise ToolError("Meal record not found.")
    db.run("DELETE FROM meal_records WHERE record_id = :id", id=record_id)
    return {"message": "Meal record deleted."}


def bulk_add_meal_records(db: Database, *, user_id: str, records: list[dict]) -> Done:
    """Add multiple meal records simultaneously for a user.

    - User must exist.
    - Calories must be non-negative.
    - consumed_at must be a valid ISO-format timestamp.
    - record_id must be unique (if supplied or auto-generated).
    - No partial adds (atomic): any bad item aborts all.

    Args:
        user_id: Target user ID (must exist)
        records: Each meal record dict containing:
    """
    if not _is_user(db, user_id):
        # rule: known_user
        raise ToolError("User does not exist")
    ids: list[Any] = []
    for number, record in enumerate(records):
        _check_fields(number, record)
        ids.append(_batch_id(db, record, ids))
    for record, record_id in zip(records, ids, strict=True):
        calories = float(record["calories"])
        if not isinstance(record_id, str) or not isinstance(record["meal_name"], str) or not math.isfinite(calories):
            raise ToolError("ids and names of meals are texts, and calories are finite numbers")
        _insert_meal(db, record_id, user_id, record["meal_name"], calories, record["consumed_at"])
    return {"message": f"{len(records)} meal records added for user {user_id}."}


def correct_meal_record_timestamp(db: Database, *, record_id: str, new_timestamp: str) -> Done:
    """Update the consumed_at timestamp of a meal record to ensure validity.

    - record_id must exist in meal_records.
    - new_timestamp must be a valid timestamp string (ISO 8601 format recommended).

    Args:
        record_id: The unique identifier of the meal record to update.
        new_timestamp: The new timestamp to assign (should be valid ISO 8601 string).
    """
    if not _is_meal(db, record_id):
        # rule: known_record
        raise ToolError("Meal record not found.")
    if _moment(new_timestamp.replace("Z", "+00:00")) is None:
        # rule: valid_time
        raise ToolError("Invalid timestamp format.")
    db.run("UPDATE meal_records SET consumed_at = :time WHERE record_id = :id", time=new_timestamp, id=record_id)
    return {"message": "Timestamp for meal record updated successfully."}


def adjust_meal_record_calories(db: Database, *, record_id: str, new_calories: float) -> Done:
    """Update the calorie value for a given meal record.

    - Meal record must exist.
    - Calorie value must be >= 0.

    Args:
        record_id: Unique identifier of the meal record to update.
        new_calories: New calorie value to set. Must be non-negative.
    """
    if not _is_meal(db, record_id):
        # rule: known_record
        raise ToolError("Meal record not found.")
    if new_calories < 0:
        # rule: no_negative_calories
        raise ToolError("Calorie value must be non-negative.")
    db.run("UPDATE meal_records SET calories = :calories WHERE record_id = :id", calories=new_calories, id=record_id)
    return {"message": "Calorie value updated."}


def _is_user(db: Database, user_id: str) -> bool:
    return db.one("SELECT user_id FROM users WHERE user_id = :id", id=user_id) is not None


def _meals_of(db: Database, user_id: str) -> list[MealRow]:
    rows = db.all(f"SELECT {MEAL} FROM meal_records WHERE user_id = :id ORDER BY meal_records.record_id", id=user_id)
    return cast("list[MealRow]", rows)


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def _is_after(one: datetime, other: datetime) -> bool:
    if (one.tzinfo is None) != (other.tzinfo is None):
        raise ToolError("times with a zone and times without one cannot be compared; give all of them alike")
    return one > other


def _meals_between(db: Database, user_id: str, start: datetime, end: datetime) -> list[MealRow]:
    found: list[MealRow] = []
    for meal in _meals_of(db, user_id):
        moment = _moment(meal["consumed_at"])
        if moment is not None and not _is_after(start, moment) and not _is_after(moment, end):
            found.append(meal)
    return found


def _is_meal(db: Database, record_id: str) -> bool:
    return db.one("SELECT user_id FROM meal_records WHERE record_id = :id", id=record_id) is not None


def _insert_meal(
    db: Database, record_id: str, user_id: str, meal_name: str, calories: float, consumed_at: str
) -> None:
    db.run(
        "INSERT INTO meal_records (record_id, shown_id, user_id, meal_name, calories, consumed_at)"
        " VALUES (:record_id, :record_id, :user_id, :meal_name, :calories, :consumed_at)",
        record_id=record_id,
        user_id=user_id,
        meal_name=meal_name,
        calories=calories,
        consumed_at=consumed_at,
    )


def _check_fields(number: int, record: dict[str, Any]) -> None:
    for name in FIELDS:
        if name not in record:
            raise ToolError(f"Missing '{name}' in record {number}")
    try:
        calories = float(record["calories"])
    except (TypeError, ValueError, OverflowError):
        raise ToolError(f"Invalid calories in record {number}") from None
    if calories < 0:
        # rule: no_negative_calories
        raise ToolError(f"Negative calories in record {number}")
    if _moment(record["consumed_at"]) is None:
        # rule: valid_time
        raise ToolError(f"Invalid timestamp in record {number}")


def _batch_id(db: Database, record: dict[str, Any], earlier: list[Any]) -> Any:
    if "record_id" not in record:
        return db.new_id("meal")
    record_id = record["record_id"]
    if isinstance(record_id, (list, dict)):
        raise ToolError("a list or an object is no id of a meal; leave it out, or give a text")
    if isinstance(record_id, str) and _is_meal(db, record_id):
        # rule: unique_record_ids
        raise ToolError(f"Duplicate record_id ({record_id}) in meal_records")
    if record_id in earlier:
        # rule: unique_record_ids
        raise ToolError(f"Duplicate record_id ({record_id}) in batch input")
    return record_id
