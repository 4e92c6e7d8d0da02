"""The resident process: sessions that outlive their clients, and the socket by which local clients reach it."""
