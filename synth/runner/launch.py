"""Runs a plan: locks the folder, opens the writer, makes the environments, prints the outcome."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from servers.bundle.environment import load
from servers.errors import RequestError
from servers.text.wording import counted
from synth.llm.batch import BatchWriter
from synth.llm.batch_folder import results_of
from synth.llm.writer import Waiting, Writer
from synth.pipeline.artefact import Topic
from synth.pipeline.engine import Elsewhere, Mining, SynthesisRun
from synth.pipeline.environment_run import utc_now
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan
from synth.pipeline.progress import RunProgress
from synth.pipeline.stage import Stage
from synth.runner.summary import RunSummary, summed_up, write_report
from synth.runner.table import live
from synth.runner.vllm import serving_vllm
from synth.runner.writer_choice import embedder_for, writer_for


def imported_topic(folder: Path) -> Topic:
    """The topic of an imported bundle. Raises RequestError if it is none."""
    description = load(folder.resolve()).description
    if description.imported is None:
        raise RequestError(f"--from {folder}: was not imported; `farm import envscaler` makes such bundles")
    return Topic(title=description.title, introduction=description.description, imported=str(folder.resolve()))


@dataclass(frozen=True)
class RunSettings:
    """The settings of a run beside its plan. `api_key` is never written anywhere."""

    stages: Sequence[Stage]
    mining: Mining | None
    api_key: str
    console: Console
    machines: Callable[[RunPlan, Sequence[Stage], str], AbstractAsyncContextManager[Elsewhere]] | None = None
    """The function that distributes environments over machines, if any."""

    async def run(self, plan: RunPlan) -> int:
        """Run a plan. Returns the exit code. Raises FarmError if the run cannot start."""
        folder = SynthesisFolder(plan.out)
        if not plan.topics and not plan.imported and plan.tasks is None and not folder.begun():
            raise RequestError("nothing to make: give --topic, --tasks or --from, or a folder with a run to go on with")
        progress = RunProgress(prices=plan.prices)
        with folder.locked():
            self.console.print(
                f"Writing into {plan.out}; each stage has a line when it begins, each environment when it ends.",
                soft_wrap=True,
            )
            folder.note(json.loads(plan.model_dump_json()), utc_now())
            async with self._served(plan, folder) as served, self._writer(served, folder) as writer:
                run = SynthesisRun(folder, self.stages, writer, plan.wishes, plan.at_once, progress)
                try:
                    with live(self.console, progress):
                        await self._spread(run, served)
                finally:
                    summary = summed_up(folder, self.stages, plan.prices)
                    report = write_report(folder, summary)
                return self._ended(progress, writer, folder, summary, str(report))

    def _writer(self, plan: RunPlan, folder: SynthesisFolder) -> AbstractAsyncContextManager[Writer]:
        """The writer. Its waits for the endpoint are shown."""
        return writer_for(plan, folder, self.api_key, on_retry=lambda why: self.console.print(f"the endpoint: {why}"))

    @asynccontextmanager
    async def _served(self, plan: RunPlan, folder: SynthesisFolder) -> AsyncGenerator[RunPlan]:
        """The plan, with a vLLM server of its own if it asks for one."""
        if not plan.serve_vllm:
            yield plan
            return
        log = folder.path / "vllm.log"
        self.console.print(f"Starting vllm serve {plan.serve_vllm}; its log: {log}", soft_wrap=True)
        async with serving_vllm(plan.serve_vllm, log, plan.vllm_arguments) as base_url:
            yield plan.model_copy(update={"base_url": base_url, "model": plan.model or plan.serve_vllm})

    async def _spread(self, run: SynthesisRun, plan: RunPlan) -> None:
        if self.machines is None:
            return await self._advance(run, plan)
        async with self.machines(plan, self.stages, self.api_key) as elsewhere:
            run.elsewhere = elsewhere
            return await self._advance(run, plan)

    async def _advance(self, run: SynthesisRun, plan: RunPlan) -> None:
        topics = [*(Topic(title=title) for title in plan.topics), *map(imported_topic, plan.imported)]
        if plan.tasks is not None and plan.n is not None:
            if self.mining is None:
                raise RequestError("--tasks: there is no stage that mines")
            try:
                async with embedder_for(plan, self.api_key) as embedder:
                    topics += await run.mine(self.mining, plan.tasks, plan.n, embedder)
            except Waiting as waiting:
                run.progress.end("(mining)", "waiting", str(waiting))
                return
        await run.make(topics, again=plan.again)

    def _ended(
        self, progress: RunProgress, writer: Writer, folder: SynthesisFolder, summary: RunSummary, report: str
    ) -> int:
        say = self.console.print
        total = progress.total
        money = f", {total.money:.2f} spent" if any(progress.prices.model_dump().values()) else ""
        say(
            f"{progress.count('accepted')} accepted, {progress.count('rejected')} rejected; "
            f"{counted(total.asked - total.cached, 'request')}, {counted(total.cached, 'answer')} from the cache, "
            f"{total.prompt_tokens:,} + {total.completion_tokens:,} tokens{money}.",
            soft_wrap=True,
        )
        first = [
            f"{stage.name} {stage.first_accepted} of {stage.first_asked}"
            for stage in summary.stages
            if stage.first_asked
        ]
        if first:
            say(f"First answers accepted: {', '.join(first)}.", soft_wrap=True)
        say(f"Report: {report}", soft_wrap=True)
        if progress.count("accepted"):
            say(f"Bundles: {folder.library}", soft_wrap=True)
        if isinstance(writer, BatchWriter) and progress.count("waiting"):
            self._say_what_is_awaited(writer)
        broken = progress.count("stopped") + progress.count("failed")
        if broken:
            say(f"The same command goes on with {'it' if broken == 1 else 'them'}.")
        rejected = progress.count("rejected")
        if rejected:
            say(f"{'It is' if rejected == 1 else 'They are'} not tried again, unless with --again.")
        has_any = progress.count("accepted") or progress.count("waiting")
        return 1 if broken or not has_any else 0

    def _say_what_is_awaited(self, writer: BatchWriter) -> None:
        writer.close_batch()
        for path in writer.folder.outstanding():
            self.console.print(
                f"Waiting for the answers to {path}. Put them at {results_of(path)}, or name their file with "
                "--batch-results, and run the same command again.",
                soft_wrap=True,
            )
