"""What checkpoints say of a final state, and what it is worth. One that fails on this state does not hold."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import pytest
import pytest_asyncio
from pydantic import ValidationError

from servers.bundle_library import Library
from servers.errors import CheckpointError
from servers.messages import (
    Assessment,
    Judge,
    Launch,
    Verdict,
)
from servers.scenario.checkpoints.footprint import FootprintCheckpoint
from servers.state.state_file import KeptCall
from servers.worker.instance import Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.told import diff_of

SECONDS = 0.5


@pytest_asyncio.fixture(scope="module")
async def worker(library: Library, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    """A worker with a short deadline, for checkpoints that hang."""
    async with Worker(library, tmp_path_factory.mktemp("worker"), WorkerSettings(call_seconds=SECONDS)) as worker:
        yield worker


async def judged(worker: Worker, instance: Instance, *checkpoints: Mapping[str, Any], answer: str = "") -> Assessment:
    named = [{"id": f"c{number}", "question": "?", **checkpoint} for number, checkpoint in enumerate(checkpoints)]
    return await worker.judge(instance.id, Judge.model_validate({"checkpoints": named, "answer": answer}))


async def verdict(worker: Worker, instance: Instance, checkpoint: Mapping[str, Any], *, answer: str = "") -> Verdict:
    [found] = (await judged(worker, instance, checkpoint, answer=answer)).verdicts
    return found


def sql(text: str, expect: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "goal", "kind": "sql", "sql": text, "expect": expect, **fields}


def python(*lines: str, **fields: Any) -> dict[str, Any]:
    """A checkpoint with these lines as the body of `check`."""
    body = "".join(f"    {line}\n" for line in lines)
    return {"role": "goal", "kind": "python", "python": f"def check(start, final, answer, calls):\n{body}", **fields}


def footprint(*allow: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "guard", "kind": "footprint", "allow": list(allow)}


TRUE, FALSE = sql("SELECT 1", [[1]]), sql("SELECT 0", [[1]])


@pytest.mark.parametrize(
    ("text", "expect", "holds"),
    [
        ("SELECT cents FROM things WHERE id = 't2'", [[250]], True),
        ("SELECT cents FROM start.things WHERE id = 't2'", [[200]], True),
        ("SELECT cents FROM things WHERE id = 't2'", [[200]], False),
        ("SELECT id, cents FROM things ORDER BY id", [["t1", 100], ["t2", 250], ["t3", 300]], True),
        ("SELECT id, cents FROM things ORDER BY id", [["t1", 100], ["t2", 250]], False),
        ("SELECT id FROM things WHERE cents > 999", [], True),
        ("SELECT id FROM things", [], False),
        ("SELECT NULL", [[None]], True),
        ("SELECT '1'", [[1]], False),
        ("SELECT 1.0", [[1]], True),
        ("SELECT x'00'", [["<1 bytes>"]], True),
        ("SELECT count(*) FROM things", {"op": "==", "value": 3}, True),
        ("SELECT count(*) FROM things", {"op": "!=", "value": 3}, False),
        ("SELECT count(*) FROM things", {"op": "<", "value": 4}, True),
        ("SELECT count(*) FROM things", {"op": "<=", "value": 2}, False),
        ("SELECT count(*) FROM things", {"op": ">", "value": 3}, False),
        ("SELECT count(*) FROM things", {"op": ">=", "value": 3}, True),
        ("SELECT name FROM things WHERE id = 't1'", {"op": "<", "value": "b"}, True),
        ("SELECT name FROM things WHERE id = 't1'", {"op": "<", "value": 3}, False),
        ("SELECT NULL", {"op": ">", "value": 0}, False),
        ("SELECT 1, 2", {"op": ">", "value": 0}, False),
        ("SELECT id FROM things", {"op": "!=", "value": "x"}, False),
        ("SELECT 1 WHERE 0", {"op": "!=", "value": 1}, False),
        ("SELECT :answer", [["It costs 2.50 now."]], True),
        ("SELECT :answer LIKE '%2.50%'", [[1]], True),
    ],
)
async def test_sql_holds_when_its_rows_are_what_is_expected(
    worker: Worker, instance: Instance, text: str, expect: Any, holds: bool
) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    found = await verdict(worker, instance, sql(text, expect), answer="It costs 2.50 now.")
    assert (found.holds, found.error) == (holds, None)


async def test_a_verdict_shows_what_was_seen(worker: Worker, instance: Instance) -> None:
    found = await verdict(worker, instance, sql("SELECT id, cents FROM things ORDER BY id LIMIT 2", []))
    assert found.seen == '[["t1", 100], ["t2", 200]]'
    many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
    found = await verdict(worker, instance, sql(many, [[1]]))
    assert not found.holds
    assert len(found.seen) <= 500


LONG = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT {}) SELECT count(*) FROM c"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (LONG.format(10_000_000), "the query took more than 50 million steps; narrow it down"),
        ("SELECT json(name) FROM things", "the query does not run: malformed JSON"),
        ("SELECT abs(-9223372036854775807 - 1)", "the query does not run: integer overflow"),
        ("SELECT length(zeroblob(2000000))", "the query does not run: string or blob too big"),
        (f"{LONG.format(100)}, (SELECT hex(zeroblob(400000)))", "the rows are larger than 4 MB together"),
    ],
)
async def test_sql_that_fails_on_this_state_does_not_hold_and_says_why(
    worker: Worker, instance: Instance, text: str, error: str
) -> None:
    found = await verdict(worker, instance, sql(text.replace("count(*) FROM c,", "* FROM c,"), [[1]]))
    assert not found.holds
    assert (found.error or "").startswith(error)


async def test_a_query_has_the_same_steps_on_every_machine(worker: Worker, instance: Instance) -> None:
    """Ten times the time of an ordinary checkpoint, and far from the limit."""
    assert (await verdict(worker, instance, sql(LONG.format(1_000_000), [[1_000_000]]))).holds


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SELECT missing", "the query does not run: no such column: missing"),
        ("SELECT :other", "the query does not run: "),
        ("SELECT ?1", "the query does not run: "),
        ("DELETE FROM things", "only a SELECT over the environment's tables is allowed here: not authorized"),
        ("SELECT 1; SELECT 2", "one SELECT at a time"),
        ("SELECT 1\0", "the query does not run: null character in query"),
        ("-- nothing", "the query does not run: there is no statement in it"),
    ],
)
async def test_sql_that_runs_on_no_state_judges_nobody(
    worker: Worker, instance: Instance, text: str, error: str
) -> None:
    with pytest.raises(CheckpointError) as broken:
        await judged(worker, instance, TRUE, sql(text, [[1]]))
    assert str(broken.value).startswith(f"checkpoint 'c1' cannot be asked: {error}")


@pytest.mark.parametrize(
    "lines",
    [
        ["return True"],
        ["return final.one('SELECT cents FROM things WHERE id = :id', id='t2')['cents'] == 250"],
        ["return start.one('SELECT cents FROM things WHERE id = :id', id='t2')['cents'] == 200"],
        ["return len(final.all('SELECT * FROM log')) == 1 and start.all('SELECT * FROM log') == []"],
        ["return answer == 'Done.'"],
        ["return [(call['tool'], call['outcome']) for call in calls] == [('price', 'ok'), ('sell', 'invalid')]"],
        ["return calls[0]['arguments'] == {'id': 't2', 'cents': 250}"],
        ["return final.now() == '2026-03-16 09:02:00'"],
        ["import re", "return bool(re.search('D', answer))"],
    ],
)
async def test_python_sees_start_final_answer_and_calls(worker: Worker, instance: Instance, lines: list[str]) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    await instance.call("sell", {})
    found = await verdict(worker, instance, python(*lines), answer="Done.")
    assert (found.holds, found.error) == (True, None)


@pytest.mark.parametrize(
    ("checkpoint", "error"),
    [
        (python("return False"), None),
        (python("return 1"), "TypeError: returned int; a checkpoint returns True or False"),
        (python("return None"), "TypeError: returned NoneType; a checkpoint returns True or False"),
        (python("pass"), "TypeError: returned NoneType; a checkpoint returns True or False"),
        (python("raise ValueError('no')"), "ValueError: no"),
        (python("return 1 / 0"), "ZeroDivisionError: division by zero"),
        (python("raise SystemExit(0)"), "SystemExit: 0"),
        (python("import os", "os._exit(0)"), "the checkpoint broke: a guest ended: closed its socket"),
        (
            python("while True: pass"),
            "the checkpoint broke: a guest used up its 0.5 s of processor time for 'judge'",
        ),
        (
            python("import time", "time.sleep(1000)"),
            "the checkpoint broke: a guest waited for something else than 'judge', and did not answer",
        ),
        (python("return check(start, final, answer, calls)"), "RecursionError: maximum recursion depth exceeded"),
        (python("return len(bytearray(8 * 1024 ** 3)) > 0"), "MemoryError: "),
        (python("raise ValueError('x' * 10_000)"), "ValueError: xxx"),
        (python("final.run('DELETE FROM things')", "return True"), "AuthError: not authorized"),
        (python("start.run('DELETE FROM things')", "return True"), "AuthError: not authorized"),
        (python("final.all('DELETE FROM things RETURNING id')", "return True"), "AuthError: not authorized"),
        (python("final.all('DROP TABLE things')", "return True"), "AuthError: not authorized"),
        (python("final.all(\"ATTACH '/etc/passwd' AS p\")", "return True"), "AuthError: not authorized"),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value)[:40],
)
async def test_python_that_does_not_say_true_does_not_hold(
    worker: Worker, instance: Instance, checkpoint: dict[str, Any], error: str | None
) -> None:
    found = await verdict(worker, instance, checkpoint)
    assert not found.holds
    if error is None:
        assert found.error is None
    else:
        assert (found.error or "").startswith(error)
        assert len(found.error or "") <= 500
    assert await diff_of(worker, instance.id) == []
    assert (await verdict(worker, instance, python("return True"))).holds


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("def chek(start, final): return True", "defines no function check(start, final, answer, calls)"),
        ("check = True", "defines no function check(start, final, answer, calls)"),
        ("def check(): return True", "check does not take start, final, answer and calls: too many positional"),
        ("def check(:", "SyntaxError: "),
        ("1 / 0", "ZeroDivisionError: "),
        ("import nowhere", "ModuleNotFoundError: "),
    ],
)
async def test_python_that_is_no_checkpoint_judges_nobody(
    worker: Worker, instance: Instance, text: str, error: str
) -> None:
    with pytest.raises(CheckpointError) as broken:
        await judged(worker, instance, TRUE, {**python(), "python": text})
    assert str(broken.value).startswith(f"checkpoint 'c1' cannot be asked: {error}")


async def test_only_a_guest_reads_the_arguments_of_calls(worker: Worker, instance: Instance) -> None:
    instance.state.keep(KeptCall(1, "price", "[no JSON", "invalid", "", None, b"", 0, 0.0))
    assert (await verdict(worker, instance, sql("SELECT 1", [[1]]))).holds
    told = await verdict(worker, instance, python("return True"))
    assert (told.holds, (told.error or "").split(":")[0]) == (False, "JSONDecodeError")


async def test_python_sees_calls_of_any_size(worker: Worker, instance: Instance) -> None:
    for _ in range(4):
        await instance.call("find", {"text": "é" * 200_000})
    assert (await verdict(worker, instance, python("return len(calls) == 4"), answer="x" * 100_000)).holds


async def test_each_python_checkpoint_has_a_process_of_its_own(worker: Worker, instance: Instance) -> None:
    leave = python("import builtins", "builtins.left = True", "return True")
    look = python("import builtins", "return not hasattr(builtins, 'left')")
    assert (await judged(worker, instance, leave, look)).success


@pytest.mark.parametrize(
    ("allow", "seen"),
    [
        ([{"table": "log", "operation": "insert"}, {"table": "things", "operation": "update"}], ""),
        ([{"table": "things", "operation": "update"}], 'insert in log: {"id": 1}'),
        ([{"table": "log", "operation": "insert"}], 'update in things: {"id": "t2"}'),
        ([{"table": "log", "operation": "update"}, {"table": "things", "operation": "update"}], "insert in log"),
        ([{"table": "log", "operation": "insert"}, {"table": "things", "operation": "insert"}], "update in things"),
    ],
)
async def test_every_changed_row_needs_an_allowance_of_its_table_and_operation(
    worker: Worker, instance: Instance, allow: list[dict[str, Any]], seen: str
) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    found = await verdict(worker, instance, footprint(*allow))
    assert (found.holds, found.error) == (not seen, None)
    assert found.seen.startswith(seen)


LOG = {"table": "log", "operation": "insert"}
UPDATE = {"table": "things", "operation": "update"}


@pytest.mark.parametrize(
    ("allowance", "holds"),
    [
        ({"columns": ["cents"]}, True),
        ({"columns": ["cents", "name"]}, True),
        ({"columns": ["name"]}, False),
        ({"columns": []}, False),
        ({"where": "id = 't2'"}, True),
        ({"where": "cents = 250"}, True),
        ({"where": "cents = 200"}, False),
        ({"where": "id = 't3' OR 1"}, True),
        ({"where": "id = 't3'"}, False),
        ({"where": "cents > (SELECT cents FROM start.things WHERE id = 't2')"}, True),
        ({"rows": 1}, True),
        ({"rows": 0}, False),
    ],
)
async def test_an_allowance_may_name_columns_rows_and_how_many(
    worker: Worker, instance: Instance, allowance: dict[str, Any], holds: bool
) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    found = await verdict(worker, instance, footprint(LOG, {**UPDATE, **allowance}))
    assert (found.holds, found.error) == (holds, None)


async def test_more_rows_than_are_allowed_are_too_many(worker: Worker, instance: Instance) -> None:
    for thing in ("t1", "t2"):
        await instance.call("price", {"id": thing, "cents": 1})
    assert not (await verdict(worker, instance, footprint(LOG, {**UPDATE, "rows": 1}))).holds
    assert (await verdict(worker, instance, footprint(LOG, {**UPDATE, "rows": 2}))).holds
    each = [{**UPDATE, "rows": 1, "where": f"id = '{thing}'"} for thing in ("t1", "t2")]
    assert (await verdict(worker, instance, footprint(LOG, *each))).holds


async def test_an_allowance_for_all_does_not_take_the_room_of_one_for_some(worker: Worker, instance: Instance) -> None:
    for thing in ("t1", "t2"):
        await instance.call("price", {"id": thing, "cents": 1})
    wide, narrow = {**UPDATE, "rows": 1}, {**UPDATE, "rows": 1, "where": "id = 't1'"}
    assert (await verdict(worker, instance, footprint(LOG, wide, narrow))).holds
    assert (await verdict(worker, instance, footprint(LOG, narrow, wide))).holds


async def test_a_deleted_row_is_looked_at_as_it_was(worker: Worker, instance: Instance) -> None:
    await instance.call("scrap", {"id": "t2"})
    part = {"table": "parts", "operation": "delete", "where": "note = 'clapper'"}
    gone = {"table": "things", "operation": "delete", "where": "name = 'bell' AND cents = 200"}
    assert (await verdict(worker, instance, footprint(part, gone))).holds
    assert not (await verdict(worker, instance, footprint(part))).holds


async def test_nothing_changed_needs_no_allowance(worker: Worker, instance: Instance) -> None:
    await instance.call("find", {})
    assert (await verdict(worker, instance, footprint())).holds
    await instance.call("price", {"id": "t2", "cents": 200})
    assert (await verdict(worker, instance, footprint(LOG))).holds


@pytest.mark.parametrize("where", ["nothing = 1", "1); DELETE FROM things; --", "(SELECT", "id = :answer"])
async def test_an_allowance_that_runs_on_no_state_judges_nobody(worker: Worker, instance: Instance, where: str) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    with pytest.raises(CheckpointError, match="cannot be asked"):
        await judged(worker, instance, footprint(LOG, {**UPDATE, "where": where}))


def guard(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    return {**checkpoint, "role": "guard"}


@pytest.mark.parametrize(
    ("checkpoints", "reward", "success"),
    [
        ([TRUE], 1.0, True),
        ([FALSE], 0.0, False),
        ([TRUE, FALSE], 0.5, False),
        ([{**TRUE, "weight": 3}, FALSE], 0.75, False),
        ([{**FALSE, "weight": 3}, TRUE], 0.25, False),
        ([TRUE, TRUE, FALSE], 0.666667, False),
        ([TRUE, guard(TRUE)], 1.0, True),
        ([TRUE, guard(FALSE)], 0.0, False),
        ([TRUE, FALSE, guard(TRUE)], 0.5, False),
        ([TRUE, guard(TRUE), guard(FALSE)], 0.0, False),
        ([TRUE, guard(sql("SELECT json('{')", [[1]]))], 0.0, False),
        ([TRUE, sql("SELECT json('{')", [[1]])], 0.5, False),
        ([TRUE, guard(python("raise ValueError"))], 0.0, False),
        ([guard(TRUE)], 0.0, False),
        ([], 0.0, False),
    ],
)
async def test_the_reward_is_the_weighted_share_of_goals_while_all_guards_hold(
    worker: Worker, instance: Instance, checkpoints: Sequence[Mapping[str, Any]], reward: float, success: bool
) -> None:
    judgement = await judged(worker, instance, *checkpoints)
    assert (judgement.reward, judgement.success) == (reward, success)
    assert len(judgement.verdicts) == len(checkpoints)


async def test_the_state_is_judged_as_it_is_now_and_judging_changes_nothing(worker: Worker) -> None:
    [ticket] = await worker.launch(Launch(environment="shop", scenario="dearer"))
    instance = worker.find(ticket.instance)
    goals = worker.library.scenario("shop", "dearer").checkpoints
    order = Judge(checkpoints=goals, answer="Done.")
    assert (await worker.judge(instance.id, order)).reward == 0.0
    await instance.call("price", {"id": "t2", "cents": 250})
    judgement = await worker.judge(instance.id, order)
    assert (judgement.reward, judgement.success) == (1.0, True)
    assert judgement == await worker.judge(instance.id, order)
    assert (await worker.standing(instance.id)).calls == 1
    await worker.reset(instance.id)
    assert (await worker.judge(instance.id, order)).reward == 0.0


def telling(*facts: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    named = [{"name": f"fact_{number}", **fact} for number, fact in enumerate(facts)]
    return {"role": "goal", "kind": "answer", "facts": named, **fields}


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("It costs 250 now.", True),
        ("Two hundred and fifty.", True),
        ("It costs 200, no, 250.", False),
        ("200 or 250", False),
        ("250, not 300", True),
        ("It does not cost 250.", False),
        ("", False),
    ],
)
async def test_an_answer_is_judged_by_the_facts_it_tells(
    worker: Worker, instance: Instance, answer: str, holds: bool
) -> None:
    await instance.call("price", {"id": "t2", "cents": 250})
    price = {
        "type": "count",
        "sql": "SELECT cents FROM things WHERE id = 't2'",
        "confusable_sql": "SELECT cents FROM start.things UNION SELECT cents FROM things",
    }
    assert (await verdict(worker, instance, telling(price), answer=answer)).holds is holds


async def test_an_answer_is_worth_nothing_where_the_state_has_nothing_of_the_kind_to_tell(
    worker: Worker, instance: Instance
) -> None:
    told = telling({"type": "count", "value": 3}, only_if="SELECT count(*) = 0 FROM things")
    assert not (await verdict(worker, instance, told, answer="3")).holds
    empty = telling({"type": "count", "sql": "SELECT cents FROM things WHERE id = 'none'"})
    found = await verdict(worker, instance, empty, answer="3")
    assert not found.holds
    assert (found.error or "").endswith("the SELECT gives no value")


async def test_a_fact_whose_query_runs_on_no_state_judges_nobody(worker: Worker, instance: Instance) -> None:
    with pytest.raises(CheckpointError, match="cannot be asked: the query does not run"):
        await judged(worker, instance, telling({"type": "count", "sql": "SELECT nothing"}), answer="3")


async def test_a_name_that_nobody_may_be_told_fails_a_guard(worker: Worker, instance: Instance) -> None:
    secret = {"role": "guard", "kind": "answer", "silent_sql": "SELECT id FROM things WHERE id = 't2'"}
    for answer, holds in (("It is with somebody else.", True), ("", True), ("Ask T2 about it.", False)):
        assert (await verdict(worker, instance, secret, answer=answer)).holds is holds


async def test_the_checkpoints_of_a_judgement_share_their_processor_time(worker: Worker, instance: Instance) -> None:
    """Each of the first takes all that one may; nothing is left for the last. None is asked twice."""
    endless = python("while True:", "    pass")
    before = worker.guests.started
    verdicts = (await judged(worker, instance, *[endless] * 4, python("return True"))).verdicts
    assert [one.holds for one in verdicts] == [False] * 5
    assert verdicts[0].error == "the checkpoint broke: a guest used up its 0.5 s of processor time for 'judge'"
    assert verdicts[-1].error == "the checkpoints together took more than 2 s"
    assert worker.guests.started - before <= 4


async def test_sql_and_python_share_their_processor_time(worker: Worker, instance: Instance) -> None:
    endless = sql("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c", [[0]])
    verdicts = (await judged(worker, instance, *[endless] * 20, python("return True"))).verdicts
    assert [one.holds for one in verdicts] == [False] * 21
    assert verdicts[-1].error == "the checkpoints together took more than 2 s"


async def test_checkpoints_see_the_time_of_the_instance(worker: Worker, instance: Instance) -> None:
    now = instance.now()
    seen = await judged(
        worker,
        instance,
        sql("SELECT datetime('now')", [[now]]),
        python(f"return final.one(\"SELECT datetime('now') AS now\")['now'] == '{now}'"),
    )
    assert seen.reward == 1.0


def test_a_footprint_has_so_many_allowances_and_no_more() -> None:
    allow = [{"table": "things", "operation": "insert", "rows": 1}] * 101
    footprint = {"id": "rows", "role": "guard", "question": "?", "kind": "footprint"}
    assert len(FootprintCheckpoint.model_validate({**footprint, "allow": allow[:100]}).allow) == 100
    with pytest.raises(ValidationError, match="at most 100 items"):
        FootprintCheckpoint.model_validate({**footprint, "allow": allow})
