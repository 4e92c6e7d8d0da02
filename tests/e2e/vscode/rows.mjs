// The rows of a long conversation in the panel's own page, without an editor around it: their order and their positions.
//
// Usage: rows.mjs FOLDER_OF_THE_EXTENSION. Exits with 1 and the reason if something is wrong.
// The layout of the page is measured, so every step waits until the page has been drawn, however long that takes.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { startBrowser } from "./window.mjs";

const [extension] = process.argv.slice(2);
const SIZES = [
  { width: 420, height: 600, steps: 40 },
  // Higher than the height that is assumed before anything is measured.
  { width: 420, height: 1300, steps: 6 },
];

/** In the page: act as the host, and return the faults. */
async function play(steps) {
  const send = (data) => window.dispatchEvent(new MessageEvent("message", { data }));
  let seed = 5;
  const random = () => (seed = (seed * 1664525 + 1013904223) >>> 0) / 4294967296;
  const wrong = [];
  const list = () => document.querySelector(".list");
  /** Wait until a frame and its effects have been drawn. */
  const drawn = async () => {
    for (let frames = 0; frames < 2; frames += 1) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  };
  /** Wait until something that was sent is in the page, which may draw slowly. */
  const shown = async (key) => {
    const isThere = () => document.querySelector(`[data-key="${key}"]`) !== null;
    for (let frames = 0; frames < 600 && !isThere(); frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    check(`${key} is in the page`, isThere(), key);
    await drawn();
  };
  const words = (count) => Array.from({ length: count }, (_, at) => (at % 25 === 24 ? "\n\n" : "word")).join(" ");
  const itemAt = (at, prefix) => {
    const id = `${prefix}${at}`;
    const output = Array.from({ length: Math.floor(random() ** 2 * 40) }, (_, line) => `line ${line}`).join("\n");
    switch (at % 4) {
      case 0:
        return { type: "user", id, text: words(5 + Math.floor(random() * 40)), attachments: [], isWaiting: false };
      case 1:
        return { type: "agent", id, text: words(5 + Math.floor(random() ** 3 * 600)) };
      case 2:
        return { type: "call", id, title: `Run ${at}`, kind: "execute", status: "completed", content: [], places: [], verdicts: {}, command: "make", output, exitCode: 0 };
      default:
        return { type: "end", id, reason: "end_turn", text: "", tookMs: 1000 };
    }
  };
  const conversation = (count, prefix) => ({
    id: "long", cwd: "/", title: "", items: Array.from({ length: count }, (_, at) => itemAt(at, prefix)), terminals: {}, plan: [], commands: [],
    options: [], turns: [], failedStep: "", queue: [], isHeld: false, sources: [],
  });
  const tell = (...events) => send({ type: "events", sessionId: "long", events });
  const distance = () => list().scrollHeight - list().scrollTop - list().clientHeight;
  const check = (what, isSo, found) => isSo || wrong.push(`${what}: ${JSON.stringify(found)}`);
  const checkRows = (what) => {
    const rows = [...document.querySelectorAll(".row")];
    const places = rows.map((row) => Number(row.getAttribute("aria-posinset")));
    check(`${what}: rows follow each other`, places.every((place, at) => at === 0 || place === places[at - 1] + 1), places);
    const boxes = rows.map((row) => row.getBoundingClientRect());
    check(`${what}: no row lies over another`, boxes.every(({ top }, at) => at === 0 || top >= boxes[at - 1].bottom - 0.5), boxes.map(({ top, bottom }) => [top, bottom]));
    const pane = list().getBoundingClientRect();
    const isFull = boxes.length > 0 && (boxes[0].top <= pane.top + 1 || list().scrollTop < 1) && (boxes.at(-1).bottom >= pane.bottom - 40 || distance() < 40);
    check(`${what}: rows fill what can be seen`, isFull, [pane.top, boxes[0]?.top, pane.bottom, boxes.at(-1)?.bottom]);
  };

  send({ type: "session", session: conversation(300, "first") });
  send({
    type: "shell",
    shell: {
      server: "ready", tabs: [], active: "long", hasFolder: true, isTrusted: true, takesImages: false, canFork: false, canRename: false,
      judgesHunks: true, canSearch: false, canSteer: false, canRewind: false, roots: ["/"],
    },
  });
  await shown("end first299");
  check("a conversation is shown from its end", distance() < 2, distance());
  checkRows("at first");

  // Elements below the rows appear and disappear, which changes the room for the rows.
  const entries = Array.from({ length: 6 }, (_, at) => ({ content: `Step ${at}`, status: at < 3 ? "completed" : "pending" }));
  tell({ type: "prompted", id: "turn", text: "go on with it", attachments: [], isWaiting: false }, { type: "begun", id: "turn", at: 1 }, { type: "plan", entries });
  await shown("user turn");
  check("the end stays in sight above a plan", distance() < 2, distance());
  tell({ type: "ended", id: "turn", reason: "end_turn", text: "", at: 2001 });
  await shown("end turn");
  check("the end stays in sight without the plan", distance() < 2, distance());
  // Rows that grow by themselves, as pictures and diagrams do.
  tell({ type: "notice", id: "grown", severity: "info", text: "a notice" });
  await shown("notice grown");
  for (const grown of [...document.querySelectorAll(".row")].slice(-3)) grown.firstElementChild.style.minHeight = "190px";
  await drawn();
  check("the end stays in sight below a row that grew", distance() < 2, distance());

  // Rows above are drawn for the first time during scrolling up; the visible text must not move.
  for (let step = 0; step < steps && list().scrollTop > 200; step += 1) {
    const pane = list().getBoundingClientRect();
    const row = [...document.querySelectorAll(".row")].find((each) => each.getBoundingClientRect().bottom > pane.top + 200);
    const [key, top, from] = [row.dataset.key, row.getBoundingClientRect().top, list().scrollTop];
    list().scrollTop -= 170;
    const moved = from - list().scrollTop;
    await drawn();
    const now = document.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect().top;
    check(`step ${step} upwards: the row stays`, now !== undefined && Math.abs(now - top - moved) < 2, [now, top, moved]);
    checkRows(`step ${step} upwards`);
  }
  const read = [...document.querySelectorAll(".row")].find((each) => each.getBoundingClientRect().bottom > list().getBoundingClientRect().top);
  const [key, top] = [read.dataset.key, read.getBoundingClientRect().top];
  tell({ type: "said", who: "agent", id: "below", text: "unseen" });
  for (let frames = 0; frames < 10; frames += 1) await drawn();
  check("news at the end moves nobody there", document.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect().top === top, key);

  // Random actions in any order.
  let added = 0;
  for (let step = 0; step < steps; step += 1) {
    const kind = Math.floor(random() * 6);
    if (kind === 0) list().scrollTop = random() * list().scrollHeight;
    if (kind === 1) list().scrollTop = list().scrollHeight;
    if (kind === 2) tell({ type: "said", who: "agent", id: `more${(added += 1)}`, text: words(1 + Math.floor(random() * 200)) });
    if (kind === 3) tell({ type: "notice", id: `notice${(added += 1)}`, severity: "info", text: "a notice" });
    if (kind === 4) list().scrollTop -= 900 * random();
    if (kind === 5 && random() < 0.4) send({ type: "session", session: conversation(20 + Math.floor(random() * 200), `step${step}-`) });
    if (random() < 0.8) await drawn();
    if (kind < 2) {
      await drawn();
      checkRows(`random step ${step} of kind ${kind}`);
    }
  }
  await drawn();
  checkRows("in the end");
  return wrong;
}

const browser = await startBrowser();
const wrong = [];
try {
  const [script, style] = await Promise.all(["webview.js", "webview.css"].map((name) => readFile(join(extension, "dist", name), "utf8")));
  for (const { steps, ...viewport } of SIZES) {
    const page = await browser.newPage({ viewport });
    page.on("pageerror", (error) => wrong.push(error.message));
    await page.setContent('<html class="in-view"><body><div id="root"></div></body></html>');
    await page.addStyleTag({ content: style });
    await page.evaluate(() => (window.acquireVsCodeApi = () => ({ postMessage() {}, getState() {}, setState() {} })));
    await page.addScriptTag({ content: script });
    wrong.push(...(await page.evaluate(play, steps)).map((each) => `${viewport.height} px high: ${each}`));
    await page.close();
  }
} finally {
  await browser.close();
}
process.stdout.write(wrong.map((each) => `${each}\n`).join(""));
process.exit(wrong.length > 0 ? 1 : 0);
