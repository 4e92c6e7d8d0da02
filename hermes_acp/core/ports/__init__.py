"""The ports to the outside, one module for each family, with the values they take and return."""
