/** The text of an error, for people. */

import * as messages from "../messages/errors";

const AUTH_REQUIRED = -32000;
const METHOD_NOT_FOUND = -32601;
const CANCELLED = -32800;
/** JSON-RPC error codes for protocol violations. */
const PROTOCOL_ERRORS: ReadonlySet<number> = new Set([-32700, -32600, -32602]);
/** The server's names for such errors. It uses the same codes for errors with a sentence for people. */
const PROTOCOL_ERROR_NAMES: ReadonlySet<unknown> = new Set(["bad_params", "not_initialized", "already_initialized"]);
/** The server's names for refusals of a model endpoint: key, quota, rate limit, unreachable. */
const TO_RETRY: ReadonlySet<unknown> = new Set(["model_auth_failed", "quota_used_up", "rate_limited", "model_down"]);
/** Messages that come from the protocol's libraries. They mean nothing to people. */
const LIBRARY_MESSAGE = /^"?(internal error|invalid (params|request)|parse error|method not found|no such method)/i;

interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Return the text of an error for people. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const wireError = wireErrorIn(error);
  if (wireError) return wireErrorText(wireError);
  return /^ACP (connection|stream)/.test(error.message) ? messages.SERVER_STOPPED : error.message;
}

/** Return whether an agent refuses to run because no model is set up. */
export function needsSetUp(error: unknown): boolean {
  return error instanceof Error && wireErrorIn(error)?.code === AUTH_REQUIRED;
}

/** Return whether a model's endpoint refused the request, so that there is nothing to continue. */
export function isToRetry(error: unknown): boolean {
  return error instanceof Error && TO_RETRY.has(wireErrorIn(error)?.data["code"]);
}

/** Parse an error from the wire, or return undefined for any other. */
function wireErrorIn(error: Error & { code?: unknown; data?: unknown }): WireError | undefined {
  if (typeof error.code !== "number") return undefined;
  const data = typeof error.data === "object" && error.data !== null ? error.data : {};
  return { code: error.code, message: error.message, data: data as WireError["data"] };
}

function wireErrorText({ code, message, data }: WireError): string {
  if (data["code"] === "bug") {
    return messages.serverBug(typeof data["trace"] === "string" ? data["trace"] : "");
  }
  if (code === CANCELLED) return messages.CANCELLED;
  if (code === METHOD_NOT_FOUND) return messages.NOT_SUPPORTED;
  if (PROTOCOL_ERROR_NAMES.has(data["code"]) || (PROTOCOL_ERRORS.has(code) && LIBRARY_MESSAGE.test(message)))
    return messages.VERSIONS_DIFFER;
  if (!LIBRARY_MESSAGE.test(message)) return message;
  return typeof data["details"] === "string" && data["details"] ? data["details"] : messages.UNKNOWN_ERROR;
}
