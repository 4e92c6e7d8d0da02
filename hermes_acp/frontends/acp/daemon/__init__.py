"""The resident process: sessions that outlive their clients, and the socket through which local clients reach it."""
