"""Find, run, edit and install skills."""
