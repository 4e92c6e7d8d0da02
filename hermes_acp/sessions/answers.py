"""What the program's own commands answer, in Markdown.

Knows: how facts are laid out. Does not know: where they come from.
"""

import os
import shlex
from collections.abc import Sequence

from hermes_acp.core.offers import ModelOffer, chosen_offer
from hermes_acp.core.record import Record
from hermes_acp.knowledge.context_files import ContextFiles


def status_text(record: Record, models: Sequence[ModelOffer]) -> str:
    """Lay out the model, the mode, the use of the window, and what came out of each provider's cache."""
    usage, options = record.usage, record.options
    rows = [("Mode", record.mode), ("Working directory", record.cwd)]
    if offer := chosen_offer(options, models):
        effort = f", reasoning effort {options.effort}" if options.effort else ""
        rows.insert(0, ("Model", f"{offer.model} ({offer.provider}{effort})"))
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
    rows.append(("Session", record.session_id))
    return "\n".join(f"- **{name}:** {value}" for name, value in rows)


def context_text(context: ContextFiles) -> str:
    """Lay out which files are read, and what the scanner found in them."""
    lines = [f"Context files below `{context.root}`, nearest last:", ""]
    for file in context.files:
        same = f", same as {', '.join(file.same_as)}" if file.same_as else ""
        allowed = ", allowed by you as it is" if file.is_allowed else ""
        lines.append(f"- `{file.path}` ({file.size_bytes:,} bytes{same}{allowed})")
        lines.extend(
            f"  - {finding.severity} on line {finding.line}: {finding.why} ({finding.rule})"
            for finding in file.findings
        )
    lines.extend(f"- `{refusal.path}` is not used: {refusal.why}" for refusal in context.refusals)
    return "\n".join(lines) if len(lines) > 2 else "There are no context files here."


def context_notices(context: ContextFiles) -> tuple[str, ...]:
    """Give a sentence for each thing about the context files that the user should know unasked."""
    notices = [f"{refusal.path} is not used: {refusal.why}" for refusal in context.refusals]
    for file in context.files:
        told = [finding for finding in file.findings if finding.severity != "info" and not file.is_allowed]
        notices.extend(
            f"{file.path}, line {finding.line}: {finding.why} ({finding.rule})"
            + (". The passage was left out." if finding.severity == "block" else ".")
            for finding in told
        )
        if any(finding.severity == "block" for finding in told):
            place = shlex.quote(os.path.join(context.root, file.path))
            notices.append(f"To let {file.path} pass as it is: `hermes-acp scan --allow {place}`.")
    return tuple(notices)
