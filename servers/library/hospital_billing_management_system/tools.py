"""The tools of: Hospital billing management system."""

from typing import TypedDict, cast

from servers.toolkit import Database, ToolError

ALLOWED_DISPUTE_STATUSES = ("open", "pending review", "resolved")


class PatientRow(TypedDict):
    patient_id: str
    name: str
    date_of_birth: str
    contact_information: str


class BillRow(TypedDict):
    bill_id: str
    patient_id: str
    treatment_details: str
    issue_date: str
    amount_due: float
    amount_paid: float
    status: str


class PaymentRow(TypedDict):
    payment_id: str
    bill_id: str
    date: str
    amount: float
    payment_method: str
    status: str


class DisputeRow(TypedDict):
    dispute_id: str
    bill_id: str
    patient_id: str
    date_created: str
    description: str
    status: str
    resolution_detail: str | None


class InteractionRow(TypedDict):
    interaction_id: str
    patient_id: str
    dispute_id: str | None
    timestamp: str
    support_agent_id: str
    note: str


class Balance(TypedDict):
    bill_id: str
    amount_due: float
    total_paid: float
    balance: float


class OnePatient(TypedDict):
    data: PatientRow


class OneBill(TypedDict):
    data: BillRow


class Bills(TypedDict):
    data: list[BillRow]


class Payments(TypedDict):
    data: list[PaymentRow]


class OneBalance(TypedDict):
    data: Balance


class OneDispute(TypedDict):
    data: DisputeRow


class Disputes(TypedDict):
    data: list[DisputeRow]


class Interactions(TypedDict):
    data: list[InteractionRow]


class DisputeCreated(TypedDict):
    message: str
    dispute_id: str


class Done(TypedDict):
    message: str


def get_patient_by_id(db: Database, *, patient_id: str) -> OnePatient:
    """Retrieve patient demographic and contact information by patient_id.

    - patient_id must exist in the system (patients).

    Args:
        patient_id: The unique identifier of the patient.
    """
    row = db.one("SELECT * FROM patients WHERE patient_id = :patient_id", patient_id=patient_id)
    if row is None:
        raise ToolError("Patient not found")
    return {"data": cast("PatientRow", row)}


def list_patient_bills(db: Database, *, patient_id: str) -> Bills:
    """Retrieve all bills associated with a specified patient.

    - Patient must exist in the system.

    Args:
        patient_id: The unique identifier of the patient.
    """
    if not _patient_exists(db, patient_id):
        raise ToolError("Patient does not exist")
    rows = db.all("SELECT * FROM bills WHERE patient_id = :patient_id ORDER BY bill_id", patient_id=patient_id)
    return {"data": [cast("BillRow", row) for row in rows]}


def get_bill_by_id(db: Database, *, bill_id: str) -> OneBill:
    """Get details of a specific bill by its bill_id.

    - The bill_id must exist in the system.

    Args:
        bill_id: The ID of the bill to retrieve.
    """
    row = _bill(db, bill_id)
    if row is None:
        raise ToolError("Bill with given ID does not exist")
    return {"data": cast("BillRow", row)}


def list_payments_for_bill(db: Database, *, bill_id: str) -> Payments:
    """Retrieve all payment records associated with a given bill.

    - bill_id must refer to an existing bill.

    Args:
        bill_id: The unique identifier for the bill.
    """
    if _bill(db, bill_id) is None:
        raise ToolError("Bill does not exist")
    rows = db.all("SELECT * FROM payments WHERE bill_id = :bill_id ORDER BY payment_id", bill_id=bill_id)
    return {"data": [cast("PaymentRow", row) for row in rows]}


def get_bill_balance(db: Database, *, bill_id: str) -> OneBalance:
    """Calculate the outstanding balance (amount_due - total amount_paid) for a specified bill.

    - Bill must exist in the system.
    - Sums up all payments linked to the bill.
    - No additional permission checks.

    Args:
        bill_id: The unique identifier of the bill.
    """
    bill = _bill(db, bill_id)
    if bill is None:
        raise ToolError("Bill not found")
    rows = db.all("SELECT amount FROM payments WHERE bill_id = :bill_id ORDER BY payment_id", bill_id=bill_id)
    total_paid = sum((row["amount"] for row in rows), 0.0)
    amount_due = bill["amount_due"]
    return {"data": {"bill_id": bill_id, "amount_due": amount_due, "total_paid": total_paid, "balance": amount_due - total_paid}}


def list_disputes_for_patient(db: Database, *, patient_id: str) -> Disputes:
    """Retrieve all disputes initiated by or associated with a given patient.

    - Patient must exist in the system.

    Args:
        patient_id: The unique identifier for the patient.
    """
    if not _patient_exists(db, patient_id):
        raise ToolError("Patient does not exist")
    rows = db.all("SELECT * FROM disputes WHERE patient_id = :patient_id ORDER BY dispute_id", patient_id=patient_id)
    return {"data": [cast("DisputeRow", row) for row in rows]}


def list_disputes_for_bill(db: Database, *, bill_id: str) -> Disputes:
    """Retrieve all disputes linked to a specific bill.

    - The bill_id must exist in the system.

    Args:
        bill_id: The unique identifier of the bill to look up disputes for.
    """
    if _bill(db, bill_id) is None:
        raise ToolError("Bill does not exist")
    rows = db.all("SELECT * FROM disputes WHERE bill_id = :bill_id ORDER BY dispute_id", bill_id=bill_id)
    return {"data": [cast("DisputeRow", row) for row in rows]}


def get_dispute_by_id(db: Database, *, dispute_id: str) -> OneDispute:
    """Retrieve full details for a specific dispute by its ID.

    - The dispute must exist in the system.

    Args:
        dispute_id: The unique identifier of the dispute to retrieve.
    """
    row = _dispute(db, dispute_id)
    if row is None:
        raise ToolError("Dispute not found")
    return {"data": cast("DisputeRow", row)}


def list_customer_support_interactions_for_patient(db: Database, *, patient_id: str) -> Interactions:
    """Retrieve all customer support interactions associated with the provided patient.

    - The patient_id must exist in patients (valid patient).
    - Interactions are selected where interaction['patient_id'] == patient_id.

    Args:
        patient_id: Unique identifier of the patient.
    """
    if not _patient_exists(db, patient_id):
        raise ToolError("Patient does not exist")
    rows = db.all(
        "SELECT * FROM customer_support_interactions WHERE patient_id = :patient_id ORDER BY interaction_id",
        patient_id=patient_id,
    )
    return {"data": [cast("InteractionRow", row) for row in rows]}


def list_customer_support_interactions_for_dispute(db: Database, *, dispute_id: str) -> Interactions:
    """Retrieve all customer support interaction records referencing the specified dispute.

    - The dispute must exist in the system.
    - All returned interactions must reference the specified dispute_id.

    Args:
        dispute_id: The unique identifier for the dispute.
    """
    if _dispute(db, dispute_id) is None:
        raise ToolError("Dispute does not exist")
    rows = db.all(
        "SELECT * FROM customer_support_interactions WHERE dispute_id = :dispute_id ORDER BY interaction_id",
        dispute_id=dispute_id,
    )
    return {"data": [cast("InteractionRow", row) for row in rows]}


def create_dispute(db: Database, *, bill_id: str, patient_id: str, description: str, date_created: str, status: str) -> DisputeCreated:
    """Create a new dispute record for a specified bill and patient, if constraints are satisfied.

    - Disputes can only be created for existing bills.
    - Bill must be associated with the patient raising the dispute.
    - Dispute record must have a non-empty status.
    - Description should not be empty.

    Args:
        bill_id: The ID of the bill to dispute.
        patient_id: The ID of the patient raising the dispute.
        description: Description/details of the dispute.
        date_created: Timestamp of dispute creation (ISO8601 or similar).
        status: Initial status for the dispute (e.g., 'open', 'pending review', etc.).
    """
    bill = _bill(db, bill_id)
    if bill is None:
        # rule: dispute_has_bill
        raise ToolError("Bill not found.")
    if not _patient_exists(db, patient_id):
        raise ToolError("Patient not found.")
    if bill["patient_id"] != patient_id:
        # rule: dispute_by_owner
        raise ToolError("Bill does not belong to patient.")
    if status.strip() == "":
        # rule: dispute_has_status
        raise ToolError("Dispute status is required.")
    if description.strip() == "":
        # rule: dispute_described
        raise ToolError("Dispute description is required.")
    known = db.all("SELECT dispute_id FROM disputes ORDER BY dispute_id")
    base_id = f"D{len(known) + 1}"
    dispute_id = base_id
    i = 1
    while _dispute(db, dispute_id) is not None:
        dispute_id = f"{base_id}_{i}"
        i += 1
    db.run(
        "INSERT INTO disputes (dispute_id, bill_id, patient_id, date_created, description, status, resolution_detail)"
        " VALUES (:dispute_id, :bill_id, :patient_id, :date_created, :description, :status, NULL)",
        dispute_id=dispute_id, bill_id=bill_id, patient_id=patient_id, date_created=date_created,
        description=description, status=status,
    )
    return {"message": "Dispute created", "dispute_id": dispute_id}


def update_dispute_status(db: Database, *, dispute_id: str, new_status: str) -> Done:
    """Change the status of an existing dispute.

    - dispute_id must exist in the disputes registry.
    - new_status must be a non-empty string.
    - Optionally, new_status should be one of allowed values ('open', 'pending review', 'resolved').

    Args:
        dispute_id: The dispute's unique identifier.
        new_status: The new status to apply (e.g., 'open', 'pending review', 'resolved').
    """
    if _dispute(db, dispute_id) is None:
        raise ToolError("Dispute not found.")
    if not new_status.strip():
        # rule: dispute_status_allowed
        raise ToolError("Invalid new status.")
    if new_status not in ALLOWED_DISPUTE_STATUSES:
        # rule: dispute_status_allowed
        raise ToolError(f"Status '{new_status}' is not allowed.")
    db.run("UPDATE disputes SET status = :status WHERE dispute_id = :dispute_id", status=new_status, dispute_id=dispute_id)
    return {"message": "Dispute status updated."}


def add_dispute_resolution_detail(db: Database, *, dispute_id: str, resolution_detail: str) -> Done:
    """Record (add or update) a resolution detail for a dispute once it is resolved.

    - Dispute must exist.
    - Dispute status must be "resolved".
    - The resolution detail is saved to the dispute record.

    Args:
        dispute_id: The ID of the dispute to update.
        resolution_detail: The detail/text regarding the dispute's resolution.
    """
    dispute = _dispute(db, dispute_id)
    if dispute is None:
        raise ToolError("Dispute does not exist.")
    if dispute["status"].lower() != "resolved":
        # rule: detail_only_when_resolved
        raise ToolError("Cannot add resolution detail unless dispute is resolved.")
    db.run(
        "UPDATE disputes SET resolution_detail = :resolution_detail WHERE dispute_id = :dispute_id",
        resolution_detail=resolution_detail, dispute_id=dispute_id,
    )
    return {"message": "Resolution detail added to dispute."}


def log_customer_support_interaction(db: Database, *, patient_id: str, support_agent_id: str, note: str, timestamp: str, dispute_id: str | None=None) -> Done:
    """Record a new customer support interaction associated with a patient and optionally a dispute.

    - patient_id must exist.
    - If dispute_id is provided, it must exist.
    - The new interaction will get a unique interaction_id.

    Args:
        patient_id: The ID of the patient involved.
        support_agent_id: The staff agent recording the interaction.
        note: Notes or details for the interaction.
        timestamp: When the interaction occurred (ISO/datetime string).
        dispute_id: If applicable, the dispute ID to associate.
    """
    if not _patient_exists(db, patient_id):
        # rule: interaction_has_patient
        raise ToolError("Patient does not exist.")
    if dispute_id is not None and _dispute(db, dispute_id) is None:
        # rule: interaction_dispute_exists
        raise ToolError("Dispute does not exist.")
    db.run(
        "INSERT INTO customer_support_interactions (interaction_id, patient_id, dispute_id, timestamp, support_agent_id, note)"
        " VALUES (:interaction_id, :patient_id, :dispute_id, :timestamp, :support_agent_id, :note)",
        interaction_id=db.new_id("interaction"), patient_id=patient_id, dispute_id=dispute_id, timestamp=timestamp,
        support_agent_id=support_agent_id, note=note,
    )
    return {"message": "Customer support interaction logged successfully."}


def add_payment_to_bill(db: Database, *, bill_id: str, payment_id: str, date: str, amount: float, payment_method: str, status: str) -> Done:
    """Register a new payment to a bill, ensuring the total paid does not exceed amount_due.

    - Bill must exist.
    - Payment ID must be unique (not already used).
    - The sum of bill.amount_paid + amount ≤ bill.amount_due.
    - amount must be positive.

    Args:
        bill_id: The ID of the bill to add payment to.
        payment_id: The new payment's unique ID.
        date: Date of payment.
        amount: Amount of payment; must be positive.
        payment_method: Method of payment (e.g., cash, card).
        status: Status for this payment.
    """
    bill = _bill(db, bill_id)
    if bill is None:
        # rule: payment_has_bill
        raise ToolError("Bill ID does not exist")
    if db.one("SELECT payment_id FROM payments WHERE payment_id = :payment_id", payment_id=payment_id) is not None:
        # rule: payment_id_unique
        raise ToolError("Payment ID already exists")
    if amount <= 0:
        # rule: payment_positive
        raise ToolError("Payment amount must be positive")
    total_paid = bill["amount_paid"]
    amount_due = bill["amount_due"]
    if total_paid + amount > amount_due + 1e-6:
        # rule: never_overpaid
        raise ToolError(
            f"Payment would exceed amount due. Amount due: {amount_due}, total paid: {total_paid}, attempted payment: {amount}"
        )
    db.run(
        "INSERT INTO payments (payment_id, bill_id, date, amount, payment_method, status)"
        " VALUES (:payment_id, :bill_id, :date, :amount, :payment_method, :status)",
        payment_id=payment_id, bill_id=bill_id, date=date, amount=amount, payment_method=payment_method, status=status,
    )
    db.run("UPDATE bills SET amount_paid = :amount_paid WHERE bill_id = :bill_id", amount_paid=total_paid + amount, bill_id=bill_id)
    return {"message": f"Payment registered to bill {bill_id} for amount {amount}"}


def update_bill_status(db: Database, *, bill_id: str, new_status: str) -> Done:
    """Updates the financial or workflow status of a bill, such as to 'paid', 'overdue', or 'disputed'.

    - The bill with bill_id must exist.
    - new_status should be a non-empty string.

    Args:
        bill_id: The unique identifier for the bill to update.
        new_status: The new desired status string for the bill.
    """
    if _bill(db, bill_id) is None:
        raise ToolError("Bill does not exist.")
    if new_status.strip() == "":
        # rule: bill_status_not_blank
        raise ToolError("New status is empty or invalid.")
    db.run("UPDATE bills SET status = :status WHERE bill_id = :bill_id", status=new_status.strip(), bill_id=bill_id)
    return {"message": "Bill status updated successfully."}


def modify_bill_details(db: Database, *, bill_id: str, treatment_details: str | None=None, issue_date: str | None=None, amount_due: float | None=None, status: str | None=None) -> Done:
    """Edit bill-level details for a given bill (admin operation).

    - bill_id must exist.
    - amount_due cannot be set below the total paid.
    - amount_due must not be negative.
    - patient_id and amount_paid cannot be directly modified.

    Args:
        bill_id: Unique identifier for the bill to modify.
        treatment_details: New treatment details (if updating).
        issue_date: New issue date (if updating).
        amount_due: New billed amount (if updating).
        status: New billing status (if updating).
    """
    bill = _bill(db, bill_id)
    if bill is None:
        raise ToolError("Bill does not exist.")
    if amount_due is not None:
        if amount_due < 0:
            # rule: amount_due_not_negative
            raise ToolError("amount_due cannot be negative.")
        total_paid = bill["amount_paid"]
        if total_paid > amount_due:
            # rule: amount_due_not_below_paid
            raise ToolError(f"Cannot set amount_due below total paid ({total_paid:.2f}).")
    db.run(
        "UPDATE bills SET treatment_details = :treatment_details, issue_date = :issue_date, amount_due = :amount_due, status = :status"
        " WHERE bill_id = :bill_id",
        treatment_details=bill["treatment_details"] if treatment_details is None else treatment_details,
        issue_date=bill["issue_date"] if issue_date is None else issue_date,
        amount_due=bill["amount_due"] if amount_due is None else amount_due,
        status=bill["status"] if status is None else status,
        bill_id=bill_id,
    )
    return {"message": "Bill details updated."}


def update_patient_contact_information(db: Database, *, patient_id: str, new_contact_information: str) -> Done:
    """Change or correct a patient's contact details.

    - The patient_id must refer to an existing patient.
    - Contact info is updated directly; no format/content validation enforced.

    Args:
        patient_id: The unique identifier of the patient whose contact info is to be updated.
        new_contact_information: The new contact details to assign.
    """
    if not _patient_exists(db, patient_id):
        raise ToolError("Patient not found")
    db.run(
        "UPDATE patients SET contact_information = :contact WHERE patient_id = :patient_id",
        contact=new_contact_information, patient_id=patient_id,
    )
    return {"message": "Patient contact information updated successfully"}


def _patient_exists(db: Database, patient_id: str) -> bool:
    return db.one("SELECT patient_id FROM patients WHERE patient_id = :patient_id", patient_id=patient_id) is not None


def _bill(db: Database, bill_id: str) -> dict | None:
    return db.one("SELECT * FROM bills WHERE bill_id = :bill_id", bill_id=bill_id)


def _dispute(db: Database, dispute_id: str) -> dict | None:
    return db.one("SELECT * FROM disputes WHERE dispute_id = :dispute_id", dispute_id=dispute_id)
