"""The warm parent of a worker's guests: it has imported their modules, and forks one in milliseconds.

A request from the worker is a byte, `f`, `i` or `w`, with the new guest's socket attached. The answer has the guest's
pid, and a later message its end: `{"forked": pid}`, `{"ended": pid, "status": …}`. It runs no code of a bundle, and
ends when the worker closes the socket or dies.
"""

import gc
import importlib
import os
import select
import signal
import socket
import sys
from contextlib import suppress

from servers.gate import allowed_modules
from servers.guest import process, walls
from servers.guest.frames import packed

PLAIN, WITH_IMPORTED, WITH_FRAMEWORK = b"f", b"i", b"w"
"""The requests for a guest: with what every bundle may import, with what imported code may, and with FastAPI as well.

The zygote loads what is more than plain before the first guest that needs it.
"""
READY = allowed_modules.NAMES
"""Loaded here, so every guest has them."""
OF_BFCL = "mpmath"
"""The code of BFCL needs it. Who imports BFCL has installed it."""


def run(control: socket.socket) -> None:
    """Fork guests until the worker closes the socket."""
    network_left = walls.leave_the_network()
    gc.freeze()  # a guest's garbage is looked for among its own objects alone
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, _wake)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            tell_deaths(control)
        if control in ready:
            message, handles, _, _ = socket.recv_fds(control, 1, 1)
            if not message:
                return
            load(message)
            fork(control, socket.socket(fileno=handles[0]), (woken, waking), network_left=network_left)


def load(message: bytes) -> None:
    """Load what the guests of a request need, unless it is here."""
    wanted = [] if message == PLAIN else sorted(allowed_modules.IMPORTED)
    wanted += [allowed_modules.FRAMEWORK] if message == WITH_FRAMEWORK else []
    missing = [name for name in wanted if name not in sys.modules]
    for name in missing:
        importlib.import_module(name)
    if missing:
        with suppress(ImportError):
            importlib.import_module(OF_BFCL)
        gc.freeze()


def _wake(_signal: int, _frame: object) -> None:
    """A no-op handler: the signal must not be ignored, and the wake-up descriptor does the rest."""


def fork(control: socket.socket, guest_end: socket.socket, own: tuple[int, int], *, network_left: bool) -> None:
    """Fork a guest that serves on `guest_end`."""
    pid = os.fork()
    if pid:
        guest_end.close()
        control.sendall(packed({"forked": pid}))
        return
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.close()
        for handle in own:
            os.close(handle)
        _close_others(guest_end.fileno())
        standing = walls.raise_all(network_left=network_left)
        process.serve(guest_end, standing)
    except BaseException:  # a guest has nobody to tell: its worker sees the socket close
        os._exit(1)
    os._exit(0)


def _close_others(kept: int) -> None:
    """Close what a library left open. libffi 3.5, for example, keeps its own file."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def tell_deaths(control: socket.socket) -> None:
    """Reap ended guests, and report how they ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        control.sendall(packed({"ended": pid, "status": status}))


def silence() -> None:
    """Discard all further output. Until here the worker could read a failed import."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (1, 2):
        os.dup2(nowhere, handle)
    os.close(nowhere)


if __name__ == "__main__":
    walls.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    allowed_modules.fix_shared_containers()
    silence()
    run(socket.socket(fileno=int(sys.argv[1])))
