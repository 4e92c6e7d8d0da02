"""Classify web addresses: this machine, bare IP addresses, services that collect data."""

from typing import Final

from injection_scanner.tables.lazy_patterns import compiled

LOCAL: Final = r"https?://(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0|localhost|\[?::1)"
ADDRESS: Final = r"https?://\d{1,3}(?:\.\d{1,3}){3}"
DROP: Final = (
    r"https?://(?:[^/]{0,60}(?:webhook|ngrok|requestbin|pipedream|interact\.?sh|oast\.|burpcollab|dnslog|\.onion|\.nip\.io)"
    r"|(?:transfer\.sh|file\.io|0x0\.st|paste|hastebin|dpaste|t\.me/|api\.telegram|hooks?\.)"
    r"|[^/]{0,60}(?:evil|attack|malicious|exfil|collect|steal|drop|leak|c2\.|beacon|rogue|badhost)|[^\s]{0,80}/api/webhooks)"
)


def kind_of_address(address: str) -> str:
    """Return the kind of an address: this machine, a bare IP address, a data collection service, or any other."""
    if compiled(DROP).match(address):
        return "URL:drop"
    if compiled(LOCAL).match(address):
        return "URL:local"
    if compiled(ADDRESS).match(address):
        return "URL:number"
    return "URL"
