"""What can go wrong, named after who can mend it.

FarmError
├── BundleError         the author: a file and a field of a bundle
├── RequestError        the caller: it asked for something that is not there, or wrongly
│   ├── NotFound        no such environment, scenario, instance, table
│   ├── QueryError      a query that is refused, does not run, or takes too much
│   │   ├── BrokenQuery it can run on no state of this schema
│   │   └── LongQuery   it used up its steps or its processor time
│   └── Conflict        not in this state: the bundle changed, the call to rewind to is not there
├── CapacityError       the caller waits and tries again
│   └── Moving          the instance is on its way to another worker
└── InfraError          us: never a reward of 0
    ├── GuestError      a guest cannot be started, or broke the protocol
    │   ├── GuestDied   it ended during a request
    │   └── GuestLate   it exceeded its processor time
    ├── StateError      a state file cannot be read or written
    └── CheckpointError a checkpoint cannot be asked, whatever the agent did
"""


class FarmError(Exception):
    """The base of all errors. The text is for the person who can mend it, and says what to do."""


class BundleError(FarmError):
    """A bundle is not valid. The message names the file and the field."""


class RequestError(FarmError):
    """The request is not valid."""


class NotFound(RequestError):
    """There is no such environment, scenario, instance or table."""


class QueryError(RequestError):
    """A query that is refused, does not run, or takes too much."""


class BrokenQuery(QueryError):
    """A query that can run on no state of this schema: it is not one SELECT, or names an unknown table or column."""


class LongQuery(QueryError):
    """A query that used up its steps or its processor time."""


class Conflict(RequestError):
    """It exists, but its state does not allow this operation."""


class CapacityError(FarmError):
    """There is no room now."""


class Moving(CapacityError):
    """The instance is on its way to another worker. Nothing was done."""


class InfraError(FarmError):
    """The farm itself failed."""


class GuestError(InfraError):
    """A guest cannot be started, or does not keep to the protocol."""


class WallMissing(GuestError):
    """A required wall cannot be raised on this machine."""


class GuestDied(GuestError):
    """The guest ended, or broke the protocol, during a request. `Guests.own_doing` says whose fault that was."""


class GuestLate(GuestError):
    """The guest exceeded its processor time, or waited for ever, and was killed. That is its own fault."""


class StateError(InfraError):
    """A state file cannot be read or written."""


class CheckpointError(InfraError):
    """A checkpoint cannot be asked about any state. `farm check` finds it, and it judges nobody."""
