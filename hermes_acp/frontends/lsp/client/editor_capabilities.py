"""What an editor announced that it can do.

Knows: where each ability stands in the greeting, which ones follow from others. Does not know: what is done without
them.
"""

from lsprotocol import types


class EditorCapabilities:
    """The abilities of one editor, each a question that is answered by what it announced."""

    def __init__(self, announced: types.ClientCapabilities) -> None:
        self._announced = announced

    @property
    def show_documents(self) -> bool:
        """Whether it opens a document for its user."""
        window = self._announced.window
        return bool(window and window.show_document and window.show_document.support)

    @property
    def create_progress(self) -> bool:
        """Whether the server may begin to report progress of its own accord."""
        window = self._announced.window
        return bool(window and window.work_done_progress)

    @property
    def apply_edits(self) -> bool:
        """Whether it changes documents for the server."""
        workspace = self._announced.workspace
        return bool(workspace and workspace.apply_edit)

    @property
    def _edits(self) -> types.WorkspaceEditClientCapabilities:
        """What edits it takes."""
        workspace = self._announced.workspace
        return (workspace and workspace.workspace_edit) or types.WorkspaceEditClientCapabilities()

    @property
    def confirm_edits(self) -> bool:
        """Whether it shows annotated edits to its user first."""
        return self._edits.change_annotation_support is not None and self.take_versions

    @property
    def take_versions(self) -> bool:
        """Whether an edit may say which version of a document it is for.

        Operations on files can stand nowhere else, so an editor that takes these takes versions too: Neovim names only
        the former.
        """
        return bool(self._edits.document_changes or self._edits.resource_operations)

    def operate(self, operation: types.ResourceOperationKind) -> bool:
        """Whether an edit may create or delete files."""
        return operation in (self._edits.resource_operations or ())

    @property
    def take_literal_actions(self) -> bool:
        """Whether a code action may be more than a command."""
        document = self._announced.text_document
        action = document.code_action if document else None
        return bool(action and action.code_action_literal_support)

    @property
    def register_completion(self) -> bool:
        """Whether inline completion can be offered later than at the start."""
        document = self._announced.text_document
        inline = document.inline_completion if document else None
        return bool(inline and inline.dynamic_registration)

    @property
    def give_settings(self) -> bool:
        """Whether it can be asked for its settings."""
        workspace = self._announced.workspace
        return bool(workspace and workspace.configuration)
