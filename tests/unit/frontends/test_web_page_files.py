"""The files of the web page: found by name, sent with restrictive headers; no other file on disk is served."""

import gzip
import re
from pathlib import Path

import pytest

from hermes_acp.frontends.web.page_files import PageFiles

pytestmark = pytest.mark.anyio
SCRIPT = "page-ABCD2345.js"


@pytest.fixture
def built(tmp_path: Path) -> PageFiles:
    folder = tmp_path / "static"
    folder.mkdir()
    (folder / "index.html").write_text('<script nonce="__NONCE__"></script>')
    (folder / f"{SCRIPT}.gz").write_bytes(gzip.compress(b"run()"))
    (folder / "font-ABCD2345.ttf").write_bytes(b"font")
    (folder / "secret.js").write_text("secret")
    (tmp_path / "page-ABCD2345.js").write_text("outside")
    return PageFiles(folder)


async def test_each_document_has_its_own_nonce_named_in_its_policy(built: PageFiles) -> None:
    nonces: set[str] = set()
    for _ in range(2):
        file = await built.find("/")
        assert file
        nonce = file.body.decode().split('"')[1]
        assert f"script-src 'nonce-{nonce}';" in file.headers["content-security-policy"]
        nonces.add(nonce)
    assert len(nonces) == 2


async def test_a_compressed_file_is_sent_in_an_encoding_that_the_client_accepts(built: PageFiles) -> None:
    packed = await built.find(f"/{SCRIPT}", takes_gzip=True)
    plain = await built.find(f"/{SCRIPT}")
    assert packed
    assert plain
    assert (gzip.decompress(packed.body), packed.headers["content-encoding"]) == (b"run()", "gzip")
    assert plain.body == b"run()"
    assert "content-encoding" not in plain.headers
    for file in (packed, plain):
        assert file.headers["content-type"] == "text/javascript"
        assert file.headers["x-content-type-options"] == "nosniff"
        assert "immutable" in file.headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "/secret.js",
        "/index.html",
        f"/../{SCRIPT}",
        f"/static/{SCRIPT}",
        f"/{SCRIPT}.gz",
        "/page-ABCD2346.js",
        "/%2e%2e/x",
        f"//{SCRIPT}",
        f"/{SCRIPT}\0",
        "",
    ],
)
async def test_nothing_else_is_found(built: PageFiles, path: str) -> None:
    assert await built.find(path) is None


async def test_without_built_files_the_page_says_how_to_build_them(tmp_path: Path) -> None:
    file = await PageFiles(tmp_path / "static").find("/")
    assert file
    text = file.body.decode()
    assert "make web" in text
    assert not re.search("__[A-Z]+__", text)
    assert "<script" not in text
