"""The agent's extensions of the protocol: one file per method, `_hermes/a/b` in `a_b.py`.

Every protocol version has them, so they use no version's wire types; their shapes are in
`protocol/schema/hermes.json`.
"""
