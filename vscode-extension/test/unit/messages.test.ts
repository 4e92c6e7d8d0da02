import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import * as agent from "../../src/messages/agent";
import * as board from "../../src/messages/board";
import * as conversation from "../../src/messages/conversation";
import * as editor from "../../src/messages/editor";
import * as errors from "../../src/messages/errors";
import * as pages from "../../src/messages/pages";
import * as panel from "../../src/messages/panel";
import * as server from "../../src/messages/server";
import * as web from "../../src/messages/web";
import * as work from "../../src/messages/work";
import { literalsIn, looksLikeASentence } from "./literals";

type Texts = Readonly<Record<string, unknown>>;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MODULES: Readonly<Record<string, Texts>> = {
  agent,
  board,
  conversation,
  editor,
  errors,
  pages,
  panel,
  server,
  web,
  work,
};
/** Files of src/messages without text of their own. */
const HELPERS: readonly string[] = ["plural.ts"];

/** The arguments for each function; one call per line of the list. */
const CALLS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  "agent.applyCode": [
    ["x = 1\n", "shop.py"],
    ["x = 1\n", undefined],
  ],
  "agent.askAgain": [["Edit shop.py"]],
  "agent.changedMeanwhile": [["src/shop.py"]],
  "agent.commitMessageFor": [["diff --git a/shop.py b/shop.py"]],
  "agent.editOnlySelection": [["src/shop.py", "shop.py:3-5"]],
  "agent.gitFailed": [["not a git repository"]],
  "agent.moreLines": [[7]],
  "board.byAt": [["ada", "Nov 25, 2026, 7:00 AM"]],
  "board.cardNumber": [["12"]],
  "board.columnTitle": [["Review", 2]],
  "board.commentCount": [[0], [1], [2]],
  "board.cost": [[0], [0.5]],
  "board.linkTo": [["is blocked by", "3", "Add a lexer"]],
  "board.movedTo": [["Review"]],
  "board.priority": [[1], [3]],
  "board.removeCard": [["Add a lexer"]],
  "board.showAll": [[412]],
  "board.spentOf": [
    [0.5, 2],
    [0.5, null],
  ],
  "board.tokens": [[0], [12_000]],
  "board.unlink": [["3"]],
  "board.waitsFor": [[[]], [["3", "4"]]],
  "conversation.allowedInPart": [[2, 3]],
  "conversation.answered": [
    [true, ""],
    [false, "lower case only"],
  ],
  "conversation.answeredIn": [
    [true, "Hermes web page"],
    [false, "VS Code"],
  ],
  "conversation.answeredLastingly": [
    ["Always allow `make test …` in this folder, in the sandbox", ""],
    ["Reject `make test` for this session", "too slow"],
  ],
  "conversation.cardLabel": [["Read shop.py", "done"]],
  "conversation.childCalls": [[0], [1], [2]],
  "conversation.childLabel": [["Count the lines", "running"]],
  "conversation.compareFile": [["src/shop.py"]],
  "conversation.diagramTooLong": [[20_000]],
  "conversation.duration": [[4200], [65_000], [3_720_000]],
  "conversation.exitCode": [[3]],
  "conversation.filesChanged": [[1], [2]],
  "conversation.hunkLabel": [["1 line added at line 6", "accepted"]],
  "conversation.linesAddedLabel": [[1], [2]],
  "conversation.linesRemovedLabel": [[1], [2]],
  "conversation.noDiagram": [["Parse error on line 2"]],
  "conversation.optionWithKey": [["Allow once", "Ctrl+Alt+Enter"]],
  "conversation.planProgress": [["1/3"]],
  "conversation.questionLabel": [["Which port?"]],
  "conversation.ranAt": [
    ["Nov 25, 2026, 7:00 AM", 4200],
    ["Nov 25, 2026, 7:00 AM", undefined],
  ],
  "conversation.showMoreLines": [[1], [34]],
  "conversation.timeSpent": [
    [
      "Nov 25, 2026, 7:00 AM",
      { beganAt: 0, totalMs: 9, modelMs: 4200, firstWordMs: 1000, toolsMs: 65_000, waitingMs: 0 },
    ],
    ["Nov 25, 2026, 7:00 AM", { beganAt: 0, totalMs: 9, modelMs: 4200, toolsMs: 0, waitingMs: 0 }],
  ],
  "conversation.unanswered": [["Edit shop.py"]],
  "conversation.unknownEnd": [["paused"]],
  "editor.acceptAllLens": [[3]],
  "editor.diffTitle": [["shop.py"]],
  "editor.editInlinePlaceholder": [["shop.py:3-5"]],
  "editor.lastCommandIn": [["bash"]],
  "editor.linesAdded": [
    [1, 6],
    [2, 6],
  ],
  "editor.linesRemoved": [
    [1, 6],
    [2, 6],
  ],
  "editor.linesReplaced": [
    [2, 2, 6],
    [2, 3, 6],
  ],
  "editor.overwriteLater": [["shop.py, list.txt"]],
  "editor.pendingEdits": [[1], [3]],
  "editor.problemsInWorkspace": [[4]],
  "editor.questionsWaiting": [[1], [2]],
  "editor.rejectAllLens": [[3]],
  "editor.reviewLens": [[1], [3]],
  "editor.reviewTitle": [["shop.py"]],
  "editor.statusAsking": [[2]],
  "editor.statusLabel": [["ready"]],
  "editor.statusWaiting": [[2]],
  "editor.toReview": [["src/shop.py", 3]],
  "editor.tooLargePicture": [["shot.png"]],
  "editor.tooltipFailed": [["The server exited with code 1.", "Show the log"]],
  "editor.tooltipReady": [["0.1.0"]],
  "editor.undoTurn": [["shop.py, list.txt"]],
  "errors.couldNotSave": [["src/shop.py"]],
  "errors.noSuchFile": [["src/shop.py"]],
  "errors.serverBug": [[""], ["bf52f4"]],
  "pages.approveFile": [["AGENTS.md"]],
  "pages.doesNotWork": [["gpt-6"], [""]],
  "pages.fallbacksInUse": [["openai/gpt-6-mini"]],
  "pages.finding": [["block", 3, "It instructs the agent.", "override"]],
  "pages.keyHeld": [["OPENAI_API_KEY"]],
  "pages.keyStored": [["~/.hermes/.env"]],
  "pages.modelInUse": [
    ["gpt-6", "openai"],
    ["", "openai_compatible"],
  ],
  "pages.modelsFound": [[1], [40]],
  "pages.openFile": [["AGENTS.md"]],
  "pages.overridden": [["OPENAI_API_KEY"]],
  "pages.saved": [["~/.hermes/config.yaml"]],
  "pages.serverAction": [["Sign in", "search"]],
  "pages.serverNotice": [["search", "connected"]],
  "pages.serverReady": [["0.1.0", "PATH"]],
  "pages.storedIn": [["~/.hermes/config.yaml", "~/.hermes/.env"]],
  "pages.tokens": [[120]],
  "pages.toolCount": [
    [1, 0],
    [3, 2],
  ],
  "pages.trustItem": [
    ["mcp_server", "theirs"],
    ["rules", "rules"],
  ],
  "pages.trustThis": [["MCP server theirs"]],
  "pages.works": [["gpt-6"]],
  "panel.announceQuestion": [["Which port?"]],
  "panel.asksElsewhere": [["Tidy shop.py"]],
  "panel.closeTab": [["Tidy shop.py"]],
  "panel.contextChip": [["shop.py"]],
  "panel.contextLabel": [["1.2k of 200k tokens (1%)"]],
  "panel.contextLeftOut": [["shop.py"]],
  "panel.contextTaken": [["shop.py"]],
  "panel.deleteSession": [["Tidy shop.py"]],
  "panel.editQueued": [["and the tests"]],
  "panel.forkSession": [["Tidy shop.py"]],
  "panel.held": [[1], [2]],
  "panel.inState": [
    ["Tidy shop.py", ""],
    ["Tidy shop.py", "working"],
  ],
  "panel.moveDown": [["and the tests"]],
  "panel.moveUp": [["and the tests"]],
  "panel.optionTitle": [["Mode", "Ask"]],
  "panel.passageSource": [
    ["You", "Tidy shop.py", "2 days ago"],
    ["Tool", "", "just now"],
  ],
  "panel.queued": [[1], [2]],
  "panel.removeMention": [["shop.py"]],
  "panel.removeQueued": [["and the tests"]],
  "panel.renameSession": [["Tidy shop.py"]],
  "panel.rewindFiles": [[1], [3]],
  "panel.sendByKey": [["Send"]],
  "panel.sendQueued": [["Send", "and the tests"]],
  "panel.tokensUsed": [
    ["1.2k", "200k", 1, ""],
    ["120k", "200k", 60, "$0.01"],
  ],
  "panel.withAttachments": [[1], [2]],
  "server.configuredProgramMissing": [["/opt/hermes-acp"]],
  "server.endedBySignal": [["SIGKILL", ""]],
  "server.endedWithCode": [
    [1, ""],
    [1, "no module named hermes_acp"],
  ],
  "server.failedRepeatedly": [["The server exited with code 1.", 4]],
  "server.installFailed": [["The disk is full."]],
  "server.languageServerFailed": [["it ended"]],
  "server.noAnswer": [[30]],
  "server.olderThanBundled": [["/usr/bin/hermes-acp", "0.1.0", "0.2.0"]],
  "server.otherBuild": [["0.1.0"]],
  "server.otherProtocol": [[2, 1]],
  "server.programMissing": [["/usr/bin/hermes-acp"]],
  "server.startFailed": [["/usr/bin/hermes-acp", "permission denied"]],
  "server.startingFrom": [["/usr/bin/hermes-acp", "PATH"]],
  "server.tooOld": [["/usr/bin/hermes-acp", "0.0.1", "0.1.0"]],
  "web.contentOf": [["shop.py"]],
  "web.pathCopied": [["/home/you/project/shop.py"]],
  "web.titleOf": [["Tidy shop.py"]],
  "web.titleWithQuestions": [
    ["Tidy shop.py - Hermes", 0],
    ["Tidy shop.py - Hermes", 2],
  ],
  "web.tooLargeText": [["server.log"]],
  "work.addedBy": [["session:ses_1"], [""]],
  "work.checkedDue": [
    ["At 07:00 (Europe/Berlin)", "Nov 25, 2026, 7:00 AM"],
    ["Once at 2020-01-01 07:00 (UTC)", ""],
  ],
  "work.defaultFor": [["Steps per turn", "100"]],
  "work.dollars": [[0], [0.012], [0.5]],
  "work.duration": [[1234.56]],
  "work.facts": [["waiting for your answer", "shop", "2 days ago"]],
  "work.named": [["Pause", "morning"]],
  "work.nextDue": [["Nov 25, 2026, 7:00 AM"]],
  "work.number": [[12_000]],
  "work.occurrence": [
    ["Nov 25, 2026, 7:00 AM", "", 1],
    ["Nov 25, 2026, 7:00 AM", "Nov 27, 2026, 7:00 AM", 3],
  ],
  "work.removeSchedule": [["morning"]],
  "work.savedAs": [["Steps per turn"]],
  "work.scheduledIn": [["/home/you/project"]],
  "work.share": [
    [1, 3],
    [0, 0],
  ],
  "work.shortNumber": [[1_234_567]],
  "work.usageBar": [["2026-11-25", "$0.50"]],
  "work.usageBy": [["model"]],
  "work.usageChart": [["cost", "2026-11-01", "2026-11-30", "$8.10", "$2.40", "2026-11-25"]],
  "work.useDefault": [["100"], [""]],
  "work.waitingCount": [[1], [2]],
  "work.withCount": [
    ["Runs", 0],
    ["Runs", 2],
  ],
};

describe("what the extension says", () => {
  it("is listed, line by line, in messages.txt", async () => {
    const list = [...sections(), manifestSection()].join("\n");
    // A wording changed on purpose: `npm test -- --update` writes the list again; read the difference before you commit it.
    await expect(list).toMatchFileSnapshot("messages.txt");
  });

  it("comes from every file of src/messages, and from nothing that is gone", () => {
    const files = readdirSync(`${ROOT}/src/messages`).filter((name) => !HELPERS.includes(name));
    expect(files.sort()).toEqual(Object.keys(MODULES).map((name) => `${name}.ts`));
    const functions = Object.entries(MODULES).flatMap(([name, texts]) =>
      Object.entries(texts).flatMap(([key, text]) => (typeof text === "function" ? [`${name}.${key}`] : [])),
    );
    expect(Object.keys(CALLS)).toEqual(functions.sort());
  });

  it("is written in src/messages, not where it is shown", () => {
    const found = readdirSync(`${ROOT}/src`, { recursive: true, encoding: "utf8" })
      .map((path) => `src/${path}`)
      .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("src/messages/"))
      .flatMap((path) =>
        literalsIn(path, readFileSync(`${ROOT}/${path}`, "utf8"))
          .filter(({ text, isMarkup }) => (isMarkup ? /\p{L}/u.test(text) : looksLikeASentence(text)))
          .map(({ text, line }) => `${path}:${line}: ${text}`),
      );
    expect(found).toEqual([]);
  });

  it("is found in literals, templates, text and attributes", () => {
    const source =
      'const a = "Not saved"; const b = `${a} is gone`; const c = <p title="Save">Done {a} <i class="x" /></p>;';
    const found = literalsIn("a.tsx", source).filter(({ text, isMarkup }) => isMarkup || looksLikeASentence(text));
    expect(found.map(({ text }) => text).filter(Boolean)).toEqual(["Not saved", "… is gone", "Save", "Done"]);
  });
});

function sections(): readonly string[] {
  return Object.entries(MODULES).map(([module, texts]) => {
    const lines = Object.keys(texts)
      .sort()
      .flatMap((key) => linesOf(module, key, texts[key]));
    return `# ${module}\n${lines.join("\n")}\n`;
  });
}

function linesOf(module: string, key: string, text: unknown): readonly string[] {
  if (typeof text === "string") return [`${key}: ${shown(text)}`];
  if (typeof text !== "function")
    return Object.entries(text as Texts).map(([name, each]) => `${key}.${name}: ${shown(String(each))}`);
  const calls = CALLS[`${module}.${key}`];
  if (!calls) throw new Error(`Add an example of ${module}.${key} to CALLS.`);
  return calls.map((given) => `${key}: ${shown(String((text as (...given: unknown[]) => unknown)(...given)))}`);
}

const shown = (text: string): string => text.replaceAll("\n", "\\n") || "(nothing)";

/** List what package.json contributes: titles and descriptions, by key. */
function manifestSection(): string {
  const manifest: unknown = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8"));
  const lines: string[] = [];
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value === "object" && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        const { id, command } = (each ?? {}) as { readonly id?: string; readonly command?: string };
        visit(each, [...path, Array.isArray(value) ? (command ?? id ?? key) : key]);
      }
    } else if (
      typeof value === "string" &&
      /^(title|name|displayName|(markdownD|d)escription)$/.test(path.at(-1) ?? "")
    ) {
      lines.push(`${path.join(".")}: ${shown(value)}`);
    }
  };
  visit(manifest, []);
  return `# package.json\n${lines.join("\n")}\n`;
}
