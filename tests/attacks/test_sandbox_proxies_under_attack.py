"""A sandbox with a list of allowed hosts can contact only these."""

import http.server
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.attacks.sandboxes import sandboxed, usual_bounds

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        content = f"{self.headers['Host']} {self.path} {self.headers['Proxy-Authorization']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        del code, size


@pytest.fixture
def port() -> Generator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join(5)


CURL = "curl -sS -m 60 --noproxy ''"


async def test_an_allowed_host_is_reached_through_either_protocol(tmp_path: Path, port: int) -> None:
    bounds = usual_bounds(hosts=(f"localhost:{port}",))
    async with sandboxed(tmp_path, "bubblewrap", bounds, is_public=True) as box:
        plain = await box.run(f"{CURL} -U a:b 'http://localhost:{port}/a?b=c'")
        tunnel = await box.run(f"{CURL} -p http://localhost:{port}/d")
        many = await box.run(f"for n in 1 2 3 4 5; do {CURL} http://localhost:{port}/$n; done; exit 7")
    assert plain.output == f"localhost:{port} /a?b=c None"
    assert tunnel.output == f"localhost:{port} /d None"
    assert (many.output.count("localhost:"), many.exit_code) == (5, 7)


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:{port}/", "http://example.com/", "http://localhost:{other}/", "http://[::1]:{port}/"],
)
async def test_another_host_or_port_is_not_reached(tmp_path: Path, port: int, address: str) -> None:
    bounds = usual_bounds(hosts=(f"localhost:{port}",))
    async with sandboxed(tmp_path, "bubblewrap", bounds, is_public=True) as box:
        written = address.format(port=port, other=port + 1)
        refused = await box.run(f"{CURL} -i {written}")
        tunnelled = await box.run(f"{CURL} -p {written}")
        without = await box.run(f"{CURL} --proxy '' {written}")
    assert "403 Not an allowed host" in refused.output
    assert (tunnelled.exit_code or 0, without.exit_code or 0) > (0, 0)


async def test_c03_an_allowed_name_with_a_private_address_is_not_reached(tmp_path: Path, port: int) -> None:
    bounds = usual_bounds(hosts=(f"localhost:{port}",))
    async with sandboxed(tmp_path, "bubblewrap", bounds, is_public=False) as box:
        assert (
            "403 That host leads to a private network"
            in (await box.run(f"{CURL} -i http://localhost:{port}/")).output
        )
        assert (await box.run(f"{CURL} -p http://localhost:{port}/")).exit_code != 0


async def test_invalid_requests_are_rejected(tmp_path: Path) -> None:
    async with sandboxed(tmp_path, "bubblewrap", usual_bounds(hosts=("example.com",))) as box:
        for said in ("CONNECT", "GET / HTTP/1.1", "GET ftp://example.com/ HTTP/1.1", "CONNECT x:y HTTP/1.1"):
            line = f"exec 3<>/dev/tcp/${{http_proxy#http://}}; printf '%s\\r\\n\\r\\n' '{said}' >&3; cat <&3"
            assert (
                "400"
                in (
                    await box.run(line.replace("${http_proxy#http://}", "127.0.0.1/${http_proxy##*:}"))
                ).output
            )


async def test_landlock_cannot_limit_hosts(tmp_path: Path, port: int) -> None:
    bounds = usual_bounds(hosts=(f"localhost:{port}",))
    async with sandboxed(tmp_path, "landlock", bounds, is_public=True) as box:
        assert (await box.run(f"{CURL} http://localhost:{port}/")).exit_code != 0
