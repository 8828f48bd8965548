"""What answers the routes of `vllm serve` that a run uses: `vllm serve MODEL --host H --port P`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.doubles import said
from tests.synth.pipeline.model import answer_to


class Door(BaseHTTPRequestHandler):
    """Healthy at the second look, as one that has to load first."""

    looks = 0

    def do_GET(self) -> None:
        Door.looks += 1
        self._say(200 if self.path == "/health" and Door.looks > 1 else 503, {})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert request["model"] == sys.argv[2]
        self._say(200, said(json.dumps(answer_to(request["messages"]))))

    def _say(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main() -> None:
    options = dict(zip(sys.argv[3::2], sys.argv[4::2], strict=False))
    assert sys.argv[1] == "serve"
    ThreadingHTTPServer((options["--host"], int(options["--port"])), Door).serve_forever()
