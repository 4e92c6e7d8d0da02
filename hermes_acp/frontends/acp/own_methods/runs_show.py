"""_hermes/runs/show: the open questions of a run, each with the full text of what would happen."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.run_questions import question_entry
from hermes_protocol import own


async def show_run(client: ClientConnection, params: own.RunsShowParams) -> own.RunsShowResult:
    """Return a run with its open questions. Raises BadRequest or StorageError."""
    service = client.app.run_service
    view = await service.known(params.id)
    return own.RunsShowResult(
        questions=[question_entry(each) for each in await service.records.questions_of(view)]
    )


EXTENSION = Method(own.RunsShowParams, show_run, access="any")
