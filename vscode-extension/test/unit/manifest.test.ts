import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, unknown>> };
    readonly walkthroughs: readonly { readonly steps: readonly { readonly completionEvents: readonly string[] }[] }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string; readonly when?: string }[];
  };
}
const { contributes } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as Manifest;

describe("keys", () => {
  it("lead to commands that there are", () => {
    const commands = new Set(contributes.commands.map(({ command }) => command));
    expect(contributes.keybindings.filter(({ command }) => !commands.has(command))).toEqual([]);
  });

  it("answer a question only while one is open, and never by typing", () => {
    const answers = contributes.keybindings.filter(({ command }) => /^hermes\.(allow|reject)Once$/.test(command));
    expect(answers.map(({ command, key, when }) => [command, key, when])).toEqual([
      ["hermes.allowOnce", "ctrl+alt+enter", "hermes.isAsking"],
      ["hermes.rejectOnce", "ctrl+alt+backspace", "hermes.isAsking"],
    ]);
  });

  it("of undo and save mean a review's page only there", () => {
    const keys = contributes.keybindings.filter(({ key }) => key === "ctrl+z" || key === "ctrl+s");
    expect(keys.map(({ command }) => command)).toEqual(["hermes.edits.save", "hermes.edits.undo"]);
    for (const { when } of keys) expect(when).toContain("resourceScheme == hermes-review");
  });

  it("of the inline command depend on the cursor alone: what the window says of a file comes later than the file", () => {
    const inline = contributes.keybindings.find(({ command }) => command === "hermes.editInline");
    expect(inline?.when?.match(/\w+/g)?.sort()).toEqual(["editorReadonly", "editorTextFocus"]);
  });
});

describe("the steps of the walkthrough", () => {
  const events = contributes.walkthroughs.flatMap(({ steps }) => steps.flatMap((step) => step.completionEvents));
  const of = (kind: string) => events.filter((each) => each.startsWith(kind)).map((each) => each.slice(kind.length));

  it("are ticked by commands, settings and conditions that there are", () => {
    const source = fileURLToPath(new URL("../../src", import.meta.url));
    const code = readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(source, name), "utf8"))
      .join("\n");
    const commands = contributes.commands.map(({ command }) => command);
    expect(of("onCommand:").filter((each) => !commands.includes(each))).toEqual([]);
    expect(of("onSettingChanged:").filter((each) => !(each in contributes.configuration.properties))).toEqual([]);
    const isSet = (name: string) =>
      code.includes(`"setContext", "hermes.${name}"`) || new RegExp(`setContext\\("${name}"`).test(code);
    const steps = of("onContext:hermes.walkthrough.");
    expect(code).toContain(`STEPS = ["${steps.join('", "')}"]`);
    expect(of("onContext:hermes.").filter((name) => !name.startsWith("walkthrough.") && !isSet(name))).toEqual([]);
    expect(events.length).toBe(10);
  });
});
