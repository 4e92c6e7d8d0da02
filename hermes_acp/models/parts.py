"""How a prompt's links and files read as plain text.

Knows: the words put around them. Does not know: any vendor's format.
"""

from hermes_acp.core.messages import LinkPart, ResourcePart


def link_text(link: LinkPart) -> str:
    """Name a resource that is not included."""
    return f"[{link.name}]({link.uri})" if link.name else link.uri


def resource_text(resource: ResourcePart) -> str:
    """Include a resource whole, in a fence longer than any within it."""
    fence = "```"
    while fence in resource.text:
        fence += "`"
    end = "" if resource.text.endswith("\n") or not resource.text else "\n"
    return f"{resource.uri}\n{fence}\n{resource.text}{end}{fence}"
