"""Start an ACP agent such as `hermes-acp` from Python and talk to it as an editor does.

Knows: which module to take. `blocking` holds the synchronous client (needs the package `jsonrpc-base`),
`agent` the asynchronous, typed one. Does not know: either of them; this module imports nothing.
"""
