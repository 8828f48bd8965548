"""A lease names the copy of its instance, as one may go to another worker. Earlier ones never did."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("leases") as leases:
        leases.add_column(sa.Column("perturb", sa.Text))
        leases.add_column(sa.Column("held_as", sa.String(40)))
        leases.add_column(sa.Column("moving", sa.String(40)))
        leases.add_column(sa.Column("moving_since", sa.Double))
    for name, column in (("leases_by_copy", "held_as"), ("leases_by_move", "moving")):
        some = sa.text(f"{column} IS NOT NULL")
        op.create_index(name, "leases", [column], sqlite_where=some, postgresql_where=some)


def downgrade() -> None:
    op.drop_index("leases_by_move", "leases")
    op.drop_index("leases_by_copy", "leases")
    with op.batch_alter_table("leases") as leases:
        leases.drop_column("moving_since")
        leases.drop_column("moving")
        leases.drop_column("held_as")
        leases.drop_column("perturb")
