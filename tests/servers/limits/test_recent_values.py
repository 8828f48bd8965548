"""What is kept because it may be asked for again: it has a bound in number and in bytes."""

from servers.limits.recent_values import RecentValues
from servers.telemetry.counters import MOST_LABELS, OTHERS, CounterCollector


def test_what_was_not_asked_for_longest_goes_first() -> None:
    kept = RecentValues[str, str](2)
    for name in "ab":
        kept.keep(name, name)
    assert kept.find("a") == "a"
    kept.keep("c", "c")
    assert (kept.find("b"), kept.find("a"), len(kept)) == (None, "a", 2)


def test_values_are_kept_up_to_a_size_and_one_that_is_larger_is_not() -> None:
    kept = RecentValues[str, str](100, 10, len)
    for name in "abc":
        kept.keep(name, name * 4)
    assert (kept.find("a"), kept.find("c"), kept.held) == (None, "cccc", 8)
    kept.keep("c", "c" * 11)
    assert (kept.find("c"), kept.find("b"), kept.held) == (None, "bbbb", 4)


def test_counts_of_too_many_names_are_put_together() -> None:
    counter = CounterCollector("farm_calls", "Calls.", ["environment", "outcome"])
    for number in range(MOST_LABELS + 5):
        counter.add(f"shop_{number}", "ok")
    counter.add("shop_0", "ok")
    assert len(counter.counts) == MOST_LABELS + 1
    assert (counter.counts[OTHERS, OTHERS], counter.counts["shop_0", "ok"]) == (5, 2)
