# type: ignore  # It runs where nemo-gym is installed, and this project is not.
"""A resources server of NeMo Gym that plays a farm's scenarios: an instance for each session, the farm's reward.

`evals.frameworks.nemo_gym.project` copies it into a project of NeMo Gym. It knows the farm by its HTTP API alone.
"""

import json
from pathlib import Path

import aiohttp
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import PlainTextResponse
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import ConfigDict, PrivateAttr

ROLLOUT_INDEX = "_ng_rollout_index"
"""NeMo Gym's number of a task's rollout."""
FARM_BROKE = 502


class FarmConfig(BaseResourcesServerConfig):
    """The farm. `token_file` holds the control token, which no agent sees."""

    farm: str
    token_file: str
    ttl_seconds: int = 6 * 3600


class ScenarioRequest(BaseSeedSessionRequest):
    """A row of the data: a scenario, and the seed of its first rollout."""

    model_config = ConfigDict(extra="allow")

    environment: str
    scenario: str
    seed: int = 0


class FarmVerifyRequest(BaseVerifyRequest):
    """A row of the data, and what the model said and did."""

    model_config = ConfigDict(extra="allow")


class FarmVerifyResponse(BaseVerifyResponse):
    """The same with the farm's reward and verdicts."""

    model_config = ConfigDict(extra="allow")

    success: float
    checkpoints_held: float
    verdicts: list[dict]


class FarmResourcesServer(SimpleResourcesServer):
    """Each session leases an instance. A farm that fails is an error of the run, and never a reward of 0."""

    config: FarmConfig
    _leases: dict = PrivateAttr(default_factory=dict)
    _broke: dict = PrivateAttr(default_factory=dict)
    _http: aiohttp.ClientSession | None = PrivateAttr(default=None)

    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        app.post("/{tool}")(self.call)
        return app

    async def seed_session(self, request: Request, body: ScenarioRequest) -> BaseSeedSessionResponse:
        seed = body.seed + int((body.model_extra or {}).get(ROLLOUT_INDEX) or 0)
        order = {"environment": body.environment, "scenario": body.scenario, "seed": seed}
        told = await self._control("POST", "/v1/instances", {**order, "ttl_seconds": self.config.ttl_seconds})
        self._leases[request.session[SESSION_ID_KEY]] = told["items"][0]
        return BaseSeedSessionResponse()

    async def call(self, tool: str, request: Request) -> PlainTextResponse:
        """Make a call. A refusal is its words, which the model reads."""
        session = request.session[SESSION_ID_KEY]
        lease = self._leases.get(session)
        if lease is None:
            raise HTTPException(409, "the session has not begun, or is over")
        arguments = await request.json()
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        head = {"Authorization": f"Bearer {lease['token']}", "Accept": "application/json, text/event-stream"}
        try:
            told = await self._asked("POST", lease["mcp_url"], asked, head)
        except HTTPException as error:
            self._broke[session] = error.detail
            raise
        if "error" in told:
            return PlainTextResponse(f"error: {told['error'].get('message', '')}")
        content = told["result"]["content"]
        return PlainTextResponse("".join(one.get("text", "") for one in content))

    async def verify(self, request: Request, body: FarmVerifyRequest) -> FarmVerifyResponse:
        """Judge the state with the last words, and give the instance back."""
        session = request.session[SESSION_ID_KEY]
        lease = self._leases.pop(session, None)
        if lease is None:
            raise HTTPException(409, "the session has not begun, or is over")
        path = f"/v1/instances/{lease['instance']}"
        try:
            broke = self._broke.pop(session, None)
            if broke is not None:
                raise HTTPException(FARM_BROKE, broke)
            score = await self._control("POST", f"{path}/score", {"answer": last_words(body.response)})
            if score["outcome"] != "scored":
                raise HTTPException(FARM_BROKE, score["error"] or "the farm could not judge")
        finally:
            await self._control("DELETE", path)
        verdicts = score["verdicts"]
        return FarmVerifyResponse(
            **body.model_dump(),
            reward=score["reward"],
            success=float(score["success"]),
            checkpoints_held=sum(one["holds"] for one in verdicts) / max(1, len(verdicts)),
            verdicts=verdicts,
        )

    async def _control(self, method: str, path: str, body: dict | None = None) -> dict:
        head = {"Authorization": f"Bearer {self._token()}"}
        return await self._asked(method, self.config.farm + path, body, head)

    def _token(self) -> str:
        return Path(self.config.token_file).expanduser().read_text(encoding="utf-8").strip()

    async def _asked(self, method: str, url: str, body: dict | None, head: dict) -> dict:
        if self._http is None:
            self._http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=120))
        try:
            async with self._http.request(method, url, json=body, headers=head) as answer:
                text = await answer.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise HTTPException(FARM_BROKE, f"the farm does not answer: {error!r}") from None
        if answer.status >= 400:
            raise HTTPException(FARM_BROKE, f"the farm: {answer.status} {text[:500]}")
        return json.loads(text) if text else {}


def last_words(response) -> str:
    """What the model said last, if it ended by saying something."""
    last = response.output[-1] if response.output else None
    if last is None or last.type != "message" or last.role != "assistant":
        return ""
    return "".join(part.text for part in last.content if part.type == "output_text")


if __name__ == "__main__":
    FarmResourcesServer.run_webserver()
