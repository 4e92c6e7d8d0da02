"""The agent's own protocol methods: one file per method, `_hermes/a/b` in `a_b.py`.

Every protocol version has them, so they do not use the wire types of a version; their types are defined in
`protocol/schema/hermes.json`.
"""
