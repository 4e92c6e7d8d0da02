/** One card in full: its text, question, result and actions. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { BoardListCard, BoardShowResult } from "../../acp/own";
import * as messages from "../../messages/board";
import { facts } from "../../messages/work";
import type { BoardAction, BoardShown } from "../../work/board";
import { CardActions } from "./card_actions";
import { CardForm } from "./card_form";
import { TextField } from "./fields";
import { PatchView } from "./patch_view";
import { QuestionView } from "./question_view";
import { timeOf } from "./times";

interface Props {
  readonly card: BoardListCard;
  readonly shown: BoardShown;
  readonly act: (action: BoardAction) => void;
}

export function CardView({ card, shown, act }: Props) {
  const { details, diff, done } = shown;
  const { id, title, state, folder, branch, sessionId, costUsd } = card;
  return (
    <article class="board-whole" aria-label={title}>
      <button type="button" class="link" onClick={() => act({ type: "look", id: "" })}>
        {messages.ALL_CARDS}
      </button>
      <h2>{title}</h2>
      <p class={`work-facts ${state}`}>
        {facts(
          messages.cardNumber(id),
          messages.STATES[state],
          messages.spentOf(costUsd, details?.maxCostUsd ?? null),
          messages.tokens(details?.tokens ?? 0),
          folder,
          branch,
        )}
      </p>
      {details?.questions.map((question) => (
        <QuestionView
          key={question.callId}
          question={question}
          cwd={folder}
          onAnswer={(isAllowed, text) => act({ type: "answer", id, callId: question.callId, isAllowed, text })}
        />
      ))}
      {details && <Contents card={card} details={details} />}
      <CardActions key={done} card={card} act={act} />
      <div class="work-actions">
        {sessionId && (
          <button
            type="button"
            class="button quiet"
            onClick={() => act({ type: "openSession", sessionId, cwd: folder })}
          >
            {messages.OPEN_SESSION}
          </button>
        )}
        {branch && (
          <button type="button" class="button quiet" onClick={() => act({ type: "diff" })}>
            {messages.SHOW_DIFF}
          </button>
        )}
      </div>
      {diff && <PatchView diff={diff} />}
      {details && <Rest key={`rest ${done}`} card={card} details={details} act={act} />}
    </article>
  );
}

/** The content of a card, without empty parts. */
function Contents({ card, details }: { card: BoardListCard; details: BoardShowResult }) {
  return (
    <>
      <Part title={messages.TEXT} text={details.text} />
      <Part title={messages.RESULT} text={details.result} />
      <Part title={messages.REASON} text={details.questions.length > 0 ? "" : card.reason} />
      <Part title={messages.NEXT_WORDS} text={details.words} />
      {details.comments.length > 0 && (
        <Section title={messages.COMMENTS}>
          {details.comments.map(({ by, at, text }, number) => (
            <div key={number} class="board-comment">
              <p class="work-facts">{messages.byAt(by, timeOf(at))}</p>
              <p class="work-whole">{text}</p>
            </div>
          ))}
        </Section>
      )}
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Part({ title, text }: { title: string; text: string }) {
  if (!text) return null;
  return (
    <Section title={title}>
      <p class="work-whole">{text}</p>
    </Section>
  );
}

type RestProps = Omit<Props, "shown"> & { readonly details: BoardShowResult };

/** The less frequently used parts: links, the form, the history. */
function Rest({ card, details, act }: RestProps) {
  const { id } = card;
  const [isEdited, setEdited] = useState(false);
  return (
    <>
      <Links id={id} details={details} act={act} />
      {isEdited ? (
        <CardForm
          folder={card.folder}
          card={{ listed: card, details }}
          onSave={({ to: _, blockedBy: __, ...wish }) => act({ type: "edit", wish: { ...wish, id } })}
          onLeave={() => setEdited(false)}
        />
      ) : (
        <div class="work-actions">
          <button type="button" class="button quiet" onClick={() => setEdited(true)}>
            {messages.EDIT}
          </button>
        </div>
      )}
      <details class="board-history">
        <summary>{messages.HISTORY}</summary>
        <ul class="work-history">
          {details.history.map(({ at, by, kind, state, text }, number) => (
            <li key={number}>
              {facts(timeOf(at), by, state ? messages.movedTo(stateName(state)) : kindName(kind))}
              {text && <span class="work-whole"> {text}</span>}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Links({ id, details, act }: { id: string; details: BoardShowResult; act: Props["act"] }) {
  const [blocker, setBlocker] = useState("");
  return (
    <Section title={messages.LINKS}>
      <ul class="board-links">
        {details.links.map(({ kind, cardId, title, isIncoming }) => (
          <li key={`${kind} ${cardId} ${isIncoming}`}>
            <button type="button" class="link" onClick={() => act({ type: "look", id: cardId })}>
              {messages.linkTo((isIncoming ? messages.INCOMING_KINDS : messages.LINK_KINDS)[kind], cardId, title)}
            </button>
            <button
              type="button"
              class="icon-button"
              aria-label={messages.unlink(cardId)}
              title={messages.UNLINK}
              onClick={() => {
                const [from, to] = isIncoming ? [cardId, id] : [id, cardId];
                act({ type: "link", id: from, kind, cardId: to, isRemoved: true });
              }}
            >
              <i class="codicon codicon-close" />
            </button>
          </li>
        ))}
      </ul>
      <form
        class="board-blocker"
        onSubmit={(event) => {
          event.preventDefault();
          act({ type: "link", id: blocker.replace(/^#/, "").trim(), kind: "blocks", cardId: id, isRemoved: false });
        }}
      >
        <TextField label={messages.BLOCKED_BY} value={blocker} mode="numeric" onText={setBlocker} />
        <button type="submit" class="button quiet" disabled={!blocker.trim()}>
          {messages.ADD_BLOCKER}
        </button>
      </form>
    </Section>
  );
}

function stateName(state: string): string {
  return (messages.STATES as Readonly<Record<string, string>>)[state] ?? state;
}

function kindName(kind: string): string {
  return messages.HISTORY_KINDS[kind] ?? kind;
}
