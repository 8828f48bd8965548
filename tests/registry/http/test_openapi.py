"""The OpenAPI keeps its word: Schemathesis asks every route, and gets nothing but what is written there."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from tests.registry.farms import TOKEN, Farm

EXPECTED = """
# A body is too large before it is anything else: 413 is a refusal too.
[checks]
negative_data_rejection.expected-statuses = [400, 401, 404, 405, 409, 413, 422, 503]

# No schema says which texts are SQL: one that is not, or names no table of this state, is refused with 422.
[[operations]]
include-path = "/v1/instances/{instance}/query"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 404, 409, 422, 503]

# No schema says that a line of knobs has each once, or which tools an environment has.
[[operations]]
include-path = "/v1/instances"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 404, 409, 422, 503]
"""
"""All checks are on; these three are what they cannot know, and docs/reference/api.md says all."""

DRAIN = "/v1/workers/{worker}/drain"


async def operations(farm: Farm) -> list[tuple[str, str]]:
    """The path and the method of each operation that is asked."""
    paths = (await farm.http.get("/v1/openapi.json")).json()["paths"]
    return [(path, verb) for path, verbs in paths.items() for verb in verbs if path != DRAIN]


async def schemathesis(farm: Farm, folder: Path, *options: str, parameters: str = "") -> str:
    """Run it in a process of its own. Gives what it prints, after the assertion that it found nothing."""
    config = folder / "schemathesis.toml"
    config.write_text(f"{EXPECTED}\n[parameters]\n{parameters}")
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("schemathesis"),
        *("--config-file", config, "run", f"{farm.url}/v1/openapi.json"),
        *("-H", f"Authorization: Bearer {TOKEN}", "--checks", "all"),
        *("--seed", "1", "--generation-database", "none", "--max-examples", "20", "--continue-on-failure"),
        *("--exclude-path", DRAIN),  # the one worker, drained, would refuse all launches: 503
        *("--suppress-health-check", "all", "--no-color", *options),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


@pytest.mark.slow
async def test_no_request_gets_an_answer_that_is_not_documented(farm: Farm, tmp_path: Path) -> None:
    said = await schemathesis(farm, tmp_path)
    assert re.search(rf"Tested: +{len(await operations(farm))}\n", said)


@pytest.mark.slow
async def test_no_request_about_a_real_instance_gets_an_answer_that_is_not_documented(
    farm: Farm, tmp_path: Path
) -> None:
    instance = await farm.launched("dearer")
    await farm.call(instance, "price", id="t2", cents=250)
    known = {"instance": instance, "environment": "shop", "scenario": "dearer", "table": "things"}
    parameters = "".join(f'"path.{name}" = "{value}"\n' for name, value in known.items())
    options = ["--exclude-method", "DELETE", "--phases", "examples,coverage,fuzzing"]
    said = await schemathesis(farm, tmp_path, *options, parameters=parameters)
    kept = [path for path, verb in await operations(farm) if verb != "delete"]
    assert re.search(rf"Tested: +{len(kept)}\n", said)


async def test_every_route_says_what_it_is_and_documents_its_errors_in_one_form(farm: Farm) -> None:
    document = (await farm.http.get("/v1/openapi.json")).json()
    error = {"$ref": "#/components/schemas/Error"}
    routes = [(path, operation) for path, verbs in document["paths"].items() for operation in verbs.values()]
    assert len(routes) == 24
    for path, operation in routes:
        assert operation["summary"]
        assert operation["description"]
        assert path == "/v1/health" or operation["security"]
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                content = answer["content"]["application/json"]
                assert content["schema"] == error, (path, status)
                assert content["example"]["error"]["kind"]


async def test_the_documentation_is_open_and_shows_no_secret(farm: Farm) -> None:
    document = await farm.http.get("/v1/openapi.json", headers={"Authorization": ""})
    assert document.status_code == 200
    assert TOKEN not in document.text
