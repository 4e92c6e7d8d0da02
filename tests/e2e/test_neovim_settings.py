"""The file that `setup --editor neovim` writes, in a real Neovim with substitutes for the three plugins."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.e2e.agent_process import agent_environment
from tests.e2e.test_lsp_editors import CLIENTS, program

PLUGINS = {
    "codecompanion/config.lua": "return setmetatable({ config = { adapters = { acp = { other = 1 } } } }, "
    "{ __index = function(self, key) return rawget(self.config, key) end })",
    "codecompanion/adapters.lua": "return { extend = function(name, more) more.from = name; return more end }",
    "avante/config.lua": "return { acp_providers = {} }",
    "agentic/config.lua": "return { acp_providers = { hermes = { command = 'mine' } } }",
}
REPORT = """
local adapters = require("codecompanion.config").adapters.acp
local told = {
  adapter = adapters.hermes(), other = adapters.other,
  avante = require("avante.config").acp_providers.hermes.command,
  home = require("avante.config").acp_providers.hermes.env.HOME,
  agentic = require("agentic.config").acp_providers.hermes.command,
}
vim.fn.writefile({ vim.json.encode(told) }, vim.env.REPORT)
vim.cmd("qall!")
"""


def test_the_agent_is_added_to_each_plugin_and_replaces_nothing(tmp_path: Path, require_all: bool) -> None:
    nvim = program("nvim", is_required=require_all)
    for name, text in PLUGINS.items():
        path = tmp_path / "plugins" / "lua" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "report.lua").write_text(REPORT)
    report = tmp_path / "report.json"
    command = [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n"]
    command += ["--cmd", f"set rtp+={tmp_path}/plugins", "-c", f"luafile {CLIENTS}/neovim/hermes-acp.lua"]
    command += ["-c", "doautocmd VimEnter", "-c", f"luafile {tmp_path}/report.lua"]
    environment = agent_environment(tmp_path, REPORT=str(report))
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert report.exists(), done
    told = json.loads(report.read_text())
    assert told["adapter"]["commands"] == {"default": ["hermes-acp"]}
    assert told["adapter"]["from"] == "goose"
    assert (told["other"], told["avante"], told["home"]) == (1, "hermes-acp", str(tmp_path))
    assert told["agentic"] == "mine"


def test_without_a_plugin_nothing_happens(tmp_path: Path, require_all: bool) -> None:
    nvim = program("nvim", is_required=require_all)
    command = [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n"]
    command += ["-c", f"luafile {CLIENTS}/neovim/hermes-acp.lua", "-c", "doautocmd VimEnter", "-c", "qall!"]
    done = subprocess.run(
        command,
        env=agent_environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr.strip()) == (0, "")
