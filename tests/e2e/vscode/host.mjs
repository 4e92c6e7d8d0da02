// Runs the extension's own tests inside the extension host of a real VS Code.
//
// Usage: host.mjs CONFIG_AS_JSON with folder, extension. Ends with the tests' exit code; their output goes to stdout.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { format } from "node:util";

import { startBrowser, startEditor, Window } from "./window.mjs";

const WAIT_MS = 300_000;
const { folder, extension } = JSON.parse(process.argv[2]);
const project = join(folder, "project");
await mkdir(project, { recursive: true });
const env = { PATH: process.env.PATH, HOME: folder };
const editor = await startEditor({ folder: join(folder, "editor"), env });
const browser = await startBrowser();
let code = 1;
try {
  const remote = (path) => `vscode-remote://127.0.0.1:${editor.port}${path}`;
  const payload = [
    ["extensionDevelopmentPath", remote(extension)],
    ["extensionTestsPath", remote(join(extension, "dist-test", "index.js"))],
    ["skipWelcome", "true"],
  ];
  const window = await Window.open(browser, editor, project, { payload });
  await window.page.exposeFunction("codeAutomationLog", (kind, args) => {
    if (kind !== "error") process.stdout.write(`${format(...args)}\n`);
  });
  const ended = new Promise((resolve) => void window.page.exposeFunction("codeAutomationExit", resolve));
  await window.goto();
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("the tests did not end in time")), WAIT_MS).unref());
  code = await Promise.race([ended, late]);
} finally {
  await browser.close();
  await editor.stop();
}
process.exit(code);
