/** Earlier sessions: search, reopen, fork, rename, delete. */

import { useEffect, useState } from "preact/hooks";

import * as messages from "../messages/panel";
import type { Passage, PastSession, Shell } from "../panel/protocol";
import { post } from "./bridge";
import { split } from "./paths";
import { whenOf } from "./past_times";

interface Props {
  readonly shell: Shell;
  readonly past: readonly PastSession[];
  readonly cursor: string | undefined;
  readonly passages: { readonly query: string; readonly found: readonly Passage[] };
  readonly onClose: () => void;
}

const SEARCH_MS = 200;

export function Past({ shell, past, cursor, passages, onClose }: Props) {
  const [query, setQuery] = useState("");
  const asked = query.trim();
  useEffect(() => post({ type: "listPast" }), []);
  const search = () => {
    if (!shell.canSearch || !asked) return undefined;
    const timer = setTimeout(() => post({ type: "searchPast", query: asked }), SEARCH_MS);
    return () => clearTimeout(timer);
  };
  useEffect(search, [asked, shell.canSearch]);
  const isSearched = asked !== "" && passages.query === asked;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = past.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
  return (
    <div class="past" role="region" aria-label={messages.PAST_SESSIONS}>
      <div class="past-head">
        <button type="button" class="icon-button" aria-label={messages.BACK} title={messages.BACK} onClick={onClose}>
          <i class="codicon codicon-arrow-left" />
        </button>
        <input
          class="past-search"
          type="search"
          placeholder={messages.SEARCH_SESSIONS}
          aria-label={messages.SEARCH_SESSIONS}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </div>
      <div class="past-list">
        {found.map((session) => (
          <PastRow key={session.id} session={session} shell={shell} onClose={onClose} />
        ))}
        {found.length === 0 && !asked && <div class="empty-note">{messages.NO_SESSIONS}</div>}
        {found.length === 0 && asked && !shell.canSearch && <div class="empty-note">{messages.NO_TITLE_MATCHES}</div>}
        {isSearched && <Passages found={passages.found} isAlone={found.length === 0} onClose={onClose} />}
        {cursor && (
          <button type="button" class="button quiet" onClick={() => post({ type: "listPast", cursor })}>
            {messages.OLDER_SESSIONS}
          </button>
        )}
      </div>
    </div>
  );
}

interface PassagesProps {
  readonly found: readonly Passage[];
  readonly isAlone: boolean;
  readonly onClose: () => void;
}

function Passages({ found, isAlone, onClose }: PassagesProps) {
  if (found.length === 0) return isAlone ? <div class="empty-note">{messages.NO_TEXT_MATCHES}</div> : null;
  return (
    <>
      <h2 class="past-heading">{messages.FOUND_IN_TEXT}</h2>
      {found.map((passage) => (
        <PassageRow key={`${passage.id} ${passage.position}`} passage={passage} onClose={onClose} />
      ))}
    </>
  );
}

/** A passage with the search words highlighted. A click opens the session. */
function PassageRow({ passage, onClose }: { passage: Passage; onClose: () => void }) {
  const { id, cwd, title, text, marks, speaker, updatedAt } = passage;
  let at = 0;
  const pieces = marks.flatMap(([from, to]) => {
    const piece = [text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>];
    at = to;
    return piece;
  });
  return (
    <div class="past-row">
      <button
        type="button"
        class="past-open past-passage"
        onClick={() => {
          post({ type: "openPast", sessionId: id, cwd });
          onClose();
        }}
      >
        <span class="past-said">
          {pieces}
          {text.slice(at)}
        </span>
        <span class="past-when">{messages.passageSource(messages.SPEAKERS[speaker], title, whenOf(updatedAt))}</span>
      </button>
    </div>
  );
}

function PastRow({ session, shell, onClose }: { session: PastSession; shell: Shell; onClose: () => void }) {
  const [isRenaming, setRenaming] = useState(false);
  const title = session.title || messages.NEW_SESSION;
  const { id, cwd } = session;
  if (isRenaming) {
    const rename = (to: string) => {
      setRenaming(false);
      if (to.trim()) post({ type: "rename", sessionId: id, title: to.trim() });
      post({ type: "listPast" });
    };
    return (
      <input
        class="past-rename"
        aria-label={messages.NEW_TITLE}
        defaultValue={session.title}
        ref={(element) => element?.focus()}
        onBlur={() => setRenaming(false)}
        onKeyDown={(event) => {
          if (event.key === "Enter") rename(event.currentTarget.value);
          if (event.key === "Escape") setRenaming(false);
        }}
      />
    );
  }
  return (
    <div class="past-row">
      <button
        type="button"
        class="past-open"
        onClick={() => {
          post({ type: "openPast", sessionId: id, cwd });
          onClose();
        }}
      >
        <span class="past-title">{title}</span>
        {!shell.isInEditor && <span class="past-folder">{split(cwd).name}</span>}
        <span class="past-when">{whenOf(session.updatedAt)}</span>
      </button>
      {shell.canRename && <Small icon="edit" label={messages.renameSession(title)} onClick={() => setRenaming(true)} />}
      {shell.canFork && (
        <Small
          icon="repo-forked"
          label={messages.forkSession(title)}
          onClick={() => {
            post({ type: "fork", sessionId: id, cwd });
            onClose();
          }}
        />
      )}
      <Small
        icon="trash"
        label={messages.deleteSession(title)}
        onClick={() => {
          post({ type: "delete", sessionId: id, cwd });
          post({ type: "listPast" });
        }}
      />
    </div>
  );
}

function Small({ icon, label, onClick }: { icon: string; label: string; onClick: () => void }) {
  return (
    <button type="button" class="icon-button past-action" aria-label={label} title={label} onClick={onClick}>
      <i class={`codicon codicon-${icon}`} />
    </button>
  );
}
