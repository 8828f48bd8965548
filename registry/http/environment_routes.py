"""The routes of the catalogue."""

from typing import Annotated

from fastapi import APIRouter, Query

from registry.http.dependencies import EnvironmentInPath, FarmRegistry, ScenarioInPath, Search, WantedPage
from registry.http.errors import documented
from registry.messages import EnvironmentDetail, EnvironmentPart, ScenarioDetail, ScenarioPart

Tag = Annotated[str | None, Query(max_length=100, description="A tag that it must have.", examples=["easy"])]

routes = APIRouter(prefix="/v1/environments", tags=["environments"])


@routes.get("", summary="List environments", responses=documented(401, 422))
async def list_environments(registry: FarmRegistry, page: WantedPage, search: Search = "") -> EnvironmentPart:
    """The healthy bundles of the library as cards; `broken` names the others, with the first finding of each."""
    return await registry.catalogue.answer(lambda: registry.catalogue.environments(page, search=search))


@routes.get("/{environment}", summary="Show an environment", responses=documented(401, 404, 422))
async def show_environment(registry: FarmRegistry, environment: EnvironmentInPath) -> EnvironmentDetail:
    """Its tools with their schemas, its policy, its tables."""
    return await registry.catalogue.answer(lambda: registry.catalogue.environment(environment))


@routes.get("/{environment}/scenarios", summary="List scenarios", responses=documented(401, 404, 422))
async def list_scenarios(
    registry: FarmRegistry, environment: EnvironmentInPath, page: WantedPage, tag: Tag = None, search: Search = ""
) -> ScenarioPart:
    """The scenarios of an environment as cards, in the bundle's order."""
    return await registry.catalogue.answer(
        lambda: registry.catalogue.scenarios(environment, page, tag=tag, search=search)
    )


@routes.get("/{environment}/scenarios/{scenario}", summary="Show a scenario", responses=documented(401, 404, 422))
async def show_scenario(
    registry: FarmRegistry, environment: EnvironmentInPath, scenario: ScenarioInPath
) -> ScenarioDetail:
    """Everything about a scenario, including the answer key: checkpoints and reference solution."""
    return await registry.catalogue.answer(lambda: registry.catalogue.scenario(environment, scenario))
