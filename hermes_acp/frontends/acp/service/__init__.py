"""Install the resident process as a systemd or launchd service: `hermes-acp service`."""
