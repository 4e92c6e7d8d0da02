"""Every message that the ACP frontend shows to people; `tests/golden/messages/acp.txt` lists them all."""
