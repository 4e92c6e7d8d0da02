"""Ask the user of a client: permissions, forms and pages to open, the same in every protocol version."""
