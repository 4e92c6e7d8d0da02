"""Two profiles on one machine, each with secret words in everything that its home contains."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from hermes_acp.clock import SystemClock
from hermes_acp.core.event_types import EventContext, Grant
from hermes_acp.core.events import TextSaid, TitleChanged, TurnEnded, TurnStarted, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.memory_ports import MemoryChange
from hermes_acp.ids import RandomIds
from hermes_acp.memory.memory_store import MemoryStore
from hermes_acp.sessions.session_creation import SessionCreator
from hermes_acp.storage.profile_folders import create_profile
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.workspace_entries import WorkspaceEntries

PROJECT_WORD = "kettle"
"""A word in every profile's texts, so that a search that is too broad would find them."""


class Owner(Struct, frozen=True):
    """A profile, its home, the word that only its own files contain, and its key."""

    name: str
    home: Path
    token: str
    key: str

    def is_told(self, text: str) -> bool:
        """Return whether a text contains its word or its key."""
        return self.token in text or self.key in text

    @property
    def session_id(self) -> str:
        """The ID of its session."""
        return f"ses_of_{self.name}"

    @property
    def files(self) -> list[Path]:
        """Its files that contain the word."""
        wanted, key = self.token.encode(), self.key.encode()
        inner = self.home / "profiles"
        found = (path for path in self.home.rglob("*") if path.is_file() and not path.is_relative_to(inner))
        contents = ((path, path.read_bytes()) for path in found)
        return sorted(path for path, content in contents if wanted in content or key in content)


def set_up(base: Path, name: str, project: Path) -> Owner:
    """Create a profile with a session, notes, a skill, keys, tokens and answers about a project."""
    home = base if name == "default" else create_profile(base, name)
    owner = Owner(name, home, f"word{os.urandom(9).hex()}of{name}", f"key-{os.urandom(9).hex()}")
    words = f"The {PROJECT_WORD} is {owner.token}."
    texts = {
        ".env": f"OTHER_API_KEY='{owner.key}'\n",
        "config.yaml": f"# {words}\nbudget: {{max_steps: 50}}\n",
        "SOUL.md": f"{words}\n",
        "AGENTS.md": f"{words}\n",
        "mcp-tokens/mcp_example-0123456789abcdef.json": f'{{"url": "https://mcp.example", "tokens": "{owner.key}"}}',
        f"skills/brew-{name}/SKILL.md": f"---\nname: brew-{name}\ndescription: Brew. {words}\n---\n{words}\n",
        "chat-history/project": f"{words}\n",
        "logs/usage.jsonl": f'{{"words": "{owner.token}"}}\n',
        "trust.json": f'{{"{project}": [{{"kind": "rules", "name": "{owner.token}", "digest": "0"}}]}}',
    }
    for path, text in texts.items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(text)
        file.chmod(0o600)
    memory = MemoryStore(home)
    for store in ("workspace", "user", "memory"):
        memory.change_now(str(project), MemoryChange(store, "add", words, ""), EventContext("", "", 1.0))
    grant = Grant("run", f"{project}\0echo {owner.token}", True)
    WorkspaceEntries(home / "permissions.json", Grant).change(str(project), lambda _: (grant,))
    past = (
        TurnStarted("turn_1"),
        UserSaid("msg_1", (TextPart(words),)),
        TitleChanged(words),
        TextSaid("msg_2", words),
        TurnEnded("turn_1", "done"),
    )
    creator = SessionCreator(SessionStore(home), SystemClock(), RandomIds())
    creator.begin_with_history(past, str(project), (), owner.session_id).transcript.close()
    return owner
