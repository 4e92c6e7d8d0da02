/** The state of a server, and fixes if it is not available. */

export type Fix = "install" | "start" | "log" | "settings" | "update";

/** A remark about a working server, and its fix. */
export interface Remark {
  readonly text: string;
  readonly fix: Fix;
}

export type State =
  | { readonly phase: "off" }
  | { readonly phase: "starting"; readonly text: string }
  | { readonly phase: "ready"; readonly version: string; readonly remark?: Remark }
  | { readonly phase: "failed"; readonly text: string; readonly fix: Fix };

/** Why the server is not available, and the fix. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly fix: Fix,
  ) {
    super(message);
  }
}
