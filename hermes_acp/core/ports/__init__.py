"""The ports to the outside, a module a family, with the values they take and return."""
