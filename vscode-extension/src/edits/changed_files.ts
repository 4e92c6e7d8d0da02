/** Files that have changed: saved in the editor, or changed on disk by git, a formatter or another program. */

import * as vscode from "vscode";

/** Call `note` with the path of each file that was saved, changed, created or deleted in the window's folders. */
export function listenForChanges(note: (path: string) => void): vscode.Disposable {
  const tell = ({ fsPath }: vscode.Uri): void => note(fsPath);
  const watcher = vscode.workspace.createFileSystemWatcher("**/*");
  return vscode.Disposable.from(
    watcher,
    watcher.onDidChange(tell),
    watcher.onDidCreate(tell),
    watcher.onDidDelete(tell),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => tell(uri)),
  );
}
