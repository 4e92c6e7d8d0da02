/**
 * What went wrong, in words for people.
 *
 * Knows: the protocol's error codes, which messages are sentences for users already. Does not know: where they are shown.
 */

import * as messages from "../messages/errors";

const AUTH_REQUIRED = -32000;
const METHOD_NOT_FOUND = -32601;
const CANCELLED = -32800;
/** Codes with which two sides say that they do not understand each other. */
const MISUNDERSTOOD: ReadonlySet<number> = new Set([-32700, -32600, -32602]);
/** What our server calls such misunderstandings; under the same codes it sends sentences of its own. */
const MISFITS: ReadonlySet<unknown> = new Set(["bad_params", "not_initialized", "already_initialized"]);
/** What the protocol's libraries say of their own accord, which tells a user nothing. */
const BARE = /^"?(internal error|invalid (params|request)|parse error|method not found|no such method)/i;

interface Told {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Give what went wrong in words for people. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const told = toldIn(error);
  if (told) return wordsOf(told);
  return /^ACP (connection|stream)/.test(error.message) ? messages.SERVER_STOPPED : error.message;
}

/** Tell whether an agent refuses to work because nobody told it which model to use. */
export function needsSetUp(error: unknown): boolean {
  return error instanceof Error && toldIn(error)?.code === AUTH_REQUIRED;
}

/** Read an error that came over the wire; undefined for any other. */
function toldIn(error: Error & { code?: unknown; data?: unknown }): Told | undefined {
  if (typeof error.code !== "number") return undefined;
  const data = typeof error.data === "object" && error.data !== null ? error.data : {};
  return { code: error.code, message: error.message, data: data as Told["data"] };
}

function wordsOf({ code, message, data }: Told): string {
  if (data["code"] === "bug") {
    return messages.serverBug(typeof data["trace"] === "string" ? data["trace"] : "");
  }
  if (code === CANCELLED) return messages.CANCELLED;
  if (code === METHOD_NOT_FOUND) return messages.NOT_SUPPORTED;
  if (MISFITS.has(data["code"]) || (MISUNDERSTOOD.has(code) && BARE.test(message))) return messages.VERSIONS_DIFFER;
  if (!BARE.test(message)) return message;
  return typeof data["details"] === "string" && data["details"] ? data["details"] : messages.UNKNOWN_ERROR;
}
