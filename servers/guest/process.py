"""The life of a guest: it answers requests from its one socket, one after another, until the socket closes.

Requests, by `"do"`:
    load      covering; parts: tools.py           → {} or {"error"}
    image     digest; parts: image                → {}
    hydrate   instance, revision, image, room; parts: changes → {} or {"need": "image"}
    call      instance, revision, next_revision, tool, now, id_seed; parts: arguments
                                                  → outcome, micros; parts: text, changes; or {"need": "instance"}
    stand     instance, revision, image; parts: changes → {} or {"need": "image"}
    verify    instance, revision, next_revision; parts: changes
                                                  → wrong: null or why not; parts: what is kept; or need
    rows      instance, revision, canonical       → parts: image; or {"need": "instance"}
    taken                                         → taken: the numbers of the branches, if it covers
    build     now, files; parts: schema, seed, setup, files of rows
                                                  → findings; parts: image
    build     now, image; parts: setup            → findings; parts: image; or {"need": "image"}
    describe  parts: tools.py                     → tools, findings
    inspect   gate; parts: source                 → functions, problems; or not_python
    compile   parts: image                        → parts: the code of a benchmark's files
    judge     now, answer; parts: source, start, final, calls, or also such code
                                                  → holds, seen; or error, and short when memory ran out; or broken
    judge_each  now, answer; parts: a JSON list of sources, start, final, calls
                                                  → told: what judge answers, of each
"""

import ast
import gc
import json
import socket
from collections.abc import Callable, Iterable
from typing import Any

from servers.guest import (
    branch_coverage,
    changeset_verifier,
    source_inspection,
    tool_call,
    tool_signatures,
)
from servers.guest.error_text import fault_text, named
from servers.guest.frames import DECODER, GuestReply, packed, receive
from servers.guest.python_checkpoint import LONGEST_ERROR, CheckedRun, compiled, is_short, told
from servers.guest.sqlite import clock, start_image
from servers.guest.sqlite.instance_rows import InstanceRows
from servers.guest.sqlite.row_files import RowFile
from servers.guest.tool_module import ToolModule
from servers.imported.benchmarks import package

ReplyParts = list[bytes]


class GuestServer:
    """The state of one guest: its tools and its rows."""

    def __init__(self) -> None:
        self.tools: ToolModule | None = None
        self.taken: set[int] = set()
        self.rows = InstanceRows()
        self.verifier = changeset_verifier.Verifier()
        self._requests: dict[str, Callable[[dict[str, Any], ReplyParts], GuestReply]] = {
            "load": self.load,
            "image": self.image,
            "hydrate": self.hydrate,
            "call": self.call,
            "stand": self.stand,
            "verify": self.verify,
            "rows": self.tell_rows,
            "taken": self.tell_taken,
            "build": self.build,
            "describe": self.describe,
            "inspect": self.inspect,
            "compile": self.compile,
            "judge": self.judge,
            "judge_each": self.judge_each,
        }

    def answer(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        return self._requests[head["do"]](head, parts)

    def load(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        try:
            if head.get("covering"):
                noting = branch_coverage.noting(parts[0].decode())
                self.tools = ToolModule(noting, branch_coverage.notes(self.taken))
            else:
                self.tools = ToolModule(ast.parse(parts[0].decode()))  # of bytes, a comment would name the encoding
        except BaseException as error:
            return {"error": fault_text(error)}, []
        return {"tools": list(self.tools.functions)}, []

    def image(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        self.rows.keep_image(head["digest"], parts[0])
        return {}, []

    def hydrate(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        if head["image"] not in self.rows.images:
            return {"need": "image"}, []
        self.rows.hydrate(head["instance"], head["revision"], head["image"], parts[0], room=head["room"])
        return {}, []

    def stand(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        image = self.rows.images.get(head["image"])
        if image is None:
            return {"need": "image"}, []
        self.verifier.stand(head["instance"], head["revision"], image, parts[0])
        return {}, []

    def verify(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        rows = self.verifier.find(head["instance"], head["revision"])
        if rows is None:
            return {"need": "instance"}, []
        wrong, kept = self.verifier.verify(head["instance"], rows, parts[0], head["next_revision"], now=head["now"])
        return {"wrong": wrong}, [kept]

    def tell_rows(self, head: dict[str, Any], _parts: ReplyParts) -> GuestReply:
        rows = self.verifier.find(head["instance"], head["revision"])
        if rows is None:
            return {"need": "instance"}, []
        image = rows.image()[:]
        return {}, [changeset_verifier.canonical(image) if head["canonical"] else image]

    def call(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        tools = self.tools
        if tools is None:
            raise LookupError("no tools have been loaded")
        answer, micros = tool_call.timed(lambda: tool_call.call(self.rows, tools, head, _arguments(parts[0])))
        if answer is None:
            return {"need": "instance"}, []
        return {"outcome": answer.outcome, "micros": micros}, [answer.text, answer.changes]

    def tell_taken(self, _head: dict[str, Any], _parts: ReplyParts) -> GuestReply:
        return {"taken": sorted(self.taken)}, []

    def build(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        if "image" in head:
            base = self.rows.images.get(head["image"])
            if base is None:
                return {"need": "image"}, [b""]
            image, findings = start_image.build_on(base, parts[0].decode(), head["now"])
        else:
            schema, seed, setup = (part.decode() for part in parts[:3])
            files = _row_files(head.get("files", ()), *parts[3:])
            image, findings = start_image.build(schema, seed, setup, head["now"], files)
        return {"findings": findings}, [image]

    def describe(self, _head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        source = parts[0].decode()
        try:
            functions = ToolModule(ast.parse(source)).functions
            tools, findings = tool_signatures.describe(source, functions)
        except BaseException as error:
            return {"tools": [], "findings": [fault_text(error)]}, []
        return {"tools": tools, "findings": findings}, []

    def inspect(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        return source_inspection.inspect(parts[0].decode(), head["gate"]), []

    def compile(self, _head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        return {}, [compiled(parts[0])]

    def judge(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        source, start, final, calls, *code = parts
        try:
            package.take(*code)
            run = CheckedRun.of(start, final, calls, now=head["now"], answer=head["answer"])
        except BaseException as error:
            return {"error": named(error)[:LONGEST_ERROR], "short": is_short(error)}, []
        return told(source.decode(), run), []

    def judge_each(self, head: dict[str, Any], parts: ReplyParts) -> GuestReply:
        sources, start, final, calls = parts
        run = CheckedRun.of(start, final, calls, now=head["now"], answer=head["answer"])
        return {"told": [told(source, run) for source in json.loads(sources)]}, []


def _row_files(listed: Iterable[tuple[str, str, int]], content: bytes = b"") -> list[RowFile]:
    """The files of rows that stand one behind another: name, table and size of each are listed."""
    found: list[RowFile] = []
    begin = 0
    for name, table, size in listed:
        found.append(RowFile(name, table, content[begin : begin + size]))
        begin += size
    return found


def _arguments(text: bytes) -> dict[str, Any]:
    """The arguments of a call, as the worker wrote them."""
    arguments, _ = DECODER.raw_decode(text.decode())
    return arguments


def serve(connection: socket.socket, walls: list[str]) -> None:
    """Report the walls, then answer requests until the worker closes the socket.

    Each answer repeats its request's nonce, so that output of a tool on the socket cannot pass for another answer.
    """
    gc.disable()  # what is collected when shall not depend on what was called before: see calling.call
    clock.rule_this_process()
    guest = GuestServer()
    connection.sendall(packed({"walls": walls}))
    while (request := receive(connection)) is not None:
        head, parts = request
        answer, answer_parts = guest.answer(head, parts)
        connection.sendall(packed({**answer, "nonce": head["nonce"]}, *answer_parts))
