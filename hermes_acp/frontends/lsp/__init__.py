"""The face for editors that speak the Language Server Protocol."""
