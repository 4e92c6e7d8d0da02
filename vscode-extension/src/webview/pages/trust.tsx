/** The page of trust: what the folder contains that could run, and the permanent answers given in it. */

import type { TrustListResult } from "../../acp/own";
import * as messages from "../../messages/pages";
import { post } from "./bridge";

export function TrustPage({ list }: { list: TrustListResult }) {
  const { items, grants } = list;
  return (
    <>
      {list.isDistrusted && (
        <p class="page-error">
          {messages.EDITOR_DISTRUSTS}{" "}
          <button type="button" class="link" onClick={() => post({ type: "run", command: "workbench.trust.manage" })}>
            {messages.MANAGE_TRUST}
          </button>
        </p>
      )}
      {list.notices.map((notice) => (
        <p class="page-error">{notice}</p>
      ))}
      <p>{items.length > 0 ? messages.TRUST_INTRODUCTION : messages.NOTHING_TO_TRUST}</p>
      {items.map(({ kind, name, about, isTrusted, digest }) => (
        <section class="entry" key={`${kind} ${name}`} aria-label={name}>
          <div class="entry-head">
            <i class={`codicon codicon-${isTrusted ? "pass" : "shield"}`} aria-hidden="true" />
            <h2>{messages.trustItem(kind, name)}</h2>
          </div>
          <code class="entry-code">{about}</code>
          <p class="entry-quiet">{isTrusted ? messages.TRUSTED : messages.WHAT_WOULD_RUN}</p>
          {!isTrusted && digest !== undefined && !list.isDistrusted && (
            <button
              type="button"
              class="button small"
              aria-label={messages.trustThis(messages.trustItem(kind, name))}
              onClick={() => post({ type: "approve", items: [{ kind, name, digest }] })}
            >
              {messages.TRUST_THIS}
            </button>
          )}
        </section>
      ))}
      {items.some(({ isTrusted }) => isTrusted) && (
        <button type="button" class="button" onClick={() => post({ type: "revoke", what: "items" })}>
          {messages.REVOKE}
        </button>
      )}
      <h2 class="page-part">{messages.ANSWERS_TITLE}</h2>
      {grants.length === 0 && <p>{messages.NO_ANSWERS}</p>}
      <ul class="entry-list">
        {grants.map(({ about, isAllowed }) => (
          <li key={about}>
            {isAllowed ? messages.ALWAYS_ALLOWED : messages.ALWAYS_REJECTED}: <code>{about}</code>
          </li>
        ))}
      </ul>
      {grants.length > 0 && (
        <button type="button" class="button" onClick={() => post({ type: "revoke", what: "grants" })}>
          {messages.FORGET}
        </button>
      )}
    </>
  );
}
