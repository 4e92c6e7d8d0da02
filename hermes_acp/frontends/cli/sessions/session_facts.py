"""Describe a session as a whole, for people and for programs."""

from hermes_acp.frontends.cli.cli_output import exact_time
from hermes_acp.frontends.cli.messages import session_messages
from hermes_acp.storage.session_rows import SessionRow, SessionUsage


def about(row: SessionRow) -> dict[str, object]:
    """Describe a session for programs; tokens and cost are None if unknown."""
    usage = row.usage
    return {
        "session_id": row.id,
        "title": row.title,
        "cwd": row.cwd,
        "more_roots": row.more_roots,
        "created_at": exact_time(row.created_at),
        "updated_at": exact_time(row.updated_at),
        "is_archived": row.is_archived,
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "cost_usd": usage.cost_usd if usage else None,
    }


def usage_line(used: SessionUsage) -> str:
    """Describe a session's usage in words."""
    cost = "" if used.cost_usd is None else f"${used.cost_usd:,.4f}"
    return session_messages.usage(used.input_tokens, used.output_tokens, cost)
