"""What touches the outside: a module a family of ports, with the values they take and return."""
