"""Run rollouts of hermes-acp on tasks, score them, and send the groups to the Atropos API server (PyPI: `atroposlib`).

    python examples/atropos/roll_out.py TASKS --group-size 4 --api http://localhost:8000 --tokenizer MODEL -m MODEL

TASKS is a folder of TOML files with `prompt`, `files` and `check`, a Python program that the agent never sees. Every
attempt is a line of `hermes-acp batch`, in its own folder. To continue after an interruption, repeat the command with
the same --work. Once you have agreed, the program sends the output of `hermes-acp sessions export`: conversations
without secrets, names and untrusted text. A group whose attempts all scored the same is not sent, because nothing can
be learnt from it.

Needs: hermes-acp on PATH, and `transformers` for --tokenizer.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

IGNORED: Final = -100
"""The mask value of a token that the model did not write."""
WAIT_FOR_TRAINER_S: Final = 5
CHECK_TIMEOUT_S: Final = 60
Message = dict[str, Any]
Encode = Callable[[Sequence[Message], Sequence[Mapping[str, Any]] | None], list[int]]


def write_prompts(options: argparse.Namespace) -> dict[str, str]:
    """Write the lines of the batch, with a folder for each; return the checks by task."""
    lines: list[str] = []
    checks: dict[str, str] = {}
    for path in sorted(options.tasks.glob("*.toml")):
        task = tomllib.loads(path.read_text(encoding="utf-8"))
        checks[path.stem] = task["check"]
        for number in range(options.group_size):
            name = f"{path.stem}.{number}"
            workspace = options.work / "workspaces" / name
            if not workspace.exists():
                write_files(workspace, task.get("files", {}))
            metadata = {"task": path.stem}
            line = {"id": name, "prompt": task["prompt"], "workspace": str(workspace), "metadata": metadata}
            lines.append(json.dumps(line) + "\n")
    if not lines:
        raise SystemExit(f"There are no tasks (*.toml) in {options.tasks}.")
    (options.work / "prompts.jsonl").write_text("".join(lines), encoding="utf-8")
    return checks


def write_files(workspace: Path, files: Mapping[str, str]) -> None:
    """Write a task's files."""
    workspace.mkdir(parents=True)
    for name, text in files.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")


def run_batch(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run all attempts; return each one's last result."""
    words = ["--mode", options.mode, "--concurrency", str(options.concurrency), "--questions", "decline"]
    words += ["--model", options.model] if options.model else []
    prompts = options.work / "prompts.jsonl"
    done = subprocess.run(["hermes-acp", "batch", "run", str(prompts), "--here", *words])
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    results = (options.work / "prompts.results.jsonl").read_text(encoding="utf-8").splitlines()
    return [*{each["id"]: each for each in map(json.loads, results)}.values()]


def is_done(check: str, workspace: Path) -> bool:
    """Run the check of a task in the folder of an attempt."""
    words = [sys.executable, "-c", f"import sys; sys.path.insert(0, '')\n{check}"]
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            words, cwd=workspace, capture_output=True, timeout=CHECK_TIMEOUT_S, env=environment
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def export(options: argparse.Namespace, sessions: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Export the conversations after the user has agreed; return them by session."""
    target = options.work / "conversations.jsonl"
    words = ["--format", "messages", "--output", str(target), "--force"]
    words += ["--yes"] if options.yes else []
    done = subprocess.run(["hermes-acp", "sessions", "export", *sessions, *words])
    if done.returncode:
        raise SystemExit(done.returncode)
    lines = map(json.loads, target.read_text(encoding="utf-8").splitlines())
    return {line["metadata"]["session_id"]: line for line in lines}


def tokenized(conversation: Mapping[str, Any], encode: Encode) -> tuple[list[int], list[int]]:
    """Return a conversation's tokens and mask; only the model's own output is trained on."""
    messages, tools = conversation["messages"], conversation.get("tools")
    tokens: list[int] = []
    mask: list[int] = []
    for number, message in enumerate(messages, start=1):
        so_far = encode(messages[:number], tools)
        if so_far[: len(tokens)] != tokens:
            raise SystemExit("The tokenizer's chat template changes earlier messages, so it cannot be used.")
        added = so_far[len(tokens) :]
        tokens = so_far
        mask += added if message["role"] == "assistant" else [IGNORED] * len(added)
    return tokens, mask


def encoder(name: str) -> Encode:
    """Return a function that encodes messages with the chat template of a model's tokenizer."""
    transformers: Any = import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)

    def encode(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None) -> list[int]:
        text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False)
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    return encode


def groups(
    options: argparse.Namespace,
    checks: Mapping[str, str],
    results: Sequence[Mapping[str, Any]],
    conversations: Mapping[str, Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield the scored attempts of each task, in the format of Atropos."""
    encode = encoder(options.tokenizer)
    for task, check in checks.items():
        own = [each for each in results if each["metadata"]["task"] == task]
        found = [each for each in own if each["session_id"] in conversations]
        passed = [is_done(check, options.work / "workspaces" / each["id"]) for each in found]
        print(f"{task}: {sum(passed)} of {len(found)} passed", file=sys.stderr)
        if len(found) < options.group_size or (len(set(passed)) == 1 and not options.send_all):
            continue
        said = [conversations[each["session_id"]] for each in found]
        encoded = [tokenized(each, encode) for each in said]
        if any(len(tokens) > options.max_tokens for tokens, _ in encoded):
            print(f"{task}: longer than {options.max_tokens} tokens, not sent", file=sys.stderr)
            continue
        yield {
            "tokens": [tokens for tokens, _ in encoded],
            "masks": [mask for _, mask in encoded],
            "scores": [1.0 if each else -1.0 for each in passed],
            "messages": [[plain(message) for message in each["messages"]] for each in said],
        }


def plain(message: Message) -> Message:
    """Return a message with text content, which Atropos requires."""
    return {**message, "content": message.get("content") or ""}


def register(options: argparse.Namespace) -> int:
    """Register with the API server once a trainer has started; return the environment's ID."""
    about = {
        "max_token_length": options.max_tokens,
        "desired_name": "hermes-acp",
        "weight": 1.0,
        "group_size": options.group_size,
    }
    while (answer := post(options.api, "register-env", about))["status"] != "success":
        print(f"Atropos: {answer['status']}", file=sys.stderr)
        time.sleep(WAIT_FOR_TRAINER_S)
    return answer["env_id"]


def post(api: str, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Post a document to the API server and return its answer."""
    request = urllib.request.Request(
        f"{api.rstrip('/')}/{path}", json.dumps(document).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def main() -> int:
    """Run the rollouts, score them, ask the user, and send the groups."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", type=Path, metavar="TASKS")
    parser.add_argument("--work", type=Path, default=Path("rollouts"), help="the folder for attempts")
    parser.add_argument("--api", default="http://localhost:8000", help="the API server of Atropos")
    parser.add_argument("--tokenizer", required=True, help="the model whose tokenizer is used")
    parser.add_argument("-m", "--model", default="", help="the model to run")
    parser.add_argument("--mode", default="auto", help="the permission mode")
    parser.add_argument("--group-size", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--max-tokens", type=int, default=32768, help="do not send longer conversations")
    parser.add_argument("--send-all", action="store_true", help="also send groups that scored the same")
    parser.add_argument("--yes", action="store_true", help="send without asking")
    options = parser.parse_args()
    options.work = options.work.absolute()
    options.work.mkdir(parents=True, exist_ok=True)
    checks = write_prompts(options)
    results = run_batch(options)
    conversations = export(options, [each["session_id"] for each in results if each["session_id"]])
    ready = [*groups(options, checks, results, conversations)]
    if ready:
        env_id = register(options)
        for group in ready:
            post(options.api, "scored_data", {**group, "env_id": env_id})
        post(options.api, "disconnect-env", {"env_id": env_id})
    print(f"{len(ready)} groups sent to {options.api}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
