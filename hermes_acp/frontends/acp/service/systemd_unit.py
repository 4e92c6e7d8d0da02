"""Write the systemd unit of a service. Source: systemd.syntax(7), systemd.service(5), systemd.exec(5)."""

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Final

from hermes_acp.frontends.acp.messages import service
from hermes_acp.frontends.acp.service.service_plan import ServicePlan, is_hidden

TEMPLATES: Final = files("hermes_acp.frontends.acp.service") / "templates"
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}\n?")
PLAIN: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def unit_text(plan: ServicePlan) -> str:
    """Return the unit file of a service."""
    values = {
        "edit": f"systemctl {'' if plan.account else '--user '}edit {plan.name}",
        "description": f"{service.description(plan.profile)}\n",
        "ordering": _lines(_ordering(plan)),
        "command": f"{command_line(plan.command)}\n",
        "folder": f"{_specifiers(plan.folder)}\n",
        "identity": f"User={plan.account.name}\n" if plan.account else "",
        "variables": _lines(_variables(plan)),
        "stop": f"{plan.stop_s:g}\n",
        "confinement": _lines(_confinement(plan)),
        "target": "multi-user.target\n" if plan.account else "default.target\n",
    }
    return PLACEHOLDER.sub(lambda found: values[found[1]], (TEMPLATES / "unit.service").read_text("utf-8"))


def command_line(words: Sequence[str]) -> str:
    """Quote a command for ExecStart=, where `$` starts a variable."""
    program, *arguments = words
    return " ".join((_quoted(program), *(_quoted(word.replace("$", "$$")) for word in arguments)))


def _ordering(plan: ServicePlan) -> Iterator[str]:
    if plan.account:
        yield "Wants=network-online.target"
        yield "After=network-online.target"


def _variables(plan: ServicePlan) -> Iterator[str]:
    for name, value in sorted(plan.variables.items()):
        yield f"Environment={_quoted(f'{name}={value}')}"
    if plan.token_file:
        yield f"EnvironmentFile={_specifiers(plan.token_file)}"


def _confinement(plan: ServicePlan) -> Iterator[str]:
    """Yield the settings that need namespaces; a user service needs a user namespace for them."""
    if not plan.has_namespaces:
        return
    yield from (TEMPLATES / "namespaces.conf").read_text("utf-8").splitlines()
    if not plan.account:
        yield "PrivateUsers=yes"
        yield "ProtectSystem=full"
        return
    yield "PrivateTmp=yes"
    yield "RemoveIPC=yes"
    yield "ProtectSystem=strict"
    writable = [plan.account.folder, *plan.writable]
    yield f"ReadWritePaths={' '.join(map(_quoted, writable))}"
    yield "ProtectHome=tmpfs"
    if shown := [folder for folder in writable if is_hidden(folder)]:
        yield f"BindPaths={' '.join(map(_bound, shown))}"
    if plan.readable:
        yield f"BindReadOnlyPaths={' '.join(map(_bound, plan.readable))}"


def _bound(path: str) -> str:
    """Quote a path for BindPaths=, escaping colons."""
    return _quoted(path.replace(":", "\\:"))


def _quoted(text: str) -> str:
    """Quote a string as one word, escaping percent signs."""
    text = _specifiers(text)
    if PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _specifiers(text: str) -> str:
    return text.replace("%", "%%")


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
