"""The standard `uuid`, drawn from the call: what an imported `import uuid` is given."""

from uuid import NAMESPACE_DNS, NAMESPACE_OID, NAMESPACE_URL, NAMESPACE_X500, UUID, uuid3, uuid5

from servers.imported.moment import draw

__all__ = [
    "NAMESPACE_DNS", "NAMESPACE_OID", "NAMESPACE_URL", "NAMESPACE_X500", "UUID", "uuid1", "uuid3", "uuid4", "uuid5",
]  # fmt: skip


def uuid4() -> UUID:
    return UUID(bytes=draw(16), version=4)


def uuid1(node: int | None = None, clock_seq: int | None = None) -> UUID:
    return UUID(bytes=draw(16), version=1)
