/**
 * A virtual list of rows with any height. Only visible rows are in the page, and it stays at its end while it grows.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";

import { QUESTION_ABOVE, QUESTION_BELOW, SCROLL_TO_END } from "../messages/panel";
import { Heights, inSight, type Anchor, type Sight } from "./sight";

interface Props {
  readonly count: number;
  readonly keyOf: (at: number) => string;
  readonly render: (at: number) => ComponentChildren;
  readonly label: string;
  /** The latest row added by the user. When it changes, the list scrolls to its end. */
  readonly follows: string;
  /** Rows that wait for the user, the first one first. */
  readonly waiting: readonly number[];
  /** Counts how often the user asked to see them. */
  readonly toWaiting: number;
}

const NEAR_END_PX = 32;
/** The maximum attempts to reach a row whose position is only estimated. */
const MAX_TRIES = 8;
/** Before the box was measured. */
const USUAL_HEIGHT_PX = 800;

/** State between two renders: the position, and the measured rows. */
class Place {
  readonly heights = new Heights();
  readonly observer: ResizeObserver;
  box: HTMLDivElement | null = null;
  isAtEnd = true;
  height = USUAL_HEIGHT_PX;
  /** The first visible row, which stays in place whatever the heights of the rows before it. */
  anchor: Anchor = { at: 0, offset: 0 };
  /** The scroll position when it was last read, and how far the list could be scrolled. */
  private stood = { top: 0, room: 0 };
  /** The direction of the first waiting row that is not visible. */
  unseen: "" | "above" | "below" = "";
  private goal: { readonly at: number; readonly tries: number } | undefined;
  private waiting: readonly number[] = [];
  private shown: Sight | undefined;

  constructor(private readonly redraw: () => void) {
    this.observer = new ResizeObserver((entries) => this.measure(entries));
  }

  /** Return the rows to draw. */
  look(): Sight {
    this.shown = inSight(this.heights, this);
    return this.shown;
  }

  /** Handle scrolling by the user or by this class: redraw if other rows are visible, or the end was left or reached. */
  onScroll(): void {
    if (!this.box) return;
    const { scrollTop, scrollHeight, clientHeight } = this.box;
    const wasAtEnd = this.isAtEnd;
    // If the rows or the box have changed their size, nobody has scrolled: only scrolling up leaves the end.
    const isStill = wasAtEnd && (scrollTop >= this.stood.top || scrollHeight - clientHeight !== this.stood.room);
    this.isAtEnd = isStill || scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    this.height = clientHeight;
    this.remember();
    if (isStill) this.follow();
    this.anchor = this.findAnchor();
    if (wasAtEnd !== this.isAtEnd || !this.isRight() || this.findUnseen()) this.redraw();
  }

  /** Return the first visible row, or the estimated one if no visible row is in the page. */
  private findAnchor(): Anchor {
    const box = this.box?.getBoundingClientRect();
    if (!this.box || !box) return this.anchor;
    for (const row of this.box.querySelectorAll<HTMLElement>(".row")) {
      const { top, bottom } = row.getBoundingClientRect();
      if (bottom > box.top && top < box.bottom) return { at: Number(row.ariaPosInSet) - 1, offset: top - box.top };
    }
    return this.heights.anchorAt(this.box.scrollTop);
  }

  /** Follow the list's end from now on. */
  goToEnd(): void {
    this.isAtEnd = true;
    this.follow();
    this.redraw();
  }

  /** Scroll to the first waiting row that is not visible. */
  goToWaiting(): void {
    const at = this.waiting.find((each) => this.sideOf(each) !== "") ?? this.waiting[0];
    this.goal = at === undefined ? undefined : { at, tries: MAX_TRIES };
    this.approach();
  }

  /** Update the waiting rows, once everything is drawn. */
  settle(waiting: readonly number[]): void {
    this.waiting = waiting;
    if (this.goal === undefined) this.stay();
    else this.approach();
    if (this.findUnseen()) this.redraw();
  }

  /** Keep the position: at the end, or at the visible row. */
  private stay(): void {
    if (this.isAtEnd || !this.box || !this.shown) return this.follow();
    const row = this.rowAt(this.anchor.at)?.getBoundingClientRect();
    if (!row) return;
    const moved = row.top - this.box.getBoundingClientRect().top - this.anchor.offset;
    if (Math.abs(moved) >= 1) this.box.scrollTop += moved;
    this.remember();
  }

  /** Scroll towards the goal. A row that is not in the page is first drawn at its estimated position. */
  private approach(): void {
    if (!this.goal || !this.box) return;
    const { at, tries } = this.goal;
    const row = this.rowAt(at);
    this.isAtEnd = false;
    if (row) {
      // The answers are at the end of a card.
      row.scrollIntoView({ block: row.offsetHeight > this.height ? "end" : "nearest" });
      this.goal = undefined;
    } else {
      this.goal = tries > 1 ? { at, tries: tries - 1 } : undefined;
      this.box.scrollTop = this.heights.sum(0, at);
    }
    this.onScroll();
  }

  private rowAt(at: number): HTMLElement | null {
    return this.box?.querySelector<HTMLElement>(`[data-key="${CSS.escape(this.heights.keyAt(at))}"]`) ?? null;
  }

  /** Return on which side of the viewport the end of a row is. */
  private sideOf(at: number): "" | "above" | "below" {
    const box = this.box?.getBoundingClientRect();
    if (!box) return "";
    const row = this.rowAt(at)?.getBoundingClientRect();
    if (!row) return this.shown && at < this.shown.first ? "above" : "below";
    if (row.bottom < box.top + NEAR_END_PX) return "above";
    return row.bottom > box.bottom + NEAR_END_PX ? "below" : "";
  }

  /** Recheck for an invisible waiting row, and return whether that changed. */
  private findUnseen(): boolean {
    const sides = this.waiting.map((at) => this.sideOf(at));
    const unseen = sides.find((side) => side !== "") ?? "";
    if (unseen === this.unseen) return false;
    this.unseen = unseen;
    return true;
  }

  /** Stay at the end. */
  follow(): void {
    if (!this.isAtEnd || !this.box) return;
    this.box.scrollTop = this.box.scrollHeight;
    this.remember();
  }

  private remember(): void {
    if (this.box) this.stood = { top: this.box.scrollTop, room: this.box.scrollHeight - this.box.clientHeight };
  }

  private measure(entries: readonly ResizeObserverEntry[]): void {
    for (const { target, borderBoxSize } of entries) {
      const height = borderBoxSize[0]?.blockSize ?? 0;
      if (target === this.box) this.height = height;
      else if (target.isConnected) this.heights.note((target as HTMLElement).dataset["key"] ?? "", height);
    }
    if (this.isRight()) this.stay();
    else this.redraw();
    if (this.findUnseen()) this.redraw();
  }

  /** Whether every visible row is in the page. A few additional rows do no harm. */
  private isRight(): boolean {
    if (!this.shown) return false;
    const wanted = inSight(this.heights, this, 0);
    return wanted.first >= this.shown.first && wanted.end <= this.shown.end;
  }
}

export function List({ count, keyOf, render, label, follows, waiting, toWaiting }: Props) {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const place = useMemo(() => new Place(() => redraw(undefined)), []);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place.box = box.current;
    place.settle(waiting);
  });
  useEffect(() => place.goToEnd(), [follows]);
  useEffect(() => {
    if (toWaiting > 0) place.goToWaiting();
  }, [toWaiting]);
  useEffect(() => {
    if (box.current) place.observer.observe(box.current);
    return () => place.observer.disconnect();
  }, [place]);

  place.heights.follow(count, keyOf);
  const shown = place.look();
  const rows = Array.from({ length: shown.end - shown.first }, (_, offset) => shown.first + offset);
  return (
    <div class="list-frame">
      <div class="list" ref={box} onScroll={() => place.onScroll()} role="feed" aria-label={label} tabIndex={0}>
        <div style={{ height: `${shown.before}px` }} />
        {rows.map((at) => (
          <Row key={place.heights.keyAt(at)} id={place.heights.keyAt(at)} at={at} observer={place.observer}>
            {render(at)}
          </Row>
        ))}
        <div style={{ height: `${shown.after}px` }} />
      </div>
      {place.unseen && (
        <button type="button" class={`asking-strip ${place.unseen}`} onClick={() => place.goToWaiting()}>
          <i class={`codicon codicon-arrow-${place.unseen === "above" ? "up" : "down"}`} />{" "}
          <span>{place.unseen === "above" ? QUESTION_ABOVE : QUESTION_BELOW}</span>
        </button>
      )}
      {!place.isAtEnd && count > 0 && (
        <button
          type="button"
          class="to-end icon-button"
          aria-label={SCROLL_TO_END}
          title={SCROLL_TO_END}
          onClick={() => box.current?.scrollTo({ top: box.current.scrollHeight })}
        >
          <i class="codicon codicon-arrow-down" />
        </button>
      )}
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly at: number;
  readonly observer: ResizeObserver;
  readonly children: ComponentChildren;
}

function Row({ id, at, observer, children }: RowProps) {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = row.current;
    if (!element) return undefined;
    observer.observe(element);
    return () => observer.unobserve(element);
  }, [observer]);
  // The total is unknown while the agent is running.
  return (
    <div class="row" role="article" aria-posinset={at + 1} aria-setsize={-1} data-key={id} ref={row}>
      {children}
    </div>
  );
}
