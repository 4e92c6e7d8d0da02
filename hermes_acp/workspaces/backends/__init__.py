"""The plugin folder of workspace backends: each exports `BACKEND`, which opens a workspace for a working directory.

A backend has a name, says whether its files are this machine's own (`keeps_files_here`), and has an
`open(cwd, roots, environment, private, settings)` method. A backend with remote files says whether it is a
rented cloud sandbox (`is_cloud`); `open` then takes as its last argument a function that returns the paths
that rules deny there.
"""
