"""Source texts are parsed by many threads at once, while garbage is collected."""

import ast
import gc
import sys
import warnings
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from servers.gate.parser import parsed

SOURCE = "\n".join(
    f"def f{number}(a: int, *, b: str = 'x') -> dict[str, int]:\n    return {{b: a + 1}}\n" for number in range(60)
)


class Rubbish:
    """Points to itself, and does something when it is collected."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        for _ in range(200):
            pass


@pytest.fixture
def hectic() -> Generator[None]:
    """Threads change places often, and garbage is collected at once."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50, 2, 2)
    gc.enable()
    yield
    gc.disable()  # as between the modules of these tests
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


def from_a_depth(depth: int) -> ast.Module:
    """Parse with so many calls below."""
    return parsed(SOURCE) if depth == 0 else from_a_depth(depth - 1)


def littering(number: int) -> str:
    """Leave garbage, and parse."""
    for _ in range(20):
        Rubbish()
    return ast.dump(from_a_depth(number % 17))


@pytest.mark.usefixtures("hectic")
def test_many_threads_may_parse_at_once() -> None:
    with ThreadPoolExecutor(8) as threads:
        trees = list(threads.map(littering, range(150)))
    assert set(trees) == {ast.dump(ast.parse(SOURCE))}


def test_a_text_that_is_only_odd_is_parsed_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [statement] = parsed(r'PATTERN = "\d+"').body
    assert ast.unparse(statement) == r"PATTERN = '\\d+'"
