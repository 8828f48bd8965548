"""The commands that look into a running farm, as a user runs them."""

import json
from pathlib import Path

from agent_client.toolbox import connect
from registry.client import FarmClient
from tests.processes import Done, farm, farm_up

UNKNOWN = "0123456789abcdef"


async def test_a_running_farm_is_looked_into(shelf: Path, tmp_path: Path) -> None:
    async with (
        farm_up(tmp_path / "state", "--port", "0", "--library", shelf, home=tmp_path) as running,
        FarmClient(running.url, running.token) as client,
    ):
        [lease] = await client.launch("shop", "dearer")
        async with connect(*lease.address()) as toolbox:
            await toolbox.call("price", {"id": "t2", "cents": 250})
            await toolbox.call("price", {"id": "t9", "cents": 1})

        async def said(*arguments: str) -> Done:
            return await farm(*arguments, "--state", str(running.state), home=tmp_path)

        told = await said("ps")
        assert "worker-1" in told.out
        assert "shop" in told.out
        assert "things" in (await said("state", lease.instance)).out
        assert "candle" in (await said("state", lease.instance, "things")).out
        assert "cents 200 → 250" in (await said("diff", lease.instance)).out
        history = (await said("history", lease.instance)).out
        assert 'price(id="t2", cents=250)' in history
        assert "refused there is no thing 't9'" in history
        asked = await said("sql", lease.instance, "SELECT name FROM things WHERE cents = 250", "--json")
        assert json.loads(asked.out) == [{"name": "bell"}]
        link = (await said("open", "--print")).out
        assert link.startswith(f"{running.url}/login?code=")
        assert running.token not in link
        for wrong, code in (
            (("sql", lease.instance, "DELETE FROM things"), 2),
            (("state", lease.instance, "nothing"), 2),
            (("diff", "../x"), 2),
            (("history", UNKNOWN), 2),
        ):
            done = await said(*wrong)
            assert (done.code, done.out) == (code, ""), done
            assert done.err.startswith("farm: ")


async def test_the_tools_of_an_environment_are_listed_and_shown(shelf: Path, tmp_path: Path) -> None:
    listed = await farm("tools", shelf / "shop", home=tmp_path)
    assert "name, [cents]" in listed.out
    shown = await farm("tools", shelf / "shop", "price", home=tmp_path)
    assert "Set a price." in shown.out
    [told] = json.loads((await farm("tools", shelf / "shop", "price", "--json", home=tmp_path)).out)
    assert told["name"] == "price"
    wrong = await farm("tools", shelf / "shop", "prize", home=tmp_path)
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean 'price'" in wrong.err
