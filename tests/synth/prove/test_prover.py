"""A proof says what it saw, the same for the same seed; what is wrong with an environment is caught and named."""

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from servers.bundle.environment import as_json
from servers.bundle_library import OWN_LIBRARY
from servers.errors import BundleError
from servers.state.readonly_query import Reader
from synth.prove.explorer import broken_rows
from synth.prove.proof import Finding, Proof, load_proof, write_proof
from synth.prove.prover import prove
from tests.bundles import TOOLS, write_bundle
from tests.library import of_each_environment

POLICY = (
    "# Rules\n\n1. **Prices.** A price is never less than nothing.\n2. **Anvils** are kept.\n3. **Taste.** Be kind.\n"
)
RULES: list[dict[str, Any]] = [
    {
        "id": "no_negative_price",
        "text": "A price is not negative.",
        "item": 1,
        "holder": "schema",
        "by": "things.cents",
    },
    {"id": "anvils_stay", "text": "An anvil is kept.", "item": 2, "holder": "schema", "by": "nothing_is_sacred"},
    {"id": "kind", "text": "Be kind.", "item": 3, "holder": "agent"},
]
PRICE = TOOLS[TOOLS.index("def price") : TOOLS.index("def scrap")]


async def proof_of(folder: Path, tools: str, *, rules: list[dict[str, Any]] | None = None, calls: int = 60) -> Proof:
    bundle = await write_bundle(folder / "shop", tools=tools, policy=POLICY, scenarios=())
    if rules is not None:
        (bundle / "rules.json").write_text(json.dumps(rules))
    return await prove(bundle, calls=calls)


def named(proof: Proof) -> set[tuple[str, str]]:
    return {(finding.check, finding.subject) for finding in proof.findings}


def of(proof: Proof, check: str) -> Finding:
    [finding] = [finding for finding in proof.findings if finding.check == check]
    return finding


async def test_a_sound_environment_is_shown_to_be_one(tmp_path: Path) -> None:
    proof = await proof_of(tmp_path, TOOLS, rules=RULES, calls=300)
    assert proof.findings == ()
    assert proof.sound
    assert all(tool.ok for tool in proof.tools.values())
    assert proof.tools["price"].refused > 0
    assert proof.rules["no_negative_price"].refused > 0
    assert proof.rules["anvils_stay"].shown
    assert not proof.rules["kind"].shown
    assert proof.coverage.taken == proof.coverage.branches == 6
    assert proof.score == 100
    assert min(proof.checks.values()) > 0


async def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop", scenarios=())
    proofs = [as_json(await prove(bundle, calls=60, seed=seed)) for seed in (1, 1, 2)]
    assert proofs[0] == proofs[1] != proofs[2]


RAISES = '''
def share(db: Database, *, id: str) -> dict:
    """Share a price.

    Args:
        id: The thing.
    """
    found = db.one("SELECT cents FROM things WHERE id = :id", id=id)
    return {"share": 100 // found["cents"]}
'''
SHAPE = '''
class Thing(TypedDict):
    name: str
    cents: int


def show(db: Database) -> Thing:
    """Show a thing."""
    return {"name": "anvil", "cents": "100"}
'''
HOPELESS = '''
def buy(db: Database, *, id: str) -> dict:
    """Buy a thing.

    Args:
        id: The thing.
    """
    raise ToolError(f"{id} cannot be bought today")
'''
LENIENT = '''
def look(db: Database, *, id: str) -> dict:
    """Look at a thing.

    Args:
        id: The thing.
    """
    if id == "a name that nobody would think of":
        raise ToolError("found it")
    return {"things": db.all("SELECT name FROM things WHERE id = :id", id=id)}
'''
SNEAKS = '''
def peek(db: Database, *, id: str) -> dict:
    """Look at a thing.

    Args:
        id: The thing.
    """
    write = db.run
    write("UPDATE things SET cents = cents + 1 WHERE id = :id", id=id)
    return {}
'''
LEAKS = '''


def visit(db: Database, *, id: str) -> dict:
    """Visit a thing.

    Args:
        id: The thing.
    """
    seen = getattr(Database, "seen", ["none"])
    Database.seen = seen if id in seen else [*seen, id]
    return {"seen": list(Database.seen)}
'''
FIRST = LEAKS.replace(
    """seen = getattr(Database, "seen", ["none"])
    Database.seen = seen if id in seen else [*seen, id]
    return {"seen": list(Database.seen)}""",
    """Database.first = getattr(Database, "first", id)
    return {"first": Database.first}""",
)
CONTAINER = LEAKS.replace("Database.seen", "Counter.seen").replace("(Database,", "(Counter,")


@pytest.mark.parametrize(
    ("tools", "check", "tool", "words"),
    [
        (RAISES, "answers", "share", "TypeError: 'NoneType' object is not subscriptable: share("),
        (SHAPE, "result", "show", "its result does not fit its schema at .cents"),
        (HOPELESS, "succeeds", "buy", " times as in buy({"),
        (LENIENT, "refuses", "look", "never refused, though it can"),
        (SNEAKS, "reads_only", "peek", "it says that it only reads, and it changed rows: peek("),
        (LEAKS, "shares", "visit", "answered differently when made while another instance was called"),
        (FIRST, "repeats", "visit", "answered differently when made again from the same start"),
        (f"\nfrom collections import Counter\n{CONTAINER}", "repeats", "visit", "answered differently when made again"),
    ],
    ids=["raises", "shape", "hopeless", "lenient", "sneaks", "leaks", "first", "container"],
)  # fmt: skip
async def test_what_a_tool_does_wrong_is_named(tmp_path: Path, tools: str, check: str, tool: str, words: str) -> None:
    proof = await proof_of(tmp_path, TOOLS + tools)
    assert (check, tool) in named(proof)
    assert words in next(one.text for one in proof.findings if (one.check, one.subject) == (check, tool))
    assert (proof.sound, proof.score) == (False, 0)
    assert {subject for one, subject in named(proof) if one not in ("loads", "repeats", "shares")} <= {tool}


async def test_what_the_gate_refuses_is_not_sound_and_what_cannot_start_is_not_played(tmp_path: Path) -> None:
    proof = await proof_of(tmp_path, TOOLS + "\nimport os\n")
    assert of(proof, "loads").text.startswith("tools.py: line")
    (tmp_path / "shop" / "seed.sql").write_text("INSERT INTO nothing VALUES (1);")
    proof = await prove(tmp_path / "shop", calls=10)
    assert ("loads", "shop") in named(proof)
    assert (proof.calls, proof.tools) == (0, {})


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({}, "is claimed by tool, and no refusal in tools.py or schema.sql bears its name"),
        ({"never": "SELECT id FROM things WHERE cents > 0 AND id = 't2'"}, "is broken by the first rows"),
        ({"never": "SELECT id FROM things WHERE cents <> 200 AND id = 't2'"}, 'was broken, as ["t2"] shows'),
        ({"never": "SELECT nonsense"}, "its `never` does not run"),
    ],
)  # fmt: skip
async def test_a_rule_that_nobody_holds_is_named(tmp_path: Path, rule: dict[str, Any], words: str) -> None:
    claimed = {"id": "steady", "text": "The bell costs what it cost.", "item": 1, "holder": "tool", **rule}
    proof = await proof_of(tmp_path, TOOLS, rules=[*RULES, claimed])
    found = [finding.text for finding in proof.findings if finding.subject == "steady"]
    assert any(text.startswith(words) for text in found), found
    assert not proof.sound


async def test_a_rule_is_shown_by_a_refusal_at_the_line_that_bears_its_name(tmp_path: Path) -> None:
    tools = TOOLS.replace('raise ToolError(f"there is', '# rule: known, unseen\n        raise ToolError(f"there is')
    tools = tools.replace(
        '    db.run("DELETE', '    if id == "t99":\n        raise ToolError("never")  # rule: rare\n    db.run("DELETE'
    )
    rules = [{"id": name, "text": "So.", "item": 1, "holder": "tool"} for name in ("known", "unseen", "rare")]
    proof = await proof_of(tmp_path, tools, rules=rules)
    assert [(name, rule.shown) for name, rule in proof.rules.items()] == [
        ("known", True),
        ("unseen", True),
        ("rare", False),
    ]
    assert 0 < proof.rules["known"].refused <= proof.tools["price"].refused


def one_rule(**fields: Any) -> str:
    return json.dumps([{"id": "a", "text": "A.", "item": 1, "holder": "tool", **fields}])


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("{", "rules.json: not JSON"),
        (one_rule(item=9), "rules.json: a.item: policy.md has no item 9"),
        (one_rule(by="things"), "rules.json: a.by: is for rules that the schema"),
        (one_rule(holder="schema", by="tings"), "rules.json: a.by: there is no 'tings'"),
        (one_rule(holder="all"), "rules.json: 0.holder"),
        (one_rule(why=""), "rules.json: 0.why"),
        ("[]", "tools.py: line 36: rule 'a' is not in rules.json"),
    ],
)  # fmt: skip
async def test_rules_that_do_not_fit_their_bundle_are_findings(tmp_path: Path, rules: str, words: str) -> None:
    tools = TOOLS.replace('raise ToolError(f"there is', 'raise ToolError(  # rule: a\n            f"there is').replace(
        '{id!r}")', '{id!r}"\n        )'
    )
    bundle = await write_bundle(tmp_path / "shop", tools=tools, policy=POLICY, scenarios=())
    (bundle / "rules.json").write_text(rules)
    proof = await prove(bundle, calls=1)
    assert any(words in finding.text for finding in proof.findings), proof.findings


def test_rows_that_break_their_schema_are_seen() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE a (id INTEGER PRIMARY KEY CHECK (id > 0)); CREATE TABLE b (a_id REFERENCES a)")
    sound = connection.serialize("main")
    connection.execute("PRAGMA ignore_check_constraints = ON; INSERT INTO a VALUES (-1); INSERT INTO b VALUES (7), (8)")
    for image, found in ((sound, 0), (connection.serialize("main"), 2)):
        reader = Reader(image, sound)
        assert len(broken_rows(reader)) == found
        reader.close()


async def test_a_proof_is_void_once_a_file_differs(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop", scenarios=())
    assert load_proof(bundle) is None
    proof = await prove(bundle, calls=20)
    write_proof(bundle, proof)
    assert load_proof(bundle) == proof
    (bundle / "rules.json").write_text("[]")
    assert load_proof(bundle) is None
    (bundle / "rules.json").unlink()
    (bundle / "scenarios.jsonl").write_text("\n")
    assert load_proof(bundle) == proof
    (bundle / "proof.json").write_text("{}")
    with pytest.raises(BundleError, match=r"proof\.json: is not a proof"):
        load_proof(bundle)


@of_each_environment()
def test_every_environment_of_the_library_is_proved_as_it_is(name: str) -> None:
    proof = load_proof(OWN_LIBRARY / name)
    assert proof is not None, f"`farm prove {name} --write` makes it anew"
    assert proof.sound
    assert proof.score > 80


@pytest.mark.slow
@pytest.mark.parametrize("name", ["library_loans", "hotel_bookings"])
async def test_the_proofs_of_the_library_are_what_a_run_gives(name: str) -> None:
    kept = load_proof(OWN_LIBRARY / name)
    assert kept is not None
    assert await prove(OWN_LIBRARY / name, seed=kept.seed) == kept


async def test_examples_are_made_and_held_to_what_they_say(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop", policy=POLICY, scenarios=())
    sold = {"tool": "price", "arguments": {"id": "t1", "cents": 100}}
    (bundle / "examples.json").write_text(
        json.dumps(
            [
                sold,
                {**sold, "arguments": {"id": "t1", "cents": -1}, "outcome": "refused"},
                {**sold, "outcome": "refused"},
                {**sold, "setup": "UPDATE nothing SET id = 1"},
            ]
        )
    )
    proof = await prove(bundle, calls=60)
    first, second = [finding for finding in proof.findings if finding.check == "examples"]
    assert first.text.startswith("example 2 is to be refused and was ok")
    assert second.text.startswith("example 3 cannot begin: ")
    assert proof.checks["examples"] == 4
    assert "examples.json" in proof.files


async def test_nobody_is_blamed_for_a_rule_that_a_prepared_start_breaks(tmp_path: Path) -> None:
    bundle = await write_bundle(tmp_path / "shop", policy=POLICY, scenarios=())
    cheap = {"id": "cheap", "text": "Nothing is dear.", "item": 1, "holder": "tool"}
    never = "SELECT id FROM things WHERE cents = 654321"
    (bundle / "rules.json").write_text(json.dumps([{**cheap, "never": never}]))
    other = {"tool": "price", "arguments": {"id": "t2", "cents": 100}}
    for setup, cents, blamed in (("UPDATE things SET cents = 654321", 100, []), ("", 654321, ["cheap"])):
        example = {**other, "arguments": {"id": "t2", "cents": cents}, "setup": setup}
        (bundle / "examples.json").write_text(json.dumps([example]))
        proof = await prove(bundle, calls=60)
        assert [one.subject for one in proof.findings if one.check == "rules"] == blamed
