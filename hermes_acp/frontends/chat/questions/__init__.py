"""Questions that the agent puts to the person: permissions, forms and links."""
