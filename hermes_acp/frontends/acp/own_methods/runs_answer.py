"""_hermes/runs/answer: answer an open question of a run."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def answer_run(client: ClientConnection, params: own.RunsAnswerParams) -> own.RunsAnswerResult:
    """Answer the question about one call. Raises BadRequest or StorageError."""
    view = await client.app.run_service.answer(
        params.id,
        "allow_once" if params.is_allowed else "reject_once",
        params.text,
        by=client.name,
        call_id=params.call_id,
    )
    return own.RunsAnswerResult(state=view.state)


EXTENSION = Method(own.RunsAnswerParams, answer_run, access="any")
