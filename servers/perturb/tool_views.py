"""The views of a worker: which tools of other environments a perturbed instance lists, and the view of each origin."""

from collections.abc import Iterator
from random import Random

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.bundle_library import Library
from servers.errors import BundleError, Conflict, NotFound, RequestError
from servers.limits.recent_values import RecentValues
from servers.perturb.perturbation import perturbation_of
from servers.perturb.tool_view import ToolView, view_of

MOST_OF_ONE = 5
"""The most tools that are drawn of one environment."""
MOST_VIEWS = 64


class ToolViews:
    """The views of the environments of one library. All of it may read files, so callers use a thread."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made = RecentValues[str, ToolView](MOST_VIEWS)

    def foreign_to(self, environment: Environment, perturb: str) -> tuple[str, ...]:
        """The tools of other environments that a line asks for, each as `ENVIRONMENT/TOOL`.

        Raises:
            RequestError: the line cannot be applied to this environment, or the library has too few other tools.
        """
        if environment.description.benchmark is not None:
            raise RequestError(f"perturb: {environment.id} is of a public benchmark, which is played as it is")
        wanted = perturbation_of(perturb)
        random = Random(f"{wanted.seed}/foreign/{environment.id}")  # noqa: S311 - a choice that can be repeated
        found: list[str] = []
        if wanted.tools:
            taken = {*environment.tools, *wanted.renamed.values()}
            for name in random.sample(self._library.ids(), len(self._library.ids())):
                tools = [tool.name for tool in self._tools_of(name, environment.id) if tool.name not in taken]
                drawn = random.sample(tools, min(len(tools), MOST_OF_ONE, wanted.tools - len(found)))
                taken.update(drawn)
                found += [f"{name}/{tool}" for tool in drawn]
        if len(found) < wanted.tools:
            raise RequestError(
                f"perturb: tools={wanted.tools}: the other environments of this farm lend {len(found)} tools"
            )
        self.of(environment, perturb, tuple(found))
        return tuple(found)

    def of(self, environment: Environment, perturb: str, foreign: tuple[str, ...]) -> ToolView | None:
        """The view of an instance. None if nothing is perturbed.

        Raises:
            RequestError: two tools collide.
            Conflict: a tool of another environment is gone.
        """
        if not perturb:
            return None
        key = f"{environment.digest} {perturb} {' '.join(foreign)}"
        view = self._made.find(key)
        if view is None:
            view = view_of(environment.description.tools, perturbation_of(perturb), list(self._found(foreign)))
            self._made.keep(key, view)
        return view

    def _found(self, foreign: tuple[str, ...]) -> Iterator[Tool]:
        for place in foreign:
            name, _, tool = place.partition("/")
            try:
                yield self._library.environment(name).tools[tool]
            except (KeyError, NotFound, BundleError):
                raise Conflict(f"the tool {place}, which this instance lists, is gone; launch a new one") from None

    def _tools_of(self, name: str, own: str) -> tuple[Tool, ...]:
        """The tools that an environment lends. One that came from elsewhere lends none."""
        try:
            description = None if name == own else self._library.environment(name).description
        except BundleError:
            return ()
        return () if description is None or description.imported or description.benchmark else description.tools
