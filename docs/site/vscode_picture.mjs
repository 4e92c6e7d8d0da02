// Takes the picture of a question with its diff in a real VS Code. Usage: vscode_picture.mjs CONFIG_AS_JSON.

import { rm } from "node:fs/promises";
import { join } from "node:path";

import { chooseTheme } from "../../tests/e2e/vscode/scenarios.mjs";
import { Scene } from "../../tests/e2e/vscode/scene.mjs";

const UNUSED = ["ghost.py", "inline.py", "list.txt", "notes.txt"];

const scene = await Scene.open(JSON.parse(process.argv[2]));
try {
  for (const name of UNUSED) await rm(join(scene.project, name));
  const { window } = scene;
  await window.load();
  await chooseTheme(window, "Dark Modern", ".vs-dark");
  await window.openFile("shop.py");
  await window.openPanel();
  await window.prompt("tidy shop.py");
  await window.panel.getByRole("button", { name: "Allow once" }).waitFor();
  await window.page.locator(".codelens-decoration a").filter({ hasText: /Accept all 3/ }).waitFor();
  await scene.shot("question");
} finally {
  await scene.close();
}
