// Automatic events: the editor saves by itself, and time passes.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, SHOP, until } from "./scene.mjs";

const lens = (page, words) => page.locator(".codelens-decoration a").filter({ hasText: words });
const reviews = (page) => page.locator(".tab").filter({ hasText: "Review:" });
/** The text without the second of three hunks. */
const IN_PART = SHOP.replace("def greet(name):\n    return 'Hello ' + name", "def greet(name: str) -> str:\n    return f'Hello {name}'") + "print(total([1, 2]))\n";

export async function reviewsHunksWithAutoSave(scene) {
  await opensTheShop(scene);
  await scene.window.run("File: Toggle Auto Save");
  try {
    await takesTwoOfThreeHunks(scene);
    await opensTheShop(scene);
    await stopsBehindAProposal(scene);
  } finally {
    await scene.window.run("File: Toggle Auto Save");
    await scene.window.closeEditors();
  }
}

/** Open the file in its initial state: an editor in which it is open notices a change on disk a little later. */
async function opensTheShop({ window, project }) {
  await window.closeEditors();
  await writeFile(join(project, "shop.py"), SHOP);
  await window.openFile("shop.py");
  await window.openPanel();
}

async function takesTwoOfThreeHunks(scene) {
  const { window, shot } = scene;
  const { page } = window;
  await window.prompt("tidy shop.py");
  await lens(page, /Accept all 3/).waitFor();
  await shot("light-auto-save");
  await lens(page, /^\W*Accept$/).first().click();
  await lens(page, /Accept all 2/).waitFor();
  await lens(page, /^\W*Reject$/).first().click();
  await until(async () => (await lens(page, /^\W*Accept$/).count()) === 1, "one hunk is left");
  expect(await scene.text("shop.py"), SHOP, "the file while a hunk waits");
  await lens(page, /^\W*Accept$/).click();
  await until(async () => (await scene.text("shop.py")) === IN_PART, "what was accepted is written");
  await window.rest();
  await until(async () => (await reviews(page).count()) === 0, "the review is closed");
}

/** Stopping a turn ends its review, and nothing of the proposal is saved. */
async function stopsBehindAProposal(scene) {
  const { page, panel } = scene.window;
  await scene.window.prompt("tidy shop.py");
  await lens(page, /Accept all 3/).waitFor();
  await panel.getByRole("button", { name: "Stop", exact: true }).click();
  await scene.window.rest();
  await until(async () => (await reviews(page).count()) === 0, "the review of a stopped turn is closed");
  expect(await scene.text("shop.py"), SHOP, "the file behind a stop");
  expect(await page.locator(".tab.dirty").count(), 0, "files that are not saved");
}

export async function showsHowLongATurnTakes({ window }) {
  const { panel, conversation } = window;
  const seconds = async (place) => Number(/^(\d+) s$/.exec((await place.allInnerTexts()).at(-1) ?? "")?.[1] ?? 0);
  await window.prompt("talk until stopped");
  const times = panel.locator(".elapsed");
  await until(async () => (await seconds(times)) > 0, "the time is shown");
  const first = await seconds(times);
  await until(async () => (await seconds(times)) > first, "the time goes on");
  await panel.getByRole("button", { name: "Stop", exact: true }).click();
  await window.rest();
  const took = await seconds(conversation.locator(".end .elapsed"));
  if (took < first) throw new Error(`the turn took ${took} s after ${first} s were shown`);
}
