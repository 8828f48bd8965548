"""The tools of: Hospital patient management system."""

from typing import TypedDict, cast

from servers.toolkit import Database, ToolError

PATIENT = "patient_id, name, date_of_birth, gender, contact_info, medical_history"
DEPARTMENT = "department_id, name, location"
PROCEDURE = "procedure_id, name, description"
ENTRY = "entry_id, patient_id, department_id, procedure_id, status, added_date, scheduled_date"
STATUSES = ("pending", "scheduled", "completed", "cancelled")


class PatientRow(TypedDict):
    patient_id: str
    name: str
    date_of_birth: str
    gender: str
    contact_info: str
    medical_history: str


class DepartmentRow(TypedDict):
    department_id: str
    name: str
    location: str


class ProcedureRow(TypedDict):
    procedure_id: str
    name: str
    description: str


class EntryRow(TypedDict):
    entry_id: str
    patient_id: str
    department_id: str
    procedure_id: str
    status: str
    added_date: str
    scheduled_date: str


class OnePatient(TypedDict):
    data: PatientRow


class Patients(TypedDict):
    data: list[PatientRow]


class OneDepartment(TypedDict):
    data: DepartmentRow


class Departments(TypedDict):
    data: list[DepartmentRow]


class OneProcedure(TypedDict):
    data: ProcedureRow


class Procedures(TypedDict):
    data: list[ProcedureRow]


class OneEntry(TypedDict):
    data: EntryRow


class Entries(TypedDict):
    data: list[EntryRow]


class StatusText(TypedDict):
    data: str


class Done(TypedDict):
    message: str


def get_patient_by_name(db: Database, *, name: str) -> Patients:
    """Retrieve patient details and patient_id(s) using the patient's name.

    - If name is empty, operation fails (name must be specified).
    - If no patients match by name, operation fails.
    - Multiple patients with the same name are all returned.

    Args:
        name: The full name of the patient to search for.
    """
    if not name.strip():
        raise ToolError("Patient name must be provided")
    rows = db.all(f"SELECT {PATIENT} FROM patients WHERE name = :name ORDER BY place, patient_id", name=name)
    if not rows:
        raise ToolError("No patient found with the given name")
    return {"data": [cast("PatientRow", row) for row in rows]}


def get_patient_by_id(db: Database, *, patient_id: str) -> OnePatient:
    """Retrieve patient information for the given patient_id.

    - The patient_id must exist in the system.

    Args:
        patient_id: The unique identifier of the patient.
    """
    row = _patient(db, patient_id)
    if row is None:
        raise ToolError("Patient not found")
    return {"data": cast("PatientRow", row)}


def list_all_patients(db: Database) -> Patients:
    """Returns all patient records currently present in the hospital system.

    - None. Edge cases:
    - If no patients exist in the system, 'data' will be an empty list.
    """
    rows = db.all(f"SELECT {PATIENT} FROM patients ORDER BY place, patient_id")
    return {"data": [cast("PatientRow", row) for row in rows]}


def get_department_by_name(db: Database, *, name: str) -> OneDepartment:
    """Retrieve the department's details using its name.

    - Department names are assumed unique.

    Args:
        name: The department's name to query.
    """
    row = db.one(f"SELECT {DEPARTMENT} FROM departments WHERE name = :name ORDER BY place, department_id LIMIT 1", name=name)
    if row is None:
        raise ToolError("Department not found")
    return {"data": cast("DepartmentRow", row)}


def get_department_by_id(db: Database, *, department_id: str) -> OneDepartment:
    """Retrieve department information by its unique department_id.

    - department_id must exist in the system.

    Args:
        department_id: Unique identifier for the department.
    """
    row = _department(db, department_id)
    if row is None:
        raise ToolError("Department not found")
    return {"data": cast("DepartmentRow", row)}


def list_departments(db: Database) -> Departments:
    """List all hospital departments available in the system.

    - No input constraints. Returns all departments present in the system.
    """
    rows = db.all(f"SELECT {DEPARTMENT} FROM departments ORDER BY place, department_id")
    return {"data": [cast("DepartmentRow", row) for row in rows]}


def get_procedure_by_name(db: Database, *, name: str) -> OneProcedure:
    """Retrieve details (including procedure_id) for a procedure given its name.

    - Exact name match is required.

    Args:
        name: The name of the procedure to retrieve.
    """
    row = db.one(f"SELECT {PROCEDURE} FROM procedures WHERE name = :name ORDER BY place, procedure_id LIMIT 1", name=name)
    if row is None:
        raise ToolError("Procedure not found")
    return {"data": cast("ProcedureRow", row)}


def get_procedure_by_id(db: Database, *, procedure_id: str) -> OneProcedure:
    """Retrieve procedure information by its unique procedure_id.

    - procedure_id must exist in the system.

    Args:
        procedure_id: The unique identifier for the procedure.
    """
    row = _procedure(db, procedure_id)
    if row is None:
        raise ToolError("Procedure not found")
    return {"data": cast("ProcedureRow", row)}


def list_procedures_for_department(db: Database, *, department_id: str) -> Procedures:
    """List all valid procedure types available for a specific department.

    - Department must exist.
    - Only list procedures that have been added/assigned to this department.

    Args:
        department_id: The ID of the department for which to list procedures.
    """
    if _department(db, department_id) is None:
        raise ToolError("Department does not exist")
    rows = db.all(
        "SELECT p.procedure_id, p.name, p.description FROM department_procedures AS d JOIN procedures AS p ON p.procedure_id = d.procedure_id"
        " WHERE d.department_id = :department_id ORDER BY d.place",
        department_id=department_id,
    )
    return {"data": [cast("ProcedureRow", row) for row in rows]}


def get_surgery_waitlist_entries_for_patient(db: Database, *, patient_id: str) -> Entries:
    """Retrieve all surgery waitlist entries (with metadata) for a given patient.

    - Patient must exist in the system.

    Args:
        patient_id: Unique identifier for the patient.
    """
    if _patient(db, patient_id) is None:
        raise ToolError("Patient does not exist")
    rows = db.all(f"SELECT {ENTRY} FROM surgery_waitlist_entries WHERE patient_id = :patient_id ORDER BY place, entry_id", patient_id=patient_id)
    return {"data": [cast("EntryRow", row) for row in rows]}


def get_surgery_waitlist_entries_by_department_procedure(db: Database, *, department_id: str, procedure_id: str) -> Entries:
    """Retrieve all waitlist entries for a given department and procedure.

    - department_id must exist in the system.
    - procedure_id must exist in the system.

    Args:
        department_id: Identifier of the department.
        procedure_id: Identifier of the procedure.
    """
    if _department(db, department_id) is None:
        raise ToolError("Department does not exist")
    if _procedure(db, procedure_id) is None:
        raise ToolError("Procedure does not exist")
    rows = db.all(
        f"SELECT {ENTRY} FROM surgery_waitlist_entries WHERE department_id = :department_id AND procedure_id = :procedure_id"
        " ORDER BY place, entry_id",
        department_id=department_id, procedure_id=procedure_id,
    )
    return {"data": [cast("EntryRow", row) for row in rows]}


def get_surgery_waitlist_entry_by_patient_department_procedure(db: Database, *, patient_id: str, department_id: str, procedure_id: str) -> OneEntry:
    """Retrieve a specific waitlist entry for a given patient/procedure/department combination.

    - There should be at most one entry per patient/procedure/department combination.

    Args:
        patient_id: The unique patient identifier.
        department_id: The unique department identifier.
        procedure_id: The unique procedure identifier.
    """
    row = db.one(
        f"SELECT {ENTRY} FROM surgery_waitlist_entries WHERE patient_id = :patient_id AND department_id = :department_id"
        " AND procedure_id = :procedure_id ORDER BY place, entry_id LIMIT 1",
        patient_id=patient_id, department_id=department_id, procedure_id=procedure_id,
    )
    if row is None:
        raise ToolError("No waitlist entry found for the given patient, department, and procedure.")
    return {"data": cast("EntryRow", row)}


def get_surgery_waitlist_entry_by_id(db: Database, *, entry_id: str) -> OneEntry:
    """Retrieve full details of a waitlist entry by its entry_id.

    - entry_id must exist in the system.
    - No modifications; information query only.

    Args:
        entry_id: Unique identifier for the waitlist entry.
    """
    row = _entry(db, entry_id)
    if row is None:
        raise ToolError("Waitlist entry not found")
    return {"data": cast("EntryRow", row)}


def get_waitlist_status(db: Database, *, entry_id: str) -> StatusText:
    """Retrieve the current status of the surgery waitlist entry with the given entry_id.

    - The entry_id must exist in the waitlist.
    - Status must be one of the allowed status values.

    Args:
        entry_id: The identifier of the surgery waitlist entry.
    """
    row = _entry(db, entry_id)
    if row is None:
        raise ToolError("Surgery waitlist entry not found")
    return {"data": row["status"]}


def add_patient(db: Database, *, patient_id: str, name: str, date_of_birth: str, gender: str, contact_info: str, medical_history: str) -> Done:
    """Add a new patient record to the hospital patient database.

    - patient_id must be unique.
    - All attributes must be provided and non-empty.

    Args:
        patient_id: Unique identifier for the patient.
        name: Patient's name.
        date_of_birth: Patient's date of birth.
        gender: Patient's gender.
        contact_info: Contact information.
        medical_history: Medical history description.
    """
    if not patient_id or not name or not date_of_birth or not gender or not contact_info or not medical_history:
        # rule: patient_complete
        raise ToolError("All patient fields must be provided and non-empty.")
    if _patient(db, patient_id) is not None:
        # rule: patient_id_unique
        raise ToolError("Patient ID already exists.")
    db.run(
        "INSERT INTO patients (patient_id, place, name, date_of_birth, gender, contact_info, medical_history)"
        " SELECT :patient_id, coalesce(max(place), 0) + 1, :name, :date_of_birth, :gender, :contact_info, :medical_history FROM patients",
        patient_id=patient_id, name=name, date_of_birth=date_of_birth, gender=gender, contact_info=contact_info, medical_history=medical_history,
    )
    return {"message": "Patient added successfully."}


def add_patient_to_surgery_waitlist(db: Database, *, patient_id: str, department_id: str, procedure_id: str, scheduled_date: str='') -> Done:
    """Add a new waitlist entry for a patient for a specific procedure/department.

    - Patient must exist.
    - Department must exist.
    - Procedure must exist.
    - One entry per patient/procedure/department (pending or scheduled) only.
    - Status is set to "pending" on creation.
    - `added_date` assigned as current date (ISO format).
    - Procedure applicability to department may be checked if procedure-department mapping is available.

    Args:
        patient_id: Existing patient ID.
        department_id: Existing department ID.
        procedure_id: Existing procedure ID.
        scheduled_date: Scheduled date for surgery (default: ""/unset).
    """
    if _patient(db, patient_id) is None:
        # rule: entry_patient_known
        raise ToolError("Patient does not exist")
    if _department(db, department_id) is None:
        # rule: entry_department_known
        raise ToolError("Department does not exist")
    if _procedure(db, procedure_id) is None:
        # rule: entry_procedure_known
        raise ToolError("Procedure does not exist")
    if not _offers(db, department_id, procedure_id):
        # rule: procedure_offered
        raise ToolError("Procedure not available for this department")
    open_entry = db.one(
        "SELECT entry_id FROM surgery_waitlist_entries WHERE patient_id = :patient_id AND department_id = :department_id"
        " AND procedure_id = :procedure_id AND status IN ('pending', 'scheduled') ORDER BY entry_id LIMIT 1",
        patient_id=patient_id, department_id=department_id, procedure_id=procedure_id,
    )
    if open_entry is not None:
        # rule: one_open_entry
        raise ToolError("A waitlist entry for this patient/procedure/department already exists")
    db.run(
        "INSERT INTO surgery_waitlist_entries (entry_id, place, patient_id, department_id, procedure_id, status, added_date, scheduled_date)"
        " SELECT :entry_id, coalesce(max(place), 0) + 1, :patient_id, :department_id, :procedure_id, 'pending', :added_date, :scheduled_date"
        " FROM surgery_waitlist_entries",
        entry_id=db.new_id("entry"), patient_id=patient_id, department_id=department_id, procedure_id=procedure_id,
        added_date=db.now().replace(" ", "T"), scheduled_date=scheduled_date,
    )
    return {"message": f"Waitlist entry created for patient {patient_id} in department {department_id} for procedure {procedure_id}."}


def update_surgery_waitlist_entry_status(db: Database, *, entry_id: str, new_status: str) -> Done:
    """Modify the status of a surgery waitlist entry.

    - entry_id must exist in the system.
    - new_status must be one of "pending", "scheduled", "completed", "cancelled".

    Args:
        entry_id: The unique identifier for the SurgeryWaitlistEntry.
        new_status: The updated status value ("pending", "scheduled", "completed", "cancelled").
    """
    if _entry(db, entry_id) is None:
        raise ToolError("Surgery waitlist entry does not exist.")
    if new_status not in STATUSES:
        # rule: entry_status
        raise ToolError(f"Invalid status '{new_status}'. Allowed: {', '.join(STATUSES)}.")
    db.run("UPDATE surgery_waitlist_entries SET status = :status WHERE entry_id = :entry_id", status=new_status, entry_id=entry_id)
    return {"message": f"Surgery waitlist entry status updated to {new_status}."}


def remove_surgery_waitlist_entry(db: Database, *, entry_id: str) -> Done:
    """Delete a surgery waitlist entry identified by entry_id.

    - The entry to be removed must exist in the system.
    - No other integrity checks required as per environment rules.

    Args:
        entry_id: Unique identifier for the waitlist entry to remove.
    """
    if _entry(db, entry_id) is None:
        raise ToolError("Waitlist entry not found.")
    db.run("DELETE FROM surgery_waitlist_entries WHERE entry_id = :entry_id", entry_id=entry_id)
    return {"message": "Waitlist entry removed successfully."}


def update_surgery_waitlist_entry_schedule(db: Database, *, entry_id: str, scheduled_date: str) -> Done:
    """Set or reschedule the scheduled_date for a specified surgery waitlist entry.

    - entry_id must exist in the system.
    - scheduled_date is accepted as a string (no format enforcement per environment spec).

    Args:
        entry_id: The unique identifier of the SurgeryWaitlistEntry to update.
        scheduled_date: The new scheduled date to set (format assumed to be string, e.g. "YYYY-MM-DD").
    """
    if _entry(db, entry_id) is None:
        raise ToolError(f"Waitlist entry with entry_id {entry_id} does not exist.")
    db.run("UPDATE surgery_waitlist_entries SET scheduled_date = :date WHERE entry_id = :entry_id", date=scheduled_date, entry_id=entry_id)
    return {"message": f"Scheduled date updated for waitlist entry {entry_id}."}


def edit_patient_info(db: Database, *, patient_id: str, name: str | None=None, date_of_birth: str | None=None, gender: str | None=None, contact_info: str | None=None, medical_history: str | None=None) -> Done:
    """Modify demographic or medical info for an existing patient record.

    - Patient must exist in the system before editing info.
    - Only provided fields are updated. Unchanged fields left intact.

    Args:
        patient_id: Unique patient identifier.
        name: Updated patient name.
        date_of_birth: Updated date of birth.
        gender: Updated gender.
        contact_info: Updated contact information.
        medical_history: Updated medical history.
    """
    if _patient(db, patient_id) is None:
        raise ToolError("Patient does not exist")
    db.run(
        "UPDATE patients SET name = coalesce(:name, name), date_of_birth = coalesce(:date_of_birth, date_of_birth),"
        " gender = coalesce(:gender, gender), contact_info = coalesce(:contact_info, contact_info),"
        " medical_history = coalesce(:medical_history, medical_history) WHERE patient_id = :patient_id",
        name=name, date_of_birth=date_of_birth, gender=gender, contact_info=contact_info, medical_history=medical_history, patient_id=patient_id,
    )
    return {"message": "Patient info updated"}


def add_procedure_to_department(db: Database, *, department_id: str, procedure_id: str) -> Done:
    """Associate an existing procedure with a department.

    - The department must exist.
    - The procedure must exist.
    - Procedure must not be associated with the department already.
    - Procedure must be available and valid for the department.

    Args:
        department_id: The department to associate the procedure with.
        procedure_id: The procedure to be associated.
    """
    if _department(db, department_id) is None:
        raise ToolError(f"Department {department_id} does not exist.")
    if _procedure(db, procedure_id) is None:
        # rule: offer_known
        raise ToolError(f"Procedure {procedure_id} does not exist.")
    if _offers(db, department_id, procedure_id):
        # rule: offer_once
        raise ToolError("Procedure is already associated with the department.")
    db.run(
        "INSERT INTO department_procedures (department_id, place, procedure_id)"
        " SELECT :department_id, coalesce(max(place), 0) + 1, :procedure_id FROM department_procedures WHERE department_id = :department_id",
        department_id=department_id, procedure_id=procedure_id,
    )
    return {"message": f"Procedure {procedure_id} successfully associated with department {department_id}."}


def remove_patient(db: Database, *, patient_id: str) -> Done:
    """Delete a patient record from the system, along with any associated surgery waitlist entries.

    - Patient must exist.
    - Removes all SurgeryWaitlistEntries for this patient to maintain integrity.

    Args:
        patient_id: The unique identifier of the patient to be removed.
    """
    if _patient(db, patient_id) is None:
        raise ToolError("Patient does not exist")
    db.run("DELETE FROM surgery_waitlist_entries WHERE patient_id = :patient_id", patient_id=patient_id)
    db.run("DELETE FROM patients WHERE patient_id = :patient_id", patient_id=patient_id)
    return {"message": "Patient deleted successfully"}


def add_department(db: Database, *, department_id: str, name: str, location: str) -> Done:
    """Add a new department to the hospital system.

    - department_id must be unique.
    - All parameters must be non-empty strings.

    Args:
        department_id: The unique identifier for the department.
        name: Name of the department.
        location: Physical location of the department.
    """
    if not department_id:
        # rule: department_complete
        raise ToolError("Invalid or empty department_id.")
    if not name:
        # rule: department_complete
        raise ToolError("Invalid or empty department name.")
    if not location:
        # rule: department_complete
        raise ToolError("Invalid or empty location.")
    if _department(db, department_id) is not None:
        # rule: department_id_unique
        raise ToolError("Department ID already exists.")
    db.run(
        "INSERT INTO departments (department_id, place, name, location)"
        " SELECT :department_id, coalesce(max(place), 0) + 1, :name, :location FROM departments",
        department_id=department_id, name=name, location=location,
    )
    return {"message": "Department added successfully."}


def add_procedure(db: Database, *, procedure_id: str, name: str, description: str) -> Done:
    """Add a new procedure type to the hospital's procedure catalog.

    - procedure_id must be unique (not already present).
    - procedure name should be unique for clarity (checked).

    Args:
        procedure_id: The unique identifier for the new procedure.
        name: The human-readable name of the procedure.
        description: Details describing the procedure.
    """
    if _procedure(db, procedure_id) is not None:
        # rule: procedure_id_unique
        raise ToolError("Procedure ID already exists.")
    for row in db.all("SELECT name FROM procedures ORDER BY place, procedure_id"):
        if row["name"].lower() == name.lower():
            # rule: procedure_name_unique
            raise ToolError("Procedure name already exists.")
    db.run(
        "INSERT INTO procedures (procedure_id, place, name, description)"
        " SELECT :procedure_id, coalesce(max(place), 0) + 1, :name, :description FROM procedures",
        procedure_id=procedure_id, name=name, description=description,
    )
    return {"message": "Procedure added successfully."}


def _patient(db: Database, patient_id: str) -> dict | None:
    return db.one(f"SELECT {PATIENT} FROM patients WHERE patient_id = :patient_id", patient_id=patient_id)


def _department(db: Database, department_id: str) -> dict | None:
    return db.one(f"SELECT {DEPARTMENT} FROM departments WHERE department_id = :department_id", department_id=department_id)


def _procedure(db: Database, procedure_id: str) -> dict | None:
    return db.one(f"SELECT {PROCEDURE} FROM procedures WHERE procedure_id = :procedure_id", procedure_id=procedure_id)


def _entry(db: Database, entry_id: str) -> dict | None:
    return db.one(f"SELECT {ENTRY} FROM surgery_waitlist_entries WHERE entry_id = :entry_id", entry_id=entry_id)


def _offers(db: Database, department_id: str, procedure_id: str) -> bool:
    row = db.one(
        "SELECT place FROM department_procedures WHERE department_id = :department_id AND procedure_id = :procedure_id",
        department_id=department_id, procedure_id=procedure_id,
    )
    return row is not None
