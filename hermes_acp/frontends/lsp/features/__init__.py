"""What the server answers: each file is one method, exporting `FEATURE`."""
