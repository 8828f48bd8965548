"""A worker in another process, reached over HTTP through its control door."""

import httpx
from pydantic import ValidationError

from servers import errors
from servers.doors.operations import CALL, JUDGE, LAUNCH, AnswerT, Operation, OrderT
from servers.errors import CapacityError, FarmError, InfraError
from servers.limits.processor_budget import LONGEST_JUDGEMENT
from servers.records import Record
from servers.validation import first_problem

SECONDS = 60.0
LONG_SECONDS = LONGEST_JUDGEMENT + SECONDS
"""Seconds to wait for an operation that runs untrusted code: longer than its budget may take on a busy machine."""
LONG = frozenset({JUDGE.name, LAUNCH.name, CALL.name})
ERRORS: dict[str, type[FarmError]] = {
    kind: error for kind, error in vars(errors).items() if isinstance(error, type) and issubclass(error, FarmError)
}


class RemoteWorker:
    """The operations of a worker, each as one HTTP request."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/w/",
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=64, keepalive_expiry=3.0),
        )
        self.url = url

    async def aclose(self) -> None:
        await self._http.aclose()

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        seconds = LONG_SECONDS if operation.name in LONG else SECONDS
        response = await self._post(operation.name, order, seconds=seconds)
        try:
            return operation.read(response.content)
        except ValidationError as error:
            raise InfraError(
                f"the worker at {self.url} answered {operation.name} with what is no answer: {first_problem(error)}"
            ) from None

    async def _post(self, operation: str, order: Record, *, seconds: float) -> httpx.Response:
        try:
            response = await self._http.post(operation, content=order.model_dump_json(), timeout=seconds)
        except httpx.TimeoutException:
            raise CapacityError(
                f"the worker at {self.url} did not answer {operation} within {seconds:g} s; the machine may be busy: "
                "wait and try again"
            ) from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise CapacityError(f"the worker at {self.url} does not answer ({reason}); it is being restarted") from None
        if response.is_success:
            return response
        try:
            said = response.json()["error"]
            raise ERRORS.get(said["kind"], InfraError)(said["message"])
        except (ValueError, KeyError, TypeError):
            raise InfraError(f"the worker at {self.url} answered {operation} with {response.status_code}") from None
