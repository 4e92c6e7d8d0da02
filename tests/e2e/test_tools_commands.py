"""`hermes-acp tools`, as a user at a terminal runs it."""

import subprocess
import sys
from pathlib import Path

TOOL = (
    'TOOL = {"name": "greet", "description": "Greet somebody."}\n\n\ndef run(name: str):\n    return name\n'
)


class Terminal:
    """The user's own home and project."""

    def __init__(self, place: Path) -> None:
        self.home, self.project = place / "home", place / "project"
        (self.home / "tools").mkdir(parents=True)
        self.project.mkdir()
        self.file = self.home / "tools" / "greet.py"

    def tools(self, *words: str, code: int = 0) -> str:
        """Run a command, and return its output."""
        done = subprocess.run(
            (sys.executable, "-m", "hermes_acp", "tools", *words),
            env={"HERMES_HOME": str(self.home), "PATH": "/usr/bin:/bin"},
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr


def test_a_tools_life_on_the_command_line(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    assert "There are no custom tools" in terminal.tools()
    terminal.file.write_text(TOOL)
    assert "not trusted" in terminal.tools("list")
    assert "is a valid tool: reads the session's folders; no network" in terminal.tools(
        "check", str(terminal.file)
    )
    assert "trusted until it changes" in terminal.tools("allow", "greet")
    assert "greet (yours): ready" in terminal.tools()
    terminal.file.write_text(TOOL.replace("return name", "return name.upper()"))
    assert "not trusted" in terminal.tools()
    assert "version 3 of greet" in terminal.tools("rollback", "greet")
    assert terminal.file.read_text() == TOOL
    assert "greet (yours): ready" in terminal.tools()
    history = terminal.tools("history", "greet").splitlines()
    assert [line.split()[0] for line in history] == ["3", "2", "1"]
    assert "user: rolled back on the command line" in history[0]
    assert "upper" not in terminal.file.read_text()
    terminal.tools("rollback", "greet", "2")
    assert "upper" in terminal.file.read_text()


def test_invalid_and_missing_tools(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.file.write_text("import subprocess\n" + TOOL.replace("name: str", "name"))
    told = terminal.tools("check", str(terminal.file), code=1).splitlines()
    assert told[0].startswith(f"{terminal.file}:1: subprocess starts programs")
    assert told[1].startswith(f"{terminal.file}:5: the parameter name of run has no type")
    assert "not a valid tool" in terminal.tools()
    assert "There is no tool 'greet'" in terminal.tools("allow", "greet", code=2)
    assert "cannot be read" in terminal.tools("check", "nowhere.py", code=2)
    assert "no stored versions of a tool" in terminal.tools("history", "other", code=2)
    assert "no version 7" in terminal.tools("rollback", "greet", "7", code=2)
    workspaces = terminal.project / ".hermes" / "tools"
    workspaces.mkdir(parents=True)
    (workspaces / "helper.py").write_text(TOOL.replace("greet", "helper"))
    assert "helper (this workspace): not trusted" in terminal.tools("list", "--cwd", str(terminal.project))
    assert "helper" not in terminal.tools("--cwd", str(tmp_path), "list")
