"""Questions from the agent to the person: permissions, forms and links."""
