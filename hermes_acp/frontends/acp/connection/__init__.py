"""What every connection has, whatever version it speaks: the client, its calls, their errors."""
