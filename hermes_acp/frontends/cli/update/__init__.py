"""The `hermes-acp update` command, and the process that carries an update out."""
