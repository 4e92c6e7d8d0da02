// What people do in the window, as a list of scenarios.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, pressUntil, SHOP, until } from "./scene.mjs";
import {
  onlyLooksWhereNothingIsTrusted,
  stopsATurn,
  survivesAReload,
  survivesTheDeathOfTheResidentProcess,
  survivesTheServersDeath,
  tellsWhatItTriesAgain,
  tellsWhyATurnFailed,
} from "./failures.mjs";
import { attachesWhatIsChosen, attachesWhatIsDropped, bringsAlongWhatIsOpen, mentionsTerminalsPagesAndSessions, writesACommitMessage } from "./composing.mjs";
import { reviewsHunksWithAutoSave, showsHowLongATurnTakes } from "./automatic.mjs";
import { keepsFilesWholeWhateverIsUndone } from "./undoing.mjs";
import {
  followsLinksToLines,
  goesBackToAnEarlierPrompt,
  keepsColoursAndQuestionsOverAReload,
  leadsToOpenQuestions,
  queuesWhatIsSentMeanwhile,
  drawsFormulasAndDiagrams,
  usesCodeOfAnAnswer,
} from "./panel.mjs";
import { UNHEARD_MS } from "./window.mjs";

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
  const hits = await panel.locator(".row img, .row script, .row a[href^='javascript']").count();
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
  for (const button of await panel.getByRole("button", { name: /this hunk$/ }).all()) {
    const { width, height } = await button.boundingBox();
    if (width < 24 || height < 24) throw new Error(`a hunk's button is too small: ${width} by ${height}`);
  }
  await lens(page, /^\W*Accept$/).first().click();
  await lens(page, /Accept all 2/).waitFor();
  await page.keyboard.press("Control+1");
  await pressUntil(page, "Control+z", () => lens(page, /Accept all 3/).isVisible(), "the decision is taken back");
  await pressUntil(page, "Control+z", () => page.getByText("Nothing to undo here").first().isVisible(), "it says that there is nothing more");
  await panel.getByRole("button", { name: "Accept this hunk" }).first().click();
  await lens(page, /Accept all 2/).waitFor();
  await panel.getByRole("button", { name: "Reject this hunk" }).nth(1).click();
  await until(async () => (await lens(page, /^\W*Accept$/).count()) === 1, "one hunk is left");
  await page.keyboard.press("Control+1");
  await page.locator(".monaco-editor.focused").waitFor();
  await pressUntil(page, "Control+Alt+y", async () => (await lens(page, /^\W*Accept$/).count()) === 0, "the last hunk is taken by its key");
  await panel.getByText("Nothing else was touched.").waitFor();
  await panel.getByRole("button", { name: "Plan, 1/3 done" }).waitFor();
  expect(await panel.locator(".plan-head").count(), 0, "plans in the bar");
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
  const why = panel.getByLabel("Why you reject this, or what to do instead");
  await why.fill("lower case only");
  await panel.getByRole("button", { name: "Reject and say why" }).click();
  await panel.getByText("Then I leave it as it is.").waitFor();
  await panel.getByText("Rejected: lower case only").waitFor();
  expect(await scene.text("notes.txt"), "hello\n", "the file");
  if (!(await scene.heardByModel()).includes("The user says: lower case only")) throw new Error("the model was not told why");
}

async function showsACommandsOutput({ window, shot }) {
  await window.prompt("run the shop");
  await window.panel.getByRole("button", { name: "Allow once" }).click();
  await window.panel.getByText("It ended with code 3.").waitFor();
  await window.panel.getByLabel("Output").getByText("line 3").waitFor();
  await window.panel.getByText("exit 3", { exact: true }).waitFor();
  await shot("light-terminal");
}

async function allowsALongCommandOnlyOnceItsEndWasSeen({ window, shot }) {
  const { panel } = window;
  await window.prompt("run the long one");
  const allow = panel.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  expect(await allow.isDisabled(), true, "whether the button is barred at first");
  const command = panel.getByLabel("Command").last();
  expect((await command.innerText()).includes("\\u202e"), true, "whether what turns the text around is shown as an escape");
  await shot("light-long-command");
  await panel.getByRole("button", { name: "Show 34 more lines" }).click();
  await command.evaluate((box) => box.scrollIntoView({ block: "end" }));
  await until(async () => !(await allow.isDisabled()), "the end of the command was seen");
  await shot("light-long-command-read");
  await panel.getByRole("button", { name: "Reject", exact: true }).click();
  await panel.getByText("Then I do not run it.").waitFor();
}

async function takesBackWhatWasWrittenUnasked(scene) {
  const { window, shot } = scene;
  const { page, panel } = window;
  await panel.getByLabel("Mode", { exact: true }).selectOption("accept_edits");
  await window.prompt("write the list");
  await panel.getByText("The list is written.").waitFor();
  await lens(page, /Accept all 2/).waitFor();
  expect(await scene.text("list.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n", "what was written");
  await lens(page, /^\W*Reject$/).first().click();
  await until(async () => (await lens(page, /^\W*Accept$/).count()) === 1, "one hunk is left");
  await until(async () => (await scene.text("list.txt")) === "one\ntwo\nthree\nfour\nFIVE\n", "the hunk is taken back");
  await page.reload();
  await window.settle();
  await window.openPanel();
  await panel.getByText("The list is written.").waitFor();
  await lens(page, /^\W*Accept$/).first().waitFor();
  // The changes of each turn are reported again with the session, and can still be undone.
  await panel.getByText("1 file changed").last().waitFor();
  await panel.getByRole("button", { name: "Undo", exact: true }).last().waitFor();
  await shot("light-review-after-reload");
  await keepsTheUsersWords(panel);
  await lens(page, /^\W*Accept$/).first().click();
  await until(async () => (await lens(page, /^\W*Accept$/).count()) === 0, "nothing is left to judge");
  await until(async () => (await page.locator(".tab.dirty").count()) === 0, "the document is saved");
  expect(await scene.text("list.txt"), "one\ntwo\nthree\nfour\nFIVE\n", "the file in the end");
  await panel.getByLabel("Mode", { exact: true }).selectOption("ask");
  await window.prompt("hello again");
  await until(async () => (await scene.heardByModel()).includes("The user rejected these parts of your edits"), "the agent is told");
}

/** A replayed card shows the user's comment, and nothing of what the agent was told about it. */
async function keepsTheUsersWords(panel) {
  const refused = panel.getByRole("group", { name: /notes\.txt, rejected$/ });
  await until(async () => {
    await panel.getByRole("feed", { name: "Conversation" }).evaluate((list) => list.scrollBy(0, -200));
    return refused.isVisible();
  }, "the card is in sight");
  await refused.getByText("Rejected: lower case only").waitFor();
  expect(await panel.getByText("The user refused").count(), 0, "words that are for the model");
  await panel.getByRole("button", { name: "Scroll to the end" }).click();
}

const LOUDER = "first = 1\nword = 'HEY'\nvolume = 11\nlast = 2\n";

/** The edited lines stay readable while the user types the instruction. */
async function leavesInSight(page, text) {
  const line = page.locator(".monaco-editor[data-uri$='/inline.py'] .view-line").filter({ hasText: text });
  const [box, words] = await Promise.all([page.locator(".quick-input-widget"), line].map((each) => each.boundingBox()));
  if (box.y + box.height > words.y) throw new Error(`the box ends at ${box.y + box.height}, the line begins at ${words.y}`);
}

async function editsTheSelectionInPlace(scene) {
  const { window, shot } = scene;
  const { page } = window;
  await window.openFile("inline.py");
  const asks = (line) => page.getByPlaceholder(`Edit inline.py:${line}: describe the change`);
  await pressUntil(page, "Control+i", () => asks(1).isVisible(), "the instruction for the first line is asked for");
  await leavesInSight(page, "first = 1");
  await shot("light-inline-first-line");
  await page.keyboard.press("Escape");
  await page.locator(".monaco-editor.focused").waitFor();
  await page.getByText("Ln 1, Col 1", { exact: true }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.getByText("Ln 2, Col 1").waitFor();
  await pressUntil(page, "Control+i", () => asks(2).isVisible(), "the instruction is asked for");
  await leavesInSight(page, "word = 'hush'");
  const box = asks(2);
  await box.fill("make it louder");
  await box.press("Enter");
  await page.locator(".codelens-decoration").filter({ hasText: "Hermes is writing" }).waitFor();
  await page.locator(".view-line").filter({ hasText: "word = 'HEY'" }).waitFor();
  await shot("light-inline-growing");
  expect(await scene.text("inline.py"), "first = 1\nword = 'hush'\nlast = 2\n", "the file meanwhile");
  await scene.openGate("louder");
  await lens(page, /^\W*Accept$/).first().waitFor();
  await page.locator('.monaco-editor.focused[data-uri^="hermes-review:"][data-uri$="inline.py"]').waitFor();
  await pressUntil(page, "Control+Alt+y", async () => (await scene.text("inline.py")) === LOUDER, "the line is changed");
  // The request used a separate session, which is closed afterwards.
  await until(async () => (await scene.heardByModel()).includes("volume = 11"), "the model is told");
  await until(async () => (await window.panel.getByRole("tablist", { name: "Sessions" }).count()) === 0, "its session is closed");
  expect(await window.panel.getByText("make it louder").count(), 0, "requests of the inline edit in the conversation");
}

async function offersActionsOfTheLanguageServer(scene) {
  const { window, shot } = scene;
  const { page } = window;
  await window.openFile("notes.txt");
  const action = page.locator(".action-widget .monaco-list-row").filter({ hasText: /Explain/i });
  const nothing = page.locator(".monaco-editor-overlaymessage, .monaco-editor .message").filter({ hasText: "No code actions" });
  // The server starts with the window; until it is ready, the editor says that there is nothing.
  await until(async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Control+.");
    // Keys pressed while the editor is still being set up have neither effect, so they are pressed again.
    await action.or(nothing).first().waitFor({ timeout: UNHEARD_MS }).catch(() => undefined);
    return action.first().isVisible();
  }, "the language server offers something");
  await shot("light-actions");
  await page.keyboard.press("Escape");
}

async function suggestsWhileOneTypes(scene) {
  const { window, shot } = scene;
  const { page } = window;
  const ghost = page.locator(".view-lines .ghost-text, .view-lines [class*=ghost-text]");
  const line = (text) => page.locator(".view-line").filter({ hasText: text });
  await window.openFile("ghost.py");
  await page.keyboard.type('colours = ["red", ');
  await ghost.filter({ hasText: "green" }).first().waitFor();
  await shot("light-suggestion");
  await page.keyboard.press("Tab");
  await line('colours = ["red", "green", "blue"]').waitFor();
  await until(async () => (await ghost.count()) === 0, "what was taken is no suggestion any more");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.keyboard.type('letters = ["a", ');
  await until(async () => (await scene.heardByModel()).includes('letters = [\\"a\\", <cursor/>'), "the model is asked");
  await page.keyboard.type("z");
  await until(async () => (await scene.heardByModel()).includes('letters = [\\"a\\", z<cursor/>'), "it is asked anew");
  await scene.openGate("letters");
  await ghost.filter({ hasText: "zebra" }).first().waitFor();
  expect(await ghost.filter({ hasText: '"b"' }).count(), 0, "suggestions for what stood there before");
  await page.keyboard.press("Escape");
  await until(async () => (await ghost.count()) === 0, "Escape dismisses it");
  await window.run("File: Revert File");
  await page.locator(".tab.dirty").first().waitFor({ state: "detached" });
  await window.closeEditors();
}

async function showsWhatChildrenDo(scene) {
  const { window, shot } = scene;
  const { panel } = window;
  const child = (title, stand) => panel.getByRole("group", { name: `Child agent: ${title}, ${stand}` });
  await window.prompt("ask your helpers");
  await child("Count the lines of shop.py", "running").getByText("It has").waitFor();
  await child("Count the lines of shop.py", "running").getByText("Read shop.py").waitFor();
  await child("Find who calls greet", "done").waitFor();
  await child("Look for tests", "failed").waitFor();
  await shot("light-children");
  await scene.openGate("counted");
  await child("Count the lines of shop.py", "done").waitFor();
  await panel.getByText("Eleven lines, one caller, no tests.").waitFor();
  await child("Find who calls greet", "done").getByRole("button").first().click();
  await panel.getByText("in the last line calls it.").waitFor();
  await shot("light-children-done");
}

async function worksInTwoFolders(scene) {
  const { window, shot } = scene;
  const { panel, workspace } = window;
  window.workspace = scene.both;
  try {
    await window.load();
    await window.openPanel();
    await window.prompt("look into both folders");
    await panel.getByRole("button", { name: "Allow once" }).click();
    await panel.getByText("Both folders are tidy.").waitFor();
    await panel.getByRole("group", { name: "Create second/price.txt, done" }).waitFor();
    expect(await readFile(join(scene.second, "price.txt"), "utf8"), "twelve\n", "the file of the second folder");
    await shot("dark-two-folders");
  } finally {
    window.workspace = workspace;
  }
}

/** Mention a file in the prompt, by its menu. */
async function mention({ panel, area }, name) {
  await area.fill("");
  await area.pressSequentially(`@${name}`);
  await panel.getByRole("option", { name }).first().waitFor();
  await area.press("Enter");
  await panel.getByRole("button", { name: `Remove ${name}` }).waitFor();
}

async function findsPastSessions({ window, shot }) {
  const { panel } = window;
  await window.run("Hermes: New Session");
  await panel.getByRole("tablist", { name: "Sessions" }).waitFor();
  await mention(window, "notes.txt");
  await window.run("Hermes: Past Sessions");
  const past = panel.getByRole("region", { name: "Past sessions" });
  await past.getByRole("button", { name: /hello/i }).first().waitFor();
  await shot("light-past");
  await past.getByRole("searchbox").fill("no such words anywhere");
  await past.getByText("No session contains these words.").waitFor();
  await past.getByRole("searchbox").fill("ready");
  await past.locator("mark").first().waitFor();
  await shot("light-search");
  await past.getByRole("button", { name: "Back" }).click();
  await panel.getByRole("button", { name: "Remove notes.txt" }).waitFor();
  await panel.getByRole("tab", { name: /hello/i }).click();
  await panel.getByRole("button", { name: "Remove notes.txt" }).waitFor({ state: "detached" });
  await panel.getByRole("tab", { name: "New session" }).click();
  await panel.getByRole("button", { name: "Close New session" }).click();
  await until(async () => (await panel.getByRole("tablist").count()) === 0, "one session is left");
}

async function opensAsAnEditorToo({ window }) {
  const { page } = window;
  await window.closeEditors();
  await window.run("Hermes: Open in an Editor Tab");
  await page.locator(".tab.active").filter({ hasText: "Hermes" }).waitFor();
  const second = page.frameLocator("iframe.webview.ready >> nth=1").frameLocator("iframe#active-frame");
  await second.getByLabel("Prompt", { exact: true }).waitFor();
  await second.getByRole("feed", { name: "Conversation" }).waitFor();
  await window.closeEditors();
  await until(async () => (await page.locator("iframe.webview").count()) === 1, "the tab is closed");
}

async function offersMentionsAndCommands({ window, shot }) {
  const { panel, area, caret } = window;
  await area.fill("");
  await area.click();
  await caret.waitFor();
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

/** Press a key until a control has the focus, like a user without a mouse. */
async function reach(page, control, key) {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press(key);
    if (await control.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`${key} does not lead to it`);
}

async function canBeUsedByKeysAlone(scene) {
  const { window, shot } = scene;
  const { page, panel, area, caret } = window;
  await window.rest();
  await area.fill("");
  await window.openFile("notes.txt");
  await page.keyboard.press("Control+Alt+h");
  await caret.waitFor();
  await page.keyboard.type("rename the greeting");
  await page.keyboard.press("Enter");
  const why = panel.getByLabel("Why you reject this, or what to do instead");
  await why.waitFor();
  await reach(page, why, "Shift+Tab");
  await page.keyboard.type("not yet");
  const lasting = panel.getByRole("button", { name: "Always allow or reject" });
  await reach(page, lasting, "Shift+Tab");
  await page.keyboard.press("Enter");
  await panel.locator(".lasting").first().waitFor();
  await shot("light-keys");
  await checkForEverybody(scene, "a question");
  await page.keyboard.press("Enter");
  await reach(page, panel.getByRole("button", { name: "Reject and say why" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await until(async () => (await scene.heardByModel()).includes("The user says: not yet"), "the model is told why not");
  await window.rest();
  await panel.getByText("Then I leave it as it is.").last().waitFor();
  await page.keyboard.press("Control+Alt+h");
  await caret.waitFor();
  await page.keyboard.type("rename the greeting");
  await page.keyboard.press("Enter");
  const allow = panel.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  await reach(page, allow, "Shift+Tab");
  await pressUntil(page, "Control+Alt+Backspace", async () => !(await allow.isVisible()), "it is rejected by its key");
  await window.rest();
  expect(await scene.text("notes.txt"), "hello\n", "the file after a no");
  await page.keyboard.press("Control+Alt+h");
  await caret.waitFor();
  await page.keyboard.type("rename the greeting");
  await page.keyboard.press("Enter");
  await allow.waitFor();
  await pressUntil(page, "Control+Alt+Enter", async () => !(await allow.isVisible()), "it is allowed by its key");
  await until(async () => (await scene.text("notes.txt")) === "HELLO\n", "what was allowed by key is written");
  await checkForEverybody(scene, "a conversation");
}

/** Check the current panel with axe. */
async function checkForEverybody(scene, what) {
  expect((await findingsOf(scene)).join("\n"), "", `what keeps people from ${what}`);
}

async function findingsOf({ window, axe }) {
  const frame = await (await window.panel.locator("#root").elementHandle()).ownerFrame();
  await frame.evaluate(axe);
  const { violations } = await frame.evaluate(() => window.axe.run("#root", { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }));
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`));
}

/** Check the review tab with axe. The colours of line numbers are the theme's own, as in every editor. */
async function reviewFindings({ window: { page }, axe }) {
  await page.evaluate(axe);
  const exclude = [[".line-numbers"]];
  const { violations } = await page.evaluate(
    (left) => window.axe.run({ include: ['.monaco-editor[data-uri^="hermes-review:"]'], exclude: left }, { resultTypes: ["violations"] }),
    exclude,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `review, ${id}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`));
}

async function looksRightEverywhere(scene) {
  const { window, shot } = scene;
  const { page, panel } = window;
  await writeFile(join(scene.project, "shop.py"), SHOP);
  await window.prompt("tidy shop.py");
  await lens(page, /Accept all 3/).waitFor();
  const findings = [];
  const look = async (theme) => findings.push(...[...(await findingsOf(scene)), ...(await reviewFindings(scene))].map((each) => `${theme}: ${each}`));
  await look("Light Modern");
  for (const [name, theme, mark] of THEMES) {
    await chooseTheme(window, theme, mark);
    await shot(`${name}-hunks`);
    await look(theme);
  }
  expect(findings.join("\n"), "", "what keeps people from pending edits");
  await chooseTheme(window, ...THEMES[0].slice(1));
  await panel.getByRole("button", { name: "Reject", exact: true }).click();
  await until(async () => (await lens(page, /^\W*Accept$/).count()) === 0, "nothing is left to judge");
  await window.rest();
  await panel.getByText("Nothing else was touched.").last().waitFor();
  await shot("dark-done");
  await page.setViewportSize({ width: 300, height: 720 });
  await window.run("View: Maximize Secondary Side Bar");
  await until(async () => (await page.locator(".part.editor").isVisible()) === false, "the panel has the window to itself");
  await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  await shot("dark-narrow");
  await page.setViewportSize({ width: 1280, height: 800 });
}

const THEMES = [
  ["dark", "Dark Modern", ".vs-dark"],
  ["contrast", "Dark High Contrast", ".hc-black"],
  ["contrast-light", "Light High Contrast", ".hc-light"],
];

export async function chooseTheme(window, theme, mark) {
  await window.run("Preferences: Color Theme");
  const box = window.page.locator(".quick-input-widget input").first();
  await until(async () => (await box.getAttribute("placeholder"))?.includes("Color Theme"), "the list of themes");
  await box.fill(theme);
  await window.page.locator(".quick-input-list .monaco-list-row.focused").filter({ hasText: theme }).waitFor();
  await box.press("Enter");
  await window.page.locator(`.monaco-workbench${mark}`).waitFor();
  await window.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
}

export const SCENARIOS = [
  opensThePanel,
  streamsAnAnswer,
  showsHostileTextAsText,
  takesOneHunkAndLeavesAnother,
  undoesATurn,
  keepsFilesWholeWhateverIsUndone,
  tellsTheAgentWhyNot,
  showsACommandsOutput,
  allowsALongCommandOnlyOnceItsEndWasSeen,
  takesBackWhatWasWrittenUnasked,
  editsTheSelectionInPlace,
  showsWhatChildrenDo,
  tellsWhyATurnFailed,
  stopsATurn,
  showsHowLongATurnTakes,
  reviewsHunksWithAutoSave,
  queuesWhatIsSentMeanwhile,
  followsLinksToLines,
  usesCodeOfAnAnswer,
  drawsFormulasAndDiagrams,
  leadsToOpenQuestions,
  survivesTheServersDeath,
  survivesAReload,
  keepsColoursAndQuestionsOverAReload,
  findsPastSessions,
  opensAsAnEditorToo,
  offersMentionsAndCommands,
  bringsAlongWhatIsOpen,
  attachesWhatIsDropped,
  attachesWhatIsChosen,
  mentionsTerminalsPagesAndSessions,
  offersActionsOfTheLanguageServer,
  suggestsWhileOneTypes,
  canBeUsedByKeysAlone,
  looksRightEverywhere,
  goesBackToAnEarlierPrompt,
  writesACommitMessage,
  survivesTheDeathOfTheResidentProcess,
  tellsWhatItTriesAgain,
  worksInTwoFolders,
  onlyLooksWhereNothingIsTrusted,
];
