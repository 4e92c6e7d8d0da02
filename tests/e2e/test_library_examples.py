"""The examples of the library run as printed in its guide."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from tests.architecture.sources import ROOT
from tests.model_server import ModelServer, Reply, ToolCall, serve

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

EXAMPLES = ROOT / "examples" / "library"
GUIDE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
CLIENT = """
from fastapi.testclient import TestClient
from service import app

with TestClient(app) as client:
    print(client.post("/ask", json={"text": "Is there tea?"}).json())
    print(client.post("/stream", json={"text": "Thank you"}).text)
"""
NOTEBOOK = """
import sys, nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
for cell in notebook.cells:
    for output in cell.get("outputs", ()):
        print(output["text"], end="")
"""


def calls(name: str, **arguments: object) -> Reply:
    return Reply(tool_calls=(ToolCall(name, arguments),))


async def run(command: Sequence[str], place: Path, server: ModelServer) -> str:
    """Run a program beside the examples, and return its output."""
    (place / "home").mkdir(exist_ok=True)
    variables = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(place / "home"),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(EXAMPLES),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENAI_BASE_URL": server.openai_base_url,
        "OPENAI_API_KEY": "sk-test",
        "HERMES_MODEL": "m",
    }
    with anyio.fail_after(120):
        done = await anyio.run_process(
            command, env=variables, cwd=place, check=False, stderr=subprocess.STDOUT
        )
    text = done.stdout.decode()
    assert done.returncode == 0, text
    return text


async def test_the_script_example(tmp_path: Path) -> None:
    async with serve([]) as pages:
        page = f"{pages.openai_base_url}/models"
        async with serve([calls("fetch_url", url=page), Reply("A list.")]) as server:
            said = await run([sys.executable, str(EXAMPLES / "fetch_page.py"), page], tmp_path, server)
    answer, call = said.splitlines()
    assert answer == "A list."
    assert call.startswith(f"fetch_url {{'url': '{page}'}} 0.")
    assert call.endswith(" s ok")


async def test_the_service_example(tmp_path: Path) -> None:
    replies = [calls("in_stock", product="tea"), Reply("There are 12."), Reply("You are welcome.", deltas=3)]
    async with serve(replies) as server:
        said = await run([sys.executable, "-W", "ignore", "-c", CLIENT], tmp_path, server)
    assert said.splitlines() == ["{'answer': 'There are 12.'}", "You are welcome."]


async def test_the_fixture_example(tmp_path: Path) -> None:
    replies = [calls("write_file", path="greeting.txt", content="hello\n"), Reply("Written.")]
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={EXAMPLES}")
    async with serve(replies) as server:
        said = await run([*command, str(EXAMPLES / "test_with_agent.py")], tmp_path, server)
    assert "1 passed" in said


async def test_the_notebook_example(tmp_path: Path) -> None:
    replies = [calls("sales_of", month="June"), calls("sales_of", month="May"), Reply("92 more.")]
    async with serve(replies) as server:
        notebook = str(EXAMPLES / "notebook.ipynb")
        said = await run([sys.executable, "-W", "ignore", "-c", NOTEBOOK, notebook], tmp_path, server)
    assert said.endswith("92 more.\nsales_of {'month': 'June'} 402\nsales_of {'month': 'May'} 310\n")


def test_the_guide_prints_the_examples() -> None:
    for name in ("fetch_page.py", "service.py", "test_with_agent.py"):
        code = (EXAMPLES / name).read_text(encoding="utf-8")
        assert code.partition('"""\n\n')[2].strip() in GUIDE
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert "".join(cell["source"]) in GUIDE
