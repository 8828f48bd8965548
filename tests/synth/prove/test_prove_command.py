"""`farm prove` says what it saw and ends with 0, 1 or 2."""

import json
from pathlib import Path
from statistics import mean

from servers.bundle_library import OWN_LIBRARY, Library
from synth.prove.proof import load_proof
from tests.bundles import TOOLS, write_bundle
from tests.processes import farm


async def test_a_proof_is_made_written_and_looked_at(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop", scenarios=())
    done = await farm("prove", str(bundle), "--calls", "60", "--details", "--write", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("shop sound, score 60: 4 tools")
    assert load_proof(bundle) is not None
    assert (await farm("prove", str(bundle), "--check", home=tmp_path)).code == 0
    (bundle / "policy.md").write_text("Another.")
    done = await farm("prove", str(bundle), "--check", home=tmp_path)
    made = f"`farm prove {bundle} --write` makes one"
    assert (done.code, done.out) == (1, f"shop: no proof.json about its files as they are; {made}\n")


async def test_a_bundle_that_cannot_be_run_keeps_its_earlier_proof(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop", scenarios=())
    (bundle / "proof.json").write_text("an earlier one")
    (bundle / "schema.sql").write_text("CREATE TABEL x (y);")
    done = await farm("prove", str(bundle), "--write", home=tmp_path)
    assert (done.code, done.err) == (1, "")
    assert 'schema.sql: near "TABEL": syntax error' in done.out
    assert done.out.endswith("not written: none of its tools could be run, so proof.json is left as it is\n")
    assert (bundle / "proof.json").read_text() == "an earlier one"


async def test_a_picture_shows_every_environment_and_what_its_scenarios_are_worth(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop")
    described = json.loads((bundle / "environment.json").read_text())
    (bundle / "environment.json").write_text(json.dumps(described | {"title": "A <b>shop</b>"}))
    page = tmp_path / "picture.html"
    done = await farm("prove", "library_loans", str(bundle), "--check", "--report", str(page), home=tmp_path)
    assert (done.code, f"Picture: {page}" in done.out) == (1, True)
    library = Library([OWN_LIBRARY])
    drawn = page.read_text()
    assert all(f">{tool}<" in drawn for tool in library.environment("library_loans").tools)
    certified = len(library.scenarios("library_loans"))
    assert f"<b>{certified}</b>certified scenarios" in drawn
    every = [one.certificate for one in library.scenarios("library_loans").values() if one.certificate is not None]
    leak = sum(one.leak for one in every)
    assert f"<b>{leak:,.0f}</b>leak, {leak / len(every):.1f} a scenario" in drawn
    assert f'<td class="n">{leak:,.1f}</td><td class="n">{leak / len(every):.1f}</td>' in drawn
    for name, one in library.scenarios("library_loans").items():
        assert one.certificate is not None
        numbers = f'<td class="n">{one.certificate.kill_score:.2f}</td><td class="n">{one.certificate.leak:.2f}</td>'
        assert f"<td>{name}</td>{numbers}" in drawn
    earned = [one.company["half"] for one in every if "half" in one.company]
    half = f'<td>half</td><td class="n">{len(earned)}</td><td class="n">{mean(earned):.2f}</td><td class="n">0</td>'
    assert half in drawn
    assert "no proof" in drawn
    assert "A &lt;b&gt;shop&lt;/b&gt;" in drawn
    for nowhere in (tmp_path / "no" / "x.html", tmp_path):
        done = await farm("prove", "library_loans", "--check", "--report", str(nowhere), home=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert f"--report {nowhere}: cannot be written" in done.err


async def test_a_picture_without_certificates_claims_no_kill_score(tmp_path: Path) -> None:
    bare, stale = tmp_path / "bare", tmp_path / "stale"
    await write_bundle(bare, scenarios=())
    await write_bundle(stale)
    pages: list[str] = []
    for bundle in (bare, stale):
        done = await farm("prove", bundle, "--check", "--report", "page.html", home=tmp_path)
        assert done.code == 1  # there is no proof
        pages.append((tmp_path / "page.html").read_text())
    for drawn in pages:
        assert "median kill score" not in drawn
        assert "Wrong agents" not in drawn
        assert "0.00" not in drawn
        assert 'class="none"' not in drawn
        assert "<div>price</div>" in drawn
    assert "There are no scenarios yet: <code>farm synth backward BUNDLE" in pages[0]
    assert "1 scenario without a certificate of the present version: <code>farm certify BUNDLE" in pages[1]


async def test_what_is_wrong_is_said_and_a_mistake_is_one_line(tmp_path: Path) -> None:
    bundle = await write_bundle(
        tmp_path / "shop", tools=TOOLS.replace("name=name, cents=cents)", "cents=cents)"), scenarios=()
    )
    done = await farm("prove", str(bundle), "--calls", "20", home=tmp_path)
    assert done.code == 1
    assert "  answers: make: tools.py, line" in done.out
    for arguments in (("nowhere",), (str(bundle), "--calls", "0"), (str(bundle), "--write", "--check")):
        done = await farm("prove", *arguments, home=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert "Traceback" not in done.err


async def test_the_farms_own_environments_are_named_by_id(tmp_path: Path) -> None:
    names = sorted(path.parent.name for path in OWN_LIBRARY.glob("*/proof.json"))
    done = await farm("prove", *names, "--check", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")] == names


async def test_a_bundle_that_does_not_start_is_told_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop", scenarios=())
    (bundle / "schema.sql").write_text("-- What there is.\nCREATE TABLE a (id TEXT);\n\n-- More.\nCREATE TABEL b (id);")
    done = await farm("prove", str(bundle), "--calls", "20", home=tmp_path)
    assert done.code == 1
    assert "schema.sql" in done.out
    assert "(after: CREATE TABLE a (id TEXT);)" in done.out
    assert "rules.json" not in done.out
