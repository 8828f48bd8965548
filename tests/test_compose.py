"""What ships beside the code: the image, the compose file, the lock. No container runs here; the farm's commands do."""

import asyncio
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sqlalchemy.engine import make_url
from typer.main import get_command

from farm import app, loaded
from registry.farm import JOIN_FILE, LOOPBACK_HOSTS
from servers.bundle_library import OWN_LIBRARY, Library
from servers.worker_command import USUAL_PORT
from tests.processes import farm_up, free_ports

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service["image"] == "envfarm"]
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?+])([^}]*))?\}")
SECRET = re.compile("TOKEN|PASSWORD|SECRET|KEY", re.IGNORECASE)
PORT = 8700


def filled(text: str, **variables: str) -> str:
    """A text of the compose file with its variables filled in, as compose does it."""

    def value(found: re.Match[str]) -> str:
        name, how, word = found[1], found[2], found[3]
        given = variables.get(name, "")
        if how == "+":
            return word if given else ""
        if how == "?" and not given:
            raise LookupError(f"{name}: {word}")
        return given or (word if how == "-" else "")

    return VARIABLE.sub(value, text)


def command_of(service: str, **variables: str) -> list[str]:
    return [filled(str(part), **variables) for part in SERVICES[service]["command"]]


def instructions(name: str) -> list[str]:
    """What follows an instruction, each time that the Dockerfile uses it."""
    return re.findall(rf"^{name} +(.*)$", DOCKERFILE, re.MULTILINE)


def value_of(option: str, arguments: list[str]) -> str:
    [found] = [one.removeprefix(f"{option}=") for one in arguments if one.startswith(f"{option}=")]
    return found


def parse(arguments: list[str]) -> dict[str, Any]:
    """Have the command line read what comes after `farm`, and run nothing. What it does not know raises."""
    outer = get_command(app).make_context("farm", list(arguments))
    return loaded(arguments[0]).make_context(arguments[0], arguments[1:], parent=outer).params


def test_a_start_without_a_token_says_what_to_do() -> None:
    with pytest.raises(LookupError, match="FARM_TOKEN: choose a control token"):
        filled(SERVICES["registry"]["environment"]["FARM_TOKEN"])


def test_what_is_started_without_a_profile_is_a_whole_farm() -> None:
    profiles = {name: service.get("profiles", []) for name, service in SERVICES.items()}
    assert profiles == {
        "registry": [],
        "worker": ["workers"],
        "postgres": ["postgres"],
        "prometheus": ["monitoring"],
        "grafana": ["monitoring"],
        "vllm": ["vllm"],
        "play": ["vllm"],
    }


@pytest.mark.parametrize("variables", [{}, {"POSTGRES_PASSWORD": "p", "FARM_WORKERS": "9"}], ids=["plain", "all"])
@pytest.mark.parametrize("service", OURS)
def test_the_farm_accepts_the_command_of_each_service(service: str, variables: dict[str, str]) -> None:
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["farm"]
    assert parse(command_of(service, **variables))


def test_the_farm_accepts_the_command_of_the_image() -> None:
    assert parse(json.loads(instructions("CMD")[0]))["host"] not in LOOPBACK_HOSTS


def test_an_option_that_the_farm_does_not_have_would_be_noticed() -> None:
    with pytest.raises(Exception, match="No such option: --replicas"):
        parse(["up", "--replicas=2"])


async def test_the_registrys_command_starts_a_farm_and_the_healthcheck_tells_how_it_is(tmp_path: Path) -> None:
    port = free_ports(3)
    library = tmp_path / "bundles"
    library.mkdir()
    of_image = [part.replace("=/bundles", f"={library}") for part in command_of("registry")]
    command = [*of_image, "--host=127.0.0.1", f"--port={port}"]
    async with farm_up(tmp_path / "state", *command[1:], home=tmp_path) as running:
        assert running.url == f"http://localhost:{port}"
        assert await health_checked(port) == 0
    assert await health_checked(port) != 0


async def health_checked(port: int) -> int:
    """The exit code of the image's healthcheck, on another port."""
    [check] = re.findall(r"HEALTHCHECK .*CMD +(\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert check.count(f":{PORT}/") == 1
    name, *arguments = json.loads(check.replace(f":{PORT}/", f":{port}/"))
    assert name == "python"
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stderr=asyncio.subprocess.DEVNULL)
    async with asyncio.timeout(60):
        return await process.wait()


@pytest.mark.parametrize("variables", [{}, {"FARM_WORKERS": "1"}, {"FARM_WORKERS": "9"}], ids=["2", "1", "9"])
def test_the_ports_that_the_farm_hands_out_are_published_and_no_others(variables: dict[str, str]) -> None:
    [published] = SERVICES["registry"]["ports"]
    address, outer, inner = filled(published, **variables).split(":")
    first, last = map(int, inner.split("-"))
    assert address == "127.0.0.1"
    assert outer == inner
    assert (first, last) == (PORT, PORT + int(value_of("--workers", command_of("registry", **variables))))
    assert parse(command_of("registry"))["port"] == PORT


@pytest.mark.parametrize(("variables", "folder"), [({}, "./bundles"), ({"FARM_BUNDLES": "/srv/mine"}, "/srv/mine")])
def test_bundles_of_ones_own_are_mounted_where_the_farm_looks_and_cannot_be_written(
    variables: dict[str, str], folder: str
) -> None:
    _, mounted = SERVICES["registry"]["volumes"]
    assert filled(mounted, **variables).split(":") == [folder, "/bundles", "ro"]
    assert value_of("--library", command_of("registry")) == "/bundles"


def test_no_limit_is_asked_for_that_a_machine_may_not_grant() -> None:
    """A worker takes as many files as its hard limit allows, whatever that is."""
    assert not any("ulimits" in service for service in SERVICES.values())


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_is_walled_in(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == (["SETUID", "SETGID", "KILL"] if name in OURS else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "network_mode", "pid", "ipc"} & set(service)
    assert service.get("read_only") is True or name in ("vllm", "prometheus")
    assert {"memory", "pids"} <= set(service["deploy"]["resources"]["limits"])
    assert service["restart"] == ("no" if name == "play" else "unless-stopped")
    assert "healthcheck" in service or name == "registry"


def test_the_farm_writes_only_where_its_volume_is() -> None:
    assert "FARM_STATE=/var/lib/farm" in DOCKERFILE
    state, *others = SERVICES["registry"]["volumes"]
    assert state == "farm:/var/lib/farm"
    assert all(one.endswith(":ro") for one in others)


def test_guests_get_user_ids_of_their_own_so_the_farm_is_root() -> None:
    assert instructions("USER") == []
    assert all("user" not in SERVICES[name] for name in OURS)


def test_no_secret_stands_in_a_file_or_on_a_command_line() -> None:
    for name, service in SERVICES.items():
        for variable, value in service.get("environment", {}).items():
            assert not SECRET.search(variable) or VARIABLE.fullmatch(value), f"{name}: {variable}"
    assert not any(SECRET.search(line) for name in ("ENV", "ARG") for line in instructions(name))
    assert "a-password" not in " ".join(command_of("registry", POSTGRES_PASSWORD="a-password"))


def test_with_a_password_the_ledger_is_in_the_postgres_of_the_compose_file() -> None:
    url = make_url(value_of("--ledger", command_of("registry", POSTGRES_PASSWORD="p")))
    inside = SERVICES["postgres"]["environment"]
    assert (url.drivername, url.host) == ("postgresql+psycopg", "postgres")
    assert (url.username, url.database) == (inside["POSTGRES_USER"], inside["POSTGRES_DB"])
    passwords = inside["POSTGRES_PASSWORD"], SERVICES["registry"]["environment"]["PGPASSWORD"]
    assert {filled(password, POSTGRES_PASSWORD="p") for password in passwords} == {"p"}
    assert set(SERVICES["postgres"]["networks"]) <= set(SERVICES["registry"]["networks"])
    assert ".[postgres]" in DOCKERFILE
    assert value_of("--ledger", command_of("registry")) == ""


def test_a_worker_of_its_own_joins_the_registry_with_the_token_that_it_keeps() -> None:
    """Any number of them: none has a port of the machine or a name that two would share."""
    worker = SERVICES["worker"]
    said = parse(command_of("worker"))
    assert said["registry"] == [f"http://registry:{PORT}"]
    shared, own, bundles = worker["volumes"]
    source, folder, mode = shared.split(":")
    assert (f"{source}:{folder}", mode) == (SERVICES["registry"]["volumes"][0], "ro")
    assert said["token_file"] == Path(folder) / JOIN_FILE
    assert said["state"].is_relative_to(own)
    assert bundles == SERVICES["registry"]["volumes"][1]
    assert not {"ports", "container_name", "hostname"} & set(worker)
    assert f", {USUAL_PORT}," in worker["healthcheck"]["test"][-1].replace(")", ",")
    assert said["advertise"] == ""


def test_the_vllm_service_serves_the_model_that_plays_a_scenario_that_there_is() -> None:
    served, played = command_of("vllm"), parse(command_of("play"))
    assert served[0] == played["model"]
    assert played["base_url"] == f"http://vllm:{value_of('--port', served)}/v1"
    assert Library([OWN_LIBRARY]).scenario(played["environment"], played["scenario"])
    [device] = SERVICES["vllm"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


def test_the_image_is_built_from_all_that_the_wheel_takes_and_from_nothing_else() -> None:
    allowed = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    copied = {source for line in instructions("COPY") if not line.startswith("--from") for source in line.split()[:-1]}
    assert copied == allowed
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]) <= copied
    assert all((ROOT / source).exists() for source in copied)


class Pin(NamedTuple):
    """A line of the lock."""

    name: str
    version: str


def pins() -> list[Pin]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if not line.startswith("#")]
    return [Pin(canonicalize_name(one.name), str(one.specifier).removeprefix("==")) for one in found]


def test_the_lock_holds_a_version_that_the_project_allows_of_everything_it_names() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    named = [*PROJECT["project"]["dependencies"], *extras["dev"], *extras["bench"], *extras["postgres"]]
    for wanted in map(Requirement, named):
        versions = [pin.version for pin in pins() if pin.name == canonicalize_name(wanted.name)]
        assert versions, f"{wanted.name} is not in requirements.lock"
        assert all(wanted.specifier.contains(version) for version in versions), f"{wanted}: {versions}"


def test_the_lock_works_as_constraints_of_pip_from_any_index() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--hash" not in text, "pip cannot install a folder beside hashes"
    assert not re.search(r"^[\w-]+\[", text, re.MULTILINE), "pip takes no extras in constraints"


def test_the_image_listens_where_its_healthcheck_asks() -> None:
    assert parse(json.loads(instructions("CMD")[0]))["port"] == int(instructions("EXPOSE")[0]) == PORT
