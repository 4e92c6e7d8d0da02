// Undo, redo, save and revert in any order, while an edit is pending and after it was accepted.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, pressUntil, SHOP, until } from "./scene.mjs";
import { NEXT_TAB_KEY, REJECT_KEY, REVERT_KEY, UNHEARD_MS } from "./window.mjs";

/** A seed that covers a proposal that is only viewed, and hunks decided before a proposal is approved or rejected. */
const SEED = 1;
const CYCLES = 3;
const ROUNDS_WHILE_PENDING = 40;
const ROUNDS_AFTER = 30;
/** A file may be read while it is half written. */
const WRITE_MS = 3000;

const GREET = [
  "def greet(name):\n    return 'Hello ' + name\n",
  "def greet(name: str) -> str:\n    return f'Hello {name}'\n",
];
const TOTAL = [
  "def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n",
  "def total(items: list[float]) -> float:\n    return sum(items)\n",
];
const PRINTED = ["", "print(total([1, 2]))\n"];
const textOf = (greet, total, printed) => `${GREET[greet]}\n\n${TOTAL[total]}\n\nprint(greet('world'))\n${PRINTED[printed]}`;
const PROPOSAL = textOf(1, 1, 1);
/** The original, the proposal, and everything in between: each hunk as it was or as it is proposed. */
const ALLOWED = new Set([0, 1].flatMap((a) => [0, 1].flatMap((b) => [0, 1].map((c) => textOf(a, b, c)))));

/** Return numbers from 0 up to 1, the same ones for the same seed. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const lens = (page, words) => page.locator(".codelens-decoration a").filter({ hasText: words });
const tab = (page, name) => page.locator(`.part.editor .tab[data-resource-name="${name}"]`).first();

async function checkDisk(scene, after) {
  const end = Date.now() + WRITE_MS;
  for (;;) {
    const text = await scene.text("shop.py");
    if (ALLOWED.has(text)) return text;
    if (Date.now() > end) throw new Error(`on disk after ${after}: ${JSON.stringify(text)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const KEYS = ["Control+z", "Control+z", "Control+z", "Control+y", "Control+y", "Control+s", "Control+s", REVERT_KEY];

/** Press keys at random and check the file after each. */
async function pressAtRandom(scene, random, { rounds, besides }) {
  const { page } = scene.window;
  const pressed = [];
  for (let round = 0; round < rounds; round += 1) {
    const others = random() < 0.15 ? besides : [];
    const key = others.length > 0 ? others[Math.floor(random() * others.length)] : KEYS[Math.floor(random() * KEYS.length)];
    await page.keyboard.press(key);
    pressed.push(key);
    await checkDisk(scene, pressed.join(" "));
  }
}

/** Restore the initial file, on disk and in the editor. */
async function reset(scene) {
  const { page } = scene.window;
  await page.keyboard.press("Escape");
  await scene.window.openFile("shop.py");
  await writeFile(join(scene.project, "shop.py"), SHOP);
  const isBack = async () => {
    const lines = await page.locator('.monaco-editor[data-uri^="vscode-remote:"][data-uri$="/shop.py"] .view-lines').first().innerText();
    return lines.includes("result") && !lines.includes("float") && !lines.includes("{name}") && !lines.includes("[1,") && (await page.locator(".tab.dirty").count()) === 0;
  };
  await pressUntil(page, REVERT_KEY, isBack, "the file is as it was");
}

/** Play one proposal: press keys while it is pending, answer it, and press keys after that. */
async function playProposal(scene, random) {
  const { window } = scene;
  const { page, panel } = window;
  await reset(scene);
  await window.prompt("tidy shop.py");
  await lens(page, /Accept all 3/).waitFor();
  await tab(page, "Review: shop.py").click();
  await page.locator('.monaco-editor.focused[data-uri^="hermes-review:"]').waitFor();
  const judges = random() < 0.5 ? ["Control+Alt+y", REJECT_KEY] : [];
  await pressAtRandom(scene, random, { rounds: ROUNDS_WHILE_PENDING, besides: [NEXT_TAB_KEY, NEXT_TAB_KEY, ...judges] });
  const allow = panel.getByRole("button", { name: "Allow once" });
  if (judges.length === 0) {
    await allow.click();
    await until(async () => (await scene.text("shop.py")) === PROPOSAL, "the whole proposal is written");
  } else {
    // The keys may have decided the last hunk a moment ago: then the question disappears before it can be answered.
    const answer = panel.getByRole("button", { name: random() < 0.5 ? "Allow once" : "Reject", exact: true });
    if (await allow.isVisible()) await answer.click({ timeout: UNHEARD_MS }).catch(() => undefined);
  }
  await window.rest();
  await until(async () => (await page.locator(".tab").filter({ hasText: "Review:" }).count()) === 0, "the page is closed");
  await window.openFile("shop.py");
  await pressAtRandom(scene, random, { rounds: ROUNDS_AFTER, besides: [] });
  await checkDisk(scene, "all keys");
}

export async function keepsFilesWholeWhateverIsUndone(scene) {
  const { window } = scene;
  const random = randomFrom(SEED);
  await window.closeEditors();
  for (let cycle = 0; cycle < CYCLES; cycle += 1) await playProposal(scene, random);
  await reset(scene);
  await window.closeEditors();
  expect(await scene.text("shop.py"), SHOP, "the file in the end");
}
