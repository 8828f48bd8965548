"""What a writer is told of an answer that is not good enough: the recorded ones, with one fault each."""

import pytest

from servers.sandbox.guest_pool import Guests
from synth.environments.drafts.start_images import image_of
from synth.environments.drafts.table_shapes import shape_of
from synth.environments.interface import Interface, interface_findings
from synth.environments.schema import Schema, accept_schema
from synth.environments.seed import Seed, grown, seed_findings
from synth.environments.setting import Setting, accept_setting
from tests.synth.environments.replay import answers


@pytest.fixture(scope="module")
def good() -> dict[str, str]:
    return answers("veterinary_clinic")


@pytest.fixture
def schema(good: dict[str, str]) -> Schema:
    return Schema.model_validate_json(good["Schema"])


@pytest.fixture
def seed(good: dict[str, str]) -> Seed:
    return Seed.model_validate_json(good["Seed"])


async def test_the_recorded_schema_is_accepted(schema: Schema) -> None:
    assert await accept_schema(schema) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "price_cents INTEGER NOT NULL CHECK (price_cents > 0),\n  is",
            "price_cents INTEGER NOT,\n  is",
            "syntax error",
        ),
        ("id TEXT PRIMARY KEY,\n  vaccine_id", "id INTEGER,\n  vaccine_id", "vaccine_batches"),
        ("RAISE(ABORT, 'this appointment is over;", "RAISE(FAIL, 'this appointment is over;", "RAISE(ABORT"),
        ("total_cents INTEGER NOT NULL", "total_cents REAL NOT NULL", "money is an INTEGER of cents"),
        ("REFERENCES medicines (id)", "REFERENCES drugs (id)", "REFERENCES drugs: there is no such table"),
        ("CREATE TRIGGER surgeons_operate", "CREATE TRIGGER surgeons_only_operate", "'surgeons_operate' is no trigger"),
        (
            ") STRICT, WITHOUT ROWID;\n\nCREATE TABLE species",
            "); PRAGMA x = 1;\nCREATE TABLE species",
            "not authorized",
        ),
    ],
)
async def test_a_schema_with_a_fault_is_told_where_it_is(schema: Schema, old: str, new: str, told: str) -> None:
    assert old in schema.schema_sql
    faulty = schema.model_copy(update={"schema_sql": schema.schema_sql.replace(old, new)})
    found = await accept_schema(faulty)
    assert any(told in one for one in found), found


async def test_rules_must_agree_with_the_policy_and_with_who_holds_them(schema: Schema) -> None:
    first = schema.rules[0]
    changed = [
        (first.model_copy(update={"item": 99}), "there is no item 99"),
        (first.model_copy(update={"by": "owners.nothing"}), "has no CHECK"),
        (first.model_copy(update={"by": ("owners.name", "no_trigger")}), "'no_trigger' is no trigger"),
        (first.model_copy(update={"holder": "tool"}), "by: is for rules that the schema holds"),
        (first.model_copy(update={"never": "SELECT nothing FROM owners"}), "the query does not run"),
        (first.model_copy(update={"never": "DELETE FROM owners"}), "only a SELECT"),
        (first.model_copy(update={"id": schema.rules[1].id}), "is used 2 times"),
    ]
    for rule, told in changed:
        found = await accept_schema(schema.model_copy(update={"rules": (rule, *schema.rules[1:])}))
        assert any(told in one for one in found), (told, found)


async def test_first_rows_must_be_valid_many_varied_and_linked(schema: Schema, seed: Seed) -> None:
    text = seed.seed_sql
    faults = [
        (text.replace("'2026-05-12 08:45:00'", "'2026-05-12 08:50:00'"), "CHECK"),
        (text.replace("('pay_leila_1', 'inv_leila_jan'", "('pay_leila_1', 'inv_nobody'"), "is not there"),
        (text.replace("Beatriz Amaral", "John Doe"), "placeholder"),
        (text.replace("'missed', NULL", "'cancelled', NULL"), "no row has 'missed'"),
        (text[: text.index("INSERT INTO payments")], "payments has 0 rows"),
        (text.replace("'ani_duque', 'vet_ferrari', 'med", "'ani_duque', 'vet_x', 'med"), "not there"),
        (text.replace("'ani_bruna', 'vet_okoye', 'check_up'", "'ani_bruna', 'vet_okoye', 'dental'"), "length_of_kind"),
    ]  # fmt: skip
    async with Guests() as guests:
        assert await seed_findings(seed, schema, "small", guests) == []
        for faulty, told in faults:
            assert faulty != text
            found = await seed_findings(seed.model_copy(update={"seed_sql": faulty}), schema, "small", guests)
            assert any(told in one for one in found), (told, found)
        found = await seed_findings(seed, schema, "medium", guests)
        assert any("rows in all; at least 112 are asked" in one for one in found)


async def test_an_interface_must_cover_tables_and_rules_and_be_only_stubs(
    good: dict[str, str], schema: Schema, seed: Seed
) -> None:
    answer = Interface.model_validate_json(good["Interface"])
    stubs, first = answer.stubs_py, answer.tools[0]
    typed = 'method: Literal["cash", "card", "transfer"]'
    faults = [
        ({"stubs_py": stubs.replace("from typing", "import os\nfrom typing")}, "import os"),
        ({"stubs_py": stubs.replace("    ...\n", "    return {}\n", 1)}, "nothing else"),
        ({"stubs_py": stubs.replace(typed, "method: str")}, "make it a Literal"),
        ({"stubs_py": stubs.replace(") -> Owners:", ") -> dict:")}, "returns a bare dict"),
        ({"stubs_py": stubs.replace(" text: A part of the name, the", " txt: A part of the name, the")}, "under Args"),
        ({"tools": answer.tools[1:]}, "has no entry in tools"),
        ({"tools": (first.model_copy(update={"reads": ("cats",)}), *answer.tools[1:])}, "there is no table cats"),
        ({"read_only": ()}, "nothing writes vets"),
        ({"tools": tuple(one.model_copy(update={"enforces": ()}) for one in answer.tools)}, "no command enforces"),
    ]  # fmt: skip
    async with Guests() as guests:
        image, _ = await image_of(guests, schema=schema.schema_sql, seed=seed.seed_sql, clock=schema.clock)
        shape = shape_of(image)
        assert await interface_findings(answer, shape, schema.rules, guests) == []
        for change, told in faults:
            faulty = answer.model_copy(update=change)
            found = await interface_findings(faulty, shape, schema.rules, guests)
            assert any(told in one for one in found), (told, found)


async def test_a_setting_speaks_of_the_system_and_not_of_a_simulation() -> None:
    found = await accept_setting(Setting(title="A", introduction="A simulated environment.", scope="x"))
    assert {one.partition(":")[0] for one in found} == {"title", "introduction", "scope"}


async def test_a_name_may_have_a_word_of_ours_inside() -> None:
    town = Setting(title="Cinema", introduction="The cinema of the town of Vellmar. " * 4, scope="x" * 200)
    assert await accept_setting(town) == []
    told = town.model_copy(update={"introduction": town.introduction + "An LLM writes to it."})
    assert [one.partition(";")[0] for one in await accept_setting(told)] == ["introduction: says 'LLM'"]


async def test_a_large_seed_is_multiplied_by_a_program(schema: Schema, seed: Seed) -> None:
    async with Guests() as guests:
        text = await grown(
            guests, schema=schema.schema_sql, seed=seed.seed_sql, clock=schema.clock,
            fixed=seed.fixed, values=seed.values, rows=1000,
        )  # fmt: skip
        image, wrong = await image_of(guests, schema=schema.schema_sql, seed=text, clock=schema.clock)
    assert wrong == ""
    rows = shape_of(image).rows
    assert sum(map(len, rows.values())) > 700
    names = [row["name"] for row in rows["owners"]]
    assert len(set(names)) == len(names)
    assert len(rows["vets"]) == 4
