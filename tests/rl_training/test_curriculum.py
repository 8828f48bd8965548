"""Which scenario is trained next, and the file of how often each was passed."""

from collections import Counter
from pathlib import Path

import pytest

from rl_training.config import TrainConfig
from rl_training.data.curriculum import Curriculum, Draw, weight
from rl_training.data.pass_rates import Key, PassRates, note
from rl_training.verl.trainer import command_of, write_loop

EASY, EVEN, HARD, NEW = (Key("shop", name) for name in ("easy", "even", "hard", "new"))


def played(path: Path, key: Key, *passes: bool) -> None:
    for passed in passes:
        note(path, key, passed=passed)


def test_a_rate_is_of_the_latest_episodes(tmp_path: Path) -> None:
    rates = PassRates(tmp_path / "rates.jsonl", memory=4)
    assert (rates.refresh(), rates.of(EVEN)) == (0, None)
    played(tmp_path / "rates.jsonl", EVEN, True, False, True, False)
    played(tmp_path / "rates.jsonl", HARD, False)
    assert rates.refresh() == 5
    assert (rates.of(EVEN), rates.of(HARD), rates.of(NEW)) == (pytest.approx(0.5), 0.0, None)
    played(tmp_path / "rates.jsonl", EVEN, *[True] * 20)
    rates.refresh()
    assert rates.of(EVEN) == pytest.approx(1, abs=0.01), "what it was once has faded"


def test_what_another_process_finds_in_the_file_is_the_same(tmp_path: Path) -> None:
    first, again = (PassRates(tmp_path / "rates.jsonl", memory=4) for _ in range(2))
    for passed in (True, False, True):
        played(tmp_path / "rates.jsonl", EVEN, passed)
        first.refresh()
    again.refresh()
    assert first.of(EVEN) == again.of(EVEN) == pytest.approx(2 / 3)


def test_a_line_that_a_crash_cut_short_costs_no_more_than_itself_and_the_next(tmp_path: Path) -> None:
    path = tmp_path / "rates.jsonl"
    played(path, EVEN, True)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"environment": "sh')
    rates = PassRates(path, memory=4)
    assert rates.refresh() == 1, "it may still be being written"
    played(path, EVEN, False, False)
    assert rates.refresh() == 2
    assert rates.of(EVEN) == pytest.approx(0.5)


def test_what_is_sometimes_passed_weighs_most() -> None:
    assert [weight(rate, floor=0.2) for rate in (0.0, 0.5, 1.0, None)] == pytest.approx([0.2, 1.0, 0.2, 1.0])
    assert weight(0.25, floor=0.2) == weight(0.75, floor=0.2) > 0.5


def test_what_is_sometimes_passed_is_drawn_most_and_nothing_never(tmp_path: Path) -> None:
    path = tmp_path / "rates.jsonl"
    for key, passes in ((EASY, [True] * 8), (EVEN, [True, False] * 4), (HARD, [False] * 8)):
        played(path, key, *passes)
    rows = [EASY, EVEN, HARD]
    draw = Draw(rows, path, Curriculum(floor=0.1), step=1, seed=0)
    drawn = Counter(rows[draw.next()] for _ in range(1200))
    assert drawn[EVEN] > 900
    assert min(drawn[EASY], drawn[HARD]) > 50


def test_it_turns_to_what_becomes_uncertain_while_it_trains(tmp_path: Path) -> None:
    path = tmp_path / "rates.jsonl"
    played(path, EVEN, True, False)
    played(path, HARD, *[False] * 8)
    rows = [EVEN, HARD]
    draw = Draw(rows, path, Curriculum(floor=0.05, memory=4), step=1, seed=0)
    before = Counter(rows[draw.next()] for _ in range(400))
    played(path, EVEN, *[True] * 30)
    played(path, HARD, *[True, False] * 4)
    after = Counter(rows[draw.next()] for _ in range(400))
    assert before[EVEN] > 300
    assert after[HARD] > 300


def test_no_row_is_drawn_twice_for_a_step(tmp_path: Path) -> None:
    draw = Draw([EASY, EVEN, HARD, NEW], tmp_path / "rates.jsonl", Curriculum(), step=4, seed=0)
    for _ in range(20):
        steps = [draw.next() for _ in range(4)]
        assert sorted(steps) == [0, 1, 2, 3]


def test_a_training_that_goes_on_draws_anew(tmp_path: Path) -> None:
    def drawn() -> list[int]:
        draw = Draw([Key("shop", str(number)) for number in range(50)], path, Curriculum(), step=8, seed=0)
        return [draw.next() for _ in range(8)]

    path = tmp_path / "rates.jsonl"
    first = drawn()
    assert drawn() == first
    played(path, Key("shop", "0"), True)
    assert drawn() != first


def test_a_config_names_the_file_to_those_who_write_it_and_to_those_who_read_it(tmp_path: Path) -> None:
    plain, config = TrainConfig(), TrainConfig(curriculum=Curriculum(floor=0.25))
    told = command_of(config, tmp_path, {})
    assert f"++data.curriculum.pass_rates='{tmp_path / 'pass_rates.jsonl'}'" in told
    assert "++data.curriculum.floor=0.25" in told
    assert "++data.dataloader_num_workers=0" in told, "others would draw ahead of what is learnt"
    write_loop(tmp_path, config)
    assert str(tmp_path / "pass_rates.jsonl") in (tmp_path / "agent_loops.yaml").read_text()
    write_loop(tmp_path, plain)
    assert "pass_rates" not in (tmp_path / "agent_loops.yaml").read_text()
    assert not [one for one in command_of(plain, tmp_path, {}) if "curriculum" in one]
