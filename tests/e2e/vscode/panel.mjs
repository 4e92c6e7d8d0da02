// What people do in the panel beyond asking and answering: queue prompts, go back, follow links, find questions.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, until } from "./scene.mjs";

/** Scroll up until an element of the conversation is visible. */
async function scrollTo(window, target) {
  await until(async () => {
    if (await target.isVisible()) return true;
    await window.conversation.evaluate((list) => list.scrollBy(0, -200));
    return false;
  }, "it is in sight");
}

export async function queuesWhatIsSentMeanwhile({ window, shot }) {
  const { panel, area, conversation } = window;
  const stops = () => conversation.getByText("Stopped.").count();
  const before = await stops();
  await window.prompt("talk until stopped");
  await panel.getByText("Once", { exact: false }).last().waitFor();
  const tray = panel.getByRole("region", { name: "Queued messages" });
  for (const text of ["and the tests", "and the docs"]) {
    await area.fill(text);
    await area.press("Enter");
    await tray.getByText(text).waitFor();
  }
  await tray.getByText("After this turn: 2 messages").waitFor();
  await tray.getByRole("button", { name: "Move up: and the docs" }).click();
  await until(async () => /docs[^]*tests/.test(await tray.innerText()), "the order is another");
  await shot("light-queue");
  await tray.getByRole("button", { name: "Edit: and the docs" }).click();
  await tray.getByLabel("Queued message").fill("and the guides");
  await tray.getByLabel("Queued message").press("Enter");
  await tray.getByRole("button", { name: "Remove: and the tests" }).click();
  await panel.getByRole("button", { name: "Stop", exact: true }).click();
  await tray.getByText("Not sent yet: 1 message").waitFor();
  await until(async () => (await stops()) === before + 1, "the stop is told once");
  expect(await conversation.getByText("and the guides").count(), 0, "messages that were sent by themselves");
  await tray.getByRole("button", { name: "Send: and the guides" }).click();
  await conversation.getByText("and the guides").waitFor();
  await tray.waitFor({ state: "detached" });
  await window.rest();
}

export async function followsLinksToLines({ window }) {
  const { page, panel } = window;
  await window.prompt("name some places");
  const link = (name) => panel.getByRole("link", { name, exact: true });
  await link("the notes").waitFor();
  await link("shop.py:6").click();
  await page.locator('.monaco-editor.focused[data-uri$="/shop.py"]').waitFor();
  await page.getByText("Ln 6, Col 1").waitFor();
  expect(await link("missing.py:3").count(), 0, "links to files that are not there");
  expect(await link("a command").count(), 0, "links to commands");
  await window.closeEditors();
}

export async function usesCodeOfAnAnswer(scene) {
  const { window, shot } = scene;
  const { page, panel } = window;
  await window.openFile("ghost.py");
  await window.openPanel();
  await window.prompt("show me some code");
  await panel.getByText("That is the code.").waitFor();
  await panel.getByRole("button", { name: "Insert at the cursor" }).last().click();
  await page.locator(".view-line").filter({ hasText: "answer = 42" }).waitFor();
  await panel.getByRole("button", { name: "Run in the terminal" }).last().click();
  const dialog = page.locator(".monaco-dialog-box");
  await dialog.getByText("echo from-the-$((6*7))").waitFor();
  await dialog.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator(".terminal.xterm").first().waitFor();
  await shot("light-code");
  await window.openFile("ghost.py");
  await window.run("File: Revert File");
  await page.locator(".tab.dirty").first().waitFor({ state: "detached" });
  // The applied code is an edit by the agent: nothing is written before the user approves.
  await panel.getByRole("button", { name: "Let Hermes apply this to its file" }).last().click();
  await panel.getByRole("button", { name: "Allow once" }).waitFor();
  expect(await scene.text("ghost.py"), "", "the file before the answer");
  if (!(await scene.heardByModel()).includes("(ghost.py is open)")) throw new Error("the model is not told which file is open");
  await panel.getByRole("button", { name: "Allow once" }).click();
  await until(async () => (await scene.text("ghost.py")) === "answer = 42\n", "the code is in its file");
  await window.rest();
  await panel.getByText("It is applied.").waitFor();
  await writeFile(join(scene.project, "ghost.py"), "");
  await window.closeEditors();
  // A terminal that is left open reappears in each window, takes its focus, and asks for trust in an untrusted folder.
  await window.run("Terminal: Kill the Active Terminal Instance");
  await page.locator(".terminal.xterm").first().waitFor({ state: "detached" });
}

export async function drawsFormulasAndDiagrams({ window, shot }) {
  const { panel } = window;
  await window.prompt("draw me something");
  await panel.getByText("That is drawn.").waitFor();
  await panel.locator("math mfrac").waitFor();
  await panel.locator(".math-block math").waitFor();
  expect(await panel.locator("math").count(), 3, "formulas; prices are none");
  expect(await panel.locator("math a, math [href], math [style]").count(), 0, "what a formula could do");
  const diagram = panel.getByRole("img", { name: "Diagram; its source follows" });
  await diagram.locator("svg").getByText("Read it").waitFor();
  await shot("light-diagram");
  expect(await panel.locator(".row svg [href], .row svg image, .row img, .row [href^=javascript]").count(), 0, "what could run or load");
  const { width, height } = await diagram.locator("svg").boundingBox();
  if (width < 60 || height < 20) throw new Error(`the diagram is ${width} by ${height} px`);
  await panel.locator("pre").getByText("this is none").waitFor();
  await panel.getByText("This diagram cannot be drawn:").waitFor();
  await panel.getByRole("button", { name: "Show or hide the source" }).first().click();
  await panel.getByText("flowchart LR").waitFor();
}

/** One reload for both, because loading a window is slow. */
export async function keepsColoursAndQuestionsOverAReload({ window, shot }) {
  const { page, panel } = window;
  const red = () =>
    panel.getByLabel("Output").last().locator("span").filter({ hasText: "a red line" }).evaluate((span) => ({
      colour: span.style.color,
      height: span.closest("pre").getBoundingClientRect().height,
    }));
  await window.prompt("run it in colour");
  await panel.getByText("That was colourful.").waitFor();
  const live = await red();
  expect(live.colour, "var(--vscode-terminal-ansiRed)", "the colour");
  const allow = panel.getByRole("button", { name: "Allow once" });
  const reviews = page.locator(".tab").filter({ hasText: "Review:" });
  await window.prompt("rename the greeting");
  await allow.waitFor();
  await reviews.first().waitFor();
  await page.reload();
  await window.settle();
  await window.openPanel();
  // The question is the same one: the model is not asked to repeat it.
  await allow.waitFor();
  await until(async () => (await reviews.count()) === 1, "its review is open again, and no empty page is left");
  expect(await panel.getByRole("note").filter({ hasText: "was waiting" }).count(), 0, "questions that were lost");
  await shot("light-asked-again");
  await panel.getByRole("button", { name: "Reject", exact: true }).click();
  await panel.getByText("Then I leave it as it is.").last().waitFor();
  await window.rest();
  await scrollTo(window, panel.getByLabel("Output").last());
  const past = await red();
  expect(past.colour, live.colour, "the colour after the reload");
  if (past.height > 262) throw new Error(`the output is ${past.height} px high`);
  await shot("light-colours");
}

export async function leadsToOpenQuestions(scene) {
  const { window, shot } = scene;
  const { page, panel } = window;
  await window.rest();
  await window.conversation.evaluate((list) => list.scrollTo(0, 0));
  await window.prompt("rename the greeting");
  await panel.getByRole("button", { name: "Allow once" }).waitFor();
  const left = () => window.conversation.evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
  await until(async () => (await left()) < 40, "sending leads to the end");
  await window.conversation.evaluate((list) => list.scrollTo(0, 0));
  await panel.getByRole("button", { name: "A question below is waiting for your answer" }).click();
  await until(() => panel.getByRole("button", { name: "Allow once" }).isVisible(), "the question is in sight");
  for (let count = 2; count <= 4; count += 1) {
    await window.run("Hermes: New Session");
    await until(async () => (await panel.getByRole("tab").count()) === count, "there is one more session");
  }
  const names = await panel.getByRole("tab").allInnerTexts();
  expect(new Set(names).size, 4, "names that differ");
  const isWhole = await panel.locator(".tab.active").evaluate((tab) => {
    const [inner, outer] = [tab, tab.parentElement].map((element) => element.getBoundingClientRect());
    return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
  });
  expect(isWhole, true, "whether the tab that is shown is whole");
  await panel.getByRole("button", { name: /is waiting for your answer$/ }).waitFor();
  await shot("light-question-elsewhere");
  await page.locator('.statusbar-item[id*="hermes.status"]').click();
  await panel.getByRole("button", { name: "Allow once" }).waitFor();
  await panel.getByRole("button", { name: "Reject", exact: true }).click();
  await window.rest();
  for (let count = 4; count > 1; count -= 1) {
    await panel.getByRole("tab").last().click();
    await panel.locator(".tab.active").last().and(panel.getByRole("tab").last()).waitFor();
    await panel.getByRole("button", { name: /^Close/ }).click();
    await until(async () => (await panel.getByRole("tab").count()) === (count === 2 ? 0 : count - 1), "it is closed");
  }
}

export async function goesBackToAnEarlierPrompt(scene) {
  const { window, shot } = scene;
  const { panel, area } = window;
  const before = await scene.text("shop.py");
  await window.prompt("tidy shop.py");
  await panel.getByRole("button", { name: "Allow once" }).click();
  await window.rest();
  await until(async () => (await scene.text("shop.py")) !== before, "the file is changed");
  const after = await scene.text("shop.py");
  const asked = panel.getByRole("group", { name: "You" }).filter({ hasText: "tidy shop.py" }).last();
  await scrollTo(window, asked);
  await asked.hover();
  await asked.getByRole("button", { name: "Edit this message and continue from here" }).click();
  await shot("light-rewind");
  await asked.getByRole("button", { name: "Conversation and 1 file" }).click();
  await panel.getByText("The conversation was rewound.").waitFor();
  await until(async () => (await area.inputValue()) === "tidy shop.py", "the prompt can be changed");
  expect(await scene.text("shop.py"), before, "the file as it was");
  await panel.locator(".rewound").getByRole("button", { name: "Undo" }).click();
  await panel.getByText("The conversation was rewound.").waitFor({ state: "detached" });
  await until(async () => (await scene.text("shop.py")) === after, "the change is back");
  await area.fill("");
}
