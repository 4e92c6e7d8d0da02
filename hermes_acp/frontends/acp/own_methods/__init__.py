"""What this agent offers beyond the protocol: one file a method, `_hermes/a/b` in `a_b.py`.

Every version of the protocol has them, so they know no version's wire types; their shapes are in
`protocol/schema/hermes.json`.
"""
