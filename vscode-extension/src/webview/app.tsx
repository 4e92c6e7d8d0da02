/** The page: tabs, the conversation, the plan, the prompt. */

import { ENDS, unknownEnd } from "../messages/conversation";
import * as messages from "../messages/panel";
import type { Shell, Banner } from "../panel/protocol";
import { WAITING } from "../state/events";
import { activityOf, openPlaces, openQuestion, type Session } from "../state/session";
import { post } from "./bridge";
import { Composer } from "./composer";
import { Elapsed } from "./elapsed";
import { Row, surroundingsOf } from "./items";
import { List } from "./list";
import type { Model } from "./model";
import { Past } from "./past";
import { readable } from "./paths";
import { Plan } from "./plan";
import { Queue } from "./queue";
import { Rewound } from "./rewind";
import { AskingElsewhere, Tabs } from "./tabs";

export function App({ model, onPast }: { model: Model; onPast: (isShown: boolean) => void }) {
  const { shell } = model;
  if (!shell) return <div class="app" aria-busy="true" />;
  const session = model.sessions[shell.active];
  return (
    <div class="app">
      {model.isPastShown ? (
        <Past
          shell={shell}
          past={model.past}
          cursor={model.pastCursor}
          passages={model.passages}
          onClose={() => onPast(false)}
        />
      ) : (
        <Present shell={shell} session={session} toQuestion={model.toQuestion} />
      )}
      <Composer
        shell={shell}
        session={session}
        found={model.found}
        inserted={model.inserted}
        context={model.context}
        refill={model.refill}
        focused={model.focused}
        isHidden={model.isPastShown}
      />
      <Announcer session={session} roots={shell.roots} />
    </div>
  );
}

interface PresentProps {
  readonly shell: Shell;
  readonly session: Session | undefined;
  /** Counts how often the user asked to see the open question. */
  readonly toQuestion: number;
}

/** The part above the prompt: the open sessions, and the shown one. */
function Present({ shell, session, toQuestion }: PresentProps) {
  return (
    <>
      {(shell.isInEditor || shell.tabs.length > 1) && <Tabs tabs={shell.tabs} active={shell.active} />}
      <AskingElsewhere tabs={shell.tabs} active={shell.active} />
      {!shell.isTrusted && <Untrusted />}
      {session && session.items.length > 0 ? (
        <Conversation key={session.id} session={session} shell={shell} toQuestion={toQuestion} />
      ) : (
        <Welcome shell={shell} />
      )}
      {shell.banner && <BannerRow banner={shell.banner} />}
      {session && session.turns.length > 0 && session.plan.length > 0 && <Plan entries={session.plan} />}
      {session?.rewound && <Rewound sessionId={session.id} />}
      {session && <Queue session={session} canSteer={shell.canSteer} />}
    </>
  );
}

function Conversation({ session, shell, toQuestion }: PresentProps & { session: Session }) {
  const { items } = session;
  const keyOf = (at: number) => `${items[at]?.type} ${items[at]?.id}`;
  const render = (at: number) => {
    const item = items[at];
    return item ? (
      <Row {...surroundingsOf(session, shell, at, item)} item={item} isLast={at === items.length - 1} />
    ) : null;
  };
  const isWorking = activityOf(session) === "working";
  return (
    <>
      <List
        count={items.length}
        keyOf={keyOf}
        render={render}
        label={messages.CONVERSATION}
        follows={items.findLast(({ type }) => type === "user")?.id ?? ""}
        waiting={openPlaces(session)}
        toWaiting={toQuestion}
      />
      {isWorking && (
        <div class="working" aria-hidden="true">
          <i class="codicon codicon-loading codicon-modifier-spin" /> {messages.WORKING}{" "}
          <Elapsed clock={session.beganAt === undefined ? undefined : { beganAt: session.beganAt }} />
        </div>
      )}
    </>
  );
}

function Welcome({ shell }: { shell: Shell }) {
  return (
    <div class="welcome">
      <svg class="welcome-mark" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 21V8M12 8c0-2.200-3.400-4.500-8-5 .2 4 3 7 8 7M12 8c0-2.200 3.400-4.500 8-5-.2 4-3 7-8 7M9 14c2 .8 4 .8 6 0M9.500 18c1.700.7 3.300.7 5 0" />
      </svg>
      <h1>{messages.WELCOME_TITLE}</h1>
      {shell.hasFolder ? (
        <>
          <p>{messages.WELCOME}</p>
          <ul class="hints">
            {shell.isInEditor && (
              <li>
                <kbd>@</kbd> {messages.HINT_MENTIONS}
              </li>
            )}
            <li>
              <kbd>/</kbd> {messages.HINT_COMMANDS}
            </li>
            {shell.isInEditor && (
              <li>
                <kbd>{navigator.platform.startsWith("Mac") ? "⌘I" : messages.INLINE_KEY}</kbd> {messages.HINT_INLINE}
              </li>
            )}
          </ul>
          <button type="button" class="link" onClick={() => post({ type: "run", command: "hermes.history" })}>
            {messages.PAST_SESSIONS}
          </button>
        </>
      ) : (
        <>
          <p>{messages.WELCOME_NO_FOLDER}</p>
          <button
            type="button"
            class="button primary"
            onClick={() => post({ type: "run", command: "vscode.openFolder" })}
          >
            {messages.OPEN_FOLDER}
          </button>
        </>
      )}
    </div>
  );
}

function Untrusted() {
  return (
    <div class="trust" role="note">
      <i class="codicon codicon-shield" />
      <span>{messages.UNTRUSTED}</span>
      <button type="button" class="link" onClick={() => post({ type: "run", command: "workbench.trust.manage" })}>
        {messages.MANAGE_TRUST}
      </button>
    </div>
  );
}

function BannerRow({ banner }: { banner: Banner }) {
  const { fix } = banner;
  return (
    <div class={`banner ${banner.severity}`} role="alert">
      <i class={`codicon codicon-${banner.severity}`} />
      <span>{banner.text}</span>
      {fix && (
        <button type="button" class="button small" onClick={() => post({ type: "run", command: fix.command })}>
          {fix.title}
        </button>
      )}
    </div>
  );
}

/** Announce the state of the turn to screen readers, which can read the answer itself on demand. */
function Announcer({ session, roots }: { session: Session | undefined; roots: readonly string[] }) {
  const asking = session && openQuestion(session);
  const last = session?.items.at(-1);
  let words = "";
  if (asking) words = messages.announceQuestion(asking.type === "call" ? readable(asking, roots) : asking.text);
  else if (last?.type === "end" && last.reason !== WAITING)
    words = last.reason === "end_turn" ? messages.ANNOUNCE_DONE : (ENDS[last.reason] ?? unknownEnd(last.reason));
  else if (session && session.turns.length > 0) words = messages.ANNOUNCE_WORKING;
  return (
    <div class="unseen" role="status" aria-live="polite">
      {words}
    </div>
  );
}
