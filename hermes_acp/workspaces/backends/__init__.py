"""A drawer of workspaces: each leaf exports `BACKEND`, which opens one for a working directory and its folders.

A backend has a name, says whether its files are this machine's own (`keeps_files_here`), and opens:
`open(cwd, roots, environment, private, settings)`.
"""
