/** A file as text, with numbered lines. */

import { useEffect, useRef } from "preact/hooks";

import * as messages from "../messages/web";
import type { ShownFile } from "./dialogs";

export function FileView({ file }: { file: ShownFile }) {
  const box = useRef<HTMLDivElement>(null);
  const count = lineCount(file.text);
  const line = Math.min(file.line ?? 1, count);
  const show = () => {
    // The dialog around it opens after this.
    const frame = requestAnimationFrame(() =>
      box.current?.querySelector("mark")?.scrollIntoView({ block: "center", inline: "nearest" }),
    );
    return () => cancelAnimationFrame(frame);
  };
  useEffect(show, [file]);
  return (
    <>
      {file.isCut && <p class="work-note">{messages.FILE_CUT}</p>}
      <div ref={box} class="file" role="region" aria-label={messages.contentOf(file.name)} tabIndex={0}>
        <pre class="file-lines" aria-hidden="true">
          {Array.from({ length: count }, (_, at) => at + 1).join("\n")}
        </pre>
        <pre class="file-text">
          {file.text.slice(0, startOf(file.text, line))}
          {file.line ? <mark>{lineAt(file.text, line)}</mark> : lineAt(file.text, line)}
          {file.text.slice(startOf(file.text, line) + lineAt(file.text, line).length)}
        </pre>
      </div>
    </>
  );
}

function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Return where a line begins; lines count from 1. */
function startOf(text: string, line: number): number {
  let start = 0;
  for (let at = 1; at < line; at += 1) start = text.indexOf("\n", start) + 1;
  return start;
}

function lineAt(text: string, line: number): string {
  const start = startOf(text, line);
  const end = text.indexOf("\n", start);
  return text.slice(start, end < 0 ? text.length : end);
}
