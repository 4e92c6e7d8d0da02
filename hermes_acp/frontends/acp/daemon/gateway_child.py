"""Run the gateway as a child of the resident process: start it, restart it after it has ended, and end it at shutdown.

The gateway is a client like any other. Its libraries, and their crashes, stay out of this process.
"""

import subprocess
import sys
from collections.abc import Callable
from typing import Final

import anyio
import anyio.abc
from anyio import to_thread

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings import load_settings
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.messages import daemon

BACKOFF_S: Final = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
STABLE_S: Final = 60.0
END_GRACE_S: Final = 5.0


class GatewayChild:
    """The gateway of a resident process, if the settings name a platform."""

    def __init__(self, environment: Environment, announce: Callable[[str], None]) -> None:
        self._environment = environment
        self._announce = announce

    async def keep(self) -> None:
        """Keep the gateway running until cancelled; do nothing if no platform is set up."""
        try:
            settings = await to_thread.run_sync(load_settings, self._environment)
        except HermesError as error:
            self._announce(daemon.gateway_not_started(error.sentence()))
            return
        platforms = settings.gateway.platforms
        if not any(getattr(platforms, name) for name in type(platforms).model_fields):
            return
        failures = 0
        while True:
            began = anyio.current_time()
            code = await self._run()
            if anyio.current_time() - began > STABLE_S:
                failures = 0
            wait_s = BACKOFF_S[min(failures, len(BACKOFF_S) - 1)]
            failures += 1
            self._announce(daemon.gateway_ended(code, wait_s))
            await anyio.sleep(wait_s)

    async def _run(self) -> int:
        """Run the gateway once; return its exit code. However this process ends, the gateway's input closes."""
        process = await anyio.open_process(
            [sys.executable, "-m", "hermes_acp", "gateway", "run", "--ends-with-input"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=None,
            env=dict(self._environment.variables),
            cwd=self._environment.home,
        )
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                with anyio.CancelScope(shield=True):
                    await _end(process)


async def _end(process: anyio.abc.Process) -> None:
    """Close the gateway's input, so that it ends; kill it if it does not."""
    assert process.stdin is not None
    await process.stdin.aclose()
    with anyio.move_on_after(END_GRACE_S):
        await process.wait()
        return
    process.kill()
    await process.wait()
