/** Methods of an agent, and how to call our own. The SDK is loaded only when a server is started. */

import type { Link } from "./link";
import type { OwnMethods } from "./own";

export const methods = {
  new: "session/new",
  load: "session/load",
  resume: "session/resume",
  prompt: "session/prompt",
  cancel: "session/cancel",
  setConfigOption: "session/set_config_option",
  close: "session/close",
  list: "session/list",
  fork: "session/fork",
  setTitle: "session/set_title",
  delete: "session/delete",
} as const;

/** Call one of the agent's own methods. */
export function ask<M extends keyof OwnMethods>(
  link: Link,
  method: M,
  params: OwnMethods[M]["params"],
): Promise<OwnMethods[M]["result"]> {
  return link.agent.request<OwnMethods[M]["result"]>(method, params);
}

/** Return whether an agent announced one of its own extensions. */
export function announces({ greeting }: Link, name: string): boolean {
  const meta = greeting.agentCapabilities?._meta?.["hermes"] as Record<string, unknown> | undefined;
  return Boolean(meta?.[name]);
}

/** Something the agent asked for does not exist. Recognised by its name, because each bundle has its own class. */
export class NotThere extends Error {
  override readonly name = "NotThere";

  static is(error: unknown): error is NotThere {
    return error instanceof Error && error.name === "NotThere";
  }
}
