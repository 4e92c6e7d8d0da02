/** The page of rules and context files: the files that are read, and the scanner's findings. */

import type { ContextListFile, ContextListResult } from "../../acp/own";
import * as messages from "../../messages/pages";
import { post } from "./bridge";

export function ContextPage({ list }: { list: ContextListResult }) {
  if (list.note) return <p>{list.note}</p>;
  return (
    <>
      <p>{list.files.length > 0 ? messages.CONTEXT_INTRODUCTION : messages.NO_CONTEXT}</p>
      {list.files.map((file) => (
        <File key={file.file} file={file} />
      ))}
      {list.refusals.map(({ path, file, why }) => (
        <section class="entry" aria-label={path} key={`${path} ${why}`}>
          <div class="entry-head">
            <i class="codicon codicon-circle-slash" aria-hidden="true" />
            <h2>{path}</h2>
            <span class="entry-quiet">{messages.NOT_READ}</span>
          </div>
          <p>{why}</p>
          <button type="button" class="link" onClick={() => post({ type: "open", path: file })}>
            {messages.openFile(path)}
          </button>
        </section>
      ))}
    </>
  );
}

function File({ file }: { file: ContextListFile }) {
  const facts = [
    messages.tokens(file.tokens),
    ...(file.cutBytes > 0 ? [messages.CUT] : []),
    ...(file.isUsed ? [] : [messages.NOT_APPROVED]),
    ...(file.isAllowed ? [messages.ALLOWED_AS_IS] : []),
  ];
  return (
    <section class="entry" aria-label={file.path}>
      <div class="entry-head">
        <i class={`codicon codicon-${file.findings.length > 0 ? "warning" : "book"}`} aria-hidden="true" />
        <h2>{file.path}</h2>
        <span class="entry-quiet">{facts.join(" · ")}</span>
      </div>
      {file.findings.length === 0 ? (
        <p class="entry-quiet">{messages.NO_FINDINGS}</p>
      ) : (
        <ul class="entry-list">
          {file.findings.map(({ severity, line, why, rule }) => (
            <li key={`${line} ${rule}`}>
              <button type="button" class="link" onClick={() => post({ type: "open", path: file.file, line })}>
                {messages.finding(severity, line, why, rule)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="entry-actions">
        <button type="button" class="link" onClick={() => post({ type: "open", path: file.file })}>
          {messages.openFile(file.path)}
        </button>
        <Approve file={file} />
      </div>
    </section>
  );
}

/** Approve a file that is not used because it appeared or changed during the session, or was rejected. */
function Approve({ file: { path, isUsed, digest } }: { file: ContextListFile }) {
  if (isUsed || digest === undefined) return null;
  return (
    <button
      type="button"
      class="button small"
      aria-label={messages.approveFile(path)}
      onClick={() => post({ type: "approve", items: [{ kind: "context_file", name: path, digest }] })}
    >
      {messages.APPROVE}
    </button>
  );
}
