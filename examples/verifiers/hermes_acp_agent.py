"""A harness that runs hermes-acp in environments of verifiers (PyPI: `verifiers` 0.4), each rollout as a run.

    PYTHONPATH=examples/verifiers vf-eval hermes-acp-tasks --env.agent.harness.id hermes-acp-agent \
        --env.agent.runtime.type docker --env.agent.harness.mode bypass --model MODEL

The runtime must have hermes-acp installed. Each rollout has a separate home folder, whose session survives an
interruption of the process. Its model calls go to verifiers, which records them; secrets in them are masked as always.
"""

import json
import secrets
import shlex
from collections.abc import Mapping
from typing import Any, Final, Literal

import verifiers.v1 as vf
from pydantic import Field

HOMES: Final = "/tmp/hermes-acp-rollouts"
START: Final = 'exec "$@" <"$0"'
"""Runs a command with the prompt as its input, because it may be too long for an argument."""
FAILED_LATER: Final = ("budget",)
"""Failures that belong to a rollout: they end it, and it is then scored."""


class HermesAcpConfig(vf.HarnessConfig):
    """The agent's command and permission mode, which should be `bypass` only where nothing can be harmed.

    A question ends the rollout, because no user can answer it. `settings` are those of config.yaml.
    """

    command: str = "hermes-acp"
    mode: Literal["ask", "accept_edits", "plan", "auto", "bypass"] = "auto"
    max_steps: int | None = Field(default=None, gt=0)
    settings: dict[str, Any] = Field(default_factory=dict)
    keep_home: bool = False
    """Whether the session remains after the rollout, for `hermes-acp sessions export`."""


class HermesAcpAgent(vf.Harness[HermesAcpConfig]):
    """Runs `hermes-acp runs start --here` in the rollout's runtime."""

    SUPPORTS_MCP = True
    NEEDS_CONTAINER = False  # it reads nothing from the host: HOME and HERMES_HOME are the rollout's own

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Work on the prompt until the run ends or asks a question."""
        _, prompt = self.resolve_text_prompt(data)
        settings = {**self.config.settings, "allow_bypass": self.config.mode == "bypass"}
        if mcp_urls:
            headers = self.config.resolve_mcp_headers(mcp_urls)
            settings["mcp_servers"] = {
                name: {"url": url, "headers": headers.get(name, {})} for name, url in mcp_urls.items()
            }
        home = home_of(trace)
        await runtime.write(f"{home}/.hermes/config.yaml", json.dumps(settings).encode())
        return await self._work(ctx, trace, runtime, (endpoint, secret), prompt or "")

    async def resume(
        self, ctx: vf.ModelContext, trace: vf.Trace, runtime: vf.Runtime, *rest: Any
    ) -> vf.ProgramResult:
        """Continue the session with the user's next messages; the other parameters are those of `launch`."""
        endpoint, secret, mcp_urls, data, messages, *_ = rest
        said = vf.TaskData(prompt=messages).prompt_text
        if not trace.branches:
            opening = data.model_copy(update={"prompt": said})
            return await self.launch(ctx, trace, runtime, endpoint, secret, mcp_urls, opening)
        return await self._work(ctx, trace, runtime, (endpoint, secret), said)

    @vf.metric
    async def run_of_the_agent(self, trace: vf.Trace, runtime: vf.Runtime) -> Mapping[str, float]:
        """Return whether the run was done, and how many questions were left open."""
        try:
            run = json.loads(await runtime.read(f"{home_of(trace)}/run.json"))
        except (vf.SandboxError, OSError):
            return {}
        return {"run_done": float(run["state"] == "done"), "run_questions": float(len(run["questions"]))}

    async def cleanup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Remove the rollout's home folder."""
        if not self.config.keep_home:
            await runtime.run(["rm", "-rf", home_of(trace)], {})

    async def _work(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        model: tuple[str, str],
        prompt: str,
    ) -> vf.ProgramResult:
        """Start a run in the rollout's session and wait until it ends or asks."""
        home = home_of(trace)
        await runtime.write(f"{home}/prompt", prompt.encode())
        endpoint, secret = model
        environment = {
            **self.config.resolved_env,
            "HOME": home,
            "HERMES_HOME": f"{home}/.hermes",
            "HERMES_PROVIDER": "openai_compatible",
            "HERMES_MODEL": ctx.model,
            "OPENAI_BASE_URL": endpoint,
            "OPENAI_API_KEY": secret,
        }
        flags = ["--session", f"rollout-{trace.id}", "--create-session", "--mode", self.config.mode]
        if self.config.max_steps:
            flags += ["--max-steps", str(self.config.max_steps)]
        run_id = f"rollout-{trace.id}-{secrets.token_hex(4)}"
        start = [
            *shlex.split(self.config.command),
            "runs",
            "start",
            "--here",
            "--json",
            "--id",
            run_id,
            *flags,
        ]
        result = await runtime.run_program(["sh", "-c", START, f"{home}/prompt", *start], environment)
        try:
            run = json.loads(result.stdout)
        except ValueError:
            return result
        await runtime.write(f"{home}/run.json", result.stdout.encode())
        has_rested = run["state"] in ("done", "input_required") or run["failure"] in FAILED_LATER
        return vf.ProgramResult(0, result.stdout, result.stderr) if has_rested else result


def home_of(trace: vf.Trace) -> str:
    """Return the home folder of a rollout."""
    return f"{HOMES}/{trace.id}"


__all__ = ["HermesAcpAgent"]
