"""What is shipped for clusters and for watching: Kubernetes, Prometheus, Grafana. No cluster runs here."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import kubernetes_validate
import pytest
import yaml

from registry.client import FarmClient
from registry.farm import private
from servers.bundle_library import OWN_LIBRARY
from servers.worker_command import USUAL_PORT
from tests.test_compose import PORT, ROOT, SERVICES, parse

DEPLOY = ROOT / "deploy"
BASE = DEPLOY / "kubernetes"
OLDEST, NEWEST = "1.30", "1.36"
"""The versions of Kubernetes whose schemas the manifests fit."""
VARIABLE = re.compile(r"\$\((\w+)\)")


def rendered() -> list[dict[str, Any]]:
    """What `kubectl apply -k` sends: the resources, with the image of the kustomization."""
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = []
    for name in kustomization["resources"]:
        found.extend(yaml.safe_load_all((BASE / name).read_text(encoding="utf-8")))
    assert {path.name for path in BASE.iterdir()} == {"kustomization.yaml", *kustomization["resources"]}
    assert [image["name"] for image in kustomization["images"]] == [SERVICES["registry"]["image"]]
    return found


RESOURCES = rendered()
PODS: dict[str, dict[str, Any]] = {
    one["metadata"]["name"]: one["spec"]["template"] for one in RESOURCES if "template" in one["spec"]
}


def named(kind: str, name: str) -> dict[str, Any]:
    [found] = [one["spec"] for one in RESOURCES if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return found


def container(pod: str) -> dict[str, Any]:
    [found] = PODS[pod]["spec"]["containers"]
    return found


def options(pod: str) -> dict[str, Any]:
    """What the farm's command line reads of a pod's arguments. What it does not know raises."""
    return parse([VARIABLE.sub(filled_in, one) for one in container(pod)["args"]])


def filled_in(variable: re.Match[str]) -> str:
    return f"a-{variable[1].lower().replace('_', '-')}"


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_each_resource_fits_the_schema_of_kubernetes(resource: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(resource, version, strict=True)


def test_what_does_not_fit_would_be_noticed() -> None:
    broken = {**RESOURCES[0], "spec": {**RESOURCES[0]["spec"], "replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, NEWEST, strict=True)


def test_registries_are_replicas_and_workers_join_them_under_their_own_names() -> None:
    registry, worker = options("farm-registry"), options("farm-worker")
    assert (registry["replica"], registry["workers"], registry["port"]) == (True, 0, PORT)
    assert named("Deployment", "farm-registry")["replicas"] >= 2
    assert worker["registry"] == [f"http://farm-registry:{named('Service', 'farm-registry')['ports'][0]['port']}"]
    assert worker["advertise"] == f"http://a-pod-name.farm-worker.a-namespace.svc:{USUAL_PORT}"
    assert worker["name"] == "a-pod-name"
    headless = named("Service", "farm-worker")
    assert (headless["clusterIP"], headless["publishNotReadyAddresses"]) == ("None", True)
    assert named("StatefulSet", "farm-worker")["serviceName"] == "farm-worker"
    variables = {one["name"] for one in container("farm-worker")["env"]}
    assert set(VARIABLE.findall(" ".join(container("farm-worker")["args"]))) == variables
    assert container("farm-registry")["ports"][0]["containerPort"] == PORT
    assert container("farm-worker")["ports"][0]["containerPort"] == USUAL_PORT


@pytest.mark.parametrize("pod", PODS)
def test_each_selector_finds_its_pods_and_each_file_is_mounted(pod: str) -> None:
    labels = PODS[pod]["metadata"]["labels"]
    for one in RESOURCES:
        if one["metadata"]["name"] == pod:
            selector = one["spec"].get("selector") or one["spec"]["podSelector"]
            assert selector.get("matchLabels", selector).items() <= labels.items()
    claims: list[dict[str, Any]] = named("StatefulSet", pod)["volumeClaimTemplates"] if pod == "farm-worker" else []
    volumes = {one["name"] for one in PODS[pod]["spec"]["volumes"]} | {one["metadata"]["name"] for one in claims}
    assert {one["name"] for one in container(pod)["volumeMounts"]} == volumes
    [secret] = [one["secret"] for one in PODS[pod]["spec"]["volumes"] if "secret" in one]
    given = options(pod)
    files = {given["token_file"], given.get("join_token_file")} - {None}
    assert files == {Path("/run/farm") / item["path"] for item in secret["items"]}


@pytest.mark.parametrize("pod", PODS)
def test_each_pod_is_walled_in_and_its_state_is_in_a_folder_that_the_farm_makes(pod: str) -> None:
    inside, outside = container(pod)["securityContext"], PODS[pod]["spec"]["securityContext"]
    assert inside["capabilities"]["drop"] == ["ALL"]
    assert (inside["allowPrivilegeEscalation"], inside["readOnlyRootFilesystem"]) == (False, True)
    assert outside["seccompProfile"]["type"] == "RuntimeDefault"
    assert not PODS[pod]["spec"]["automountServiceAccountToken"]
    if pod == "farm-registry":
        assert outside["runAsNonRoot"]
        assert "add" not in inside["capabilities"]
    else:
        assert inside["capabilities"]["add"] == SERVICES["worker"]["cap_add"]
    [mount] = [one for one in container(pod)["volumeMounts"] if one["name"] == "state"]
    environment = {one["name"]: one.get("value") for one in container(pod)["env"]}
    state = Path(environment.get("FARM_STATE") or options(pod)["state"])
    assert state.parent == Path(mount["mountPath"])


def test_agents_reach_workers_and_no_registry() -> None:
    def let_in(pod: str) -> set[str]:
        [rule] = named("NetworkPolicy", pod)["ingress"]
        return {value for source in rule["from"] for value in source["podSelector"]["matchLabels"].values()}

    assert let_in("farm-registry") == {"farm-worker", "trainer"}
    assert let_in("farm-worker") == {"farm-registry", "trainer", "agent"}
    reached = [rule["to"][0] for rule in named("NetworkPolicy", "farm-worker")["egress"]]
    assert reached[0]["podSelector"]["matchLabels"] == {"app": "farm-registry"}
    assert reached[1]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "kube-system"}


async def test_every_metric_of_the_dashboard_is_one_that_a_farm_has() -> None:
    dashboard = json.loads((DEPLOY / "monitoring/grafana/farm.json").read_text(encoding="utf-8"))
    asked = {
        metric
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for metric in re.findall(r"\b(?:farm|process)_\w+", target["expr"])
    }
    assert len(asked) > 20
    async with private((OWN_LIBRARY,)) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("library_loans", "renew_before_trip")
        await client.score(lease.instance)
        async with httpx.AsyncClient(
            base_url=address.url, headers={"Authorization": f"Bearer {address.token}"}
        ) as http:
            told = (await http.get("/metrics")).text
    typed = dict(re.findall(r"^# TYPE (\w+) (\w+)", told, re.MULTILINE))
    sampled = re.findall(r"^(\w+)[{ ]", told, re.MULTILINE)
    buckets = [f"{name}_bucket" for name, kind in typed.items() if kind == "histogram"]  # also before the first call
    assert asked <= {*typed, *buckets, *sampled}


def test_prometheus_and_grafana_of_the_compose_file_find_the_farm_and_each_other() -> None:
    scrape = yaml.safe_load((DEPLOY / "monitoring/prometheus.yml").read_text(encoding="utf-8"))
    [job] = scrape["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"registry:{PORT}"]}]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{SERVICES['prometheus']['secrets'][0]}"
    [source] = yaml.safe_load((DEPLOY / "monitoring/grafana/datasource.yml").read_text(encoding="utf-8"))["datasources"]
    assert source["url"] == "http://prometheus:9090"
    for service in ("prometheus", "grafana"):
        for mount in SERVICES[service]["volumes"]:
            local = mount.partition(":")[0]
            assert not local.startswith(".") or (ROOT / local).is_file(), mount
    dashboard = json.loads((DEPLOY / "monitoring/grafana/farm.json").read_text(encoding="utf-8"))
    assert {panel["datasource"]["uid"] for panel in dashboard["panels"]} == {source["uid"]}
