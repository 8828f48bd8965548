"""What can go wrong, named after who can mend it.

FarmError
├── BundleError         the author: a file and a field of a bundle
├── RequestError        the caller: it asked for something that is not there, or wrongly
│   ├── NotFound        no such environment, scenario, instance, table
│   ├── QueryError      a query that is refused, does not run, or takes too much
│   └── Conflict        not in this state: the bundle changed, the call to rewind to is not there
├── CapacityError       the caller waits and tries again
└── InfraError          us: never a reward of 0
    ├── GuestError      a guest cannot be started, or broke the protocol
    ├── StateError      a state file cannot be read or written
    └── CheckpointError a checkpoint cannot be asked, whatever the agent did
"""


class FarmError(Exception):
    """An error of ours. Its text is for the one who can mend it, and says what to do."""


class BundleError(FarmError):
    """A bundle is not what it should be. Names the file and the field."""


class RequestError(FarmError):
    """The caller asked wrongly."""


class NotFound(RequestError):
    """What was asked for is not there."""


class QueryError(RequestError):
    """A query that is refused, does not run, or takes too much."""


class BrokenQuery(QueryError):
    """A query that cannot run on any state of this schema: it is not one SELECT, or names what is not there."""


class Conflict(RequestError):
    """It is there, but not in a state in which this can be done."""


class CapacityError(FarmError):
    """There is no room now."""


class InfraError(FarmError):
    """The farm itself failed."""


class GuestError(InfraError):
    """A guest cannot be started, or does not keep to the protocol."""


class GuestDied(GuestError):
    """The guest ended, or broke the protocol, while it was asked. `Guests.own_doing` tells whose doing that was."""


class GuestLate(GuestError):
    """The guest used up its processor time, or waited for what never comes, and was killed: its own doing."""


class StateError(InfraError):
    """A state file cannot be read or written."""


class CheckpointError(InfraError):
    """A checkpoint cannot be asked, on this state or any other. `farm check` finds it; nobody is judged by it."""
