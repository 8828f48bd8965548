"""Workers join from anywhere: who they are, which session they have, whether they drain.

The control token of a worker is in no column: registries compute it from the session and the join token. The leases of
a worker are found by an index when it is lost.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def columns() -> list[sa.Column[Any]]:
    """What a worker has now, with the values of one that has not joined yet."""
    return [
        sa.Column("identity", sa.String(64), nullable=False, server_default=""),
        sa.Column("session", sa.String(200), nullable=False, server_default=""),
        sa.Column("reached_at", sa.String(500), nullable=False, server_default=""),
        sa.Column("capacity", sa.Integer, nullable=False, server_default="100000"),
        sa.Column("drains", sa.Boolean, nullable=False, server_default=sa.false()),
    ]


def upgrade() -> None:
    with op.batch_alter_table("workers") as workers:
        for column in columns():
            workers.add_column(column)
    op.create_index("leases_by_worker", "leases", ["worker", "status"])


def downgrade() -> None:
    """Lost leases stay ended: an older farm knows no way back for them."""
    op.execute("UPDATE leases SET status = 'gone' WHERE status = 'lost'")
    op.drop_index("leases_by_worker", "leases")
    with op.batch_alter_table("workers") as workers:
        for column in columns():
            workers.drop_column(column.name)
