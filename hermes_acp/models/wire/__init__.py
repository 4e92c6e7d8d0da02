"""HTTP endpoints: requests, errors, timeouts and stream framing."""
