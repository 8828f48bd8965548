"""What hostile tool code tries, as a list that every kind of guest must pass: each attempt is real, in a real guest.

The static gate is not asked: the walls are another line of defence. `python -m tests.servers.guest_kit FOLDER` tries
everything in a folder, prints what came of it as JSON, and needs no pytest: so it can be run as another user.
"""

import asyncio
import json
import os
import socket
import sys
import textwrap
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from servers.bundle_library import Library
from servers.errors import GuestError
from servers.messages import Launch, OutcomeKind
from servers.state.rows import RowChange
from servers.worker.instance import CallOutcome, Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.bundles import SEED, SOUND_SCENARIO, TOOLS, write_bundle
from tests.processes import offspring
from tests.told import diff_of

CALL_SECONDS = 0.5
SECRET = "the-answer-is-forty-two"
"""Stands in everything that a guest may not see."""

PRELUDE = '''
import ctypes
import errno
import gc
import json
import os
import signal
import socket
import struct
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
LEFT = []


def _raw(number, *arguments):
    """A system call; what it gives, or None when it is refused."""
    given = libc.syscall(ctypes.c_long(number), *(ctypes.c_void_p(one) if one is None else one for one in arguments))
    return None if given < 0 else given


def _opened(path, flags=0):
    """The number of an open file, by whatever call opens one."""
    name = ctypes.c_char_p(path.encode())
    how = (ctypes.c_uint64 * 3)(flags, 0, 0)
    for got in (_raw(2, name, flags), _raw(257, -100, name, flags), _raw(437, -100, name, how, 24)):
        if got is not None:
            return got
    return None


def _framed(head, *parts):
    text = json.dumps({**head, "sizes": [len(part) for part in parts]}).encode()
    return struct.pack("!II", len(text), sum(map(len, parts))) + text + b"".join(parts)


def _say(data):
    """Write to the guest's own channel."""
    view = memoryview(data)
    while view:
        view = view[os.write(_channel(), view):]


def _handles():
    """The open files of this process, beside the three that lead nowhere."""
    found = []
    for handle in range(3, 256):
        try:
            os.lseek(handle, 0, os.SEEK_CUR)
        except OSError as error:
            if error.errno == errno.EBADF:
                continue
        found.append(handle)
    return found


def _channel():
    for handle in _handles():
        try:
            os.write(handle, b"")
        except OSError:
            continue
        return handle


def _asked():
    """The head of the request that is being answered."""
    frame = sys._getframe()
    while frame is not None:
        if "head" in frame.f_locals and "nonce" in frame.f_locals["head"]:
            return frame.f_locals["head"]
        frame = frame.f_back


def look(db: Database) -> dict:
    """Look at what calls have left behind."""
    import builtins
    return {"left": LEFT, "names": sorted(globals()), "builtin": hasattr(builtins, "left")}
'''


class Attempt(NamedTuple):
    """One thing that is tried: Python that returns what it got, or None.

    One of the walls in `held_by` must stand. `ends` is what the call must come to. What is marked `in_its_guest` may
    succeed inside the guest of its own environment, and there only.
    """

    name: str
    code: str
    held_by: tuple[str, ...] = ()
    ends: OutcomeKind | None = None
    in_its_guest: bool = False


FILES, CALLS, LIMITS, NETWORK = ("files", "uid"), ("syscalls",), ("limits",), ("network", "syscalls")
NEVER = ("files", "syscalls")


def _reading(name: str, path: str) -> list[Attempt]:
    """Ways of reading one file."""
    return [
        Attempt(
            f"read {name}", f"with open({path}, 'rb') as file:\n    return file.read(4096).decode('latin-1')", NEVER
        ),
        Attempt(f"open {name} without Python", f"return _opened({path})", NEVER),
    ]


ATTEMPTS: list[Attempt] = [
    # files
    *_reading("the ledger", "where['ledger']"),
    *_reading("the control token", "where['token']"),
    *_reading("the worker's secret", "where['secret']"),
    *_reading("its own state file", "where['state']"),
    *_reading("a state file of another environment", "where['other_state']"),
    *_reading("the tools of another environment", "where['other_tools']"),
    *_reading("the scenarios of another environment", "where['other_scenarios']"),
    *_reading("its own scenarios", "where['scenarios']"),
    *_reading("/etc/shadow", "'/etc/shadow'"),
    *_reading("/etc/passwd", "'/etc/passwd'"),
    *_reading("the worker's environment variables", "f\"/proc/{where['worker']}/environ\""),
    *_reading("the worker's memory", "f\"/proc/{where['worker']}/mem\""),
    *_reading("the parent's environment variables", "f\"/proc/{where['zygote']}/environ\""),
    *_reading("its own memory map", "'/proc/self/maps'"),
    Attempt("see its environment variables",
        "return sorted(set(os.environ) - {'LANG', 'PYTHONHASHSEED', 'TZ'}) or None"),
    Attempt("list the root folder", "return os.listdir('/')", NEVER),
    Attempt("list the state folder", "return os.listdir(where['folder'])", NEVER),
    Attempt("learn a file's size", "return os.stat(where['ledger']).st_size", CALLS),
    Attempt("learn whether a file is there", "return os.access(where['ledger'], os.F_OK) or None", CALLS),
    Attempt("read a link", "return os.readlink('/proc/self/exe')", CALLS),
    Attempt("know its folder", "return os.getcwd()", CALLS),
    Attempt("use a file that was left open", "return [one for one in _handles() if one != _channel()] or None"),
    Attempt("write a file", "open(where['outside'] + '/note', 'w').write('x'); return 'written'", NEVER),
    Attempt("make a file", "return _opened(where['outside'] + '/made', 0o102)", NEVER),
    Attempt("make a folder", "os.mkdir(where['outside'] + '/made'); return 'made'", NEVER),
    Attempt("make a link", "os.symlink('/etc/shadow', where['outside'] + '/made'); return 'made'", NEVER),
    Attempt("make a hard link", "os.link(where['ledger'], where['outside'] + '/made'); return 'made'", NEVER),
    Attempt("make a device", "return _raw(133, where['outside'].encode() + b'/made', 0o20666, 0x103)", NEVER),
    Attempt("delete the ledger", "os.unlink(where['ledger']); return 'gone'", NEVER),
    Attempt("empty the ledger", "os.truncate(where['ledger'], 0); return 'empty'", NEVER),
    Attempt("move the ledger", "os.rename(where['ledger'], where['outside'] + '/moved'); return 'moved'", NEVER),
    Attempt("open the ledger to all", "os.chmod(where['ledger'], 0o777); return 'open'", CALLS),
    Attempt("leave its root folder", "os.chroot('/proc'); return 'left'", CALLS),
    Attempt("make a file in memory", "return _raw(319, b'x', 0)", CALLS),
    Attempt("open a file by its handle", "return _raw(304, -100, ctypes.create_string_buffer(64), 0)", CALLS),
    Attempt("fill the disk", "file = open('/dev/shm/full', 'wb')\nwhile True:\n    file.write(bytes(1 << 20))", NEVER),
    # network
    Attempt("connect to a port of ours",
        "socket.create_connection(('127.0.0.1', where['port'])); return 'connected'", NETWORK),
    Attempt("connect without Python", """
        handle = _raw(41, 2, 1, 0)
        if handle is None:
            return None
        address = struct.pack('!HH4s8x', 0x0200, where['port'], bytes((127, 0, 0, 1)))
        return _raw(42, handle, ctypes.create_string_buffer(address, 16), 16)
    """, NETWORK),
    Attempt("send a datagram", """
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', where['port'])); return 'sent'
    """, NETWORK),
    Attempt("connect to a socket by path", """
        socket.socket(socket.AF_UNIX).connect(where['socket']); return 'connected'
    """, NETWORK),
    Attempt("connect to an abstract socket", """
        socket.socket(socket.AF_UNIX).connect('\\0' + where['abstract']); return 'connected'
    """, NETWORK),
    Attempt("listen", "socket.create_server(('127.0.0.1', 0)); return 'listening'", CALLS),
    Attempt("ask the kernel about the network", "socket.socket(16, socket.SOCK_RAW); return 'asked'", CALLS),
    Attempt("make a pair of sockets", "socket.socketpair(); return 'made'", CALLS),
    Attempt("speak to the host of this machine", "return _raw(41, 40, 1, 0)", CALLS),
    Attempt("make a ring of requests", "return _raw(425, 8, ctypes.create_string_buffer(120))", CALLS),
    Attempt("send its channel to somebody", """
        socket.send_fds(socket.socket(fileno=os.dup(_channel())), [b'x'], [0]); return 'sent'
    """, CALLS),
    # processes
    Attempt("run a program in its place", "os.execv('/bin/true', ['true'])", CALLS),
    Attempt("run a program in its place without Python", """
        return _raw(59, b'/bin/true', None, None) or _raw(322, -100, b'/bin/true', None, None, 0)
    """, CALLS),
    Attempt("run a program", "return os.posix_spawn('/bin/true', ['true'], {})", CALLS),
    Attempt("run a shell", "return None if os.system('true') else 'ran'", CALLS),
    Attempt("run a shell without Python", "return None if libc.system(b'true') else 'ran'", CALLS),
    Attempt("run a subprocess", "import subprocess\nsubprocess.run(['/bin/true']); return 'ran'", NEVER),
    Attempt("fork", "pid = os.fork()\nif not pid:\n    os._exit(0)\nreturn pid", CALLS),
    Attempt("fork without Python", """
        for number, arguments in ((57, ()), (58, ()), (56, (17, None, None, None, None))):
            pid = _raw(number, *arguments)
            if pid == 0:
                os._exit(0)
            if pid is not None:
                return pid
        plan = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
        pid = _raw(435, plan, 88)
        if pid == 0:
            os._exit(0)
        return pid
    """, CALLS),
    Attempt("fork without end", """
        for _ in range(100_000):
            if libc.fork() > 0 or (_raw(56, 17, None, None, None, None) or 0) > 0:
                return 'forked'
    """, CALLS),
    Attempt("start a thread", "import _thread\nreturn _thread.start_new_thread(time.sleep, (60,))", CALLS),
    Attempt("start many threads",
        "import threading\nfor _ in range(100):\n    threading.Thread(target=time.sleep).start()", CALLS),
    Attempt("trace the worker",
        "return _raw(101, 16, where['worker'], None, None) or _raw(101, 0x4206, where['worker'], 0, 0)", CALLS),
    Attempt("trace the parent", "return _raw(101, 16, where['zygote'], None, None)", CALLS),
    Attempt("let itself be traced", "return _raw(101, 0, 0, None, None)", CALLS),
    Attempt("read the worker's memory", """
        here = (ctypes.c_uint64 * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
        return _raw(310, where['worker'], here, 1, (ctypes.c_uint64 * 2)(0x400000, 8), 1, 0)
    """, CALLS),
    *(
        Attempt(f"send {how} to {whom}", f"os.kill({pid}, {number}); return 'sent'", CALLS)
        for how, number in (("SIGKILL", 9), ("SIGSTOP", 19), ("nothing", 0))
        for whom, pid in (
            ("the worker", "where['worker']"),
            ("the parent", "where['zygote']"),
            ("its process group", "0"),
            ("everybody", "-1"),
        )
    ),
    Attempt("signal the worker by other calls", """
        worker, info = where['worker'], ctypes.create_string_buffer(128)
        found = (_raw(200, worker, 9), _raw(234, worker, worker, 9), _raw(129, worker, 9, info), _raw(434, worker, 0))
        return next((one for one in found if one is not None), None)
    """, CALLS),
    Attempt("be more important than others", "return os.nice(-20)", CALLS),
    Attempt("take all processors", "os.sched_setaffinity(where['worker'], {0}); return 'set'", CALLS),
    # privileges
    Attempt("become root", "os.setresuid(0, 0, 0); return 'root'", CALLS),
    Attempt("become root in a namespace", "return _raw(272, 0x10000000)", CALLS),
    Attempt("leave its namespaces", "return _raw(272, 0x7E020000)", CALLS),
    Attempt("enter a namespace", "return _raw(308, _channel(), 0)", CALLS),
    Attempt("mount", "return _raw(165, b'none', b'/tmp', b'tmpfs', 0, None)", CALLS),
    Attempt("mount by the newer calls", "return _raw(430, b'tmpfs', 0) or _raw(428, -100, b'/', 0)", CALLS),
    Attempt("turn the root around", "return _raw(155, b'/', b'/') or _raw(166, b'/proc', 2)", CALLS),
    Attempt("gain capabilities",
        "return _raw(126, (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[~0] * 6))", CALLS),
    Attempt("load a program into the kernel", "return _raw(321, 0, ctypes.create_string_buffer(64), 64)", CALLS),
    Attempt("load a module into the kernel", "return _raw(175, None, 0, b'') or _raw(313, _channel(), b'', 0)", CALLS),
    Attempt("measure others", "return _raw(298, ctypes.create_string_buffer(128), -1, 0, -1, 0)", CALLS),
    Attempt("use the keys of the system", "return _raw(250, 0, -3, 1) or _raw(248, b'user', b'x', b'x', 1, -3)", CALLS),
    Attempt("handle its own page faults", "return _raw(323, 0)", CALLS),
    Attempt("restart the machine", "return _raw(169, 0xFEE1DEAD, 672274793, 0, None)", CALLS),
    Attempt("set the clock",
        "return _raw(227, 0, (ctypes.c_uint64 * 2)(0, 0)) or _raw(164, (ctypes.c_uint64 * 2)(0, 0), None)", CALLS),
    # its own limits
    Attempt("raise its limit of memory", """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); return 'raised'
    """, CALLS),
    Attempt("change the worker's limits",
        "return _raw(302, where['worker'], 7, (ctypes.c_uint64 * 2)(3, 3), None)", CALLS),
    Attempt("outlive its parent", "return _raw(157, 1, 0, 0, 0, 0)", CALLS),
    Attempt("take the filter off", "return _raw(157, 22, 0, 0, 0, 0) or _raw(317, 0, 0, None)", CALLS),
    Attempt("take the rule of no new privileges off", "return _raw(157, 38, 0, 0, 0, 0)", CALLS),
    Attempt("set an alarm", "signal.setitimer(signal.ITIMER_REAL, 60); return 'set'", CALLS),
    Attempt("refuse to be killed", """
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                continue
        while True:
            pass
    """, ends="timeout"),
    Attempt("allocate 4 GB", "return len(bytearray(4 << 30))", LIMITS),
    Attempt("allocate 4 GB in pieces",
        "pieces = []\nwhile len(pieces) < 4096:\n    pieces.append(bytearray(1 << 20))\nreturn len(pieces)", LIMITS),
    Attempt("map 4 GB", "got = _raw(9, None, 4 << 30, 3, 0x22, -1, 0)\nreturn got", LIMITS),
    Attempt("allocate 1 GB in SQL", "return db.one(\"SELECT length(hex(zeroblob(500000000))) AS n\")['n']", LIMITS),
    Attempt("fill the database",
        "while True:\n    db.run(\"INSERT INTO log (what) VALUES (hex(zeroblob(500000)))\")", ends="refused"),
    Attempt("loop", "while True:\n    pass", ends="timeout"),
    Attempt("sleep", "time.sleep(3600)", ends="timeout"),
    Attempt("loop in SQL",
        "db.all('WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c')",
        ends="timeout"),
    Attempt("loop in a pattern", "import re\nre.match('(a*)*b', 'a' * 40)", ends="timeout"),
    Attempt("loop where nothing is caught",
        "while True:\n    try:\n        time.sleep(3600)\n    except BaseException:\n        pass", ends="timeout"),
    Attempt("touch memory that is not there", "ctypes.string_at(0)", ends="died"),
    Attempt("overflow the stack",
        "sys.setrecursionlimit(10**9)\n\n\ndef f():\n    return f()\n\n\nf()"),
    Attempt("end the process", "os._exit(0)", ends="died"),
    # the channel
    Attempt("close the channel", "os.close(_channel())", ends="died"),
    Attempt("close everything", "os.closerange(0, 256)", ends="died"),
    Attempt("say garbage", "_say(os.urandom(4096))", ends="died"),
    Attempt("announce more than there is",
        "_say(struct.pack('!II', 10, 1_000_000) + b'{\"sizes\":0}'); time.sleep(60)", ends="timeout"),
    Attempt("announce 4 GB", "_say(struct.pack('!II', 2**32 - 1, 2**32 - 1))", ends="died"),
    Attempt("say 100 MB",
        "_say(_framed({'outcome': 'ok', 'micros': 1, 'nonce': _asked()['nonce']}, bytes(100_000_000), b''))",
        ends="died"),
    Attempt("return 100 MB", "return 'x' * 100_000_000", ends="failed"),
    Attempt("answer for a later call",
        "_say(_framed({'outcome': 'ok', 'micros': 1, 'nonce': 1}, b'{\"things\": \"lies\"}', b''))", ends="died"),
    Attempt("answer twice", """
        nonce = _asked()['nonce']
        for _ in range(2):
            _say(_framed({'outcome': 'refused', 'micros': 1, 'nonce': nonce}, b'refused', b''))
        time.sleep(60)
    """),
    *(
        Attempt(f"answer with rows of {table}", f"""
            import apsw
            other = apsw.Connection(':memory:')
            other.execute('CREATE TABLE {table} ({columns}) WITHOUT ROWID')
            session = apsw.Session(other, 'main')
            session.attach()
            other.execute("INSERT INTO {table} (id) VALUES ('x')")
            nonce, changes = _asked()['nonce'], session.changeset()
            os.write(_channel(), _framed({{'outcome': 'ok', 'micros': 1, 'nonce': nonce}}, b'{{}}', changes))
        """, ends="failed")
        for table, columns in (
            ("THINGS", "id TEXT PRIMARY KEY, name, cents, made_at"),
            ("nowhere", "id TEXT PRIMARY KEY"),
            ("things", "id TEXT PRIMARY KEY"),
        )
    ),
    Attempt("read what comes next on the channel",
        "os.set_blocking(_channel(), False)\nreturn os.read(_channel(), 4096).decode('latin-1')"),
    # databases
    Attempt("open another instance's file with apsw", """
        import apsw
        return apsw.Connection(where['other_state'], flags=1).execute('SELECT * FROM sqlite_schema').fetchall()
    """, NEVER),
    Attempt("open another instance's file with sqlite3", """
        import sqlite3
        return sqlite3.connect(where['other_state']).execute('SELECT * FROM sqlite_schema').fetchall()
    """, NEVER),
    *(
        Attempt(f"run {sql.split('(')[0]}", f"db.run({sql!r}.replace('PATH', where['other_state'])); return 'ran'",
            ends="failed")
        for sql in (
            "ATTACH 'PATH' AS other",
            "ATTACH ':memory:' AS other",
            "PRAGMA writable_schema = ON",
            "PRAGMA foreign_keys = OFF",
            "PRAGMA max_page_count = 1000000000",
            "PRAGMA temp_store_directory = '/tmp'",
            "CREATE TABLE mine (id INTEGER PRIMARY KEY)",
            "CREATE TEMP TRIGGER mine AFTER UPDATE ON things BEGIN DELETE FROM parts; END",
            "DROP TABLE things",
            "ALTER TABLE things ADD COLUMN x",
            "VACUUM INTO '/tmp/copy.db'",
            "SELECT load_extension('/tmp/x.so')",
            "SELECT writefile('/tmp/x', 'x')",
            "SELECT readfile('/etc/shadow')",
            "SELECT fts3_tokenizer('simple')",
            "COMMIT",
        )
    ),
    Attempt("attach without the authorizer", """
        db._connection.authorizer = None
        db._connection.execute('COMMIT')
        db._connection.execute('ATTACH ? AS other', (where['other_state'],))
        return db._connection.execute('SELECT * FROM other.sqlite_schema').fetchall()
    """, NEVER),
    Attempt("copy to a file without the authorizer", """
        db._connection.authorizer = None
        db._connection.execute('COMMIT')
        db._connection.execute('VACUUM INTO ?', (where['outside'] + '/copy.db',)); return 'copied'
    """, NEVER),
    Attempt("load an extension without the authorizer", """
        db._connection.enable_load_extension(True)
        db._connection.load_extension('/tmp/x.so'); return 'loaded'
    """, NEVER),
    Attempt("load a library", "return str(ctypes.CDLL('libthread_db.so.1'))", NEVER),
    Attempt("change the schema without the authorizer", """
        db._connection.authorizer = None
        db._connection.execute('DROP TABLE parts; CREATE TABLE mine (id INTEGER PRIMARY KEY)')
        db._connection.execute('INSERT INTO mine VALUES (1)')
    """),
    Attempt("write without a record", """
        db._connection.authorizer = None
        db._connection.execute('COMMIT; UPDATE things SET cents = 9')
    """),
    # what is left behind
    Attempt("leave a global behind", "globals()['left'] = where; LEFT.append(1); globals()['find'] = None"),
    Attempt("leave a global and take one away", "globals().clear()"),
    Attempt("change what is built in",
        "import builtins\nbuiltins.left = 1\nbuiltins.len = lambda _: 7", in_its_guest=True),
    Attempt("change how calls are answered", """
        from servers.guest import process
        process.Guest.call = lambda *_: ({'outcome': 'ok', 'micros': 1}, [b'{"things": "lies"}', b''])
    """, in_its_guest=True),
    # the farm's objects
    Attempt("find the farm's objects", """
        ours = ('servers.worker.worker', 'servers.sandbox.guest_pool', 'servers.doors.mcp', 'registry', 'evals', 'farm')
        return [name for name in sys.modules if name.startswith(ours)] or None
    """),
    Attempt("find secrets among its objects", """
        wanted, found = 'other ' + where['mark'], []
        for one in gc.get_objects():
            values = one.values() if type(one) is dict else one if type(one) in (list, tuple) else ()
            found += [value for value in list(values) if type(value) is str and wanted in value and value is not wanted]
        return found or None
    """),
    Attempt("find rows of another environment", """
        for one in gc.get_objects():
            if type(one).__name__ == 'Rows':
                known = list(one.instances.values())
                held = [row for one in known for row in one.connection.execute('SELECT name FROM things')]
                return [name for (name,) in held if 'other' in name] or None
    """),
]  # fmt: skip


def tools() -> str:
    """All attempts as one tools.py."""
    text = [PRELUDE]
    for number, attempt in enumerate(ATTEMPTS):
        body = textwrap.indent(textwrap.dedent(attempt.code).strip("\n"), "        ")
        text.append(
            f"def attempt_{number}(db: Database, *, facts: str) -> dict:\n"
            f'    """Attempt.\n\n    Args:\n        facts: JSON.\n    """\n'
            f"    where = json.loads(facts)\n\n"
            f"    def attempt():\n{body}\n\n"
            f'    return {{"got": attempt()}}\n'
        )
    return "\n\n".join(text) + TOOLS


class Kit:
    """A worker with the instance from which everything is tried, and two others that must not notice.

    `neighbour` is an instance of the same environment, `stranger` one of another.
    """

    def __init__(self, worker: Worker, folder: Path, listening: list[socket.socket], facts: dict[str, Any]) -> None:
        self.worker = worker
        self.walls: tuple[str, ...] = ()
        self._folder = folder
        self._listening = listening
        self._facts = facts
        self._before: dict[str, str] = {}

    async def prepare(self) -> None:
        self.walls = tuple(await self.worker.walls())
        self.attacker, self.neighbour = await self._launched("hostile"), await self._launched("hostile")
        self.stranger = await self._launched("other")
        state = self.worker.folder / "instances"
        self._facts["state"] = str(state / f"{self.attacker}.history")
        self._facts["other_state"] = str(state / f"{self.stranger}.history")
        for one in (self.neighbour, self.stranger):
            self._before[one] = (await self._instance(one).call("find", {})).text
        [zygote] = {one.parent for one in offspring(os.getpid())} - {os.getpid()}
        self._facts["zygote"] = zygote

    async def tried(self, number: int) -> tuple[CallOutcome, list[str]]:
        """Make one attempt; what it came to, and every harm that it did."""
        attempt = ATTEMPTS[number]
        outcome = await self._instance(self.attacker).call(
            f"attempt_{number}", {"facts": json.dumps({**self._facts, "mark": SECRET})}
        )
        harms: list[str] = []
        if attempt.ends is not None and outcome.kind != attempt.ends:
            harms.append(f"ended as {outcome.kind}, not as {attempt.ends}: {outcome.detail or outcome.text[:200]}")
        if outcome.structured is not None and outcome.structured.get("got") is not None:
            harms.append(f"got {str(outcome.structured['got'])[:200]}")
        if str(self._folder) in outcome.text or SECRET in outcome.text:
            harms.append(f"the agent is told {outcome.text[:200]}")
        harms += [f"changed {change.table}" for change in await self._changes(self.attacker)]
        if attempt.in_its_guest:
            self.worker.guests.forget(self._instance(self.attacker).environment.digest)
        harms += [harm for one in (self.stranger, self.neighbour) for harm in await self._noticed(one)]
        harms += await self._left_behind()
        return outcome, [*harms, *self._outside()]

    def holds(self, attempt: Attempt) -> bool:
        """Whether a wall stands here that is to hold an attempt back."""
        return not attempt.held_by or bool(set(attempt.held_by) & set(self.walls))

    async def _launched(self, environment: str) -> str:
        [ticket] = await self.worker.launch(Launch(environment=environment))
        return ticket.instance

    def _instance(self, instance_id: str) -> Instance:
        return self.worker.find(instance_id)

    async def _changes(self, instance_id: str) -> list[RowChange]:
        return await diff_of(self.worker, instance_id)

    async def _noticed(self, instance_id: str) -> list[str]:
        """What another instance has noticed."""
        outcome = await self._instance(instance_id).call("find", {})
        name = "the neighbour" if instance_id == self.neighbour else "the stranger"
        harms = [f"{name}'s row of {change.table} changed" for change in await self._changes(instance_id)]
        if outcome.text != self._before[instance_id]:
            harms.append(f"{name} was told {outcome.text[:200]}, not {self._before[instance_id][:200]}")
        return harms

    async def _left_behind(self) -> list[str]:
        seen = (await self._instance(self.neighbour).call("look", {})).structured or {}
        harms = ["a list of the module is not as it was"] if seen.get("left") else []
        if "left" in seen.get("names", ()) or "find" not in seen.get("names", ()):
            harms.append("the names of the module are not as they were")
        return harms + (["what is built in is not as it was"] if seen.get("builtin") else [])

    def _outside(self) -> list[str]:
        """What has changed on this machine."""
        harms = [f"{path} was made" for path in Path(self._facts["outside"]).iterdir()]
        for name in ("ledger", "token"):
            path = Path(self._facts[name])
            if not path.exists() or path.read_text() != SECRET or path.stat().st_mode & 0o777 != 0o644:
                harms.append(f"the {name} was changed")
        for one in self._listening:
            try:
                one.accept()[0].close()
            except BlockingIOError:
                continue
            harms.append(f"somebody connected to {one.getsockname()!r}")
        parents = {one.parent for one in offspring(os.getpid())} - {os.getpid(), self._facts["zygote"]}
        return harms + [f"process {parent} has children" for parent in parents]


@asynccontextmanager
async def kit(folder: Path) -> AsyncGenerator[Kit]:
    """Everything that the attempts are made against, in a folder."""
    shelf, outside, farm = folder / "shelf", folder / "outside", folder / "farm"
    for path in (shelf, outside, farm):
        path.mkdir(parents=True)
    marked = {**SOUND_SCENARIO, "task": f"other {SECRET}"}
    await write_bundle(shelf / "hostile", tools=tools(), scenarios=[marked])
    other = SEED.replace("'candle'", f"'other {SECRET}'")
    await write_bundle(shelf / "other", tools=f'SECRET = "other {SECRET}"\n' + TOOLS, seed=other, scenarios=[marked])
    facts: dict[str, Any] = {
        "folder": str(farm),
        "outside": str(outside),
        "ledger": str(farm / "ledger.db"),
        "token": str(farm / "token"),
        "secret": str(farm / "worker" / "secret"),
        "other_tools": str(shelf / "other" / "tools.py"),
        "other_scenarios": str(shelf / "other" / "scenarios.jsonl"),
        "scenarios": str(shelf / "hostile" / "scenarios.jsonl"),
        "worker": os.getpid(),
        "socket": str(folder / "socket"),
        "abstract": f"farm-{os.getpid()}",
    }
    for path in (farm / "ledger.db", farm / "token"):
        path.write_text(SECRET)
        path.chmod(0o644)  # even a file that anybody may read
    with ExitStack() as stack:
        listening = [stack.enter_context(socket.socket(family)) for family in (socket.AF_INET, *[socket.AF_UNIX] * 2)]
        for one, address in zip(listening, (("127.0.0.1", 0), facts["socket"], f"\0{facts['abstract']}"), strict=True):
            one.bind(address)
            one.listen()
            one.setblocking(False)
        facts["port"] = listening[0].getsockname()[1]
        async with Worker(Library([shelf]), farm / "worker", WorkerSettings(call_seconds=CALL_SECONDS)) as worker:
            prepared = Kit(worker, folder, listening, facts)
            await prepared.prepare()
            yield prepared


async def _everything(folder: Path) -> dict[str, Any]:
    async with kit(folder) as prepared:
        harms: dict[str, list[str]] = {}
        for number, attempt in enumerate(ATTEMPTS):
            if prepared.holds(attempt):
                _, found = await prepared.tried(number)
                harms |= {attempt.name: found} if found else {}
        skipped = [attempt.name for attempt in ATTEMPTS if not prepared.holds(attempt)]
    return {
        "user": os.geteuid(),
        "walls": prepared.walls,
        "harms": harms,
        "skipped": skipped,
        "required": await _refusal(folder / "strict"),
    }


async def _refusal(folder: Path) -> str:
    """What a worker says that requires all walls, and is not to start without one."""
    try:
        async with Worker(Library([]), folder, WorkerSettings(walls_required=True)):
            return "it started"
    except GuestError as error:
        return str(error)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_everything(Path(sys.argv[1])))))
