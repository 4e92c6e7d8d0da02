"""The resident process as a service of systemd or launchd: `hermes-acp service`."""
