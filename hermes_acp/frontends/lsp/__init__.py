"""The frontend for editors that speak the Language Server Protocol."""
