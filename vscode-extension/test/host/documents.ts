import * as assert from "node:assert";

import * as vscode from "vscode";

import { DocumentReviews } from "../../src/edits/documents";
import { hunksOf } from "../../src/edits/hunks";
import { Painted } from "../../src/edits/painted";
import { Reviews } from "../../src/edits/reviews";
import { Memory } from "../../src/state/memory";

const CALL = { sessionId: "s", callId: "c" };
const BEFORE = "one\ntwo\nthree\n";
const AFTER = "ONE\ntwo\nTHREE\n";
const SHOWN = "one\nONE\ntwo\nthree\nTHREE\n";

/** Wait for the next text of a document for which this holds. */
function textWhen(document: vscode.TextDocument, isSo: (text: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    const look = () => {
      if (!isSo(document.getText())) return;
      watch.dispose();
      resolve(document.getText());
    };
    const watch = vscode.workspace.onDidChangeTextDocument((event) => event.document === document && look());
    look();
  });
}

async function onDisk(uri: vscode.Uri): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}

export function declareDocumentTests(): void {
  describe("a review in its document", () => {
    let reviews: Reviews;
    let memory: Memory;
    let documents: DocumentReviews;
    let uri: vscode.Uri;
    let document: vscode.TextDocument;
    let count = 0;

    beforeEach(async () => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      assert.ok(folder);
      count += 1;
      uri = vscode.Uri.joinPath(folder.uri, `review-${count}.txt`);
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(BEFORE));
      reviews = new Reviews();
      memory = new Memory(undefined);
      documents = new DocumentReviews(reviews, new Painted(memory));
      document = await vscode.workspace.openTextDocument(uri);
      reviews.begin(CALL, [{ path: uri.fsPath, oldText: BEFORE, newText: AFTER }]);
      assert.strictEqual(await textWhen(document, (text) => text === SHOWN), SHOWN);
    });

    afterEach(async () => {
      documents.dispose();
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      await vscode.workspace.fs.delete(uri);
    });

    it("lets an agent read the file as it was", () => {
      assert.strictEqual(documents.read(uri.fsPath), BEFORE);
    });

    it("never reaches the disk half-way", async () => {
      assert.strictEqual(await document.save(), true);
      assert.strictEqual(await onDisk(uri), BEFORE);
      assert.strictEqual(await textWhen(document, (text) => text === SHOWN), SHOWN);
    });

    it("takes the decided text, what its user typed meanwhile included", async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(uri, new vscode.Position(2, 0), "typed\n");
      await vscode.workspace.applyEdit(edit);
      reviews.judge(CALL, uri.fsPath, 0, "accepted");
      reviews.judge(CALL, uri.fsPath, 1, "rejected");
      const taken = "ONE\ntyped\ntwo\nthree\n";
      assert.strictEqual(await textWhen(document, (text) => text === taken), taken);
      const [outcome] = reviews.conclude(CALL, "accepted");
      assert.strictEqual(outcome?.newText, taken);
      assert.strictEqual(outcome?.isOther, true);
      assert.strictEqual(await documents.write(uri.fsPath, taken), true);
      assert.strictEqual(await onDisk(uri), taken);
    });

    it("is gone without a trace when it is taken back", async () => {
      reviews.withdraw(CALL);
      assert.strictEqual(await textWhen(document, (text) => text === BEFORE), BEFORE);
      assert.strictEqual(documents.read(uri.fsPath), undefined);
    });

    it("is saved when it is over, though its document came as unsaved that is as its file is", async () => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      assert.ok(folder);
      const written = vscode.Uri.joinPath(folder.uri, `written-${count}.txt`);
      await vscode.workspace.fs.writeFile(written, new TextEncoder().encode(AFTER));
      const brought = await vscode.workspace.openTextDocument(written);
      for (const change of [
        (edit: vscode.WorkspaceEdit) => edit.insert(written, new vscode.Position(0, 0), "x"),
        (edit: vscode.WorkspaceEdit) => edit.delete(written, new vscode.Range(0, 0, 0, 1)),
      ]) {
        const edit = new vscode.WorkspaceEdit();
        change(edit);
        await vscode.workspace.applyEdit(edit);
      }
      assert.strictEqual(brought.getText(), AFTER);
      assert.strictEqual(brought.isDirty, true);
      const hunks = hunksOf(BEFORE, AFTER);
      reviews.resume({
        sessionId: "s",
        callIds: ["w"],
        diff: { path: written.fsPath, oldText: BEFORE, newText: AFTER },
        hunks,
      });
      assert.strictEqual(await textWhen(brought, (text) => text === SHOWN), SHOWN);
      reviews.judgeFile({ sessionId: "s", callId: "w" }, written.fsPath, "accepted");
      reviews.conclude({ sessionId: "s", callId: "w" }, "accepted");
      await documents.settled();
      assert.strictEqual(brought.getText(), AFTER);
      assert.strictEqual(brought.isDirty, false);
      await vscode.workspace.fs.delete(written);
    });

    it("is taken out of what an editor brings back, even as it was shown earlier", async () => {
      reviews.judge(CALL, uri.fsPath, 0, "accepted");
      const later = "ONE\ntwo\nthree\nTHREE\n";
      assert.strictEqual(await textWhen(document, (text) => text === later), later);
      await documents.settled();
      documents.dispose();
      const bring = async (text: string) => {
        const edit = new vscode.WorkspaceEdit();
        edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), text);
        await vscode.workspace.applyEdit(edit);
      };
      const kept = memory.get("painted");
      await bring(SHOWN);
      await new Painted(memory).cleanUp();
      assert.strictEqual(document.getText(), BEFORE);
      assert.strictEqual(document.isDirty, false);
      assert.strictEqual(memory.get("painted"), undefined);
      memory.set("painted", kept);
      await bring(`${SHOWN}mine\n`);
      await new Painted(memory).cleanUp();
      assert.strictEqual(document.getText(), `${SHOWN}mine\n`);
    });
  });
}
