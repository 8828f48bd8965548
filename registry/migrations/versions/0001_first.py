"""The first ledger: workers, leases, scores."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("url", sa.String(500), nullable=False),
        sa.Column("token", sa.String(200)),
        sa.Column("registered_at", sa.Double, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
    )
    op.create_table(
        "leases",
        sa.Column("instance", sa.String(40), primary_key=True),
        sa.Column("worker", sa.String(64), nullable=False),
        sa.Column("path", sa.String(200), nullable=False),
        sa.Column("environment", sa.String(64), nullable=False),
        sa.Column("scenario", sa.String(64)),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("ttl_seconds", sa.Integer, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.Column("closed_at", sa.Double),
    )
    op.create_index("leases_by_expiry", "leases", ["status", "expires_at"])
    op.create_index("leases_by_age", "leases", ["created_at", "instance"])
    op.create_table(
        "scores",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("instance", sa.String(40), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("scenario", sa.String(64), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("reward", sa.Double),
        sa.Column("success", sa.Boolean),
        sa.Column("verdicts", sa.JSON, nullable=False),
        sa.Column("calls", sa.Integer),
        sa.Column("environment_digest", sa.String(64)),
        sa.Column("scenario_digest", sa.String(64), nullable=False),
        sa.Column("error", sa.Text),
    )
    op.create_index("scores_by_instance", "scores", ["instance"])


def downgrade() -> None:
    op.drop_table("scores")
    op.drop_table("leases")
    op.drop_table("workers")
