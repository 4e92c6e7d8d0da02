"""A home with a training file, data as `sessions export` writes it, and a trainer that an installed package adds.

The trainer learns nothing: it reports steps, writes checkpoints, and waits before each step until that is allowed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TRAINER = """
import json
import os
import time
from pathlib import Path

class ScriptedTrainer:
    extra = ""
    modules = ()
    methods = ("sft", "dpo")
    variables = ("SCRIPTED_KEY",)

    def train(self, given, monitor):
        script = json.loads(Path(given.job.locked.base_model).read_text())
        (given.checkpoints.parent / "given.json").write_text(json.dumps({
            "learning_rate": given.job.locked.learning_rate, "records": len(given.records),
            "variables": dict(os.environ), "resume_step": given.resume_step}))
        total = given.job.schedule.max_steps
        for step in range(given.resume_step + 1, total + 1):
            while step > int(Path(script["allowed"]).read_text()):
                time.sleep(0.02)
            if step == script.get("fails_at"):
                if script["fault"] == "full":
                    with open("/dev/full", "w") as full:
                        full.write("x" * 100_000)
                raise RuntimeError(script["fault"])
            monitor.report(step, total, 1 / step)
            asked = monitor.should_stop()
            if step % given.job.schedule.checkpoint_every == 0 or asked:
                monitor.checkpoint_folder(step).mkdir()
                (monitor.checkpoint_folder(step) / "weights").write_text(str(step))
                monitor.checkpoint_written(step)
            if asked:
                return False
        given.output.mkdir(exist_ok=True)
        (given.output / "weights").write_text("trained")
        return True

TRAINER = ScriptedTrainer()
"""
CONVERSATION: Mapping[str, Any] = {
    "messages": [
        {"role": "user", "content": "What is the password of the day?"},
        {"role": "assistant", "content": "The password is heron."},
    ]
}


class TrainingHome:
    """The user's home below `folder`, with the training `demo`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hermes = folder / ".hermes"
        self.file = self.hermes / "training" / "demo.yaml"
        self.run = self.hermes / "training" / "runs" / "demo"
        self.data = folder / "data.jsonl"
        self.packages = folder / "packages"
        self.script = folder / "script.json"
        self._allowed = folder / "allowed"

    def prepare(self, **settings: Any) -> None:
        """Write everything that a start needs; nothing runs yet, and every step is allowed."""
        about = self.packages / "scripted_trainer-1.dist-info"
        about.mkdir(parents=True, exist_ok=True)
        (self.packages / "scripted_trainer.py").write_text(TRAINER)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: scripted-trainer\nVersion: 1\n")
        (about / "entry_points.txt").write_text(
            "[hermes_acp.trainers]\nscripted = scripted_trainer:TRAINER\n"
        )
        self.allow(1000)
        self.play()
        self.write_data([CONVERSATION])
        self.write_file(**settings)

    def write_file(self, learning_rate: float = 0.001, **settings: Any) -> None:
        """Write the training file."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "trainer": "scripted",
            "data": str(self.data),
            "max_steps": 20,
            "checkpoint_every": 5,
            "locked": {"base_model": str(self.script), "learning_rate": learning_rate},
            **settings,
        }
        self.file.write_text(json.dumps(document))
        self.file.chmod(0o600)

    def write_data(self, records: Sequence[object], form: str = "messages", **manifest: Any) -> None:
        """Write data with its manifest."""
        self.data.write_text("".join(json.dumps(record) + "\n" for record in records))
        self.write_manifest(form, **manifest)

    def write_manifest(self, form: str = "messages", **manifest: Any) -> None:
        """Write a manifest that matches the current data."""
        content = self.data.read_bytes()
        file = {"name": self.data.name, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        document = {
            "program": "hermes-acp 0.1.0",
            "format": form,
            "files": [file],
            "counts": {"sessions": 1},
            "models": [{"model": "scripted-large", "program_version": "0.1.0", "answers": 1}],
            "redaction": "Secrets are masked.",
            "licence": "Read the terms of the models.",
            **manifest,
        }
        self.data.with_name(f"{self.data.name}.manifest.json").write_text(json.dumps(document))

    def allow(self, steps: int) -> None:
        """Allow the trainer to work up to a step."""
        draft = self._allowed.with_suffix(".new")
        draft.write_text(str(steps))
        draft.replace(self._allowed)

    def play(self, **script: Any) -> None:
        """Tell the trainer which fault to cause."""
        self.script.write_text(json.dumps({"allowed": str(self._allowed), **script}))

    def variables(self) -> dict[str, str]:
        """Return the variables for this home and its trainer."""
        return {"HOME": str(self.folder), "PYTHONPATH": str(self.packages)}
