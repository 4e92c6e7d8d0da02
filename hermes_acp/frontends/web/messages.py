"""Messages of the web page's server for people."""

from typing import Final

NOT_BUILT: Final = "This installation does not contain the web page."
NOT_BUILT_HINT: Final = (
    "In a checkout of hermes-acp, run `make web` and reload this page. It needs Node 22 and npm. "
    "The server itself works: any ACP client can use it."
)
