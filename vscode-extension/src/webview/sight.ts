/** Virtual scrolling: which rows of a long list are visible, and how much space the others take. */

export interface Sight {
  readonly first: number;
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/** A row, and the offset of its top from the top of the viewport. */
export interface Anchor {
  readonly at: number;
  readonly offset: number;
}

/** The visible part of the list: the row around which it is, its height, and whether it follows the end. */
export interface Pane {
  readonly anchor: Anchor;
  readonly height: number;
  readonly isAtEnd: boolean;
}

const FIRST_GUESS_PX = 72;
const SPARE_PX = 800;
/** At the end, rows only pass by, so rows above the viewport are soon removed again. */
const SPARE_AT_END_PX = 160;

/** The heights of rows by key. Rows are appended. A different list is measured again. */
export class Heights {
  private keys: string[] = [];
  private readonly places = new Map<string, number>();
  /**
   * The heights of all rows ever measured, by key, so that rows that survive a change of the list are not measured
   * again.
   */
  private readonly known = new Map<string, number>();
  /** By index; undefined if the row was not measured. */
  private seen: (number | undefined)[] = [];
  private seenSum = 0;
  private seenCount = 0;
  /** Prefix sums of measured heights and their counts, as far as they are valid. */
  private sums = [0];
  private counts = [0];
  private summed = 0;

  /** Update the list to `count` rows. Only the keys of new rows are requested. */
  follow(count: number, keyOf: (at: number) => string): void {
    const kept = this.keys.length;
    const goesOn =
      kept <= count && (kept === 0 || (keyOf(0) === this.keys[0] && keyOf(kept - 1) === this.keys[kept - 1]));
    if (!goesOn) this.forget();
    for (let at = this.keys.length; at < count; at += 1) {
      const key = keyOf(at);
      this.keys.push(key);
      this.places.set(key, at);
      const height = this.known.get(key);
      if (height !== undefined) this.see(at, height);
    }
  }

  private forget(): void {
    this.keys = [];
    this.places.clear();
    this.seen = [];
    this.seenSum = this.seenCount = this.summed = 0;
  }

  get count(): number {
    return this.keys.length;
  }

  keyAt(at: number): string {
    return this.keys[at] ?? "";
  }

  /** Record the height of a row. */
  note(key: string, height: number): void {
    this.known.set(key, height);
    const at = this.places.get(key);
    if (at !== undefined && this.seen[at] !== height) this.see(at, height);
  }

  private see(at: number, height: number): void {
    if (this.seen[at] === undefined) this.seenCount += 1;
    this.seenSum += height - (this.seen[at] ?? 0);
    this.seen[at] = height;
    this.summed = Math.min(this.summed, at);
  }

  of(at: number): number {
    return this.seen[at] ?? this.guess;
  }

  /** The estimated height of unmeasured rows: the average of the others. */
  private get guess(): number {
    return this.seenCount === 0 ? FIRST_GUESS_PX : this.seenSum / this.seenCount;
  }

  /** Return the height of rows that are not in the page. */
  sum(from: number, to: number): number {
    return this.sumBefore(to) - this.sumBefore(from);
  }

  /** Return the row at an offset in the whole list, as far as heights are known. */
  anchorAt(top: number): Anchor {
    let at = 0;
    let before = 0;
    while (at < this.count - 1 && before + this.of(at) <= top) before += this.of(at++);
    return { at, offset: before - top };
  }

  private sumBefore(end: number): number {
    for (; this.summed < end; this.summed += 1) {
      const height = this.seen[this.summed];
      this.sums[this.summed + 1] = (this.sums[this.summed] ?? 0) + (height ?? 0);
      this.counts[this.summed + 1] = (this.counts[this.summed] ?? 0) + (height === undefined ? 0 : 1);
    }
    return (this.sums[end] ?? 0) + (end - (this.counts[end] ?? 0)) * this.guess;
  }
}

/** Return the rows to draw, and the height of those before and after them. */
export function inSight(heights: Heights, { anchor, height, isAtEnd }: Pane, sparePx = SPARE_PX): Sight {
  const { count } = heights;
  if (isAtEnd) {
    let first = count;
    for (let room = height + Math.min(sparePx, SPARE_AT_END_PX); first > 0 && room > 0; room -= heights.of(first))
      first -= 1;
    return { first, end: count, before: heights.sum(0, first), after: 0 };
  }
  const at = Math.min(anchor.at, count - 1);
  let first = Math.max(at, 0);
  for (let room = anchor.offset + sparePx; first > 0 && room > 0; room -= heights.of(first)) first -= 1;
  let end = Math.max(at, 0);
  for (let room = height - anchor.offset + sparePx; end < count && room > 0; end += 1) room -= heights.of(end);
  return { first, end, before: heights.sum(0, first), after: heights.sum(end, count) };
}
