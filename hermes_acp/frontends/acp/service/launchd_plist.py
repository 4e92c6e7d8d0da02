"""Write the launchd property list of a service. Source: launchd.plist(5) of macOS."""

import os
import plistlib
from collections.abc import Mapping
from typing import Any, Final

from hermes_acp.frontends.acp.service.service_plan import ServicePlan

PRIVATE_UMASK: Final = 0o077


def plist_text(plan: ServicePlan, log: str, secrets: Mapping[str, str]) -> str:
    """Return a service's property list. It contains the secrets, because launchd does not read environment files."""
    document: dict[str, Any] = {
        "Label": plan.name,
        "ProgramArguments": list(plan.command),
        "WorkingDirectory": plan.folder,
        "EnvironmentVariables": {**plan.variables, **secrets},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": round(plan.stop_s),
        "Umask": PRIVATE_UMASK,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    if plan.account:
        document["UserName"] = plan.account.name
    return os.fsdecode(plistlib.dumps(document))
