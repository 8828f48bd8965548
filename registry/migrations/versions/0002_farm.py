"""One farm to a ledger. Tokens of workers go, and states of expired leases are kept for a while."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "farm",
        sa.Column("row", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("time", sa.Double, nullable=False),
    )
    with op.batch_alter_table("workers") as workers:
        workers.drop_column("token")
    op.execute("UPDATE leases SET status = 'gone' WHERE status = 'expired'")


def downgrade() -> None:
    op.execute("UPDATE leases SET status = 'expired' WHERE status = 'gone'")
    op.add_column("workers", sa.Column("token", sa.String(200)))
    op.drop_table("farm")
