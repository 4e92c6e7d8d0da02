"""The program's interfaces to the outside world, one module per family, with the values that they take and return."""
