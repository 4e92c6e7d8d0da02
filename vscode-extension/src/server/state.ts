/**
 * How a server stands, and what would help where it is not available.
 *
 * Knows: states and fixes. Does not know: how a server is started, who shows its state.
 */

export type Fix = "install" | "start" | "log" | "settings" | "update";

/** Something about a server that works all the same, and what would mend it. */
export interface Remark {
  readonly text: string;
  readonly fix: Fix;
}

export type State =
  | { readonly phase: "off" }
  | { readonly phase: "starting"; readonly text: string }
  | { readonly phase: "ready"; readonly version: string; readonly remark?: Remark }
  | { readonly phase: "failed"; readonly text: string; readonly fix: Fix };

/** Why the server is not available, and the one thing that would help. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly fix: Fix,
  ) {
    super(message);
  }
}
