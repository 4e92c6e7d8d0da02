/** A file change as lines, with the verdict on each hunk. */

import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";

import { describe, hunksOf, linesOf, tally, type Hunk } from "../edits/hunks";
import { changedWords, type WordPlace } from "../edits/words";
import * as messages from "../messages/conversation";
import type { FileDiff, Verdict } from "../state/terms";
import { post } from "./bridge";
import { FileName } from "./file_name";
import { shortened } from "./paths";

interface Props {
  readonly sessionId: string;
  readonly callId: string;
  readonly diff: FileDiff;
  readonly verdicts: readonly Verdict[];
  /** Whether the change was made, or still may be. */
  readonly isMade: boolean;
  readonly canJudge: boolean;
  readonly roots: readonly string[];
  /** Whether it is shown in full, on its own. */
  readonly isWhole?: boolean;
}

const AROUND = 2;
const MAX_LINES = 400;

export const Diff = memo(({ sessionId, callId, diff, verdicts, isMade, canJudge, roots, isWhole = false }: Props) => {
  const hunks = useMemo(() => hunksOf(diff.oldText ?? "", diff.newText), [diff]);
  const before = useMemo(() => shownLines(diff.oldText ?? ""), [diff]);
  const judge = (hunk: number, verdict: Verdict) =>
    post({ type: "judge", sessionId, callId, path: diff.path, hunk, verdict });
  let left = isWhole ? Infinity : MAX_LINES;
  return (
    <div class="diff">
      <Head
        diff={diff}
        hunks={hunks}
        roots={roots}
        isThere={diff.oldText !== null || !canJudge}
        onCompare={isWhole ? undefined : () => post({ type: "compare", sessionId, callId, path: diff.path })}
      />
      {hunks.map((hunk, number) => {
        const room = left;
        left -= hunk.oldLines.length + hunk.newLines.length;
        if (room <= 0) return null;
        return (
          <HunkView
            key={number}
            hunk={hunk}
            before={before}
            shownUntil={endOf(hunks[number - 1])}
            most={room}
            verdict={verdicts[number] ?? "open"}
            isMade={isMade}
            onJudge={canJudge ? (verdict) => judge(number, verdict) : undefined}
          />
        );
      })}
      {left < 0 && <div class="diff-rest">{messages.DIFF_CUT}</div>}
    </div>
  );
});

interface HeadProps {
  readonly diff: FileDiff;
  readonly hunks: readonly Hunk[];
  readonly roots: readonly string[];
  /** Whether there is a file to open. A new file that is not approved yet can only be viewed. */
  readonly isThere: boolean;
  readonly onCompare: (() => void) | undefined;
}

function Head({ diff, hunks, roots, isThere, onCompare }: HeadProps) {
  const { added, removed } = tally(hunks);
  return (
    <div class="diff-head">
      <button
        type="button"
        class="link file"
        title={diff.path}
        onClick={() => (isThere ? post({ type: "open", path: diff.path }) : onCompare?.())}
      >
        <FileName path={diff.path} roots={roots} />
      </button>
      {added > 0 && (
        <span class="count-added" aria-label={messages.linesAddedLabel(added)}>
          +{added}
        </span>
      )}
      {removed > 0 && (
        <span class="count-removed" aria-label={messages.linesRemovedLabel(removed)}>
          −{removed}
        </span>
      )}
      <span class="spring" />
      {onCompare && (
        <button
          type="button"
          class="icon-button"
          title={messages.COMPARE}
          aria-label={messages.compareFile(shortened(diff.path, roots))}
          onClick={onCompare}
        >
          <i class="codicon codicon-diff" />
        </button>
      )}
    </div>
  );
}

/** Return the lines as editors count them: a final line feed does not start another line. */
function shownLines(text: string): readonly string[] {
  const lines = linesOf(text);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

interface HunkProps {
  readonly hunk: Hunk;
  readonly before: readonly string[];
  /** The lines before this one (counted from 0) are already shown above. */
  readonly shownUntil: number;
  readonly most: number;
  readonly verdict: Verdict;
  readonly isMade: boolean;
  readonly onJudge: ((verdict: Verdict) => void) | undefined;
}

/** Return the line up to which a hunk shows the old text. */
function endOf(hunk: Hunk | undefined): number {
  return hunk ? hunk.oldStart + hunk.oldLines.length + AROUND : 0;
}

function HunkView({ hunk, before, shownUntil, most, verdict, isMade, onJudge }: HunkProps) {
  const head = before.slice(Math.min(hunk.oldStart, Math.max(shownUntil, hunk.oldStart - AROUND)), hunk.oldStart);
  const behind = hunk.oldStart + hunk.oldLines.length;
  const tail = before.slice(behind, behind + AROUND);
  const shift = hunk.newStart - hunk.oldStart;
  const words = useMemo(() => changedWords(hunk), [hunk]);
  return (
    <div
      class={`hunk ${verdict === "open" && !isMade ? "rejected" : verdict}`}
      role="group"
      aria-label={messages.hunkLabel(describe(hunk), messages.VERDICTS[verdict])}
    >
      {(onJudge || verdict !== "open") && (
        <div class="hunk-head">
          <span>{describe(hunk)}</span>
          <span class="spring" />
          {onJudge ? (
            <Verdicts verdict={verdict} onJudge={onJudge} />
          ) : (
            <span class="hunk-verdict">{messages.VERDICTS[verdict]}</span>
          )}
        </div>
      )}
      <pre class="lines" tabIndex={0}>
        {head.map((line, at) => (
          <Line key={`h${at}`} sign=" " number={hunk.newStart - head.length + at + 1} text={line} />
        ))}
        {hunk.oldLines.slice(0, most).map((line, at) => (
          <Line key={`o${at}`} sign="-" number={hunk.oldStart + at + 1} text={line} marks={placesIn(words.gone, at)} />
        ))}
        {hunk.newLines.slice(0, most).map((line, at) => (
          <Line key={`n${at}`} sign="+" number={hunk.newStart + at + 1} text={line} marks={placesIn(words.come, at)} />
        ))}
        {tail.map((line, at) => (
          <Line
            key={`t${at}`}
            sign=" "
            number={behind + shift + hunk.newLines.length - hunk.oldLines.length + at + 1}
            text={line}
          />
        ))}
      </pre>
    </div>
  );
}

function Verdicts({ verdict, onJudge }: { verdict: Verdict; onJudge: (verdict: Verdict) => void }) {
  const toggle = (wanted: Verdict) => onJudge(verdict === wanted ? "open" : wanted);
  return (
    <>
      <button
        type="button"
        class="verdict accept"
        aria-label={messages.ACCEPT_HUNK}
        title={messages.ACCEPT_HUNK}
        aria-pressed={verdict === "accepted"}
        onClick={() => toggle("accepted")}
      >
        <i class="codicon codicon-check" /> <span class="verdict-word">{messages.ACCEPT}</span>
      </button>
      <button
        type="button"
        class="verdict reject"
        aria-label={messages.REJECT_HUNK}
        title={messages.REJECT_HUNK}
        aria-pressed={verdict === "rejected"}
        onClick={() => toggle("rejected")}
      >
        <i class="codicon codicon-close" /> <span class="verdict-word">{messages.REJECT}</span>
      </button>
    </>
  );
}

const CLASSES = { " ": "same", "-": "gone", "+": "come" } as const;

const placesIn = (places: readonly WordPlace[], at: number) => places.filter(({ line }) => line === at);

/** Return a line with its places marked. */
function marked(text: string, places: readonly WordPlace[]) {
  const ends = places.map(({ to }) => to);
  return [
    ...places.flatMap(({ from, to }, at) => [
      text.slice(ends[at - 1] ?? 0, from),
      <mark key={from}>{text.slice(from, to)}</mark>,
    ]),
    text.slice(ends.at(-1) ?? 0),
  ];
}

interface LineProps {
  readonly sign: keyof typeof CLASSES;
  readonly number: number;
  readonly text: string;
  /** The changed words in it. */
  readonly marks?: readonly WordPlace[];
}

function Line({ sign, number, text, marks = [] }: LineProps) {
  return (
    <div class={`line ${CLASSES[sign]}`}>
      <span class="line-number">{number}</span>
      <span class="line-sign">{sign}</span>
      <span class="line-text">{marks.length > 0 ? marked(text, marks) : text || " "}</span>
    </div>
  );
}
