"""`hermes-acp skills`: show, install, update and audit skills."""
