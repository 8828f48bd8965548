"""A score has the answers of its scenario's probes. Earlier ones have none."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("scores") as scores:
        scores.add_column(sa.Column("probes", sa.JSON, nullable=False, server_default="[]"))


def downgrade() -> None:
    with op.batch_alter_table("scores") as scores:
        scores.drop_column("probes")
