/** A patch, as text with its lines in colour. */

import type { BoardDiffResult } from "../../acp/own";
import * as messages from "../../messages/board";

export function PatchView({ diff }: { diff: BoardDiffResult }) {
  const { patch, isCut, note } = diff;
  if (note || !patch) return <p class="work-note">{note || messages.NO_CHANGES}</p>;
  return (
    <>
      <pre class="board-patch" tabIndex={0} role="region" aria-label={messages.DIFF_OF}>
        {patch.split("\n").map((line, number) => (
          <span key={number} class={kindOf(line)}>
            {line}
            {"\n"}
          </span>
        ))}
      </pre>
      {isCut && <p class="work-note">{messages.DIFF_CUT}</p>}
    </>
  );
}

function kindOf(line: string): string {
  if (/^(diff |index |--- |\+\+\+ |@@ )/.test(line)) return "head";
  if (line.startsWith("+")) return "come";
  return line.startsWith("-") ? "go" : "";
}
