// Checks of the documents of the panel and the pages.

import { expect, until } from "./scene.mjs";

const QUEUED = { id: "q1", text: "and the tests", mentions: [], pictures: [] };
const OPTIONS = [
  { type: "select", id: "mode", name: "Mode", category: "mode", value: "ask", choices: [{ value: "ask", name: "Ask", description: "" }] },
];
const callOf = (more) => ({ type: "call", id: "c", title: "Edit shop.py", kind: "edit", status: "pending", content: [], places: [], verdicts: {}, ...more });

async function discardsAnEditedMessageByEscape(stage) {
  const page = await stage.open();
  await stage.show({ turns: ["t"], queue: [QUEUED] });
  const editor = page.getByLabel("Queued message", { exact: true });
  const edit = page.getByRole("button", { name: "Edit: and the tests" });
  await edit.click();
  await editor.waitFor();
  expect(await editor.evaluate(({ selectionStart, selectionEnd }) => `${selectionStart} ${selectionEnd}`), "13 13", "where the caret is");
  await page.keyboard.type(" at once");
  await page.keyboard.press("Escape");
  await edit.click();
  expect((await stage.posted("reword")).length, 0, "changes after Escape");
  await page.locator("textarea.queue-editor:focus").waitFor();
  await page.keyboard.type(" at once");
  await page.keyboard.press("Enter");
  await edit.waitFor();
  expect(JSON.stringify((await stage.posted("reword")).map(({ text }) => text)), '["and the tests at once"]', "changes after Enter");
}

async function marksOnlyWhatAShellRuns(stage) {
  const page = await stage.open();
  const marks = () => page.getByRole("group", { name: /Command|Arguments/ }).evaluate((box) => getComputedStyle(box, "::before").content);
  const approval = { requestId: "r", options: [{ id: "yes", name: "Allow once", kind: "allow_once" }] };
  await stage.show({ items: [callOf({ title: "Trust what /p contains: MCP server db?", kind: "execute", command: "MCP server db: npx db", approval })] });
  expect(await marks(), "none", "what stands before the text of a trust question");
  await stage.show({ items: [callOf({ title: "make", kind: "execute", command: "make", isShell: true, approval })] });
  await until(async () => (await marks()) === '"$ "', "a command looks like one");
}

async function keepsTheRoomOfThePickers(stage) {
  const page = await stage.open({ width: 290 });
  const top = () => page.getByLabel("Prompt", { exact: true }).evaluate((area) => area.getBoundingClientRect().top);
  const bar = page.locator(".composer-bar");
  await stage.show({}, { tabs: [], active: "" });
  await bar.getByText("Mode", { exact: true }).waitFor();
  const before = await top();
  await stage.show({ options: OPTIONS }, { tabs: [] });
  await page.getByLabel("Mode", { exact: true }).waitFor();
  expect(await top(), before, "where the prompt is");
}

async function hasRoomInANarrowPanel(stage) {
  const page = await stage.open({ width: 290 });
  const fits = (area) => {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.font = getComputedStyle(area).font;
    return canvas.measureText(area.placeholder).width <= area.clientWidth - 8;
  };
  const approval = { requestId: "r", options: [{ id: "yes", name: "Allow once", kind: "allow_once" }, { id: "no", name: "Reject", kind: "reject_once" }] };
  await stage.show({ items: [callOf({ approval })] });
  for (const label of ["Prompt", "Why you reject this, or what to do instead"])
    expect(await page.getByLabel(label, { exact: true }).evaluate(fits), true, `whether the hint of "${label}" fits`);
  await stage.show({ turns: ["t"] });
  await page.getByPlaceholder("Send while Hermes works").waitFor();
  expect(await page.getByLabel("Prompt", { exact: true }).evaluate(fits), true, "whether the hint fits while it works");
  await page.getByRole("button", { name: "New session" }).click();
  expect((await stage.posted("new")).length, 1, "sessions that are asked for");
  const tabs = ["one", "two", "three", "four", "five"].map((name) => ({ id: name, name: `Session ${name}`, activity: "idle" }));
  await stage.show({}, { tabs, active: "one" });
  await page.getByRole("tab", { name: "Session two" }).waitFor();
  for (const tab of await page.getByRole("tab").all()) {
    const { width } = await tab.boundingBox();
    if (width < 80) throw new Error(`a tab is ${width} px wide`);
  }
  await page.getByLabel("All open sessions").selectOption("five");
  expect((await stage.posted("select")).at(-1)?.sessionId, "five", "the session that is chosen");
  await page.getByRole("button", { name: "New session" }).waitFor();
}

async function offersANewSessionWhereNothingElseDoes(stage) {
  for (const [place, count] of [["tab", 1], ["view", 0], ["browser", 0]]) {
    const page = await stage.open({ place, width: 700 });
    await stage.show({}, { isInEditor: place !== "browser" });
    await page.getByLabel("Prompt", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "New session" }).count(), count, `buttons in a ${place}`);
  }
}

async function saysWhyADiagramIsNone(stage) {
  const page = await stage.open();
  await stage.show({ items: [{ type: "agent", id: "a", text: "```mermaid\nflowchart LR\n  a --> --> b\n```\n" }] });
  await page.getByText(/This diagram cannot be drawn: Parse error on line 2/).waitFor();
  await stage.show({ items: [{ type: "agent", id: "b", text: "```mermaid\nflowchart LR\n  a --> b\n```\n" }] });
  await page.getByRole("img", { name: "Diagram; its source follows" }).waitFor();
  expect(await page.getByText("This diagram cannot be drawn").count(), 0, "reasons that are left");
}

async function looksOtherWhenHoveredThanWhenChosen(stage) {
  const page = await stage.open();
  await stage.show({ commands: ["status", "stats"].map((name) => ({ name, description: name, hint: "" })) });
  await page.getByLabel("Prompt", { exact: true }).pressSequentially("/");
  const other = page.getByRole("option", { name: "/stats" });
  await other.hover();
  const ground = (option) => option.evaluate((element) => getComputedStyle(element).backgroundColor);
  expect(await ground(other), "rgb(238, 238, 238)", "what the mouse is over");
  expect(await ground(page.getByRole("option", { name: "/status" })), "rgb(0, 136, 255)", "what Enter takes");
}

async function headsThePages(stage) {
  const page = await stage.open({ bundle: "pages" });
  const setup = {
    server: { phase: "ready", version: "1", source: "PATH" }, installation: { phase: "idle" }, trial: { phase: "idle" }, offersActions: false, offersCompletion: false,
    status: {
      isReady: true, problem: "", provider: "openai_compatible", model: "gpt", baseUrl: "", fallbacks: [], configFile: "~/c", secretsFile: "~/s",
      providers: [{ name: "openai_compatible", label: "Another endpoint", keyVariable: "", hasKey: false, model: "", baseUrl: "", needsUrl: true }],
    },
  };
  const state = { page: "setup", isPanel: false, folder: "/p", isBusy: false, error: "", notice: "", setup };
  await stage.send({ type: "state", state });
  await page.getByRole("heading", { level: 1, name: "Server and models" }).waitFor();
  await page.getByText("gpt, from Another endpoint").waitFor();
  expect(await page.getByText("openai_compatible").count(), 0, "names that are for programs");
  await stage.send({ type: "state", state: { ...state, page: "mcp", mcp: { servers: [], configFile: "/c", notices: [] } } });
  await page.getByRole("heading", { level: 1, name: "MCP servers" }).waitFor();
}

async function keepsDraftsAtTheHostToo(stage) {
  const page = await stage.open();
  await stage.show();
  const area = page.getByLabel("Prompt", { exact: true });
  await area.fill("half a thought");
  await until(async () => (await stage.posted("draft")).some(({ sessionId, text }) => sessionId === "s" && text === "half a thought"), "the host is told");
  // This page's stored state is older than the host's.
  const again = await stage.open({ kept: { drafts: { s: "half a" } } });
  await stage.send({ type: "drafts", drafts: { s: "half a thought" }, mentions: {} });
  await stage.show();
  await until(async () => (await again.getByLabel("Prompt", { exact: true }).inputValue()) === "half a thought", "the draft is back");
  const older = await stage.open({ kept: { drafts: { s: "of an older version" } } });
  await stage.show();
  await until(async () => (await older.getByLabel("Prompt", { exact: true }).inputValue()) === "of an older version", "what the page kept is used");
}

async function hasASessionBegunForWhoeverWrites(stage) {
  const page = await stage.open();
  await stage.show({}, { tabs: [], active: "" });
  const area = page.getByLabel("Prompt", { exact: true });
  await area.waitFor();
  await area.blur();
  const before = (await stage.posted("prepare")).length;
  await area.focus();
  expect((await stage.posted("prepare")).length, before + 1, "sessions that are asked for");
  await area.fill("hello");
  await stage.show();
  await until(async () => (await stage.posted("draft")).some(({ sessionId, text }) => sessionId === "s" && text === "hello"), "the draft is the session's");
  expect(await area.inputValue(), "hello", "the draft");
  await area.blur();
  await area.focus();
  expect((await stage.posted("prepare")).length, before + 1, "sessions that are asked for where there is one");
}

async function letsWhatIsListedBeTrusted(stage) {
  const page = await stage.open({ bundle: "pages" });
  const setup = { server: { phase: "looking" }, installation: { phase: "idle" }, trial: { phase: "idle" }, offersActions: false, offersCompletion: false };
  const state = { isPanel: false, folder: "/p", isBusy: false, error: "", notice: "", setup };
  const item = { kind: "mcp_server", name: "db", about: "npx db", isTrusted: false, digest: "d1" };
  const trust = { items: [item, { ...item, name: "known", isTrusted: true }], grants: [], isDistrusted: false, notices: [] };
  await stage.send({ type: "state", state: { ...state, page: "trust", trust } });
  expect(await page.getByRole("button", { name: "Trust: MCP server known" }).count(), 0, "buttons for what is trusted");
  await page.getByRole("button", { name: "Trust: MCP server db" }).click();
  const approved = async () => JSON.stringify((await stage.posted("approve")).at(-1)?.items);
  expect(await approved(), '[{"kind":"mcp_server","name":"db","digest":"d1"}]', "what is trusted");
  await stage.send({ type: "state", state: { ...state, page: "trust", trust: { ...trust, isDistrusted: true } } });
  await page.getByRole("button", { name: "Trust: MCP server db" }).waitFor({ state: "detached" });
  const server = { name: "db", scope: "workspace", file: "", target: "npx db", state: "not trusted", tools: [], prompts: 0, isConnected: false, isEnabled: true, isTrusted: false, canSignIn: false, needsSignIn: false };
  await stage.send({ type: "state", state: { ...state, page: "mcp", mcp: { servers: [server], configFile: "/c", notices: [] } } });
  await page.getByRole("button", { name: "Review and trust: db" }).click();
  expect((await stage.posted("go")).at(-1)?.page, "trust", "the page that it leads to");
  const file = { path: "AGENTS.md", file: "/p/AGENTS.md", sizeBytes: 9, tokens: 3, cutBytes: 0, isUsed: false, isAllowed: false, findings: [], digest: "d2" };
  await stage.send({ type: "state", state: { ...state, page: "context", context: { files: [file], refusals: [] } } });
  await page.getByRole("button", { name: "Approve: AGENTS.md" }).click();
  expect(await approved(), '[{"kind":"context_file","name":"AGENTS.md","digest":"d2"}]', "what is approved");
}

async function beginsAMentionWithItsKind(stage) {
  const page = await stage.open();
  await stage.show();
  const area = page.getByLabel("Prompt", { exact: true });
  await area.pressSequentially("See @");
  await until(async () => (await stage.posted("mentions")).length > 0, "the host is asked");
  const mentions = [{ kind: "session", token: "session:", label: "Past session", detail: "type a word of its title", isStart: true }];
  await stage.send({ type: "mentions", query: "", mentions });
  await page.getByRole("option", { name: "Past session" }).click();
  await until(async () => (await stage.posted("mentions")).at(-1)?.query === "session:", "the host is asked for more");
  expect(await area.inputValue(), "See @session:", "the prompt");
  expect(await page.locator(".chip").count(), 0, "mentions");
}

async function countsTheTimeThatPasses(stage) {
  const now = 1_800_000_000_000;
  const page = await stage.open({ time: now });
  // The displayed time is from the last tick, up to a second ago; advance by almost a second, so that it is the same second.
  const running = callOf({ kind: "execute", title: "make", status: "in_progress", clock: { beganAt: now - 64_999 } });
  const done = callOf({ id: "d", title: "Read a", kind: "read", status: "completed", clock: { beganAt: now - 70_000, tookMs: 3_000 } });
  await stage.show({ items: [done, running], turns: ["t"], beganAt: now - 71_999 });
  const shown = () => page.locator(".elapsed").allInnerTexts();
  await until(async () => (await shown()).length === 3, "all times are shown");
  const first = (await shown()).join();
  await until(async () => (await shown()).join() !== first, "time passes");
  // From here on, time passes only as the check says, however slow the machine is.
  await page.clock.pauseAt(now + 60_000);
  await until(async () => (await shown()).join() === "3 s,2 min 4 s,2 min 11 s", "the times are shown");
  await page.clock.runFor(2000);
  await until(async () => (await shown()).join() === "3 s,2 min 6 s,2 min 13 s", "the times of two seconds later are shown");
  await stage.send({ type: "events", sessionId: "s", events: [{ type: "ended", id: "t", reason: "end_turn", text: "", at: now + 4_001 }] });
  await page.clock.runFor(500);
  expect((await shown()).at(-1), "1 min 16 s", "what the turn took");
}

async function showsAFailedSideJobAsARemark(stage) {
  const page = await stage.open();
  const items = [
    callOf({ id: "r", title: "Reviewing this turn", kind: "other", role: "review", status: "failed" }),
    callOf({ id: "f", title: "make", kind: "execute", status: "failed" }),
  ];
  await stage.show({ items });
  const lookOf = (title) => page.locator(".row").filter({ hasText: title }).evaluate((row) => row.innerHTML.includes("codicon-error") || row.querySelector(".failed") !== null);
  await page.getByText("make").first().waitFor();
  expect(await lookOf("make"), true, "whether a failed call is red");
  expect(await lookOf("Reviewing this turn"), false, "whether a failed side job is");
}

export const CHECKS = [
  showsAFailedSideJobAsARemark,
  countsTheTimeThatPasses,
  beginsAMentionWithItsKind,
  letsWhatIsListedBeTrusted,
  keepsDraftsAtTheHostToo,
  hasASessionBegunForWhoeverWrites,
  discardsAnEditedMessageByEscape,
  marksOnlyWhatAShellRuns,
  keepsTheRoomOfThePickers,
  hasRoomInANarrowPanel,
  offersANewSessionWhereNothingElseDoes,
  saysWhyADiagramIsNone,
  looksOtherWhenHoveredThanWhenChosen,
  headsThePages,
];
