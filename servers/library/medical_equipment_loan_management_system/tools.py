"""The tools of: Medical equipment loan management system."""

from typing import TypedDict, cast

from servers.toolkit import Database, ToolError


class EquipmentRow(TypedDict):
    equipment_id: str
    type: str
    model: str
    condition: str
    location: str
    availability_status: str


class UserRow(TypedDict):
    user_id: str
    name: str
    contact_info: str
    user_type: str


class LoanRow(TypedDict):
    loan_id: str
    equipment_id: str
    user_id: str
    borrowed_date: str
    due_date: str
    returned_date: str | None
    status: str


class ConditionAndLocation(TypedDict):
    condition: str
    location: str


class OneUser(TypedDict):
    data: UserRow


class Users(TypedDict):
    data: list[UserRow]


class OneLoan(TypedDict):
    data: LoanRow


class Loans(TypedDict):
    data: list[LoanRow]


class OneEquipment(TypedDict):
    data: EquipmentRow


class EquipmentList(TypedDict):
    data: list[EquipmentRow]


class OneConditionAndLocation(TypedDict):
    data: ConditionAndLocation


class StatusText(TypedDict):
    data: str


class YesNo(TypedDict):
    data: bool


class Done(TypedDict):
    message: str


def get_user_by_name(db: Database, *, name: str) -> Users:
    """Retrieve user information by their name.

    - User must be registered in the system.
    - Multiple users may share the same name; all matching entries are returned.

    Args:
        name: The name of the user to look up.
    """
    rows = db.all("SELECT * FROM users WHERE name = :name ORDER BY user_id", name=name)
    if not rows:
        raise ToolError("No user found with that name")
    return {"data": [cast("UserRow", row) for row in rows]}


def get_user_by_id(db: Database, *, user_id: str) -> OneUser:
    """Get user information based on the provided user_id.

    - The user_id must exist in the system.

    Args:
        user_id: The unique identifier of the user.
    """
    row = _user(db, user_id)
    if row is None:
        raise ToolError("User not found")
    return {"data": cast("UserRow", row)}


def list_active_loans_by_user(db: Database, *, user_id: str) -> Loans:
    """Get currently active loan transactions for a user.

    - User must be registered (exist in users)
    - Only loans with status 'active' are returned

    Args:
        user_id: The unique identifier of the user.
    """
    if _user(db, user_id) is None:
        raise ToolError("User is not registered")
    rows = db.all("SELECT * FROM loans WHERE user_id = :user_id AND status = 'active' ORDER BY loan_id", user_id=user_id)
    return {"data": [cast("LoanRow", row) for row in rows]}


def get_loan_details(db: Database, *, loan_id: str) -> OneLoan:
    """Retrieve all details for a specific loan transaction.

    - loan_id must exist in the system.

    Args:
        loan_id: The unique identifier of the loan transaction.
    """
    row = _loan(db, loan_id)
    if row is None:
        raise ToolError("Loan transaction not found")
    return {"data": cast("LoanRow", row)}


def get_equipment_by_id(db: Database, *, equipment_id: str) -> OneEquipment:
    """Retrieve info about a specific equipment item using its unique ID.

    - Equipment ID must exist in inventory.

    Args:
        equipment_id: Unique identifier for the equipment.
    """
    row = _equipment(db, equipment_id)
    if row is None:
        raise ToolError("Equipment with the specified ID does not exist.")
    return {"data": cast("EquipmentRow", row)}


def list_equipment_by_type(db: Database, *, equipment_type: str) -> EquipmentList:
    """List all equipment items of the specified type.

    - equipment_type must be a non-empty string.
    - Returns all items matching type. If none exist, returns empty list with success.

    Args:
        equipment_type: The type of equipment to list (e.g., 'wheelchair', 'monitor').
    """
    if equipment_type.strip() == "":
        raise ToolError("Equipment type must be a non-empty string.")
    rows = db.all("SELECT * FROM equipment WHERE type = :equipment_type ORDER BY equipment_id", equipment_type=equipment_type)
    return {"data": [cast("EquipmentRow", row) for row in rows]}


def get_equipment_by_status(db: Database, *, status: str) -> EquipmentList:
    """List equipment items filtered by their availability status.

    - 'status' must be a non-empty string.

    Args:
        status: The target 'availability_status' to filter equipment by (e.g., 'available', 'loaned').
    """
    if not status.strip():
        raise ToolError("Invalid equipment status: must be a non-empty string.")
    rows = db.all("SELECT * FROM equipment WHERE availability_status = :status ORDER BY equipment_id", status=status)
    return {"data": [cast("EquipmentRow", row) for row in rows]}


def get_equipment_condition_and_location(db: Database, *, equipment_id: str) -> OneConditionAndLocation:
    """Query the current condition and location of a specific medical equipment item.

    - The equipment_id must exist in the system's inventory.

    Args:
        equipment_id: Unique identifier of the equipment.
    """
    row = _equipment(db, equipment_id)
    if row is None:
        raise ToolError("Equipment not found")
    return {"data": {"condition": row["condition"], "location": row["location"]}}


def check_loan_status(db: Database, *, loan_id: str) -> StatusText:
    """Query the current status (active, returned, overdue) of a loan transaction.

    - The loan_id must exist in the system.

    Args:
        loan_id: The unique identifier of the loan transaction.
    """
    row = _loan(db, loan_id)
    if row is None:
        raise ToolError("Loan transaction not found")
    return {"data": row["status"]}


def check_user_registration(db: Database, *, user_id: str) -> OneUser:
    """Verify if a user is registered and eligible to borrow/return equipment.

    - The user must exist in the system (users).
    - All registered users are considered eligible.

    Args:
        user_id: The unique identifier of the user.
    """
    if not user_id:
        raise ToolError("Invalid user_id input")
    row = _user(db, user_id)
    if row is None:
        raise ToolError("User is not registered")
    return {"data": cast("UserRow", row)}


def is_equipment_on_active_loan(db: Database, *, equipment_id: str) -> YesNo:
    """Check whether a given equipment item (by equipment_id) is currently on active loan.

    - Equipment must exist in system.

    Args:
        equipment_id: Unique identifier for the equipment.
    """
    if _equipment(db, equipment_id) is None:
        raise ToolError("Equipment not found")
    row = db.one(
        "SELECT loan_id FROM loans WHERE equipment_id = :equipment_id AND status = 'active' ORDER BY loan_id LIMIT 1",
        equipment_id=equipment_id,
    )
    return {"data": row is not None}


def check_if_loan_is_overdue(db: Database, *, loan_id: str) -> YesNo:
    """Determine if a loan transaction is overdue based on due_date and current date.

    - If the loan is already returned, it cannot be overdue.
    - Dates must be in 'YYYY-MM-DD' format.

    Args:
        loan_id: The unique identifier for the loan transaction.
    """
    loan = _loan(db, loan_id)
    if loan is None:
        raise ToolError("Loan not found")
    if loan["returned_date"]:
        return {"data": False}
    raise ToolError("Invalid due_date format")


def mark_loan_as_returned(db: Database, *, loan_id: str) -> Done:
    """Mark a loan transaction as returned, update returned_date, and release equipment.

    - loan_id must exist
    - Loan status must be 'active' or 'overdue'
    - Associated equipment must exist
    - Equipment will be set to 'available'
    - Loan returned_date is set to now in ISO format

    Args:
        loan_id: The identifier of the loan transaction.
    """
    loan = _loan(db, loan_id)
    if loan is None:
        raise ToolError("Loan transaction not found.")
    if loan["status"] not in ("active", "overdue"):
        # rule: return_only_open
        raise ToolError(f"Loan status is '{loan['status']}', not eligible for return.")
    db.run(
        "UPDATE loans SET returned_date = :returned_date, status = 'returned' WHERE loan_id = :loan_id",
        returned_date=db.now().replace(" ", "T"), loan_id=loan_id,
    )
    _set_availability(db, loan["equipment_id"], "available")
    return {"message": "Loan marked as returned and equipment released."}


def update_equipment_availability(db: Database, *, equipment_id: str, new_status: str) -> Done:
    """Change the availability status of a piece of equipment. Only allows transitions between 'available' and 'loaned'.

    - Equipment must exist in inventory.
    - Only status transitions between 'available' and 'loaned' are allowed.
    - To loan equipment, must be currently 'available' (enforces one active loan).
    - To make equipment 'available', must be currently 'loaned'.

    Args:
        equipment_id: Unique identifier of equipment to update.
        new_status: 'available' or 'loaned'
    """
    equipment = _equipment(db, equipment_id)
    if equipment is None:
        raise ToolError("Equipment not found.")
    if new_status not in ("available", "loaned"):
        # rule: availability_transition
        raise ToolError("Invalid status. Must be 'available' or 'loaned'.")
    current = equipment["availability_status"]
    needed = "available" if new_status == "loaned" else "loaned"
    if current != needed:
        # rule: availability_transition
        raise ToolError(f"Cannot set to '{new_status}'; current status is '{current}'.")
    _set_availability(db, equipment_id, new_status)
    return {"message": f"Equipment availability updated to '{new_status}'."}


def update_equipment_condition_and_location(db: Database, *, equipment_id: str, condition: str | None=None, location: str | None=None) -> Done:
    """Update the condition and/or location attributes of a given equipment item.

    - Equipment must exist.
    - At least one of 'condition' or 'location' must be provided.

    Args:
        equipment_id: The unique identifier of the equipment to update.
        condition: The new condition ("good", "damaged", etc.), or None if not changing.
        location: The new location (e.g., room number), or None if not changing.
    """
    equipment = _equipment(db, equipment_id)
    if equipment is None:
        raise ToolError("Equipment not found.")
    if condition is None and location is None:
        # rule: something_to_change
        raise ToolError("No update parameters provided.")
    db.run(
        "UPDATE equipment SET condition = :condition, location = :location WHERE equipment_id = :equipment_id",
        condition=equipment["condition"] if condition is None else condition,
        location=equipment["location"] if location is None else location,
        equipment_id=equipment_id,
    )
    return {"message": "Equipment condition and location updated."}


def trigger_overdue_alert(db: Database, *, loan_id: str) -> Done:
    """Generate an alert if the specified loan transaction is overdue.

    - The loan_id must exist.
    - The loan's status must be 'overdue' to trigger the alert.

    Args:
        loan_id: The unique identifier of the loan transaction.
    """
    loan = _loan(db, loan_id)
    if loan is None:
        raise ToolError("Loan transaction not found")
    if loan["status"] != "overdue":
        # rule: alert_only_overdue
        raise ToolError("Loan is not overdue; no alert triggered")
    equipment = _equipment(db, loan["equipment_id"])
    user = _user(db, loan["user_id"])
    what = "Unknown " if equipment is None else equipment["type"] + " " + equipment["model"]
    who = "Unknown" if user is None else user["name"]
    return {
        "message": f"Alert triggered: Equipment '{what}' (loan ID: {loan_id}) is overdue. "
        f"Borrower: {who} (user ID: {loan['user_id']})."
    }


def create_new_loan_transaction(db: Database, *, equipment_id: str, user_id: str, borrowed_date: str, due_date: str) -> Done:
    """Record a new borrowing event for an available equipment item.

    - Equipment must exist and be available (not currently loaned out).
    - User must be registered (exist in system).
    - Equipment can only have one active loan at a time.
    - Equipment availability_status will be updated to 'loaned' on success.

    Args:
        equipment_id: Unique ID of the equipment to be loaned.
        user_id: Unique ID of the user borrowing the equipment.
        borrowed_date: Start date of the loan (ISO 8601/string format).
        due_date: Due/return deadline (ISO 8601/string format).
    """
    equipment = _equipment(db, equipment_id)
    if equipment is None:
        # rule: known_equipment
        raise ToolError("Equipment does not exist.")
    if _user(db, user_id) is None:
        # rule: registered_borrower
        raise ToolError("User does not exist or is not registered.")
    if equipment["availability_status"] != "available":
        # rule: lend_only_available
        raise ToolError("Equipment is not available for loan.")
    db.run(
        "INSERT INTO loans (loan_id, equipment_id, user_id, borrowed_date, due_date, returned_date, status)"
        " VALUES (:loan_id, :equipment_id, :user_id, :borrowed_date, :due_date, NULL, 'active')",
        loan_id=db.new_id("loan"), equipment_id=equipment_id, user_id=user_id, borrowed_date=borrowed_date, due_date=due_date,
    )
    _set_availability(db, equipment_id, "loaned")
    return {"message": f"Loan transaction created for equipment {equipment_id} and user {user_id}."}


def modify_loan_due_date(db: Database, *, loan_id: str, new_due_date: str) -> Done:
    """Change the due_date for a given loan transaction, e.g. for extension requests.

    - The loan must exist.
    - The loan status must be 'active' to allow modification.
    - new_due_date must not be empty.

    Args:
        loan_id: Unique identifier for the loan transaction.
        new_due_date: New due date (expected as a date string, format not validated here).
    """
    loan = _loan(db, loan_id)
    if loan is None:
        raise ToolError("Loan transaction not found.")
    if loan["status"] != "active":
        # rule: due_date_only_active
        raise ToolError("Loan due date can only be changed for active loans.")
    if not new_due_date:
        # rule: due_date_not_empty
        raise ToolError("Invalid new due date provided.")
    db.run("UPDATE loans SET due_date = :due_date WHERE loan_id = :loan_id", due_date=new_due_date, loan_id=loan_id)
    return {"message": "Loan due date updated."}


def modify_user_profile(db: Database, *, user_id: str, name: str | None=None, contact_info: str | None=None, user_type: str | None=None) -> Done:
    """Update information for a registered user.

    - Only registered users can be modified.
    - At least one field to update should be provided.
    - Updates fields only if non-None and non-empty (for name/contact/user_type).

    Args:
        user_id: The unique identifier for the user to update.
        name: New name for user, if changing.
        contact_info: New contact info, if changing.
        user_type: New user type, e.g. 'patient', 'staff'.
    """
    user = _user(db, user_id)
    if user is None:
        raise ToolError("User does not exist.")
    if not (_filled(name) or _filled(contact_info) or _filled(user_type)):
        # rule: something_to_change
        raise ToolError("No valid attribute to update was provided.")
    db.run(
        "UPDATE users SET name = :name, contact_info = :contact_info, user_type = :user_type WHERE user_id = :user_id",
        name=name if _filled(name) else user["name"],
        contact_info=contact_info if _filled(contact_info) else user["contact_info"],
        user_type=user_type if _filled(user_type) else user["user_type"],
        user_id=user_id,
    )
    return {"message": "User profile updated."}


def delete_loan_transaction(db: Database, *, loan_id: str, requester_id: str) -> Done:
    """Remove a loan transaction record from the system. Admins and staff users only.

    - Only users with user_type 'staff' or 'admin' can perform deletion.
    - If the loan is 'active', associated equipment status will be set to 'available'.
    - Loan record must exist.
    - Requester must exist and be authorized.

    Args:
        loan_id: Unique identifier of the loan transaction to delete.
        requester_id: User ID of the person requesting deletion.
    """
    requester = _user(db, requester_id)
    if requester is None:
        # rule: delete_by_staff
        raise ToolError("Requester not found; unauthorized operation.")
    if requester["user_type"] not in ("staff", "admin"):
        # rule: delete_by_staff
        raise ToolError("Permission denied. Only staff/admin can delete loans.")
    loan = _loan(db, loan_id)
    if loan is None:
        raise ToolError("Loan transaction not found.")
    if loan["status"] == "active":
        _set_availability(db, loan["equipment_id"], "available")
    db.run("DELETE FROM loans WHERE loan_id = :loan_id", loan_id=loan_id)
    return {"message": "Loan transaction deleted."}


def _user(db: Database, user_id: str) -> dict | None:
    return db.one("SELECT * FROM users WHERE user_id = :user_id", user_id=user_id)


def _loan(db: Database, loan_id: str) -> dict | None:
    return db.one("SELECT * FROM loans WHERE loan_id = :loan_id", loan_id=loan_id)


def _equipment(db: Database, equipment_id: str) -> dict | None:
    return db.one("SELECT * FROM equipment WHERE equipment_id = :equipment_id", equipment_id=equipment_id)


def _set_availability(db: Database, equipment_id: str, status: str) -> None:
    db.run("UPDATE equipment SET availability_status = :status WHERE equipment_id = :equipment_id", status=status, equipment_id=equipment_id)


def _filled(text: str | None) -> bool:
    return text is not None and text.strip() != ""
