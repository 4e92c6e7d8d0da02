"""Interpret the capabilities that an editor has announced."""

from lsprotocol import types


class EditorCapabilities:
    """The capabilities of an editor."""

    def __init__(self, announced: types.ClientCapabilities) -> None:
        self._announced = announced

    @property
    def show_documents(self) -> bool:
        """Whether the editor can open documents for its user."""
        window = self._announced.window
        return bool(window and window.show_document and window.show_document.support)

    @property
    def create_progress(self) -> bool:
        """Whether the server may start progress reports itself."""
        window = self._announced.window
        return bool(window and window.work_done_progress)

    @property
    def apply_edits(self) -> bool:
        """Whether the editor applies edits that the server sends."""
        workspace = self._announced.workspace
        return bool(workspace and workspace.apply_edit)

    @property
    def _edits(self) -> types.WorkspaceEditClientCapabilities:
        """The kinds of edits that the editor supports."""
        workspace = self._announced.workspace
        return (workspace and workspace.workspace_edit) or types.WorkspaceEditClientCapabilities()

    @property
    def confirm_edits(self) -> bool:
        """Whether the editor lets its user confirm annotated edits."""
        return self._edits.change_annotation_support is not None and self.use_versions

    @property
    def use_versions(self) -> bool:
        """Whether an edit may name the version of its document.

        File operations exist only in versioned edits, so an editor that supports them also supports versions; Neovim
        announces only file operations.
        """
        return bool(self._edits.document_changes or self._edits.resource_operations)

    def perform_operation(self, operation: types.ResourceOperationKind) -> bool:
        """Return whether edits may contain this file operation."""
        return operation in (self._edits.resource_operations or ())

    @property
    def use_literal_actions(self) -> bool:
        """Whether code actions may be literals instead of plain commands."""
        document = self._announced.text_document
        action = document.code_action if document else None
        return bool(action and action.code_action_literal_support)

    @property
    def register_completion(self) -> bool:
        """Whether inline completion can be registered after startup."""
        document = self._announced.text_document
        inline = document.inline_completion if document else None
        return bool(inline and inline.dynamic_registration)

    @property
    def provide_settings(self) -> bool:
        """Whether the editor answers workspace/configuration requests."""
        workspace = self._announced.workspace
        return bool(workspace and workspace.configuration)
