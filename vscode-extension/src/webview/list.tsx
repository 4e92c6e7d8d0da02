/**
 * A list of rows of any height of which only those in sight are in the page; it stays at its end while it grows.
 *
 * Knows: heights once they were seen, the place in sight. Does not know: what a row shows.
 */

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";

interface Props {
  readonly keys: readonly string[];
  readonly render: (at: number) => ComponentChildren;
  readonly label: string;
}

const GUESS_PX = 72;
const SPARE_PX = 800;
const NEAR_END_PX = 32;

export function List({ keys, render, label }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const isAtEnd = useRef(true);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const observer = useMemo(() => new ResizeObserver((entries) => measure(entries)), []);
  useEffect(() => () => observer.disconnect(), [observer]);

  const measure = useCallback((entries: readonly ResizeObserverEntry[]) => {
    let isChanged = false;
    for (const { target } of entries) {
      const key = (target as HTMLElement).dataset["key"] ?? "";
      const height = (target as HTMLElement).offsetHeight;
      if (!target.isConnected || heights.current.get(key) === height) continue;
      heights.current.set(key, height);
      isChanged = true;
    }
    if (isChanged) redraw(undefined);
  }, []);

  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current ?? { scrollTop: 0, scrollHeight: 0, clientHeight: 0 };
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    redraw(undefined);
  };
  useLayoutEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  useEffect(() => {
    const watcher = new ResizeObserver(() => redraw(undefined));
    if (box.current) watcher.observe(box.current);
    return () => watcher.disconnect();
  }, []);

  const shown = inSight(keys, heights.current, box.current, isAtEnd.current);
  return (
    <div class="list" ref={box} onScroll={onScroll} role="feed" aria-label={label} tabIndex={0}>
      <div style={{ height: `${shown.before}px` }} />
      {keys.slice(shown.first, shown.end).map((key, offset) => (
        <Row key={key} id={key} observer={observer}>
          {render(shown.first + offset)}
        </Row>
      ))}
      <div style={{ height: `${shown.after}px` }} />
      {!isAtEnd.current && keys.length > 0 && (
        <button
          type="button"
          class="to-end icon-button"
          aria-label="To the end"
          title="To the end"
          onClick={() => toEnd(box.current)}
        >
          <i class="codicon codicon-arrow-down" />
        </button>
      )}
    </div>
  );
}

function toEnd(box: HTMLDivElement | null): void {
  box?.scrollTo({ top: box.scrollHeight });
}

function Row({ id, observer, children }: { id: string; observer: ResizeObserver; children: ComponentChildren }) {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = row.current;
    if (!element) return undefined;
    observer.observe(element);
    return () => observer.unobserve(element);
  }, [observer]);
  return (
    <div class="row" data-key={id} ref={row}>
      {children}
    </div>
  );
}

interface Sight {
  readonly first: number;
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/** Tell which rows to draw, and how much room those before and behind them take. */
export function inSight(
  keys: readonly string[],
  heights: ReadonlyMap<string, number>,
  box: Pick<HTMLElement, "scrollTop" | "clientHeight"> | null,
  isAtEnd: boolean,
): Sight {
  const sizes = keys.map((key) => heights.get(key) ?? GUESS_PX);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const height = box?.clientHeight || 800;
  const top = isAtEnd ? Math.max(0, total - height) : (box?.scrollTop ?? 0);
  let first = 0;
  let before = 0;
  while (first < keys.length && before + (sizes[first] ?? 0) < top - SPARE_PX) before += sizes[first++] ?? 0;
  let end = first;
  let bottom = before;
  while (end < keys.length && bottom < top + height + SPARE_PX) bottom += sizes[end++] ?? 0;
  return { first, end, before, after: total - bottom };
}
