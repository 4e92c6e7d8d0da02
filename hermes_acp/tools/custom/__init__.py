"""Tools that a user, their agent or a workspace wrote: one Python file each, read before it runs in a sandbox."""
