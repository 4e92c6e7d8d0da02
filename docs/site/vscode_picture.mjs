// Takes the pictures of the extension in a real VS Code: a question with its diff, what became of it, an edit that grows.
//
// Usage: vscode_picture.mjs CONFIG_AS_JSON.

import { rm } from "node:fs/promises";
import { join } from "node:path";

import { chooseTheme } from "../../tests/e2e/vscode/scenarios.mjs";
import { pressUntil, Scene, until } from "../../tests/e2e/vscode/scene.mjs";

const UNUSED = ["ghost.py", "list.txt", "notes.txt"];

const scene = await Scene.open(JSON.parse(process.argv[2]));
const { window } = scene;
const { page, panel } = window;
const lens = (words) => page.locator(".codelens-decoration a").filter({ hasText: words });

/** Let the pointer and the bars that go away by themselves be no part of a picture. */
async function shot(name) {
  await page.mouse.move(640, 700);
  await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  await scene.shot(name);
}

try {
  for (const name of UNUSED) await rm(join(scene.project, name));
  await window.load();
  await chooseTheme(window, "Dark Modern", ".vs-dark");
  await window.openFile("shop.py");
  await window.openPanel();
  await window.prompt("tidy shop.py");
  await panel.getByRole("button", { name: "Allow once" }).waitFor();
  await lens(/Accept all 3/).waitFor();
  await shot("hunks-dark");
  await chooseTheme(window, "Light Modern", ".vs");
  await lens(/^\W*Accept$/).first().click();
  await lens(/Accept all 2/).waitFor();
  await panel.getByRole("button", { name: "Reject this hunk" }).nth(1).click();
  await until(async () => (await lens(/^\W*Accept$/).count()) === 1, "one hunk is left");
  await lens(/^\W*Accept$/).first().click();
  await panel.getByText("Nothing else was touched.").waitFor();
  await window.rest();
  await shot("done-light");
  await window.closeEditors();
  await window.openFile("inline.py");
  await page.keyboard.press("ArrowDown");
  await page.getByText("Ln 2, Col 1").waitFor();
  const box = page.getByPlaceholder(/^Edit inline.py:2/);
  await pressUntil(page, "Control+i", () => box.isVisible(), "the instruction is asked for");
  await box.fill("make it louder");
  await box.press("Enter");
  await page.locator(".view-line").filter({ hasText: "word = 'HEY'" }).waitFor();
  await shot("inline-light");
} finally {
  await scene.close();
}
