"""A real Synapse with three accounts and the agent's, in its own environment; `tests/install.sh all` installs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import msgspec

from hermes_acp.config.sections.gateway_settings import MatrixSettings
from hermes_acp.frontends.gateway.port.platform_port import PlatformPlugin
from tests.contract.platform_suite import Shown, file_mark
from tests.ports import quiet_port, wait_for_listener

NIO: Final[Any] = import_module("nio")
PYTHON = Path(sys.prefix) / "synapse" / "bin" / "python"
SERVER = "gateway.test"
START_S = 60
PEOPLE = ("anna", "bert", "eve")
NUMBERS = count(1)


@contextmanager
def synapse(folder: Path) -> Generator[str]:
    """Run a server for the block; return its address."""
    port = quiet_port()
    quick = {"per_second": 10_000, "burst_count": 10_000}
    settings: dict[str, Any] = {
        "server_name": SERVER,
        "pid_file": str(folder / "pid"),
        "listeners": [
            {
                "port": port,
                "bind_addresses": ["127.0.0.1"],
                "type": "http",
                "tls": False,
                "resources": [{"names": ["client", "media"]}],
            }
        ],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "server.db")}},
        "media_store_path": str(folder / "media"),
        "signing_key_path": str(folder / "key"),
        "macaroon_secret_key": "m",
        "form_secret": "f",
        "report_stats": False,
        "bcrypt_rounds": 4,
        "caches": {"sync_response_cache_duration": 0},
        "trusted_key_servers": [],
        "enable_registration": True,
        "enable_registration_without_verification": True,
        "rc_registration": quick,
        "rc_login": {"address": quick, "account": quick, "failed_attempts": quick},
        "rc_message": quick,
        "rc_joins": {"local": quick, "remote": quick},
        "rc_invites": {"per_room": quick, "per_user": quick, "per_issuer": quick},
        "rc_room_creation": quick,
    }
    path = folder / "server.yaml"
    path.write_bytes(msgspec.json.encode(settings))
    command = [str(PYTHON), "-m", "synapse.app.homeserver", "--config-path", str(path)]
    subprocess.run([*command, "--generate-keys"], check=True, capture_output=True)
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=folder)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for_listener(port, START_S)
        httpx2.get(f"{address}/_matrix/client/versions", timeout=START_S).raise_for_status()
        yield address
    finally:
        process.kill()
        process.communicate()


class MatrixWorld:
    """Accounts on one server that no other test uses, and a room with all of them."""

    platform = "matrix"
    plugin: PlatformPlugin | None = None
    repeats = True

    def __init__(self, address: str) -> None:
        self.address = address
        self._suffix = next(NUMBERS)
        self._clients: dict[str, Any] = {}
        self._directs: dict[str, str] = {}
        self._shown: dict[tuple[str, str], Shown] = {}
        self.room = ""
        self.secrets: dict[str, str] = {}
        self.settings = MatrixSettings.defaults()

    def id_of(self, name: str) -> str:
        return f"@{name}{self._suffix}:{SERVER}"

    async def open(self) -> None:
        """Create the accounts and the rooms."""
        bot = await self._account("agent")
        self.secrets = {"token": bot.access_token}
        self.settings = MatrixSettings(
            homeserver=self.address, user=self.id_of("agent"), device=bot.device_id
        )
        for name in PEOPLE:
            client = self._clients[name] = await self._account(name)
            made: Any = await client.room_create(invite=[self.id_of("agent")], is_direct=True)
            self._directs[name] = made.room_id
            await bot.join(made.room_id)
        made = await self._clients["anna"].room_create(
            invite=[self.id_of(each) for each in ("agent", *PEOPLE[1:])]
        )
        self.room = made.room_id
        for client in (bot, *(self._clients[name] for name in PEOPLE[1:])):
            await client.join(self.room)
        await bot.close()

    def forget(self) -> None:
        """Forget all messages seen so far; new ones are shown."""
        self._shown.clear()

    async def follow(self) -> None:
        """Show every message that arrives."""
        async with anyio.create_task_group() as tasks:
            for name, client in self._clients.items():
                tasks.start_soon(self._follow, name, client)

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()

    async def say(self, name: str, text: str) -> None:
        await self._send(name, self._directs[name], {"msgtype": "m.text", "body": text})

    async def say_in_room(self, name: str, text: str) -> None:
        await self.say_to(self.room, name, text)

    async def say_to(self, room: str, name: str, text: str) -> None:
        """Send a message that mentions the agent."""
        mentions = {"user_ids": [self.id_of("agent")]}
        await self._send(name, room, {"msgtype": "m.text", "body": text, "m.mentions": mentions})

    async def invite(self, name: str) -> str:
        """Create a room and invite the agent to it; return its ID."""
        made: Any = await self._clients[name].room_create(invite=[self.id_of("agent")])
        assert isinstance(made, NIO.RoomCreateResponse), made
        return made.room_id

    def client_of(self, name: str) -> Any:
        """Return a person's connection."""
        return self._clients[name]

    def direct(self, name: str) -> Shown:
        return self._shown.setdefault((name, self._directs[name]), Shown())

    def seen_in_room(self, name: str) -> Shown:
        return self._shown.setdefault((name, self.room), Shown())

    async def _send(self, name: str, room: str, content: dict[str, Any]) -> None:
        sent = await self._clients[name].room_send(room, "m.room.message", content)
        assert isinstance(sent, NIO.RoomSendResponse), sent

    async def _account(self, name: str) -> Any:
        client = NIO.AsyncClient(self.address, self.id_of(name))
        done = await client.register(f"{name}{self._suffix}", "secret-of-the-test")
        assert isinstance(done, NIO.RegisterResponse), done
        client.user_id = self.id_of(name)
        return client

    async def _follow(self, name: str, client: Any) -> None:
        while True:
            answer = await client.sync(timeout=10_000, since=client.next_batch or None)
            if not isinstance(answer, NIO.SyncResponse):
                continue
            for room_id, info in answer.rooms.join.items():
                for event in info.timeline.events:
                    self._show(name, room_id, event.source)
                    await self._show_file(name, room_id, event.source)

    def _show(self, name: str, room_id: str, event: dict[str, Any]) -> None:
        if event["sender"] != self.id_of("agent") or event["type"] != "m.room.message":
            return
        content = event["content"]
        relation = content.get("m.relates_to", {})
        is_edit = relation.get("rel_type") == "m.replace"
        shown = self._shown.setdefault((name, room_id), Shown())
        if is_edit:
            shown.put(relation["event_id"], content["m.new_content"]["body"])
        else:
            shown.put(event["event_id"], content["body"])

    async def _show_file(self, name: str, room_id: str, event: dict[str, Any]) -> None:
        content = event["content"]
        if event["sender"] == self.id_of("agent") and (address := content.get("url")):
            loaded = await self._clients[name].download(mxc=address)
            mark = file_mark(content["body"], loaded.body)
            self._shown.setdefault((name, room_id), Shown()).put(event["event_id"], mark)


@asynccontextmanager
async def matrix_world(address: str) -> AsyncGenerator[MatrixWorld]:
    """Open accounts on a server, and follow what they see."""
    world = MatrixWorld(address)
    await world.open()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(world.follow)
        try:
            yield world
        finally:
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await world.close()
