"""Several registries serve one farm: they share the heartbeats of its workers, and a launch has a client's key."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("workers") as workers:
        workers.add_column(sa.Column("beat", sa.BigInteger, nullable=False, server_default="0"))
    with op.batch_alter_table("leases") as leases:
        leases.add_column(sa.Column("launch_key", sa.String(64)))
        leases.add_column(sa.Column("launch_number", sa.Integer))
    op.create_index("leases_by_launch", "leases", ["launch_key", "launch_number"], unique=True)


def downgrade() -> None:
    op.drop_index("leases_by_launch", "leases")
    with op.batch_alter_table("leases") as leases:
        leases.drop_column("launch_number")
        leases.drop_column("launch_key")
    with op.batch_alter_table("workers") as workers:
        workers.drop_column("beat")
