/**
 * The reducer: how events change a session.
 *
 * It is pure, and the same in the host and the panel.
 */

import { changedCall, freshCall, planCardOf } from "./calls";
import { changeChild, emptyChild, type ChildEvent } from "./children";
import { UNNAMED, type CallNews, type SessionEvent } from "./events";
import { changeQueue, holdAfter } from "./queue";
import { failStep, putRetryNotice, withoutFailed } from "./retries";
import { findItem, openQuestion, placeOf, type Session } from "./session";
import type { CallItem, EndItem, Item, NoticeItem, TerminalState } from "./terms";

/** The maximum terminal output kept for a card. The start is dropped first. */
const MAX_OUTPUT = 64 * 1024;

export function reduce(session: Session, event: SessionEvent): Session {
  switch (event.type) {
    case "said":
      return say(session, event.who, event.id, event.text);
    case "attached":
    case "prompted":
    case "recorded":
    case "dated":
      return changePrompt(session, event);
    case "stepFailed":
      return failStep(session, event);
    case "queued":
    case "unqueued":
    case "reworded":
    case "moved":
    case "released":
      return changeQueue(session, event);
    case "begun":
    case "ended":
    case "lost":
      return turn(session, event);
    case "call":
    case "asked":
    case "answered":
    case "judged":
      return changeCard(session, event);
    case "child":
    case "childCall":
    case "childSaid":
      return putChild(session, event);
    case "output":
      return putTerminal(session, event.terminalId, (before) => ({
        ...before,
        output: (before.output + event.text).slice(-MAX_OUTPUT),
      }));
    case "exited":
      return putTerminal(session, event.terminalId, (before) => ({ ...before, exitCode: event.exitCode }));
    case "inquired":
      return add(session, {
        type: "question",
        id: event.id,
        text: event.text,
        ...(event.url ? { url: event.url } : {}),
        fields: event.fields,
      });
    case "replied":
      return change(session, "question", event.id, (item) => ({ ...item, answer: event.answer }));
    case "notice":
      return notice(session, event);
    case "summary":
      return summarise(session, event);
    case "checkpoint":
      return change(session, "end", event.endId, (item) => ({ ...item, checkpoint: event.checkpoint }));
    default:
      return setField(session, event);
  }
}

type PromptEvent = Extract<SessionEvent, { type: "attached" | "prompted" | "recorded" | "dated" }>;

function changePrompt(session: Session, event: PromptEvent): Session {
  switch (event.type) {
    case "attached":
      return change(session, "user", event.id, (item) => ({
        ...item,
        attachments: [...item.attachments, event.attachment],
      }));
    case "prompted":
      return add(session, {
        type: "user",
        id: event.id,
        text: event.text,
        attachments: event.attachments,
        isWaiting: event.isWaiting,
      });
    case "recorded":
      return record(session, event.messageId);
    case "dated":
      return date(session, event.messageId, event.at);
  }
}

type CardEvent = Extract<SessionEvent, { type: "call" | "asked" | "answered" | "judged" }>;

function changeCard(session: Session, event: CardEvent): Session {
  switch (event.type) {
    case "call":
      return putCall(session, event.call);
    case "asked":
      return changeCall(putCall(session, event.call), event.call.id, {
        approval: {
          requestId: event.requestId,
          options: event.options,
          ...(event.reason ? { reason: event.reason } : {}),
          ...(event.isWarning ? { isWarning: true } : {}),
        },
      });
    case "answered":
      return change(session, "call", event.callId, (item) =>
        item.approval?.requestId === event.requestId
          ? { ...item, approval: { ...item.approval, answer: event.answer, comment: event.comment ?? "" } }
          : item,
      );
    case "judged":
      return change(session, "call", event.callId, (item) => ({
        ...item,
        verdicts: { ...item.verdicts, [event.path]: event.verdicts },
      }));
  }
}

type FieldEvent = Extract<
  SessionEvent,
  { type: "plan" | "commands" | "options" | "mode" | "title" | "usage" | "spent" | "forked" | "replaced" }
>;

function putChild(session: Session, event: ChildEvent): Session {
  const known = findItem(session, "child", event.id) ? session : add(session, emptyChild(event.id));
  return change(known, "child", event.id, (item) => changeChild(item, event));
}

function setField(session: Session, event: FieldEvent): Session {
  switch (event.type) {
    case "plan":
      return { ...session, plan: event.entries };
    case "commands":
      return { ...session, commands: event.commands };
    case "options":
      return { ...session, options: event.options };
    case "mode":
      return {
        ...session,
        options: session.options.map((option) =>
          option.type === "select" && option.category === "mode" ? { ...option, value: event.mode } : option,
        ),
      };
    case "title":
      return { ...session, title: event.title };
    case "usage":
      return { ...session, usage: event.usage };
    case "spent":
      return { ...session, spent: event.times };
    case "forked":
      return { ...session, sources: event.sources, ...(event.rewound ? { rewound: event.rewound } : {}) };
    case "replaced":
      return event.session;
  }
}

function add(session: Session, item: Item): Session {
  return { ...session, items: [...session.items, item] };
}

function change<T extends Item["type"]>(
  session: Session,
  type: T,
  id: string,
  make: (item: Extract<Item, { type: T }>) => Item,
): Session {
  const at = placeOf(session, type, id);
  if (at < 0) return session;
  return { ...session, items: session.items.with(at, make(session.items[at] as Extract<Item, { type: T }>)) };
}

/** Append text to its message. An interrupted message continues after the interruption. */
function say(session: Session, who: "user" | "agent" | "thought", id: string, text: string): Session {
  const last = session.items.at(-1);
  if (last?.type === who && (last.id === id || last.id.startsWith(`${id}+`))) {
    return { ...session, items: session.items.with(-1, { ...last, text: last.text + text }) };
  }
  const fresh = placeOf(session, who, id) < 0 ? id : `${id}+${session.items.length}`;
  if (who !== "user") return add(withoutFailed(session), { type: who, id: fresh, text });
  const named = id === UNNAMED ? {} : { messageId: id };
  return add(session, { type: "user", id: fresh, text, attachments: [], isWaiting: false, ...named });
}

/** Record the agent's ID of the prompt that it just started. */
function record(session: Session, messageId: string): Session {
  const id = session.turns.find((turn) => findItem(session, "user", turn)?.messageId === undefined);
  return id === undefined ? session : change(session, "user", id, (item) => ({ ...item, messageId }));
}

/** Record when a prompt was sent. */
function date(session: Session, messageId: string, saidAt: number): Session {
  const at = session.items.findLastIndex((item) => item.type === "user" && item.messageId === messageId);
  const item = session.items[at];
  return item?.type === "user" ? { ...session, items: session.items.with(at, { ...item, saidAt }) } : session;
}

/** Update or add a card. A new plan updates the existing plan card. */
function putCall(session: Session, news: CallNews): Session {
  const before = findItem(session, "call", news.id);
  if (before) return change(session, "call", news.id, (item) => changedCall(item, news));
  const at = planCardOf(session);
  const plan = session.items[at];
  if (plan?.type !== "call") return add(session, freshCall(news));
  if (plan.earlier?.includes(news.id)) return session;
  if (news.role !== "plan") return add(session, freshCall(news));
  const earlier = [...(plan.earlier ?? []), plan.id];
  return { ...session, items: session.items.with(at, { ...freshCall(news), earlier }) };
}

function changeCall(session: Session, id: string, fields: Partial<CallItem>): Session {
  return change(session, "call", id, (item) => ({ ...item, ...fields }));
}

function putTerminal(session: Session, id: string, make: (before: TerminalState) => TerminalState): Session {
  const before = session.terminals[id] ?? { output: "" };
  return { ...session, terminals: { ...session.terminals, [id]: make(before) } };
}

/** Return when the last prompt was sent, in ms, if the server reported it: about then, a running turn began. */
function lastSaidAt({ items }: Session): number | undefined {
  const prompt = items.findLast((item) => item.type === "user");
  return prompt?.type === "user" ? prompt.saidAt : undefined;
}

function turn(session: Session, event: Extract<SessionEvent, { type: "begun" | "ended" | "lost" }>): Session {
  if (event.type === "begun") {
    const plan = session.turns.length === 0 ? [] : session.plan;
    const beganAt = session.turns.length === 0 ? (event.at ?? lastSaidAt(session)) : session.beganAt;
    const { rewound: _, ...others } = session;
    return { ...others, plan, turns: [...session.turns, event.id], ...(beganAt === undefined ? {} : { beganAt }) };
  }
  const turns = event.type === "lost" ? [] : session.turns.filter((id) => id !== event.id);
  const asked = event.type === "lost" ? openQuestion(session) : undefined;
  const settled = turns.length === 0 ? settle(session) : session;
  const reason = event.type === "lost" ? "lost" : event.reason;
  const next = holdAfter(
    change(settled, "user", turns[0] ?? "", (item) => ({ ...item, isWaiting: false })),
    reason,
  );
  const isUnready = event.type === "ended" && event.needsSetUp;
  const isToRetry = event.type === "ended" && event.isToRetry;
  const unanswered = asked && (asked.type === "call" ? asked.title : asked.text);
  const marks = {
    ...(isUnready && { needsSetUp: true }),
    ...(isToRetry && { isToRetry }),
    ...(unanswered && { unanswered }),
  };
  const end: EndItem = { type: "end", id: event.id, reason, text: event.text, ...marks };
  const before = isSaidAlready(next, end) ? { ...next, items: next.items.slice(0, -1) } : next;
  if (turns.length > 0) return add({ ...before, turns }, end);
  const isLeft = session.plan.some((entry) => entry.status !== "completed");
  const { beganAt, spent: times, ...settledSession } = before;
  const at = event.type === "ended" ? event.at : undefined;
  const took = beganAt === undefined || at === undefined ? {} : { tookMs: Math.max(0, at - beganAt) };
  const spent = times && { tookMs: times.totalMs, times };
  const whole: EndItem = { ...end, ...took, ...spent, ...(isLeft ? { plan: session.plan } : {}) };
  return add({ ...settledSession, turns, plan: [], failedStep: "" }, whole);
}

/** Return whether the last item is the same ending, because messages that joined a turn end with it. */
function isSaidAlready({ items }: Session, { reason, text }: EndItem): boolean {
  const last = items.at(-1);
  return last?.type === "end" && last.reason === reason && last.text === text;
}

/** Settle everything that still waits or runs in a finished turn. */
function settle(session: Session): Session {
  const items = session.items.map((item): Item => {
    if (item.type === "question" && item.answer === undefined) return { ...item, answer: "" };
    if (item.type === "child" && (item.state === "running" || item.state === "asking")) {
      return { ...item, state: "cancelled" };
    }
    if (item.type !== "call") return item;
    const isOpen = item.status === "pending" || item.status === "in_progress";
    const isAsking = item.approval !== undefined && item.approval.answer === undefined;
    if (!isOpen && !isAsking) return item;
    return {
      ...item,
      status: isOpen ? "failed" : item.status,
      ...(item.approval && isAsking ? { approval: { ...item.approval, answer: "" } } : {}),
    };
  });
  return { ...session, items };
}

/** Add a notice, unless the end of the turn already says the same. */
function notice(session: Session, { id, severity, text }: Extract<SessionEvent, { type: "notice" }>): Session {
  const last = session.items.at(-1);
  const item: NoticeItem = { type: "notice", id, severity, text };
  if (session.failedStep === "fresh") return putRetryNotice(session, item);
  return last?.type === "end" && last.text === text ? session : add(session, item);
}

function summarise(session: Session, event: Extract<SessionEvent, { type: "summary" }>): Session {
  if (!findItem(session, "summary", event.id)) {
    return add(session, {
      type: "summary",
      id: event.id,
      status: event.status ?? "in_progress",
      text: event.text ?? "",
    });
  }
  return change(session, "summary", event.id, (item) => ({
    ...item,
    status: event.status ?? item.status,
    text: event.isWhole ? (event.text ?? item.text) : item.text + (event.text ?? ""),
  }));
}
