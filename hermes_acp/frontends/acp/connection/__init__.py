"""What every connection has, in any protocol version: the client, its calls, their errors."""
