"""Questions to the user of a client, in every version: permissions, forms, pages to open."""
