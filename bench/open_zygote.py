"""The parent of guests without walls, for the measurement of what walls cost. No farm but the bench's starts it."""

import runpy

from servers.guest import walls


def _none(*, network_left: bool) -> list[str]:
    return []


if __name__ == "__main__":
    walls.raise_all = _none
    runpy.run_module("servers.guest.zygote", run_name="__main__")
