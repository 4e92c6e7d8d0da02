"""Format the answers of the built-in commands as Markdown."""

import re
from collections.abc import Sequence
from pathlib import Path

from hermes_acp.context.context_files import ContextFile, ContextFiles
from hermes_acp.core.available_options import AvailableModel, chosen_model
from hermes_acp.core.flow_labels import status_rows
from hermes_acp.core.record.passages import Passage
from hermes_acp.core.record.session_record import Record
from hermes_acp.core.record.turn_times import TurnTimes
from hermes_acp.core.token_estimates import TOKEN_BYTES


def status_text(record: Record, models: Sequence[AvailableModel], profile: str = "") -> str:
    """Format the model, the mode, the context window usage, and each provider's cache hits.

    `profile` is named if it is not the default one.
    """
    usage, options = record.usage, record.options
    rows = [("Mode", record.mode), ("Working directory", record.cwd)]
    if offer := chosen_model(options, models):
        effort = f", reasoning effort {options.effort}" if options.effort else ""
        rows.insert(0, ("Model", f"{offer.model} ({offer.provider}{effort})"))
    if profile:
        rows.append(("Profile", profile))
    if usage.used_tokens:
        share = usage.used_tokens / usage.window_tokens
        rows.append(("Context", f"{usage.used_tokens:,} of {usage.window_tokens:,} tokens ({share:.0%})"))
    rows += [
        (
            f"Cache at {provider}",
            f"{used.cached_tokens / used.input_tokens:.0%} of {used.input_tokens:,} tokens",
        )
        for provider, used in record.used_at.items()
        if used.input_tokens
    ]
    if usage.cost_usd is not None:
        rows.append(("Cost", f"${usage.cost_usd:.4f}"))
    rows += status_rows(record.exposure)
    rows.append(("Session", record.session_id))
    return "\n".join(f"- **{name}:** {value}" for name, value in rows)


def cost_text(record: Record) -> str:
    """Format the cost of a session and its tokens at each provider."""
    cost_usd = record.usage.cost_usd
    lines = [f"- **Cost:** {'unknown for this model' if cost_usd is None else f'${cost_usd:.4f}'}"]
    lines += [
        f"- **{provider}:** {used.input_tokens:,} input tokens ({used.cached_tokens:,} from the cache), "
        f"{used.output_tokens:,} output tokens"
        for provider, used in record.used_at.items()
    ]
    return "\n".join(lines)


def times_text(turns: Sequence[TurnTimes]) -> list[str]:
    """Format the time spent by the last turn and, if there were several, by all turns."""
    lines = [f"- **Last turn:** {_spent(turns[-1:])}"] if turns else []
    return [*lines, f"- **{len(turns)} turns:** {_spent(turns)}"] if len(turns) > 1 else lines


def _spent(turns: Sequence[TurnTimes]) -> str:
    first = turns[0].first_token_s if len(turns) == 1 else None
    parts = {
        "model": sum(turn.model_s for turn in turns),
        "tools": sum(turn.tools_s for turn in turns),
        "waiting for you": sum(turn.waiting_s for turn in turns),
    }
    told = [f"{name} {seconds:.1f} s" for name, seconds in parts.items() if seconds]
    if first is not None:
        told.insert(1, f"first token after {first:.1f} s")
    return "; ".join((f"{sum(turn.total_s for turn in turns):.1f} s", *([", ".join(told)] if told else ())))


def config_text(record: Record, models: Sequence[AvailableModel], settings_file: Path) -> str:
    """Format the path of the settings file and the options of a session."""
    state = "" if settings_file.is_file() else " (does not exist; `hermes-acp setup` writes it)"
    options = record.options
    rows = [("Settings", f"{settings_file}{state}"), ("Mode", record.mode)]
    if offer := chosen_model(options, models):
        rows += [("Model", offer.model), ("Provider", offer.provider)]
    rows += [
        ("Reasoning effort", options.effort or "default"),
        ("Messages during a turn", options.during_turn),
    ]
    return "\n".join(f"- **{name}:** {value}" for name, value in rows)


def conversation_text(title: str, passages: Sequence[Passage]) -> str:
    """Format a conversation: messages in full, calls with their titles and output."""
    parts = [f"# {title or 'Conversation'}"]
    for passage in passages:
        if passage.speaker == "tool":
            call, _, output = passage.text.partition("\n")
            parts.append(f"**{call}**" + (f"\n\n{_block(output)}" if output.strip() else ""))
        elif passage.speaker != "title":
            speaker = "You" if passage.speaker == "user" else "Agent"
            parts.append(f"## {speaker}\n\n{passage.text.strip()}")
    return "\n\n".join(parts) + "\n"


def _block(text: str) -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}\n{text.strip(chr(10))}\n{fence}"


def context_text(context: ContextFiles, below: ContextFiles) -> str:
    """Format the list of context files with the scanner's findings, including the files found `below` later."""
    lines = [f"Context files below `{context.root}`, nearest last:", ""]
    for file in (*context.files, *below.files):
        lines.extend(_file_lines(file))
    withheld = dict.fromkeys(file.path for file in (*context.withheld, *below.withheld))
    lines.extend(
        f"- `{path}` is not used: it changed during this session, and you did not approve it"
        for path in withheld
    )
    refusals = dict.fromkeys((*context.refusals, *below.refusals))
    lines.extend(f"- `{refusal.path}` is not used: {refusal.why}" for refusal in refusals)
    return "\n".join(lines) if len(lines) > 2 else "There are no context files here."


def _file_lines(file: ContextFile) -> list[str]:
    taken_bytes = len(file.text.encode("utf-8", "replace"))
    facts = [f"{file.size_bytes:,} bytes", f"about {-(-taken_bytes // TOKEN_BYTES):,} tokens"]
    if file.cut_bytes:
        facts.append(f"{file.cut_bytes:,} bytes cut out of its middle")
    if file.same_as:
        facts.append(f"same as {', '.join(file.same_as)}")
    if file.is_allowed:
        facts.append("allowed by you as it is")
    found = (
        f"  - {finding.severity} on line {finding.line}: {finding.why} ({finding.rule})"
        for finding in file.findings
    )
    return [f"- `{file.path}` ({', '.join(facts)})", *found]
