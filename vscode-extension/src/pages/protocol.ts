/** The messages between the host and the pages. */

import type {
  ContextListResult,
  McpListResult,
  SetupCheckParams,
  SetupCheckResult,
  SetupStatusResult,
  TrustApproveItem,
  TrustListResult,
} from "../acp/own";
import type { WorkAction, WorkShown } from "../work/work";

export const PAGES = ["board", "runs", "schedules", "usage", "settings", "setup", "mcp", "context", "trust"] as const;
export type PageName = (typeof PAGES)[number];

export type Answers = SetupCheckParams;

/** The state of the server's installation. */
export type Installation =
  | { readonly phase: "idle" }
  /** `line` is the installer's last output. */
  | { readonly phase: "running"; readonly step: string; readonly line: string }
  | { readonly phase: "failed"; readonly text: string; readonly details: string };

export type ServerStep =
  | { readonly phase: "looking" }
  /** Nothing is installed. With `canInstall`, there is something to install. */
  | { readonly phase: "missing"; readonly text: string; readonly canInstall: boolean }
  | { readonly phase: "starting" }
  | {
      readonly phase: "failed";
      readonly text: string;
      readonly fix: { readonly command: string; readonly title: string };
    }
  | { readonly phase: "ready"; readonly version: string; readonly source: string };

export type Trial =
  | { readonly phase: "idle" | "running" }
  | ({ readonly phase: "done" } & SetupCheckResult)
  /** The check itself could not be made, such as for an invalid address. */
  | { readonly phase: "refused"; readonly text: string };

export interface SetupState {
  readonly server: ServerStep;
  readonly installation: Installation;
  /** Undefined until the server has responded. */
  readonly status?: SetupStatusResult;
  readonly trial: Trial;
  /** The stored settings are in use. `note` is a remark for the user. */
  readonly saved?: { readonly note: string };
  readonly offersActions: boolean;
  readonly offersCompletion: boolean;
}

export interface PagesState {
  readonly page: PageName;
  /** Whether this is the panel itself, which shows nothing else until a model is set up. */
  readonly isPanel: boolean;
  readonly folder: string;
  readonly isBusy: boolean;
  readonly error: string;
  /** The result of an action. */
  readonly notice: string;
  readonly setup: SetupState;
  readonly mcp?: McpListResult;
  readonly context?: ContextListResult;
  readonly trust?: TrustListResult;
  readonly work?: WorkShown;
}

export type ToPages = { readonly type: "state"; readonly state: PagesState };

export type FromPages =
  | { readonly type: "ready" | "refresh" | "install" | "start" }
  | { readonly type: "go"; readonly page: PageName }
  | { readonly type: "check" | "save"; readonly answers: Answers }
  /** Leave the setup, optionally with a first prompt. */
  | { readonly type: "begin"; readonly text: string }
  | { readonly type: "option"; readonly option: "actions" | "completion"; readonly isOn: boolean }
  | {
      readonly type: "server";
      readonly name: string;
      readonly action: "reconnect" | "signIn" | "signOut" | "enable" | "disable";
    }
  | { readonly type: "revoke"; readonly what: "items" | "grants" }
  /** Perform an action on a work page. */
  | { readonly type: "work"; readonly work: WorkAction }
  /** Trust the shown content exactly as shown. */
  | { readonly type: "approve"; readonly items: readonly TrustApproveItem[] }
  | { readonly type: "open"; readonly path: string; readonly line?: number }
  | { readonly type: "run"; readonly command: string };
