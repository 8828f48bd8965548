"""A URL of an endpoint is shown and stored: one with a secret in it is refused and not repeated."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from evals.runs.suite import ChatAgent
from servers.errors import RequestError
from synth.pipeline.plan import RunPlan
from tests.processes import farm, side_by_side

SECRET = "hunter2"
REFUSED = "there is a user, password or key in it"
URLS = [f"http://me:{SECRET}@host/v1", f"http://{SECRET}@host/v1", f"http://host/v1?api_key={SECRET}"]


@pytest.mark.parametrize("url", URLS)
def test_a_url_with_a_secret_in_it_is_refused_and_not_repeated(tmp_path: Path, url: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(f'out = "run"\nbase_url = "{url}"\n')
    with pytest.raises(RequestError, match=REFUSED) as of_a_plan:
        RunPlan.of(plan, {})
    with pytest.raises(ValidationError, match=REFUSED):
        ChatAgent(kind="chat", model="m", base_url=url)
    assert SECRET not in str(of_a_plan.value)


def test_a_url_with_a_port_and_a_path_is_taken() -> None:
    assert ChatAgent(kind="chat", model="m", base_url="http://[::1]:8000/v1/a@b").base_url is not None


COMMANDS = {
    "play": ("play", "library_loans", "--scenario", "renew_before_trip", "--model", "m"),
    "synth": ("synth", "run", "--out", "run"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
async def test_a_command_refuses_it_on_its_line_and_in_its_environment(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    on_its_line = farm(*command, "--base-url", URLS[0], home=tmp_path)
    in_its_environment = farm(*command, home=tmp_path, OPENAI_BASE_URL=URLS[1])
    for done in await side_by_side(on_its_line, in_its_environment):
        assert (done.code, REFUSED in done.err, SECRET in done.out + done.err) == (2, True, False)
