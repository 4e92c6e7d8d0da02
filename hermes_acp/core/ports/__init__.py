"""The program's ports: interfaces to the outside world, one module per family, with the values that they take and
return.
"""
