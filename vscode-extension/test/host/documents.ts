import * as assert from "node:assert";
import { rm } from "node:fs/promises";

import * as vscode from "vscode";

import { readText } from "../../src/editor/documents";
import { DocumentReviews } from "../../src/edits/documents";
import { hunksOf } from "../../src/edits/hunks";
import { cleanUpPainted } from "../../src/edits/painted";
import { pageUri, REVIEW_SCHEME, ReviewPages } from "../../src/edits/pages";
import { Reviews } from "../../src/edits/reviews";
import { Memory } from "../../src/state/memory";

const CALL = { sessionId: "s", callId: "c" };
const BEFORE = "one\ntwo\nthree\n";
const AFTER = "ONE\ntwo\nTHREE\n";
const SHOWN = "one\nONE\ntwo\nthree\nTHREE\n";

async function onDisk(uri: vscode.Uri): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}

async function change(make: (edit: vscode.WorkspaceEdit) => void): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  make(edit);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

const tabs = (scheme: string) =>
  vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.scheme === scheme);

/** The editor of the page, with a review that has started. */
function page(uri: vscode.Uri): vscode.TextEditor {
  const found = vscode.window.visibleTextEditors.find(
    ({ document }) => document.uri.toString() === pageUri(uri.fsPath).toString(),
  );
  assert.ok(found, "the page is open");
  return found;
}

export function declareDocumentTests(): void {
  describe("a review on its page", () => {
    let reviews: Reviews;
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
      documents = new DocumentReviews(reviews, new ReviewPages(), () => false);
      document = await vscode.workspace.openTextDocument(uri);
      reviews.begin(CALL, [{ path: uri.fsPath, oldText: BEFORE, newText: AFTER }]);
      await documents.settled();
    });

    afterEach(async () => {
      for (const review of reviews.all()) reviews.discard(review);
      await documents.settled();
      assert.strictEqual(tabs(REVIEW_SCHEME).length, 0, "no page is left");
      documents.dispose();
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      await vscode.workspace.fs.delete(uri);
    });

    it("shows what goes and what comes, and the file's own document nothing of it", () => {
      assert.strictEqual(page(uri).document.getText(), SHOWN);
      assert.strictEqual(documents.blocksOf(page(uri).document)?.blocks.length, 2);
      assert.strictEqual(document.getText(), BEFORE);
      assert.strictEqual(document.isDirty, false);
    });

    it("can be neither edited nor undone", async () => {
      await vscode.window.showTextDocument(page(uri).document);
      reviews.judge(CALL, uri.fsPath, 0, "rejected");
      await documents.settled();
      const later = "one\ntwo\nthree\nTHREE\n";
      for (const command of ["undo", "undo", "redo", "undo"]) await vscode.commands.executeCommand(command);
      await vscode.commands.executeCommand("type", { text: "x" });
      assert.strictEqual(page(uri).document.getText(), later);
      assert.strictEqual(page(uri).document.isDirty, false);
      assert.strictEqual(await onDisk(uri), BEFORE);
    });

    it("is the same where files are saved by themselves", async () => {
      const files = vscode.workspace.getConfiguration("files");
      await files.update("autoSave", "afterDelay", vscode.ConfigurationTarget.Workspace);
      const other = vscode.Uri.joinPath(uri, "..", `auto-${count}.txt`);
      await vscode.workspace.fs.writeFile(other, new TextEncoder().encode(BEFORE));
      const call = { sessionId: "s", callId: "auto" };
      reviews.begin(call, [{ path: other.fsPath, oldText: BEFORE, newText: AFTER }]);
      await documents.settled();
      assert.strictEqual(page(other).document.getText(), SHOWN);
      reviews.withdraw(call);
      await documents.settled();
      assert.strictEqual(tabs(REVIEW_SCHEME).length, 1);
      assert.strictEqual(await onDisk(other), BEFORE);
      await files.update("autoSave", undefined, vscode.ConfigurationTarget.Workspace);
      await vscode.workspace.fs.delete(other);
    });

    it("is not saved with what its user types where files are saved by themselves, and joins it when it is accepted", async () => {
      const files = vscode.workspace.getConfiguration("files");
      await files.update("autoSaveDelay", 100, vscode.ConfigurationTarget.Workspace);
      await files.update("autoSave", "afterDelay", vscode.ConfigurationTarget.Workspace);
      const saved = () =>
        new Promise<void>((resolve) => {
          const once = vscode.workspace.onDidSaveTextDocument((each) => {
            if (each !== document) return;
            once.dispose();
            resolve();
          });
        });
      const typed = saved();
      await change((edit) => edit.insert(uri, new vscode.Position(1, 0), "typed\n"));
      await typed;
      assert.strictEqual(await onDisk(uri), "one\ntyped\ntwo\nthree\n");
      assert.strictEqual(page(uri).document.getText(), SHOWN);
      const [outcome] = reviews.conclude(CALL, "accepted");
      assert.strictEqual(await documents.write(uri.fsPath, outcome?.newText ?? ""), true);
      assert.strictEqual(await onDisk(uri), "ONE\ntyped\ntwo\nTHREE\n");
      for (const name of ["autoSave", "autoSaveDelay"])
        await files.update(name, undefined, vscode.ConfigurationTarget.Workspace);
    });

    it("takes the decided text, what its user typed in the file meanwhile included", async () => {
      await change((edit) => edit.insert(uri, new vscode.Position(1, 0), "typed\n"));
      reviews.judge(CALL, uri.fsPath, 0, "accepted");
      reviews.judge(CALL, uri.fsPath, 1, "rejected");
      const taken = "ONE\ntyped\ntwo\nthree\n";
      const [outcome] = reviews.conclude(CALL, "accepted");
      assert.strictEqual(outcome?.newText, taken);
      assert.strictEqual(outcome?.isOther, true);
      assert.strictEqual(documents.read(uri.fsPath), BEFORE);
      await change((edit) => edit.insert(uri, new vscode.Position(4, 0), "later\n"));
      assert.strictEqual(await documents.write(uri.fsPath, taken), true);
      assert.strictEqual(await onDisk(uri), `${taken}later\n`);
      assert.strictEqual(documents.read(uri.fsPath), undefined);
    });

    it("lets the agent see that its user typed on the very lines it changes", async () => {
      await change((edit) => edit.replace(uri, new vscode.Range(0, 0, 0, 3), "mine"));
      reviews.conclude(CALL, "accepted");
      assert.strictEqual(documents.read(uri.fsPath), undefined);
      assert.strictEqual(await documents.write(uri.fsPath, AFTER), false);
    });

    it("leaves one step to undo in the file: the whole edit", async () => {
      reviews.conclude(CALL, "accepted");
      assert.strictEqual(await documents.write(uri.fsPath, AFTER), true);
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand("undo");
      assert.strictEqual(document.getText(), BEFORE);
      await vscode.commands.executeCommand("undo");
      assert.strictEqual(document.getText(), BEFORE);
      await vscode.commands.executeCommand("redo");
      await document.save();
      assert.strictEqual(await onDisk(uri), AFTER);
    });

    it("gives way to another review of the same file on the same page", async () => {
      const hunks = hunksOf(BEFORE, AFTER);
      const diff = { path: uri.fsPath, oldText: BEFORE, newText: AFTER };
      reviews.resume({ sessionId: "s", callIds: ["w"], diff, hunks });
      reviews.withdraw(CALL);
      await documents.settled();
      assert.strictEqual(documents.blocksOf(page(uri).document)?.review.callId, "w");
    });
  });

  describe("a file as the agent reads it", () => {
    it("is what is typed in it, and gone once it is deleted on disk, open or not", async () => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      assert.ok(folder);
      const uri = vscode.Uri.joinPath(folder.uri, "deleted.txt");
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(BEFORE));
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.window.showTextDocument(document);
      assert.strictEqual(await readText(uri.fsPath), BEFORE);
      await rm(uri.fsPath);
      assert.strictEqual(await readText(uri.fsPath), undefined);
      await change((edit) => edit.insert(uri, new vscode.Position(0, 0), "zero\n"));
      assert.strictEqual(await readText(uri.fsPath), `zero\n${BEFORE}`);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    });
  });

  describe("a document of an earlier version, with shown lines in it", () => {
    it("is as it was without them, and one that nobody drew is left alone", async () => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      assert.ok(folder);
      const uri = vscode.Uri.joinPath(folder.uri, "painted.txt");
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(BEFORE));
      const document = await vscode.workspace.openTextDocument(uri);
      const kept = { [uri.fsPath]: { shown: ["dtSKyb-xME3gkkQrTt4urR"], clean: BEFORE } };
      const memory = new Memory(undefined);
      const bring = (text: string) =>
        change((edit) => edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), text));
      memory.set("painted", kept);
      await bring(SHOWN);
      await cleanUpPainted(memory);
      assert.strictEqual(document.getText(), BEFORE);
      assert.strictEqual(document.isDirty, false);
      assert.strictEqual(memory.get("painted"), undefined);
      memory.set("painted", kept);
      await bring(`${SHOWN}mine\n`);
      await cleanUpPainted(memory);
      assert.strictEqual(document.getText(), `${SHOWN}mine\n`);
      await document.save();
      await vscode.workspace.fs.delete(uri);
    });
  });
}
