/** Convert protocol updates to session events. */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import { UNNAMED, WAITING, type CallNews, type SessionEvent } from "../state/events";
import type {
  AnswerElsewhere,
  Attachment,
  CallContent,
  CallKind,
  CallRole,
  Choice,
  Clock,
  Option,
  QuestionField,
  TurnTimes,
} from "../state/terms";

const MAX_NOTE = 300;
/** The maximum length of a command's output kept for its card. */
const MAX_OUTPUT = 64 * 1024;
let noticed = 0;

export function toEvents(update: acp.SessionUpdate): readonly SessionEvent[] {
  switch (update.sessionUpdate) {
    case "user_message_chunk":
      return fromBlock("user", update.messageId ?? UNNAMED, update.content);
    case "agent_message_chunk":
      return fromBlock("agent", update.messageId ?? UNNAMED, update.content);
    case "agent_thought_chunk":
      return fromBlock("thought", update.messageId ?? UNNAMED, update.content);
    case "tool_call":
    case "tool_call_update":
      return [{ type: "call", call: toCallNews(update) }];
    case "plan":
      return [{ type: "plan", entries: update.entries.map(({ content, status }) => ({ content, status })) }];
    case "available_commands_update":
      return [{ type: "commands", commands: update.availableCommands.map(toCommand) }];
    case "current_mode_update":
      return [{ type: "mode", mode: update.currentModeId }];
    case "config_option_update":
      return [{ type: "options", options: toOptions(update.configOptions) }];
    case "session_info_update":
      return [
        ...(update.title === undefined ? [] : [{ type: "title", title: update.title ?? "" } as const]),
        ...endIn(update),
        ...marksIn(update),
      ];
    case "usage_update":
      return [{ type: "usage", usage: toUsage(update) }];
    case "notice":
      noticed += 1;
      return [{ type: "notice", id: `notice-${noticed}`, severity: toSeverity(update.severity), text: update.title }];
    case "compaction_update":
      return [
        {
          type: "summary",
          id: update.compactionId,
          status: update.status,
          text: update.error ?? textOf(update.summary),
          isWhole: update.summary !== undefined || update.error != null,
        },
      ];
    case "compaction_summary_chunk":
      return [{ type: "summary", id: update.compactionId, text: blockText(update.content), isWhole: false }];
    case "subagent_update":
      return [{ type: "child", id: update.sessionId, ...toChild(update) }];
    default:
      return [];
  }
}

/** Return the start and end of an earlier or another client's turn, as reported by our own server. */
function endIn({ _meta }: acp.SessionInfoUpdate): readonly SessionEvent[] {
  const hermes = _meta?.["hermes"] as Readonly<Record<string, Readonly<Record<string, unknown>>>> | null | undefined;
  const began = hermes?.["turnBegan"]?.["turnId"];
  if (typeof began === "string") return [{ type: "begun", id: began }];
  const { turnId, reason, text, isCutOff, isWaiting } = hermes?.["turnEnded"] ?? {};
  if (typeof turnId !== "string" || typeof reason !== "string") return [];
  return [
    {
      type: "ended",
      id: turnId,
      reason: isWaiting === true ? WAITING : isCutOff === true ? "lost" : reason,
      text: typeof text === "string" ? text : "",
    },
  ];
}

/** Return which prompt the agent started and which step failed, as reported by our own server. */
function marksIn({ _meta }: acp.SessionInfoUpdate): readonly SessionEvent[] {
  const hermes = _meta?.["hermes"] as Readonly<Record<string, Readonly<Record<string, unknown>>>> | null | undefined;
  const { promptRecorded, stepFailed, promptTimes, turnTimes } = hermes ?? {};
  const at = promptTimes?.["saidAtMs"];
  if (typeof promptTimes?.["messageId"] === "string" && typeof at === "number")
    return [{ type: "dated", messageId: promptTimes["messageId"], at }];
  const times = turnTimes && toTurnTimes(turnTimes);
  if (times) return [{ type: "spent", times }];
  if (typeof promptRecorded?.["messageId"] === "string")
    return [{ type: "recorded", messageId: promptRecorded["messageId"] }];
  if (typeof stepFailed?.["messageId"] !== "string") return [];
  return [{ type: "stepFailed", messageId: stepFailed["messageId"], isRetried: stepFailed["retried"] === true }];
}

function toTurnTimes(told: Readonly<Record<string, unknown>>): TurnTimes | undefined {
  const { beganAtMs, totalMs, modelMs, firstTokenMs, toolsMs, waitingMs } = told;
  const isWhole = [beganAtMs, totalMs, modelMs, toolsMs, waitingMs].every((each) => typeof each === "number");
  if (!isWhole) return undefined;
  const numbers = { totalMs, modelMs, toolsMs, waitingMs } as Record<
    "totalMs" | "modelMs" | "toolsMs" | "waitingMs",
    number
  >;
  const firstWord = typeof firstTokenMs === "number" ? { firstWordMs: firstTokenMs } : {};
  return { beganAt: beganAtMs as number, ...numbers, ...firstWord };
}

/** Return when a call ran, as reported by our own server. */
function clockIn({ _meta }: acp.ToolCallUpdate): Clock | undefined {
  const hermes = _meta?.["hermes"] as Readonly<Record<string, unknown>> | null | undefined;
  const { startedAtMs, endedAtMs } = hermes ?? {};
  if (typeof startedAtMs !== "number") return undefined;
  const took = typeof endedAtMs === "number" ? { tookMs: Math.max(0, endedAtMs - startedAtMs) } : {};
  return { beganAt: startedAtMs, ...took };
}

/** Calls with a special rendering, by the names of our server's tools. */
const ROLES: Readonly<Record<string, CallRole>> = { plan: "plan", look_back: "review" };

/** Convert updates of a child agent's session to events of its parent session. */
export function toChildEvents(childId: string, update: acp.SessionUpdate): readonly SessionEvent[] {
  switch (update.sessionUpdate) {
    case "tool_call":
    case "tool_call_update":
      return [{ type: "childCall", id: childId, call: toCallNews(update) }];
    case "agent_message_chunk":
      return [{ type: "childSaid", id: childId, text: blockText(update.content) }];
    default:
      return [];
  }
}

type ChildNews = Omit<Extract<SessionEvent, { type: "child" }>, "type" | "id">;

function toChild({ title, state }: Extract<acp.SessionUpdate, { sessionUpdate: "subagent_update" }>): ChildNews {
  const named = title == null ? {} : { title };
  switch (state?.state) {
    case "running":
      return { ...named, state: "running" };
    case "requires_action":
      return { ...named, state: "asking" };
    case "idle": {
      const { stopReason } = state;
      const error =
        "error" in state && state.error ? { error: String((state.error as { message?: unknown }).message) } : {};
      const ended = stopReason === "cancelled" ? "cancelled" : stopReason === "end_turn" ? "done" : "failed";
      return { ...named, state: ended, ...error };
    }
    default:
      return named;
  }
}

function fromBlock(who: "user" | "agent" | "thought", id: string, block: acp.ContentBlock): readonly SessionEvent[] {
  if (block.type === "text") return [{ type: "said", who, id, text: block.text }];
  const attachment = toAttachment(block);
  if (!attachment) return [];
  if (who === "user")
    return [
      { type: "said", who, id, text: "" },
      { type: "attached", id, attachment },
    ];
  return [
    { type: "said", who, id, text: attachment.uri ? `[${attachment.label}](${attachment.uri})` : attachment.label },
  ];
}

function toAttachment(block: acp.ContentBlock): Attachment | undefined {
  switch (block.type) {
    case "image":
      return { kind: "image", label: "picture", data: `data:${block.mimeType};base64,${block.data}` };
    case "resource_link":
      return { kind: "file", label: block.name, uri: block.uri };
    case "resource":
      return { kind: "text", label: nameOfUri(block.resource.uri), uri: block.resource.uri };
    default:
      return undefined;
  }
}

export function toCallNews(update: acp.ToolCallUpdate): CallNews {
  const output = update.rawOutput as { exit_code?: unknown; text?: unknown } | null | undefined;
  const input = update.rawInput as { command?: unknown } | null | undefined;
  const news: { -readonly [K in keyof CallNews]: CallNews[K] } = { id: update.toolCallId };
  if (update.title != null) news.title = update.title;
  const role = ROLES[String((update as { readonly name?: unknown }).name)];
  if (role) news.role = role;
  if (update.kind != null) news.kind = toKind(update.kind);
  if (update.status != null) news.status = update.status as CallNews["status"];
  if (update.content != null) news.content = update.content.flatMap(toContent);
  if (update.locations != null)
    news.places = update.locations.map(({ path, line }) => (line == null ? { path } : { path, line }));
  const command = approvalTextIn(update) ?? input?.command;
  if (typeof command === "string") news.command = command;
  if (typeof input?.command === "string") news.isShell = true;
  if (typeof output?.exit_code === "number") news.exitCode = output.exit_code;
  const ending = typeof output?.text === "string" ? endingIn(output.text) : "";
  if (ending) news.ending = ending;
  if (typeof output?.text === "string" && (ending || news.exitCode !== undefined))
    news.output = putOut(output.text).slice(-MAX_OUTPUT);
  const rejected = rejectionIn(update);
  if (rejected !== undefined) news.rejected = rejected;
  const clock = clockIn(update);
  if (clock) news.clock = clock;
  const elsewhere = elsewhereIn(update);
  if (elsewhere) news.elsewhere = elsewhere;
  return news;
}

/** Return a command's own output, without the note in brackets that our server adds for the model. */
function putOut(text: string): string {
  const words = text.replace(/(^|\n)\[[^\n]*\]\s*$/, "");
  return words === "(no output)" ? "" : words;
}

/** Return the note in brackets that our server appends to the output of a command that was ended. */
function endingIn(text: string): string {
  const note = /\[((?:timed out|killed) [^\n]*)\]\s*$/.exec(text.slice(-MAX_NOTE))?.[1];
  return note ? `${note.charAt(0).toUpperCase()}${note.slice(1)}.` : "";
}

/** Return the user's comment on rejecting a call, or undefined if they did not reject it. */
function rejectionIn({ _meta }: acp.ToolCallUpdate): string | undefined {
  const hermes = _meta?.["hermes"] as { rejected?: { comment?: unknown } | null } | null | undefined;
  if (!hermes?.rejected) return undefined;
  const { comment } = hermes.rejected;
  return typeof comment === "string" ? comment : "";
}

/** Return who answered a question about a call in another client, or undefined. */
function elsewhereIn({ _meta }: acp.ToolCallUpdate): AnswerElsewhere | undefined {
  const { answeredBy, answer } = (_meta?.["hermes"] ?? {}) as { answeredBy?: unknown; answer?: unknown };
  if (typeof answeredBy !== "string" || typeof answer !== "string") return undefined;
  return { by: answeredBy, isYes: answer.startsWith("allow") };
}

/** Return the full text that a call will run or use, as sent by our own server, with deceptive characters escaped. */
function approvalTextIn({ _meta }: acp.ToolCallUpdate): string | undefined {
  const hermes = _meta?.["hermes"] as { approvalText?: unknown } | null | undefined;
  return typeof hermes?.approvalText === "string" ? hermes.approvalText : undefined;
}

function toContent(content: acp.ToolCallContent): readonly CallContent[] {
  switch (content.type) {
    case "content":
      return [{ type: "text", text: blockText(content.content) }];
    case "diff":
      return [
        { type: "diff", diff: { path: content.path, oldText: content.oldText ?? null, newText: content.newText } },
      ];
    case "terminal":
      return [{ type: "terminal", terminalId: content.terminalId }];
    default:
      return [];
  }
}

const KINDS: ReadonlySet<string> = new Set([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
]);

function toKind(kind: string): CallKind {
  return KINDS.has(kind) ? (kind as CallKind) : "other";
}

function blockText(block: acp.ContentBlock): string {
  if (block.type === "text") return block.text;
  if (block.type === "resource" && "text" in block.resource) return block.resource.text;
  return block.type === "resource_link" ? block.uri : "";
}

function textOf(blocks: readonly acp.ContentBlock[] | null | undefined): string {
  return (blocks ?? []).map(blockText).join("");
}

function toCommand(command: acp.AvailableCommand) {
  const hint = command.input && "hint" in command.input ? String(command.input.hint) : "";
  return { name: command.name, description: command.description, hint };
}

export function toOptions(options: readonly acp.SessionConfigOption[] | null | undefined): readonly Option[] {
  return (options ?? []).flatMap((option): Option[] => {
    const named = { id: option.id, name: option.name };
    if (option.type === "boolean") return [{ type: "switch", ...named, isOn: option.currentValue }];
    if (option.type !== "select") return [];
    const choices = option.options.flatMap((each): Choice[] =>
      "options" in each ? each.options.map(toChoice) : [toChoice(each)],
    );
    return [{ type: "select", ...named, category: option.category ?? "", value: option.currentValue, choices }];
  });
}

function toChoice(choice: acp.SessionConfigSelectOption): Choice {
  return { value: choice.value, name: choice.name, description: choice.description ?? "" };
}

function toUsage(update: acp.UsageUpdate) {
  const used = { used: update.used, size: update.size };
  return update.cost ? { ...used, cost: update.cost.amount, currency: update.cost.currency } : used;
}

function toSeverity(severity: string) {
  return severity === "warning" || severity === "error" ? severity : "info";
}

function nameOfUri(uri: string): string {
  const path = uri.split(/[?#]/)[0] ?? uri;
  return decodeURIComponent(path.slice(path.lastIndexOf("/") + 1)) || uri;
}

/** Return the fields of an agent's form. */
export function toFields(schema: acp.ElicitationSchema | undefined): readonly QuestionField[] {
  const required = new Set(schema?.required ?? []);
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const fact = property as { type?: string; title?: string; description?: string; enum?: unknown };
    const choices = Array.isArray(fact.enum) ? fact.enum.map(String) : [];
    const kinds = { boolean: "boolean", number: "number", integer: "number" } as const;
    const kind = choices.length > 0 ? "choice" : (kinds[fact.type as keyof typeof kinds] ?? "text");
    return { name, title: fact.title ?? fact.description ?? name, kind, choices, isRequired: required.has(name) };
  });
}
