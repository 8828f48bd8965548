"""The pages of runs: evaluations with their rollouts, comparisons, training runs, synthesis runs."""

from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from registry.web.app import PageView, Visit, json_answer, takes_gzip
from registry.web.line_chart import SMALL, line_chart
from registry.web.pages.run_questions import MOST_COMPARED, RunQuestion, RunQuestionKind, RunReaderProcess
from servers.errors import FarmError, NotFound, RequestError

LONGEST = 1000
"""Characters of a value of the address."""
CHARTS_A_PAGE = 24
FURTHEST = 100_000
FIRST_SERIES = ("success", "actor/entropy", "response_length/mean", "turns", "calls", "actor/pg_loss", "actor/kl_loss")
"""Figures of training that are shown first, by a part of their name."""


class RunPages:
    """The pages of the runs below some folders."""

    def __init__(self, reader: RunReaderProcess) -> None:
        self._reader = reader

    def routes(self) -> dict[str, PageView]:
        return {
            "GET /runs": self.list,
            "GET /runs/show": self.show,
            "GET /runs/data": self.data,
            "GET /runs/rollout": self.rollout,
            "GET /runs/subject": self.subject,
            "GET /runs/training/{run}": self.training,
            "GET /runs/training/{run}/episodes/{step}": self.episodes,
            "GET /runs/synthesis/{run}": self.synthesis,
            "GET /runs/synthesis/{run}/{environment}": self.environment,
            "GET /runs/synthesis/{run}/{environment}/{number}": self.exchange,
        }

    async def list(self, visit: Visit) -> Response:
        """All runs, side by side."""
        if not self._reader.shelves:
            return await visit.drawn("runs.html", runs=[], shelves=[], asked={"kind": "", "q": ""}, most=MOST_COMPARED)
        told = await self._reader.told(RunQuestion(kind="list"))
        asked = {"kind": visit.asked("kind"), "q": visit.asked("q")[:200]}
        words = asked["q"].lower()
        shown = [
            run
            for run in told["runs"]
            if asked["kind"] in ("", run["kind"])
            and words in f"{run['name']} {run.get('title', '')} {run.get('agent', '')}".lower()
        ]
        return await visit.drawn("runs.html", runs=shown, shelves=told["shelves"], asked=asked, most=MOST_COMPARED)

    async def show(self, visit: Visit) -> Response:
        """One evaluation, or some compared with the first. The report's own scripts draw it."""
        runs = _runs(visit)
        if not runs:
            raise RequestError("Nothing is compared yet: tick one or more evaluations in the list of runs first.")
        listed = await self._reader.told(RunQuestion(kind="list")) if self._reader.shelves else dict[str, Any]()
        known = {one["id"] for one in listed.get("runs", ())}
        for run in runs:
            if run not in known:
                raise NotFound(f"there is no such run: {run}; it may have been moved or deleted")
        query = "&".join(f"run={quote(one, safe='')}" for one in runs)
        return await visit.drawn("run.html", query=query, several=len(runs) > 1)

    async def data(self, visit: Visit) -> Response:
        """The data of that page."""
        return await self._packed(visit, "data", runs=_runs(visit), mark=visit.asked("mark")[:LONGEST])

    async def rollout(self, visit: Visit) -> Response:
        return await self._packed(visit, "rollout", runs=_runs(visit)[:1], name=visit.asked("name")[:LONGEST])

    async def subject(self, visit: Visit) -> Response:
        return await self._packed(visit, "subject", runs=_runs(visit)[:1], name=visit.asked("name")[:LONGEST])

    async def _packed(
        self, visit: Visit, kind: RunQuestionKind, *, runs: tuple[str, ...], name: str = "", mark: str = ""
    ) -> Response:
        """An answer for a script of ours."""
        try:
            body = await self._reader.packed(RunQuestion(kind=kind, runs=runs, name=name, mark=mark))
        except FarmError as error:
            return json_answer({"error": str(error)}, 404 if isinstance(error, NotFound) else 422)
        if body is None:
            return Response(status_code=204)
        if not takes_gzip(visit.request):
            return json_answer({"error": "this browser takes no compressed answer"}, 406)
        return Response(body, media_type="application/json", headers={"Content-Encoding": "gzip"})

    async def training(self, visit: Visit) -> Response:
        """A training run: reward by step, other figures, the steps whose episodes were kept."""
        run = visit.part("run")
        told = await self._reader.told(RunQuestion(kind="training", runs=(run,)))
        curves = {
            **{f"held out: {one['name']}": one["points"] for one in told["held_out"]},
            "training": told["trained"],
        }
        reward, narrow = line_chart(curves), line_chart(curves, SMALL)
        wanted = visit.asked("q")[:200].lower()
        found = [one for one in told["series"] if wanted in one["name"].lower()]
        if not wanted:
            found.sort(key=lambda one: next((at for at, part in enumerate(FIRST_SERIES) if part in one["name"]), 99))
        charts = [(one["name"], line_chart({one["name"]: one["points"]}, SMALL)) for one in found[:CHARTS_A_PAGE]]
        more = len(found) - len(charts)
        return await visit.drawn(
            "training.html",
            run=run,
            told=told,
            reward=reward,
            narrow=narrow,
            charts=charts,
            more=more,
            asked=wanted,
        )

    async def episodes(self, visit: Visit) -> Response:
        """Some episodes of one step, the worst first."""
        step = visit.part("step")
        if not (step.isdecimal() and len(step) < 10):
            raise NotFound("a step is a number")
        run = visit.part("run")
        offset = visit.number("from", most=FURTHEST)
        told = await self._reader.told(RunQuestion(kind="episodes", runs=(run,), name=step, offset=offset))
        return await visit.drawn("episodes.html", run=run, step=int(step), told=told)

    async def synthesis(self, visit: Visit) -> Response:
        """A synthesis run: its stages as they go, refusals, cost."""
        run = visit.part("run")
        told = await self._reader.told(RunQuestion(kind="synthesis", runs=(run,)))
        return await visit.drawn("synthesis.html", run=run, told=told)

    async def environment(self, visit: Visit) -> Response:
        """One environment of a synthesis run: its exchanges with the model, and why answers were refused."""
        run, name = visit.part("run"), visit.part("environment")
        told = await self._reader.told(RunQuestion(kind="environment", runs=(run,), name=name[:LONGEST]))
        return await visit.drawn("synthesised.html", run=run, told=told)

    async def exchange(self, visit: Visit) -> Response:
        """One exchange: what the writer was asked, its answer, and why that was refused."""
        run, name, number = visit.part("run"), visit.part("environment"), visit.part("number")
        if not (number.isdecimal() and len(number) < 7):
            raise NotFound("an exchange is a number")
        asked = RunQuestion(kind="exchange", runs=(run,), name=name[:LONGEST], offset=int(number))
        told = await self._reader.told(asked)
        above = f"/runs/synthesis/{quote(run, safe='')}"
        own = f"{above}/{quote(told['id'], safe='')}"
        return await visit.drawn(
            "exchange.html",
            trail=[("Runs", "/runs"), (told["name"], above), (told["id"], own)],
            own=own,
            told=told,
            absent="The cache of the run does not hold them.",
        )


def _runs(visit: Visit) -> tuple[str, ...]:
    """The runs in the address, each once."""
    given = visit.request.query_params.getlist("run")
    return tuple(dict.fromkeys(one[:64] for one in given if one))[:MOST_COMPARED]
