"""What can go wrong on the agent's side, named after who can mend it.

ClientError
├── AgentError               the model: it counts as the agent's own result
│   └── ConversationTooLong  the model: it talked until its context was full
├── EndpointError            whoever runs the model's endpoint: nothing is known about the agent
│   ├── EndpointDown         it is down, overloaded or broken, and was after some attempts
│   └── EndpointRefused      it does not take such a request: a wrong key, an unknown model
└── FarmUnreachable          whoever runs the farm: nothing is known about the agent
"""


class ClientError(Exception):
    """Something on the agent's side went wrong."""


class AgentError(ClientError):
    """The agent did something that no environment can answer."""


class ConversationTooLong(AgentError):
    """The conversation no longer fits the model's context."""


class EndpointError(ClientError):
    """The model's endpoint is down, refuses the request, or gives an invalid answer."""


class EndpointDown(EndpointError):
    """The endpoint is down, overloaded or gives invalid answers, after all attempts."""


class EndpointRefused(EndpointError):
    """The endpoint refuses the request. `status` is the HTTP status."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class FarmUnreachable(ClientError):
    """The farm gave no reliable answer. `status` is the HTTP status, if there was one."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
