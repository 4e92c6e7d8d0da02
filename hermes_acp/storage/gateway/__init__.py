"""The gateway's durable state: people, conversations, incoming and outgoing messages."""
