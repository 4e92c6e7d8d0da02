// Measures in the window of a real VS Code: how long the extension takes to activate and to show an answer, how smoothly the panel paints.
//
// Usage: bench.mjs CONFIG_AS_JSON [UPDATES]. One line of JSON per measurement.
// Frames are counted where they are painted, in the panel's own page; the baselines are the same page without work, and plain
// text in one scrolling element, which shows the time that the browser itself needs.

import { Scene, until } from "./scene.mjs";

const [config, updates = "5000"] = process.argv.slice(2);
const TOTAL = Number(updates);
const SESSION = "bench";
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** In the page: paint `total` updates of a kind at a thousand per second, and return how long each frame took. */
async function paint({ total, kind, session }) {
  const send = (data) => window.dispatchEvent(new MessageEvent("message", { data }));
  const words = "The quick *brown* fox reads `main.py`, sees **two** faults and mends [one](src/main.py). ".split(" ");
  const wordOf = (at) => (at % 90 === 89 ? "\n\n" : at % 400 === 200 ? "\n\n```python\nfor each in range(10):\n    print(each)\n```\n\n" : `${words[at % words.length]} `);
  const card = (id, more) => ({ type: "call", call: { id, ...more } });
  const eventOf = (at) => {
    if (kind === "words" || kind === "plain") return { type: "said", who: "agent", id: "m", text: wordOf(at) };
    if (kind === "cards" && at % 2 === 0) return card(`c${at}`, { title: `Read file-${at}.py`, kind: "read", status: "in_progress", content: [] });
    if (kind === "cards") return card(`c${at - 1}`, { status: "completed", content: [{ type: "text", text: `\`\`\`\nline ${at}\n\`\`\`` }] });
    return undefined;
  };
  const plain = document.createElement("pre");
  if (kind === "plain") {
    plain.style.cssText = "position: fixed; inset: 0; margin: 0; overflow: auto; white-space: pre-wrap; z-index: 9; background: inherit";
    document.body.append(plain);
  } else if (kind !== "nothing") {
    send({ type: "session", session: { id: session, cwd: "/", title: "", items: [], terminals: {}, plan: [], commands: [], options: [], turns: ["t"] } });
    send({ type: "shell", shell: { server: "ready", tabs: [], active: session, hasFolder: true, isTrusted: true, takesImages: false, canFork: false, canRename: false, judgesHunks: true, canSearch: false, roots: ["/"] } });
  }
  const frames = [];
  let last = performance.now();
  let isOver = false;
  const count = (now) => {
    frames.push(now - last);
    last = now;
    if (!isOver) requestAnimationFrame(count);
  };
  requestAnimationFrame((now) => {
    last = now;
    requestAnimationFrame(count);
  });
  const began = performance.now();
  let busy = 0;
  for (let sent = 0; sent < total; ) {
    // What a host sends: at most one batch per frame.
    await new Promise((resolve) => setTimeout(resolve, 16));
    const due = Math.min(total, Math.ceil(performance.now() - began));
    const before = performance.now();
    const events = [];
    for (; sent < due; sent += 1) events.push(eventOf(sent));
    if (kind === "plain") {
      plain.append(events.map((event) => event.text).join(""));
      plain.scrollTop = plain.scrollHeight;
    } else if (kind !== "nothing" && events.length > 0) send({ type: "events", sessionId: session, events });
    busy += performance.now() - before;
  }
  isOver = true;
  plain.remove();
  const seconds = (performance.now() - began) / 1000;
  frames.sort((a, b) => a - b);
  const at = (share) => frames[Math.min(frames.length - 1, Math.floor(share * frames.length))] ?? 0;
  const dropped = frames.reduce((sum, each) => sum + Math.max(0, Math.round(each / (1000 / 60)) - 1), 0);
  const rows = document.querySelectorAll(".list .row").length;
  return { kind, total, seconds, frames: frames.length, median: at(0.5), p95: at(0.95), worst: at(1), dropped, folding: busy, rows };
}

/** Return VS Code's own measurement of the extension's activation, in ms. */
async function activation(window) {
  const { page } = window;
  await window.run("Developer: Show Running Extensions");
  const row = page.locator(".runtime-extensions-editor .monaco-list-row").filter({ hasText: "Hermes" }).first();
  await row.waitFor();
  const time = row.locator(".activation-time");
  await until(async () => /\d+\s*ms/.test(await time.innerText()), "the extension is active");
  return Number(/(\d+)\s*ms/.exec(await time.innerText())[1]);
}

/** Return how long after Enter the answer's first word is in the page, in ms: for a session's first prompt, then warm ones. */
async function firstWords(window, frame, prompts) {
  const took = [];
  for (let at = 0; at < prompts; at += 1) {
    await window.area.fill(`Say hello, number ${at}`);
    await frame.evaluate(() => {
      const answers = () => document.querySelectorAll(".list .agent").length;
      const before = answers();
      document.addEventListener("keydown", () => (window.pressedAt = performance.now()), { capture: true, once: true });
      window.firstWord = new Promise((resolve) => {
        new MutationObserver((_, observer) => {
          if (answers() === before) return;
          observer.disconnect();
          resolve(performance.now() - window.pressedAt);
        }).observe(document.querySelector("#root"), { childList: true, subtree: true, characterData: true });
      });
    });
    await window.area.press("Enter");
    took.push(await frame.evaluate(() => window.firstWord));
    await window.rest();
  }
  return took;
}

/** Return the time that the browser has spent so far, by activity, in seconds. */
async function spent(devtools) {
  const { metrics } = await devtools.send("Performance.getMetrics");
  const of = (name) => metrics.find((each) => each.name === name)?.value ?? 0;
  return { script: of("ScriptDuration"), style: of("RecalcStyleDuration"), layout: of("LayoutDuration"), all: of("TaskDuration") };
}

const scene = await Scene.open(JSON.parse(config));
try {
  const { window } = scene;
  await window.load();
  await window.openPanel();
  say({ kind: "activation", ms: await activation(window) });
  const root = window.panel.locator("#root");
  const frame = await (await root.elementHandle()).ownerFrame();
  say({ kind: "first word", ms: await firstWords(window, frame, 6) });
  const devtools = await window.page.context().newCDPSession(window.page);
  await devtools.send("Performance.enable");
  for (const kind of ["nothing", "plain", "words", "cards"]) {
    const before = await spent(devtools);
    const measured = await frame.evaluate(paint, { total: TOTAL, kind, session: SESSION });
    const after = await spent(devtools);
    const seconds = Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name]]));
    say({ ...measured, spent: seconds });
  }
} finally {
  await scene.close();
}
