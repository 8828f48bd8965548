"""A launch with a key keeps a digest of what was ordered, so that the same key for another order is noticed."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("leases") as leases:
        leases.add_column(sa.Column("launch_order", sa.String(32)))


def downgrade() -> None:
    with op.batch_alter_table("leases") as leases:
        leases.drop_column("launch_order")
