// Golden transcripts replayed with hermes-acp over stdio; every frame from the agent is parsed with the official SDK's
// schemas; prints one JSON summary.
//
// Usage: node replay.mjs JOBS.json, where the file contains {"command": …, "atOnce": 3, "jobs": [{"transcript": …, "names": {…},
// "models": URL, "environment": {…}, "place": …}]}

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";

import { bounded } from "./editor.mjs";

const SDK = "./node_modules/@agentclientprotocol/sdk";
const NAME = /\$\{(\w+)\}/g;
const WHOLE = /^\$\{(\w+)\}$/;
const HALVES = { 1: ["v1/schema", "v1/unstable/schema"], 2: ["v2/schema", "v2/unstable/schema"] };
const ABOUT_THE_MODEL = ["provider", "model", "effort"];
let framesChecked = 0;

/** Return whether the parsed value contains everything that was sent. */
function isKept(sent, read) {
  if (sent === null || typeof sent !== "object") return sent === read;
  if (read === null || typeof read !== "object" || Array.isArray(sent) !== Array.isArray(read)) return false;
  if (Array.isArray(sent) && sent.length !== read.length) return false;
  return Object.keys(sent).every((key) => isKept(sent[key], read[key]));
}

/** Methods of open proposals, which the SDK does not know yet. */
const PROPOSED = new Set(["session/attach", "session/detach"]);

/** The SDK's schemas of one version's half: (method, part) to zod schema. */
class Schemas {
  static async load(protocol, isUnstable) {
    const folder = HALVES[protocol][isUnstable ? 1 : 0];
    const half = isUnstable ? "schema.unstable.json" : "schema.json";
    const zod = await import(`${SDK}/dist/${folder}/zod.gen.js`);
    const file = new URL(`${SDK}/schema/v${protocol}/${half}`, import.meta.url);
    return new Schemas(zod, JSON.parse(readFileSync(file, "utf8")).$defs);
  }

  constructor(zod, definitions) {
    this.byPart = new Map();
    for (const [name, { "x-method": method }] of Object.entries(definitions)) {
      if (!method) continue;
      const part = name.endsWith("Response") ? "result" : name.endsWith("Notification") ? "told" : "asked";
      this.byPart.set(`${method} ${part}`, zod[`z${name}`]);
    }
  }

  /** Parse a value as the SDK does, with defaults; whatever it ignores or changes is a fault. */
  check(method, part, value) {
    if (PROPOSED.has(method)) return;
    const schema = this.byPart.get(`${method} ${part}`);
    if (!schema) throw new Error(`the SDK has no ${part} of ${method}`);
    const read = schema.safeParse(value);
    if (!read.success) throw new Error(`the SDK refuses the ${part} of ${method}: ${read.error.message}`);
    if (!isKept(value, read.data)) {
      throw new Error(`the SDK reads ${JSON.stringify(value)}\nas ${JSON.stringify(read.data)}`);
    }
    framesChecked += 1;
  }
}

function kindOf(name) {
  return name.replace(/[_0-9]+$/, "");
}

/** The values of the names in a transcript. */
class Names {
  constructor(known) {
    this.values = new Map(Object.entries(known));
  }

  filled(value) {
    if (Array.isArray(value)) return value.map((each) => this.filled(each));
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.filled(each)]));
    }
    if (typeof value !== "string") return value;
    const whole = value.match(WHOLE);
    return whole ? this.value(whole[1]) : value.replace(NAME, (_, name) => this.value(name));
  }

  value(name) {
    if (!this.values.has(name)) throw new Error(`\${${name}} stands for nothing yet`);
    return this.values.get(name);
  }

  /** Compare a frame with its line; new names are kept only if the whole frame matches. */
  fits(expected, received) {
    const before = new Map(this.values);
    if (this.fitsBelow(expected, received)) return true;
    this.values = before;
    return false;
  }

  fitsBelow(expected, received) {
    if (Array.isArray(expected)) {
      return (
        Array.isArray(received) &&
        expected.length === received.length &&
        expected.every((each, at) => this.fitsBelow(each, received[at]))
      );
    }
    if (expected !== null && typeof expected === "object") {
      if (received === null || typeof received !== "object" || Array.isArray(received)) return false;
      const keys = Object.keys(expected);
      return (
        keys.length === Object.keys(received).length &&
        keys.every((key) => key in received && this.fitsBelow(expected[key], received[key]))
      );
    }
    const whole = typeof expected === "string" && expected.match(WHOLE);
    if (typeof expected === "string" && !whole) return this.fitsText(expected, received);
    if (!whole) return expected === received;
    const alike = [...this.values].filter(([name]) => kindOf(name) === kindOf(whole[1])).map(([, value]) => value);
    if (!this.values.has(whole[1]) && !alike.includes(received)) this.values.set(whole[1], received);
    return this.values.get(whole[1]) === received;
  }

  /** Compare a text with names in it; a name without a value yet takes the text in its place. */
  fitsText(expected, received) {
    if (typeof received !== "string") return false;
    const fresh = new Set();
    const pattern = expected.split(NAME).map((piece, at) => {
      if (at % 2 === 0) return escaped(piece);
      if (this.values.has(piece)) return escaped(String(this.values.get(piece)));
      if (fresh.has(piece)) return `\\k<${piece}>`;
      fresh.add(piece);
      return `(?<${piece}>.+?)`;
    });
    const found = received.match(new RegExp(`^${pattern.join("")}$`, "s"));
    for (const name of found ? fresh : []) this.values.set(name, found.groups[name]);
    return found !== null;
  }
}

/** Return a pattern that matches a text literally. */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** One agent on the other end of two pipes. */
class Agent {
  constructor(command, { environment, place, models }, schemas) {
    this.models = models;
    this.schemas = schemas;
    this.asked = new Map();
    this.areListed = false;
    this.errors = "";
    this.process = spawn(command, [], { cwd: place, env: environment, stdio: ["pipe", "pipe", "pipe"] });
    this.process.stderr.on("data", (data) => (this.errors += data));
    this.ended = new Promise((resolve) => this.process.on("close", (code, signal) => resolve(code ?? signal)));
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  send(frame) {
    if ("method" in frame && "id" in frame) this.asked.set(frame.id, frame.method);
    this.process.stdin.write(`${JSON.stringify(frame)}\n`);
  }

  /** Return the next frame, checked; updates about the models before they are listed are omitted. */
  async receive() {
    for (;;) {
      const { value, done } = await bounded(this.lines.next(), "a frame");
      if (done) return undefined;
      const frame = JSON.parse(value);
      this.check(frame);
      if (!this.passesOver(frame)) return frame;
    }
  }

  passesOver(frame) {
    const options = frame.result ?? frame.params?.update;
    const offered = options?.configOptions;
    if (this.areListed || !offered) return false;
    const name = (option) => option.id ?? option.configId;
    this.areListed = offered.some((option) => name(option) === "model" && option.options.length > 1);
    if (!("result" in frame)) return !this.areListed;
    options.configOptions = offered.filter((option) => !ABOUT_THE_MODEL.includes(name(option)));
    this.listing = fetch(this.models, { method: "POST" });
    return false;
  }

  check(frame) {
    if (frame.jsonrpc !== "2.0") throw new Error(`no JSON-RPC 2.0: ${JSON.stringify(frame)}`);
    if ("method" in frame) this.schemas.check(frame.method, "id" in frame ? "asked" : "told", frame.params);
    else if ("result" in frame) this.schemas.check(this.asked.get(frame.id), "result", frame.result);
    else if (!Number.isInteger(frame.error?.code) || typeof frame.error.message !== "string") {
      throw new Error(`no error reply: ${JSON.stringify(frame)}`);
    }
  }

  async leave() {
    await this.listing;
    this.process.stdin.end();
  }
}

/**
 * Return whether a frame contains only a command's output so far, which a fast command may not send. All of it
 * is sent again when the command has ended, and compared there.
 */
function isLiveOutput(frame) {
  const update = frame?.params?.update;
  if (update?.sessionUpdate !== "tool_call_update") return update?.sessionUpdate === "terminal_output_chunk";
  const isAll = Object.keys(update).sort().join() === "content,sessionUpdate,toolCallId";
  return isAll && update.content.every((block) => block.type === "content");
}

async function take(agent, names, awaited) {
  const ordered = awaited.filter((line) => !line.whenever);
  const floating = awaited.filter((line) => line.whenever);
  while (ordered.length || floating.length) {
    const candidates = [...ordered.slice(0, 1), ...floating];
    const frame = await agent.receive();
    const found = frame && candidates.find((line) => names.fits(line.frame, frame));
    if (!found && isLiveOutput(frame)) continue;
    if (!found) {
      const wanted = candidates.map((line) => JSON.stringify(line.frame)).join("\n  or ");
      throw new Error(`expected\n     ${wanted}\nreceived\n     ${JSON.stringify(frame) ?? "the end"}`);
    }
    const lines = found.whenever ? floating : ordered;
    lines.splice(lines.indexOf(found), 1);
  }
}

async function hold(command, job) {
  const [header, ...lines] = readFileSync(job.transcript, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const schemas = await Schemas.load(header.protocol, "HERMES_ACP_UNSTABLE" in (header.environment ?? {}));
  const names = new Names(job.names);
  const agent = new Agent(command, job, schemas);
  try {
    let awaited = [];
    for (const line of lines) {
      if (line.from === "agent") {
        awaited.push(line);
        continue;
      }
      await take(agent, names, awaited);
      awaited = [];
      for (const [name, content] of Object.entries(line.saves ?? {})) {
        writeFileSync(join(names.value("cwd"), name), content);
      }
      if (line.frame) agent.send(names.filled(line.frame));
      if ("text" in line) agent.process.stdin.write(`${line.text}\n`);
    }
    await take(agent, names, awaited);
    await agent.leave();
    const stray = await agent.receive();
    if (stray) throw new Error(`nothing more was expected; received\n     ${JSON.stringify(stray)}`);
    const code = await bounded(agent.ended, "the agent's end");
    if (code !== 0 || agent.errors) throw new Error(`it ended with ${code}; ${agent.errors}`);
    for (const [name, content] of Object.entries(header.leaves ?? {})) {
      if (readFileSync(join(names.value("cwd"), name), "utf8") !== content) throw new Error(`${name} is not as it should be`);
    }
  } finally {
    agent.process.kill("SIGKILL");
  }
}

const { command, atOnce, jobs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const faults = [];
let held = 0;
const waiting = [...jobs];

async function work() {
  for (let job = waiting.shift(); job; job = waiting.shift()) {
    try {
      await hold(command, job);
      held += 1;
    } catch (error) {
      faults.push(`${job.transcript}: ${error.message}`);
    }
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
console.log(JSON.stringify({ held, framesChecked, faults }));
