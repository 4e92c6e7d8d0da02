"""A plugin folder of workspaces: each plugin exports `BACKEND`, which opens one for a working directory and its
folders.

A backend has a name, says whether its files are this machine's own (`keeps_files_here`), and opens:
`open(cwd, roots, environment, private, settings)`. One whose files are elsewhere says whether what is there is hired
for the session (`is_cloud`); then it takes, as the last, what gives the paths that rules shut there.
"""
