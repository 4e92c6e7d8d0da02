/**
 * All events of a session, as a closed union.
 *
 * The host folds events and sends them to the panel, which folds them the same way.
 */

import type {
  AnswerElsewhere,
  AnswerOption,
  Attachment,
  CallContent,
  CallKind,
  CallRole,
  CallStatus,
  Checkpoint,
  ChildItem,
  Clock,
  Option,
  Place,
  PlanEntry,
  QuestionField,
  QueuedPrompt,
  Rewound,
  Severity,
  SlashCommand,
  Usage,
  Verdict,
  TurnTimes,
} from "./terms";

/** The ending of a turn that is suspended until its question is answered. */
export const WAITING = "waiting";
/** The ID of messages without one from the agent. */
export const UNNAMED = "said";

/** An update of a card. Missing fields stay unchanged. */
export interface CallNews {
  readonly id: string;
  readonly role?: CallRole;
  /** When it arrived, in ms. Missing in a replay. */
  readonly at?: number;
  /** When it ran, according to the agent. */
  readonly clock?: Clock;
  readonly title?: string;
  readonly kind?: CallKind;
  readonly status?: CallStatus;
  readonly content?: readonly CallContent[];
  readonly places?: readonly Place[];
  readonly exitCode?: number;
  readonly command?: string;
  readonly isShell?: boolean;
  readonly output?: string;
  readonly ending?: string;
  readonly rejected?: string;
  readonly elsewhere?: AnswerElsewhere;
}

export type SessionEvent =
  | { readonly type: "said"; readonly who: "user" | "agent" | "thought"; readonly id: string; readonly text: string }
  | { readonly type: "attached"; readonly id: string; readonly attachment: Attachment }
  | {
      readonly type: "prompted";
      readonly id: string;
      readonly text: string;
      readonly attachments: readonly Attachment[];
      readonly isWaiting: boolean;
    }
  | { readonly type: "forked"; readonly sources: readonly string[]; readonly rewound?: Rewound }
  | { readonly type: "queued"; readonly prompt: QueuedPrompt }
  | { readonly type: "unqueued"; readonly id: string }
  | { readonly type: "reworded"; readonly id: string; readonly text: string }
  | { readonly type: "moved"; readonly id: string; readonly by: -1 | 1 }
  | { readonly type: "released" }
  | { readonly type: "begun"; readonly id: string; readonly at?: number }
  | { readonly type: "recorded"; readonly messageId: string }
  | { readonly type: "dated"; readonly messageId: string; readonly at: number }
  | { readonly type: "spent"; readonly times: TurnTimes }
  | { readonly type: "stepFailed"; readonly messageId: string; readonly isRetried: boolean }
  | {
      readonly type: "ended";
      readonly id: string;
      readonly reason: string;
      readonly text: string;
      readonly needsSetUp?: boolean;
      readonly at?: number;
      /** Whether to send the same prompt again once the problem is fixed. */
      readonly isToRetry?: boolean;
    }
  | { readonly type: "call"; readonly call: CallNews }
  | {
      readonly type: "asked";
      readonly call: CallNews;
      readonly requestId: string;
      readonly options: readonly AnswerOption[];
      readonly reason?: string;
      readonly isWarning?: boolean;
    }
  | {
      readonly type: "answered";
      readonly callId: string;
      readonly requestId: string;
      readonly answer: string;
      readonly comment?: string;
    }
  | { readonly type: "judged"; readonly callId: string; readonly path: string; readonly verdicts: readonly Verdict[] }
  | {
      readonly type: "child";
      readonly id: string;
      readonly title?: string;
      readonly state?: ChildItem["state"];
      readonly error?: string;
    }
  | { readonly type: "childCall"; readonly id: string; readonly call: CallNews }
  | { readonly type: "childSaid"; readonly id: string; readonly text: string }
  | { readonly type: "output"; readonly terminalId: string; readonly text: string }
  | { readonly type: "exited"; readonly terminalId: string; readonly exitCode: number | null }
  | {
      readonly type: "inquired";
      readonly id: string;
      readonly text: string;
      readonly url?: string;
      readonly fields: readonly QuestionField[];
    }
  | { readonly type: "replied"; readonly id: string; readonly answer: string }
  | { readonly type: "plan"; readonly entries: readonly PlanEntry[] }
  | { readonly type: "commands"; readonly commands: readonly SlashCommand[] }
  | { readonly type: "options"; readonly options: readonly Option[] }
  | { readonly type: "mode"; readonly mode: string }
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "notice"; readonly id: string; readonly severity: Severity; readonly text: string }
  | {
      readonly type: "summary";
      readonly id: string;
      readonly status?: string;
      readonly text?: string;
      readonly isWhole: boolean;
    }
  | { readonly type: "checkpoint"; readonly endId: string; readonly checkpoint: Checkpoint }
  | { readonly type: "lost"; readonly id: string; readonly text: string }
  | { readonly type: "replaced"; readonly session: import("./session").Session };
