// What people do in the window, one scenario after the other.
//
// Knows: the panel by its roles and labels, documents, keys. Does not know: how anything is started.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, SHOP, until } from "./scene.mjs";

const lens = (page, words) => page.locator(".codelens-decoration a").filter({ hasText: words });
const TAKEN = `def greet(name: str) -> str:
    return f'Hello {name}'


def total(items):
    result = 0
    for item in items:
        result += item
    return result


print(greet('world'))
print(total([1, 2]))
`;

async function opensThePanel({ window, shot }) {
  await window.load();
  await window.openPanel();
  await window.panel.getByRole("heading", { name: "Hermes" }).waitFor();
  await shot("light-welcome");
}

async function streamsAnAnswer({ window }) {
  await window.prompt("hello");
  await window.panel.getByText("I am ready.").waitFor();
  await window.panel.getByLabel("Mode", { exact: true }).waitFor();
}

async function showsHostileTextAsText({ window }) {
  const { panel } = window;
  await window.prompt("say something hostile");
  await panel.getByText("That is all of it.").waitFor();
  await panel.getByRole("cell", { name: "2" }).waitFor();
  const hits = await panel.locator("article img, article script, article a[href^='javascript']").count();
  expect(hits, 0, "what could run or load");
  expect(await panel.locator("title").first().innerText(), "Hermes", "the title");
}

async function takesOneHunkAndLeavesAnother(scene) {
  const { window, shot } = scene;
  const { page, panel } = window;
  await window.prompt("tidy shop.py");
  await panel.getByRole("button", { name: "Allow once" }).waitFor();
  await lens(page, /Accept all 3/).waitFor();
  await shot("light-hunks");
  await lens(page, /^\W*Accept$/).first().click();
  await lens(page, /Accept all 2/).waitFor();
  await panel.getByRole("button", { name: "Reject this hunk" }).nth(1).click();
  await until(async () => (await lens(page, /^\W*Accept$/).count()) === 1, "one hunk is left");
  await page.keyboard.press("Control+1");
  await page.keyboard.press("Control+Alt+y");
  await panel.getByText("Nothing else was touched.").waitFor();
  expect(await scene.text("shop.py"), TAKEN, "the file");
  const heard = await scene.heardByModel();
  if (!heard.includes("only a part") || !heard.includes("+    return sum(items)")) throw new Error("the model was not told what was left out");
  await until(async () => (await page.locator(".tab.dirty").count()) === 0, "the document is saved");
  await shot("light-done");
}

async function undoesATurn(scene) {
  const { page, panel } = scene.window;
  await panel.getByText("1 file changed").waitFor();
  await panel.getByRole("button", { name: "Changes", exact: true }).click();
  await page.locator(".multiDiffEditor").waitFor();
  await panel.getByRole("button", { name: "Undo", exact: true }).click();
  await page.locator(".monaco-dialog-box").getByRole("button", { name: "Undo" }).click();
  await panel.getByText("Undone").waitFor();
  expect(await scene.text("shop.py"), SHOP, "the file");
}

async function tellsTheAgentWhyNot(scene) {
  const { panel } = scene.window;
  await scene.window.prompt("rename the greeting");
  const why = panel.getByLabel("Why not, or what to do instead");
  await why.fill("lower case only");
  await panel.getByRole("button", { name: "Reject and say why" }).click();
  await panel.getByText("Then I leave it as it is.").waitFor();
  expect(await scene.text("notes.txt"), "hello\n", "the file");
  if (!(await scene.heardByModel()).includes("They say: lower case only")) throw new Error("the model was not told why");
}

async function showsACommandsOutput({ window, shot }) {
  await window.prompt("run the shop");
  await window.panel.getByRole("button", { name: "Allow once" }).click();
  await window.panel.getByText("It ended with code 3.").waitFor();
  await window.panel.getByLabel("Output").getByText("line 3").waitFor();
  await window.panel.getByText("exit 3", { exact: true }).waitFor();
  await shot("light-terminal");
}

async function takesBackWhatWasWrittenUnasked(scene) {
  const { window } = scene;
  const { page, panel } = window;
  await panel.getByLabel("Mode", { exact: true }).selectOption("accept_edits");
  await window.prompt("write the list");
  await panel.getByText("The list is written.").waitFor();
  await lens(page, /Accept all 2/).waitFor();
  expect(await scene.text("list.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n", "what was written");
  await lens(page, /^\W*Reject$/).first().click();
  await until(async () => (await lens(page, /^\W*Accept$/).count()) === 1, "one hunk is left");
  await lens(page, /^\W*Accept$/).first().click();
  await until(async () => (await scene.text("list.txt")) === "one\ntwo\nthree\nfour\nFIVE\n", "the hunk is taken back");
  await panel.getByLabel("Mode", { exact: true }).selectOption("ask");
  await window.prompt("hello again");
  await until(async () => (await scene.heardByModel()).includes("I took back these parts of your edits"), "the agent is told");
}

async function editsTheSelectionInPlace(scene) {
  const { window } = scene;
  const { page } = window;
  await openFile(window, "inline.py");
  await page.locator(".monaco-editor.focused").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByText("Ln 2, Col 1").waitFor();
  await page.keyboard.press("Control+i");
  await page.getByText("Edit inline.py:2").waitFor();
  const box = page.locator(".quick-input-widget input").first();
  await box.fill("make it louder");
  await box.press("Enter");
  await lens(page, /^\W*Accept$/).first().waitFor();
  await page.keyboard.press("Control+Alt+y");
  await until(async () => (await scene.text("inline.py")) === "first = 1\nword = 'HEY'\nlast = 2\n", "the line is changed");
  await window.panel.getByText("Louder now.").waitFor();
}

async function openFile(window, name) {
  const { page } = window;
  await page.keyboard.press("Control+p");
  const box = page.locator(".quick-input-widget input").first();
  await box.fill(name);
  await page.locator(".quick-input-list .monaco-list-row").filter({ hasText: name }).first().waitFor();
  await box.press("Enter");
  await page.locator(".tab.active").filter({ hasText: name }).waitFor();
}

async function stopsATurn({ window }) {
  await window.prompt("talk until stopped");
  await window.panel.getByText("Once", { exact: false }).last().waitFor();
  await window.panel.getByLabel("Messages while working", { exact: true }).waitFor();
  await window.panel.getByRole("button", { name: "Stop" }).click();
  await window.panel.getByText("Stopped.").waitFor();
}

async function survivesTheServersDeath(scene) {
  const { window, shot } = scene;
  await window.prompt("talk until killed");
  await window.panel.getByText("I begin").waitFor();
  const [agent] = await scene.agents();
  process.kill(agent, "SIGKILL");
  await window.panel.getByText("The turn was interrupted.").waitFor();
  await until(async () => (await scene.agents()).some((pid) => pid !== agent), "the server is started again");
  await window.panel.getByText("I begin").waitFor();
  await window.panel.getByRole("button", { name: "Continue" }).click();
  await window.panel.getByText("I went on and am done.").waitFor();
  await window.panel.getByText("Go on where you stopped.").waitFor();
  await shot("light-after-kill");
}

async function survivesAReload(scene) {
  const { window } = scene;
  await window.prompt("talk until reloaded");
  await window.panel.getByText("Half of it").waitFor();
  await window.page.reload();
  await window.settle();
  await window.openPanel();
  await window.panel.getByText("The turn was interrupted.").last().waitFor();
  await window.panel.getByText("Half of it").waitFor();
  await window.panel.getByRole("button", { name: "Continue" }).click();
  await until(async () => (await window.panel.getByText("I went on and am done.").count()) > 1, "the turn is taken up again");
}

async function findsPastSessions({ window, shot }) {
  const { panel } = window;
  await window.run("Hermes: New Session");
  await panel.getByRole("tablist", { name: "Sessions" }).waitFor();
  await window.run("Hermes: Past Sessions");
  const past = panel.getByRole("region", { name: "Past sessions" });
  await past.getByRole("button", { name: /hello/i }).first().waitFor();
  await shot("light-past");
  await past.getByRole("searchbox").fill("no such words");
  await past.getByText("No session has these words").waitFor();
  await past.getByRole("button", { name: "Back" }).click();
  await panel.getByRole("tab", { name: /hello/i }).click();
  await panel.getByRole("button", { name: /^Close/ }).last().click();
  await until(async () => (await panel.getByRole("tablist").count()) === 0, "one session is left");
}

async function opensAsAnEditorToo({ window }) {
  const { page } = window;
  await window.run("Hermes: Open in an Editor Tab");
  await page.locator(".tab.active").filter({ hasText: "Hermes" }).waitFor();
  const second = page.frameLocator("iframe.webview.ready >> nth=1").frameLocator("iframe#active-frame");
  await second.getByLabel("Prompt", { exact: true }).waitFor();
  await second.getByRole("feed", { name: "Conversation" }).waitFor();
  await window.run("View: Close Editor");
  await until(async () => (await page.locator("iframe.webview").count()) === 1, "the tab is closed");
}

async function offersMentionsAndCommands({ window, shot }) {
  const { panel } = window;
  const area = panel.getByLabel("Prompt", { exact: true });
  await area.click();
  await area.pressSequentially("/st");
  await panel.getByRole("option", { name: /\/status/ }).waitFor();
  await area.fill("");
  await area.pressSequentially("Look at @sho");
  await panel.getByRole("option", { name: /shop.py/ }).first().waitFor();
  await shot("light-mentions");
  await area.press("Enter");
  await panel.getByRole("button", { name: "Remove shop.py" }).waitFor();
  expect(await area.inputValue(), "Look at @shop.py ", "the prompt");
  await panel.getByRole("button", { name: "Remove shop.py" }).click();
  await area.fill("");
}

async function canBeUsedByKeysAlone(scene) {
  const { window } = scene;
  const { page, panel } = window;
  await panel.getByLabel("Prompt", { exact: true }).focus();
  await page.keyboard.type("rename the greeting");
  await page.keyboard.press("Enter");
  const allow = panel.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press("Shift+Tab");
    if (await allow.evaluate((element) => element === document.activeElement)) break;
  }
  await page.keyboard.press("Enter");
  await until(async () => (await scene.text("notes.txt")) === "HELLO\n", "what was allowed by key is written");
  const nameless = await panel.locator("button, input, textarea, select, [role]").evaluateAll((elements) =>
    elements
      .filter((each) => ["BUTTON", "INPUT", "TEXTAREA", "SELECT"].includes(each.tagName))
      .filter((each) => !(each.textContent?.trim() || each.getAttribute("aria-label") || each.labels?.length || each.title))
      .map((each) => each.outerHTML.slice(0, 120)),
  );
  expect(nameless.join("\n"), "", "controls without a name");
}

async function looksRightEverywhere(scene) {
  const { window, shot } = scene;
  const { page, panel } = window;
  await writeFile(join(scene.project, "shop.py"), SHOP);
  await window.prompt("tidy shop.py");
  await lens(page, /Accept all 3/).waitFor();
  for (const [name, theme, mark] of THEMES) {
    await chooseTheme(window, theme, mark);
    await shot(`${name}-hunks`);
  }
  await chooseTheme(window, ...THEMES[0].slice(1));
  await panel.getByRole("button", { name: "Reject", exact: true }).click();
  await panel.getByText("Nothing else was touched.").last().waitFor();
  await shot("dark-done");
  await page.setViewportSize({ width: 300, height: 720 });
  await window.run("View: Maximize Secondary Side Bar");
  await until(async () => (await page.locator(".part.editor").isVisible()) === false, "the panel has the window to itself");
  await shot("dark-narrow");
  await page.setViewportSize({ width: 1280, height: 800 });
}

const THEMES = [
  ["dark", "Dark Modern", ".vs-dark"],
  ["contrast", "Dark High Contrast", ".hc-black"],
  ["contrast-light", "Light High Contrast", ".hc-light"],
];

async function chooseTheme(window, theme, mark) {
  await window.run("Preferences: Color Theme");
  const box = window.page.locator(".quick-input-widget input").first();
  await until(async () => (await box.getAttribute("placeholder"))?.includes("Color Theme"), "the list of themes");
  await box.fill(theme);
  await window.page.locator(".quick-input-list .monaco-list-row.focused").filter({ hasText: theme }).waitFor();
  await box.press("Enter");
  await window.page.locator(`.monaco-workbench${mark}`).waitFor();
  await window.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
}

async function onlyLooksWhereNothingIsTrusted(scene) {
  const { window, shot, editor } = scene;
  const path = join(editor.folder, "data", "User", "settings.json");
  const settings = JSON.parse(await readFile(path, "utf8"));
  await writeFile(path, JSON.stringify({ ...settings, "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" }));
  await window.load();
  await window.openPanel();
  await window.panel.getByText("This folder is not trusted").waitFor();
  await window.run("Hermes: New Session");
  await window.panel.getByRole("tab", { name: "New session" }).waitFor();
  await window.prompt("look around");
  await window.panel.getByText("I may only look here.").waitFor();
  expect(await window.panel.getByLabel("Mode", { exact: true }).inputValue(), "plan", "the mode");
  expect(await window.panel.getByLabel("Mode", { exact: true }).isDisabled(), true, "whether the mode is fixed");
  await shot("light-untrusted");
}

export const SCENARIOS = [
  opensThePanel,
  streamsAnAnswer,
  showsHostileTextAsText,
  takesOneHunkAndLeavesAnother,
  undoesATurn,
  tellsTheAgentWhyNot,
  showsACommandsOutput,
  takesBackWhatWasWrittenUnasked,
  editsTheSelectionInPlace,
  stopsATurn,
  survivesTheServersDeath,
  survivesAReload,
  findsPastSessions,
  opensAsAnEditorToo,
  offersMentionsAndCommands,
  canBeUsedByKeysAlone,
  looksRightEverywhere,
  onlyLooksWhereNothingIsTrusted,
];
