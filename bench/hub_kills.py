"""Kill a hub or a profile's process with SIGKILL at random moments, and check that its users are served again.

python -m bench.hub_kills [KILLS [SEED]]
Two users work concurrently. In each round, both connect, continue their session and send a prompt, while a process is
killed; a killed hub is restarted. Afterwards, each user must be served again in the same session, which must contain
each prompt at most once. At the end, the audit log must be intact, and no process that a hub started may be left.
"""

import random
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import psutil
import websockets

from bench.agents import prepare
from tests.e2e.http_serving import GREETING, SocketClient, socket_client
from tests.e2e.hub_serving import Hub, hub_of
from tests.model_server import Recorded, Reply, Script, serve

KILLS = 200
USERS = ("anna", "ben")
MAX_KILL_S = 2.5
HUB_SHARE = 0.3
RETRY_S = 0.2
SERVED_S = 60.0
ENDED_S = 60.0
EVERY = 20
FREE = dict.fromkeys(("requests_per_minute", "addresses_per_minute", "sign_ins_per_minute"), 1_000_000)
LOST = (OSError, websockets.WebSocketException)


def choose(_: Recorded) -> Reply:
    """Answer every prompt with a few words, spread over half a second."""
    return Reply(("I ", "am ", "still ", "here."), delay_s=0.12)


def profile_processes(home: Path) -> list[psutil.Process]:
    """Return all profile processes that hubs of a home folder have started."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if "--for-hub" in process.cmdline() and process.environ().get("HOME") == str(home):
                found.append(process)
    return found


class User:
    """One user: a token, a session, and the prompts sent in it."""

    def __init__(self, token: str, folder: Path) -> None:
        self.token = token
        self.folder = folder
        self.session = ""
        self.sent = 0
        self.faults: list[str] = []

    async def work(self, hub: Hub) -> None:
        """Connect, open the session, and send a prompt; raise if the connection is lost."""
        async with socket_client(hub.url, token=self.token) as client:
            await self._reply(client, await client.begin("initialize", GREETING))
            opening: dict[str, Any] = {"cwd": str(self.folder), "mcpServers": []}
            if self.session:
                opening = {"sessionId": self.session, **opening}
                await self._reply(client, await client.begin("session/load", opening))
                self.faults += self._repeated(client)
            else:
                made = await self._reply(client, await client.begin("session/new", opening))
                self.session = made["sessionId"]
            self.sent += 1
            await self._reply(client, await client.begin_prompt(self.session, f"prompt {self.sent}."))

    def _repeated(self, client: SocketClient) -> list[str]:
        """Return the prompts that a loaded session contains more than once."""
        updates = [
            each["params"]["update"] for each in client.messages if each.get("method") == "session/update"
        ]
        said = Counter(
            each["content"]["text"] for each in updates if each["sessionUpdate"] == "user_message_chunk"
        )
        return [f"{text!r} is in a session {count} times" for text, count in said.items() if count > 1]

    async def _reply(self, client: SocketClient, call_id: int) -> Any:
        """Wait for a reply, or for the end of the connection."""
        replies: list[Any] = []
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                replies.append(await client.reply_to(call_id))
                tasks.cancel_scope.cancel()

            tasks.start_soon(wait)
            await client.has_ended.wait()
            tasks.cancel_scope.cancel()
        if not replies:
            raise OSError("the connection has ended")
        if "error" in replies[0]:
            raise OSError(str(replies[0]["error"]))
        return replies[0]["result"]


class Bench:
    """A hub, its users, and what went wrong."""

    def __init__(self, hub: Hub, users: list[User], seed: int) -> None:
        self.faults: list[str] = []
        self.counts: Counter[str] = Counter()
        self.served_s: list[float] = []
        self._hub = hub
        self._users = users
        self._rng = random.Random(seed)

    async def round(self, number: int) -> None:
        """Work, kill a process, and check that the users are served again."""
        async with anyio.create_task_group() as tasks:
            for user in self._users:
                tasks.start_soon(self._try, user)
            await anyio.sleep(self._rng.uniform(0, MAX_KILL_S))
            await self._kill()
        begun = time.monotonic()
        for user in self._users:
            why = "nothing"
            with anyio.move_on_after(SERVED_S) as limit:
                while why:
                    why = await self._try(user)
                    await anyio.sleep(RETRY_S if why else 0)
            if limit.cancelled_caught:
                self.faults.append(f"kill {number}: not served again within {SERVED_S:g} s: {why}")
        self.served_s.append(time.monotonic() - begun)

    async def _kill(self) -> None:
        processes = profile_processes(self._hub.home)
        if self._rng.random() < HUB_SHARE or not processes:
            self._hub.process.kill()
            await self._hub.process.wait()
            self.counts["hub"] += 1
            await self._hub.start()
            return
        with suppress(psutil.NoSuchProcess):
            self._rng.choice(processes).kill()
            self.counts["process of a profile"] += 1

    async def _try(self, user: User) -> str:
        """Do one user's work once; return why that failed, or an empty string."""
        try:
            await user.work(self._hub)
        except LOST as error:
            return str(error)
        except ExceptionGroup as group:
            lost, other = group.split(LOST)
            if other:
                self.faults.append(repr(other))
            return str(lost or other)
        return ""


async def main(kills: int, seed: int) -> int:
    """Run all rounds and print the findings; return the exit code."""
    with TemporaryDirectory(prefix="hub-kills-") as made:
        folder = Path(made).resolve()
        async with serve(Script(choose=choose)) as model, hub_of(folder / "home", model, rates=FREE) as hub:
            users = [User(await hub.add_user(name), folder) for name in USERS]
            await hub.start()
            bench = Bench(hub, users, seed)
            for number in range(1, kills + 1):
                await bench.round(number)
                if number % EVERY == 0:
                    print(f"  {number} kills: {dict(bench.counts)} {bench.faults}", flush=True)
            await hub.stop()
            with anyio.move_on_after(ENDED_S):
                while profile_processes(hub.home):
                    await anyio.sleep(RETRY_S)
            bench.faults += [f"still running: {each.cmdline()}" for each in profile_processes(hub.home)]
            print(await hub.command("audit", "verify"))
            bench.faults += [each for user in users for each in sorted({*user.faults})]
    slowest, ordered = max(bench.served_s), sorted(bench.served_s)
    print(f"{kills} kills, seed {seed}: {dict(bench.counts)}, {sum(user.sent for user in users)} prompts")
    print(f"both users served again: median {ordered[len(ordered) // 2]:.1f} s, at most {slowest:.1f} s")
    print("\n".join(bench.faults) or "All users were served again, and nothing was left behind.")
    return bool(bench.faults)


if __name__ == "__main__":
    prepare()
    kills, seed = (*map(int, sys.argv[1:]), *(KILLS, 1)[len(sys.argv) - 1 :])
    sys.exit(anyio.run(main, kills, seed))
