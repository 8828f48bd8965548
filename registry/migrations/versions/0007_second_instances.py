"""A lease may have a second instance, of another environment. Earlier ones have none."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("leases") as leases:
        leases.add_column(sa.Column("second", sa.String(40)))
        leases.add_column(sa.Column("second_of", sa.String(40)))


def downgrade() -> None:
    with op.batch_alter_table("leases") as leases:
        leases.drop_column("second_of")
        leases.drop_column("second")
