"""The tools of: E-commerce product review system."""

from typing import TypedDict, cast

from servers.toolkit import Database, ToolError

PRODUCT = "product_id, name, category, description"
REVIEW = "review_id, product_id, user_id, rating, review_text, timestamp, moderation_status"
STATUSES = ("pending", "approved", "rejected")
LOWEST_RATING, HIGHEST_RATING = 1, 5


class ProductRow(TypedDict):
    product_id: str
    name: str
    category: str
    description: str


class ReviewRow(TypedDict):
    review_id: str
    product_id: str
    user_id: str
    rating: int
    review_text: str
    timestamp: str
    moderation_status: str


class UserRow(TypedDict):
    user_id: str
    username: str
    account_status: str


class OneProduct(TypedDict):
    data: ProductRow


class Products(TypedDict):
    data: list[ProductRow]


class OneReview(TypedDict):
    data: ReviewRow


class Reviews(TypedDict):
    data: list[ReviewRow]


class OneUser(TypedDict):
    data: UserRow


class Whether(TypedDict):
    data: bool


class AddedReview(TypedDict):
    message: str
    review_id: str


class Done(TypedDict):
    message: str


def get_product_by_id(db: Database, *, product_id: str) -> OneProduct:
    """Retrieve product details using its unique product_id.

    - The product must exist in the system.

    Args:
        product_id: The identifier for the product to be retrieved.
    """
    row = db.one(f"SELECT {PRODUCT} FROM products WHERE product_id = :id", id=product_id)
    if row is None:
        # rule: known_product
        raise ToolError("Product not found")
    return {"data": cast("ProductRow", row)}


def list_all_products(db: Database) -> Products:
    """Retrieve the full list of products in the system.

    - No input constraints for this operation.
    - If no products exist, the returned list is empty but still a success.
    """
    rows = db.all(f"SELECT {PRODUCT} FROM products ORDER BY product_id")
    return {"data": cast("list[ProductRow]", rows)}


def get_reviews_for_product(db: Database, *, product_id: str) -> Reviews:
    """Retrieve all reviews attached to a given product by product_id. Only reviews with appropriate moderation_status ("approved") are returned.

    - Product must exist in the system.
    - Only reviews with moderation_status=="approved" are returned.

    Args:
        product_id: The product identifier to fetch reviews for.
    """
    if not _is_product(db, product_id):
        # rule: known_product
        raise ToolError("Product does not exist.")
    return {"data": _reviews_in_status(db, product_id, "approved")}


def get_reviews_for_product_by_status(db: Database, *, product_id: str, moderation_status: str) -> Reviews:
    """Retrieve all reviews for a product, filtered by the provided moderation_status.

    - Only reviews for products actually present are allowed.
    - Only reviews with matching moderation_status will be returned.

    Args:
        product_id: Unique identifier for the product.
        moderation_status: Only reviews with this moderation status will be returned (e.g. "approved", "pending").
    """
    if not _is_product(db, product_id):
        # rule: known_product
        raise ToolError("Product does not exist")
    return {"data": _reviews_in_status(db, product_id, moderation_status)}


def get_review_by_id(db: Database, *, review_id: str) -> OneReview:
    """Retrieve details for a specific review given its review_id.

    - Review with matching review_id must exist in the system.
    - No moderation_status filtering is applied for direct lookup.

    Args:
        review_id: Unique identifier of the review to retrieve.
    """
    row = db.one(f"SELECT {REVIEW} FROM reviews WHERE review_id = :id", id=review_id)
    if row is None:
        # rule: known_review
        raise ToolError("Review not found")
    return {"data": cast("ReviewRow", row)}


def get_user_by_id(db: Database, *, user_id: str) -> OneUser:
    """Retrieve user details using their user_id.

    - The user_id must exist in the system.

    Args:
        user_id: Unique identifier for the user.
    """
    row = db.one("SELECT user_id, username, account_status FROM users WHERE user_id = :id", id=user_id)
    if row is None:
        raise ToolError("User not found")
    return {"data": cast("UserRow", row)}


def get_reviews_by_user(db: Database, *, user_id: str) -> Reviews:
    """List all reviews authored by the specified user.

    - The user_id must exist in the system.
    - All returned reviews must have 'user_id' equal to the input.

    Args:
        user_id: The ID of the user for whom to retrieve reviews.
    """
    if not _is_user(db, user_id):
        raise ToolError("User does not exist")
    rows = db.all(f"SELECT {REVIEW} FROM reviews WHERE user_id = :id ORDER BY review_id", id=user_id)
    return {"data": cast("list[ReviewRow]", rows)}


def has_user_reviewed_product(db: Database, *, user_id: str, product_id: str) -> Whether:
    """Check whether the given user has already reviewed the specified product.

    - The user and product must exist.

    Args:
        user_id: Unique identifier of the user.
        product_id: Unique identifier of the product.
    """
    if not _is_product(db, product_id):
        raise ToolError("Product does not exist")
    if not _is_user(db, user_id):
        raise ToolError("User does not exist")
    return {"data": _has_reviewed(db, user_id, product_id)}


def add_review(db: Database, *, product_id: str, user_id: str, rating: int, review_text: str, timestamp: str, moderation_status: str) -> AddedReview:
    """Submit a new review for a product by a user. Enforces constraint: one review per product per user.

    - Product must exist.
    - User must exist.
    - One review per product per user.
    - Unique review_id per review.

    Args:
        product_id: Target product's unique ID.
        user_id: User's unique ID.
        rating: Numerical rating for the product.
        review_text: The actual feedback text.
        timestamp: ISO string or similar representation of review time.
        moderation_status: Initial moderation status for the review.
    """
    if not _is_product(db, product_id):
        # rule: known_product
        raise ToolError("Product does not exist")
    if not _is_user(db, user_id):
        # rule: known_author
        raise ToolError("User does not exist")
    if _has_reviewed(db, user_id, product_id):
        # rule: one_review_each
        raise ToolError("User has already reviewed this product")
    review_id = _free_review_id(db, f"{product_id}-{user_id}")
    db.run(
        "INSERT INTO reviews (review_id, product_id, user_id, rating, review_text, timestamp, moderation_status)"
        " VALUES (:review_id, :product_id, :user_id, :rating, :review_text, :timestamp, :moderation_status)",
        review_id=review_id,
        product_id=product_id,
        user_id=user_id,
        rating=rating,
        review_text=review_text,
        timestamp=timestamp,
        moderation_status=moderation_status,
    )
    return {"message": "Review added", "review_id": review_id}


def update_review_moderation_status(db: Database, *, review_id: str, new_status: str) -> Done:
    """Change the moderation_status of a review (e.g., approve or reject).

    - The provided review_id must exist in reviews.
    - new_status must be one of ["pending", "approved", "rejected"].

    Args:
        review_id: Unique identifier of the review to update.
        new_status: The target moderation status ("pending", "approved", "rejected").
    """
    if not _is_review(db, review_id):
        # rule: known_review
        raise ToolError("Review not found")
    if new_status not in STATUSES:
        # rule: known_status
        raise ToolError(f"Invalid moderation status '{new_status}'")
    db.run("UPDATE reviews SET moderation_status = :status WHERE review_id = :id", status=new_status, id=review_id)
    return {"message": "Moderation status updated successfully"}


def edit_review(db: Database, *, review_id: str, review_text: str | None=None, rating: int | None=None, timestamp: str | None=None, moderation_status: str | None=None) -> Done:
    """Update the content, rating, timestamp, or other editable fields of a submitted review.

    - The review must exist.
    - Only specified fields will be updated.
    - Review linkage to user/product cannot be changed.

    Args:
        review_id: Review to update.
        review_text: New review text.
        rating: New rating.
        timestamp: New modification timestamp.
        moderation_status: Optionally update moderation status.
    """
    if not _is_review(db, review_id):
        # rule: known_review
        raise ToolError("Review does not exist.")
    if rating is not None and not LOWEST_RATING <= rating <= HIGHEST_RATING:
        # rule: rating_range
        raise ToolError("Rating must be an integer between 1 and 5.")
    if review_text is None and rating is None and timestamp is None and moderation_status is None:
        # rule: something_to_change
        raise ToolError("No valid fields were provided for update.")
    db.run(
        "UPDATE reviews SET review_text = coalesce(:review_text, review_text), rating = coalesce(:rating, rating),"
        " timestamp = coalesce(:timestamp, timestamp),"
        " moderation_status = coalesce(:moderation_status, moderation_status) WHERE review_id = :id",
        review_text=review_text,
        rating=rating,
        timestamp=timestamp,
        moderation_status=moderation_status,
        id=review_id,
    )
    return {"message": "Review updated successfully."}


def delete_review(db: Database, *, review_id: str) -> Done:
    """Remove a review from the system.

    - The review must exist in the system.
    - Other constraints such as moderation status do not block deletion.

    Args:
        review_id: Unique identifier of the review to remove.
    """
    if not _is_review(db, review_id):
        # rule: known_review
        raise ToolError("Review does not exist.")
    db.run("DELETE FROM reviews WHERE review_id = :id", id=review_id)
    return {"message": f"Review {review_id} deleted successfully."}


def add_product(db: Database, *, product_id: str, name: str, category: str, description: str) -> Done:
    """Create a new product entry in the system.

    - product_id must be unique in the system.

    Args:
        product_id: Unique product identifier.
        name: Name of the product.
        category: Product category.
        description: Description of the product.
    """
    if _is_product(db, product_id):
        # rule: unique_ids
        raise ToolError("Product ID already exists.")
    db.run(
        "INSERT INTO products (product_id, name, category, description)"
        " VALUES (:product_id, :name, :category, :description)",
        product_id=product_id,
        name=name,
        category=category,
        description=description,
    )
    return {"message": f"Product {product_id} added successfully."}


def delete_product(db: Database, *, product_id: str) -> Done:
    """Remove a product and all reviews linked to it from the system.

    - Product must exist in the system.
    - All reviews linked to the product are removed to maintain referential integrity.

    Args:
        product_id: The unique identifier of the product to delete.
    """
    if not _is_product(db, product_id):
        raise ToolError("Product does not exist")
    count = db.run("DELETE FROM reviews WHERE product_id = :id", id=product_id)
    db.run("DELETE FROM products WHERE product_id = :id", id=product_id)
    return {"message": f"Product {product_id} and {count} linked reviews deleted"}


def add_user(db: Database, *, user_id: str, username: str, account_status: str) -> Done:
    """Register a new user in the system.

    - user_id must be unique in users (cannot already exist).

    Args:
        user_id: User's unique identifier.
        username: Username for the user.
        account_status: Initial account state ('active', 'pending', etc.).
    """
    if not user_id or not username or not account_status:
        # rule: whole_account
        raise ToolError("Missing required parameters.")
    if _is_user(db, user_id):
        # rule: unique_ids
        raise ToolError(f"User ID '{user_id}' already exists.")
    db.run(
        "INSERT INTO users (user_id, username, account_status) VALUES (:user_id, :username, :account_status)",
        user_id=user_id,
        username=username,
        account_status=account_status,
    )
    return {"message": f"User '{user_id}' successfully added."}


def delete_user(db: Database, *, user_id: str) -> Done:
    """Remove a user and all their reviews from the system.

    - User must exist in the system to be deleted.
    - All reviews authored by the user must be deleted.

    Args:
        user_id: The ID of the user to remove.
    """
    if not _is_user(db, user_id):
        raise ToolError("User does not exist.")
    db.run("DELETE FROM reviews WHERE user_id = :id", id=user_id)
    db.run("DELETE FROM users WHERE user_id = :id", id=user_id)
    return {"message": f"User {user_id} and all their reviews have been deleted."}


def _is_product(db: Database, product_id: str) -> bool:
    return db.one("SELECT product_id FROM products WHERE product_id = :id", id=product_id) is not None


def _reviews_in_status(db: Database, product_id: str, status: str) -> list[ReviewRow]:
    rows = db.all(
        f"SELECT {REVIEW} FROM reviews WHERE product_id = :id AND moderation_status = :status ORDER BY review_id",
        id=product_id,
        status=status,
    )
    return cast("list[ReviewRow]", rows)


def _is_user(db: Database, user_id: str) -> bool:
    return db.one("SELECT user_id FROM users WHERE user_id = :id", id=user_id) is not None


def _is_review(db: Database, review_id: str) -> bool:
    return db.one("SELECT review_id FROM reviews WHERE review_id = :id", id=review_id) is not None


def _has_reviewed(db: Database, user_id: str, product_id: str) -> bool:
    found = db.one(
        "SELECT review_id FROM reviews WHERE user_id = :user AND product_id = :product", user=user_id, product=product_id
    )
    return found is not None


def _free_review_id(db: Database, base: str) -> str:
    review_id, suffix = base, 1
    while _is_review(db, review_id):
        suffix += 1
        review_id = f"{base}-{suffix}"
    return review_id
