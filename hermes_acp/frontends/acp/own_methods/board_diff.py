"""_hermes/board/diff: the changes on a card's branch."""

from typing import Final

from anyio.to_thread import run_sync

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol import own

MAX_PATCH: Final = 500_000


async def diff_card(client: ClientConnection, params: own.BoardDiffParams) -> own.BoardDiffResult:
    """Return a card's patch or, as a result too, why there is none. Raises BadRequest or StorageError."""
    from hermes_acp.git.branch_patch import patch_of

    card = (await client.app.board_service.show(params.board, params.id)).view.card
    attempt = card.attempt
    if attempt is None or not attempt.branch:
        return own.BoardDiffResult(patch="", is_cut=False, note=errors.NO_BRANCH)
    variables = client.app.configuration.access.environment.variables
    try:
        patch = await run_sync(
            patch_of, variables, attempt.folder, card.work.folder, attempt.base, attempt.branch
        )
    except WorkspaceError as error:
        return own.BoardDiffResult(patch="", is_cut=False, note=error.sentence())
    return own.BoardDiffResult(patch=patch[:MAX_PATCH], is_cut=len(patch) > MAX_PATCH, note="")


EXTENSION = Method(own.BoardDiffParams, diff_card, access="any")
