"""What the agent knows beyond the conversation: context files, and the scanner that reads them first.

Knows: which rooms there are. Does not know: sessions, prompts, models.
"""
