"""Start an ACP agent such as `hermes-acp` from Python and talk to it as an editor does."""
