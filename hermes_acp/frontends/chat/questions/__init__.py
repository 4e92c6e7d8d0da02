"""Put the agent's questions to the person: permissions, forms and links."""
