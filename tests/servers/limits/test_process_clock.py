"""How it is told whether a process that does not answer is busy, waits, or is not let run."""

import asyncio
import sys

import pytest

from servers.limits.process_clock import ClockEnding, Deadline, cpu_seconds

BUSY = "while True: pass"
ASLEEP = "time.sleep(1000)"
ASLEEP_MOST_OF_THE_TIME = "while True: time.sleep(0.15)"


@pytest.mark.parametrize(("does", "ending"), [(BUSY, "late"), (ASLEEP, "asleep"), (ASLEEP_MOST_OF_THE_TIME, "asleep")])
async def test_a_process_that_does_not_answer_ends_for_what_it_does(does: str, ending: ClockEnding) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", f"import time\nprint(flush=True)\n{does}", stdout=asyncio.subprocess.PIPE
    )
    ended: asyncio.Future[ClockEnding] = asyncio.get_running_loop().create_future()
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        deadline = Deadline(process.pid, ended.set_result, is_told=lambda: True)
        deadline.start(20.0, cpu_seconds(process.pid))  # an earlier request, whose timer is still set
        deadline.stop()
        deadline.start(1.0, cpu_seconds(process.pid))
        assert await ended == ending
    finally:
        process.kill()
        await process.communicate()
