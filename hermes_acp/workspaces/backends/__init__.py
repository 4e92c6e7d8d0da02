"""A plugin folder of workspace backends: each exports `BACKEND`, which opens a workspace for a working directory.

A backend has a name, says whether its files are this machine's own (`keeps_files_here`), and opens:
`open(cwd, roots, environment, private, settings)`. One whose files are elsewhere says whether it is a hired
cloud sandbox (`is_cloud`); it then takes as its last argument a function that returns the paths that rules
deny there.
"""
