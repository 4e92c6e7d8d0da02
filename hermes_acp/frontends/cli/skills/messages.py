"""Messages of `hermes-acp skills taps` and `hermes-acp skills publish`."""

from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

TAPS_HELP: Final = "manage taps: repositories of skills with a signed index"
ADD_HELP: Final = "add a tap: show who signs it, and trust that key if you agree"
URL_HELP: Final = "the address or folder of a git repository"
NAME_HELP: Final = "the tap's name (default: the last part of its address)"
YES_HELP: Final = "trust the key without asking"
LIST_HELP: Final = "list the taps (the default)"
UPDATE_HELP: Final = "fetch and verify the newest index of each tap"
NAMES_HELP: Final = "taps (default: all)"
REMOVE_HELP: Final = "forget a tap and its key; installed skills stay"
KNOWN_NAME_HELP: Final = "a tap"
PUBLISH_HELP: Final = "publish a skill to a tap, signed with your SSH key"
FOLDER_HELP: Final = "the skill's folder"
TO_HELP: Final = "a tap's name, or the address or folder of a git repository"
KEY_HELP: Final = "the private SSH key, with its public half beside it (default: ~/.ssh/id_ed25519)"
PUBLISH_YES_HELP: Final = "publish without asking, unless the scan found something"

ROTATE_HELP: Final = "hand a tap that you publish over to another key"
NEW_KEY_HELP: Final = "the new private SSH key, with its public half beside it"
REVOKE_HELP: Final = "end a tap that you publish: nobody may trust its key any more"
CHANGE_YES_HELP: Final = "do it without asking"

TRUST_NEEDED: Final = "Trusting a tap's key needs your approval, but there is no terminal to ask in."
PUBLISH_NEEDED: Final = "Publishing needs your approval, but there is no terminal to ask in."
CHANGE_NEEDED: Final = "Changing a tap's key needs your approval, but there is no terminal to ask in."
USE_YES_HINT: Final = "Use --yes, or run it in a terminal."
NOTHING_ADDED: Final = "Nothing was added."
NOTHING_PUBLISHED: Final = "Nothing was published."
NOTHING_CHANGED: Final = "Nothing was changed."
NO_TAPS: Final = "You have not added any taps."
WARNINGS: Final = "The scan found something in the skill, so --yes is not enough."
WARNINGS_HINT: Final = "Publish it in a terminal, or change the skill."


def offered(name: str, url: str, skills: int, serial: int) -> str:
    """Describe the skills of a tap."""
    return f"{name}: {url}, {counted(skills, 'skill')}, index {serial}"


def signed_by(fingerprint: str) -> str:
    """Say which key signs a tap."""
    return f"signed by the key {fingerprint}"


def may_trust(name: str) -> str:
    """Ask whether to trust a key."""
    return f"Trust this key for {name}? Compare it with the fingerprint that the publisher announced. [y/N] "


def added(name: str) -> str:
    """Confirm that a tap was added."""
    return f"{name} was added. From now on, its index must be signed by this key."


def removed(name: str) -> str:
    """Confirm that a tap was removed."""
    return f"{name} was removed. Skills that were installed from it stay."


def tap_line(name: str, url: str, skills: int, fingerprint: str, *, is_revoked: bool) -> str:
    """Describe a tap in one line."""
    revoked = " (revoked)" if is_revoked else ""
    return f"{name}: {url}, {counted(skills, 'skill')}, key {fingerprint}{revoked}"


def former_key(fingerprint: str, when: str) -> str:
    """Name a replaced key, and when the replacement was noticed."""
    return f"key until {when}: {fingerprint}"


def key_changed(name: str, old: str, new: str) -> str:
    """Say that a tap's publisher has a new key, which the old one signed."""
    return f"{name} has a new key: {new}. The old key, {old}, signed the change and is no longer accepted."


def may_rotate(url: str, old: str, new: str) -> str:
    """Ask whether to hand a tap over to another key."""
    return f"Replace the key {old} of {url} with {new}? The old key can then no longer publish. [y/N] "


def may_revoke(url: str, fingerprint: str) -> str:
    """Ask whether to revoke a tap's key."""
    return f"Revoke the key {fingerprint} of {url}? Nobody will be able to use this tap. This cannot be undone. [y/N] "


def rotated(url: str, fingerprint: str, serial: int) -> str:
    """Confirm that a tap has a new key."""
    return f"{url} is signed by the key {fingerprint} from index {serial} on. Publish with --key and the new key."


def revoked(url: str, serial: int) -> str:
    """Confirm that a tap's key was revoked."""
    return f"The key of {url} is revoked, index {serial}. Users of the tap learn this with their next update."


def tap_is_revoked(name: str) -> str:
    """Say that an installed skill comes from a tap whose key was revoked."""
    return f"It comes from the tap {name}, whose publisher revoked its key."


def refreshed(name: str, skills: int, serial: int) -> str:
    """Say that a tap's index was fetched."""
    return f"{name}: {counted(skills, 'skill')}, index {serial}"


def refresh_failed(name: str, reason: str) -> str:
    """Say why a tap was not refreshed."""
    return f"{name}: {reason}"


def may_publish(name: str, url: str) -> str:
    """Ask whether to publish a skill."""
    return f"Publish {name} to {url}? Everyone who can read the tap gets the files above. [y/N] "


def published(name: str, version: int, serial: int, commit: str) -> str:
    """Confirm that a skill was published."""
    return f"{name} is published as version {version}, index {serial}, commit {commit[:12]}."


def file_line(path: str, size: int) -> str:
    """Describe a file of a skill; the size is in bytes."""
    return f"{path}, {counted(size, 'byte')}"


def capability(text: str) -> str:
    """Describe a capability of a skill."""
    return f"can use: {text}"


def in_tap(name: str, description: str) -> str:
    """Describe a skill that a search found in a tap."""
    return f"{name} (in a tap): {description}"


def install_hint(name: str) -> str:
    """Say how to install a skill that a search found."""
    return f"Install one with: hermes-acp skills install {name}"
