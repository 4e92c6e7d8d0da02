import * as assert from "node:assert";

import * as vscode from "vscode";

const ID = "hermes-acp.hermes-acp";

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

export function declareExtensionTests(): void {
  describe("the extension", () => {
    it("activates, and has every command it promises", async () => {
      const extension = vscode.extensions.getExtension(ID);
      assert.ok(extension, "the extension is there");
      await extension.activate();
      const there = new Set(await vscode.commands.getCommands(true));
      const promised = (extension.packageJSON as Manifest).contributes.commands.map((each) => each.command);
      assert.deepStrictEqual(
        promised.filter((command) => !there.has(command)),
        [],
      );
    });

    it("turns suggestions and code actions on, each by its own command", async () => {
      const isOn = () => {
        const settings = vscode.workspace.getConfiguration("hermes.lsp");
        return [settings.get("enabled"), settings.get("inlineCompletion")];
      };
      assert.deepStrictEqual(isOn(), [false, false]);
      await vscode.commands.executeCommand("hermes.enableCompletion");
      assert.deepStrictEqual(isOn(), [false, true]);
      await vscode.commands.executeCommand("hermes.enableCodeActions");
      assert.deepStrictEqual(isOn(), [true, true]);
      const settings = vscode.workspace.getConfiguration("hermes.lsp");
      for (const name of ["enabled", "inlineCompletion"])
        await settings.update(name, undefined, vscode.ConfigurationTarget.Global);
    });

    it("starts nothing before it is asked to", () => {
      const settings = vscode.workspace.getConfiguration("hermes");
      assert.strictEqual(settings.get("trace"), false);
      assert.strictEqual(settings.get("server.package"), "");
    });
  });
}
