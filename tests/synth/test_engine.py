"""`--engine ray` where it has no place, or nothing to stand on."""

from pathlib import Path

import pytest

from tests.processes import farm

MISUSED = [
    (("prove", "library_loans", "--check"), "--check makes no proof"),
    (("prove", "library_loans", "--check", "--stale"), "--check makes no proof"),
]


@pytest.mark.parametrize(("arguments", "told"), MISUSED)
async def test_where_it_has_no_place_it_is_refused(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done = await farm(*arguments, "--engine", "ray", home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


async def test_an_unknown_engine_is_refused(tmp_path: Path) -> None:
    done = await farm("certify", "library_loans", "--engine", "spark", home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "'spark' is not one of 'asyncio', 'ray'" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("certify", "library_loans"),
        ("prove", "library_loans"),
        ("synth", "backward", "library_loans", "--seed", "9"),
    ],
    ids=lambda arguments: arguments[0],
)
async def test_without_ray_it_says_what_to_install(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "ray.py").write_text("""raise ModuleNotFoundError("No module named 'ray'")\n""")  # found first
    done = await farm(*arguments, "--engine", "ray", home=tmp_path)
    assert (done.code, done.out.strip()) == (1, "")
    assert done.err == "farm: --engine ray: No module named 'ray'; pip install 'envfarm[scale]'\n"
