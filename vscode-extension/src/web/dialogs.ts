/**
 * What is shown above the page: a question, a folder to choose, a change, a word that passes.
 *
 * Knows: what is open and who waits for it. Does not know: how it is drawn.
 */

import type { Dialogs } from "../panel/host";
import type { FileDiff } from "../state/terms";
import { Observable } from "../state/observable";
import type { WorkPage } from "../work/work";

/** A file on the server, as it was when it was opened; `line` is the one that was asked for. */
export interface ShownFile {
  readonly path: string;
  readonly name: string;
  readonly text: string;
  readonly isCut: boolean;
  readonly line: number | undefined;
}

export type Overlay =
  | { readonly type: "confirm"; readonly question: string; readonly word: string; settle(isYes: boolean): void }
  | { readonly type: "folder" }
  | { readonly type: "work"; readonly page: WorkPage }
  | { readonly type: "file"; readonly file: ShownFile }
  | { readonly type: "diffs"; readonly title: string; readonly diffs: readonly FileDiff[] };

const TOAST_MS = 4000;
/** What is done sooner needs no word. */
const PATIENCE_MS = 400;

export class Overlays implements Dialogs {
  readonly open = new Observable<Overlay | undefined>(undefined);
  readonly toast = new Observable("");
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Close what is open; a question that is closed is answered with no. */
  close(): void {
    const open = this.open.value;
    this.open.set(undefined);
    if (open?.type === "confirm") open.settle(false);
  }

  chooseFolder(): void {
    this.close();
    this.open.set({ type: "folder" });
  }

  showWork(page: WorkPage): void {
    this.close();
    this.open.set({ type: "work", page });
  }

  confirm(question: string, word: string): Promise<boolean> {
    this.close();
    return new Promise((resolve) => {
      const settle = (isYes: boolean) => {
        this.open.set(undefined);
        resolve(isYes);
      };
      this.open.set({ type: "confirm", question, word, settle });
    });
  }

  showDiffs(diffs: readonly FileDiff[], title: string): Promise<void> {
    this.close();
    this.open.set({ type: "diffs", title, diffs });
    return Promise.resolve();
  }

  showFile(file: ShownFile): void {
    this.close();
    this.open.set({ type: "file", file });
  }

  nameOf(path: string): string {
    return path;
  }

  /** Say a word that passes. */
  say(words: string): void {
    this.hush();
    this.toast.set(words);
    this.timer = setTimeout(() => this.hush(), TOAST_MS);
  }

  /** Say a word unless something calls it off before long. */
  sayLater(words: string): void {
    this.hush();
    this.timer = setTimeout(() => this.say(words), PATIENCE_MS);
  }

  hush(): void {
    clearTimeout(this.timer);
    this.toast.set("");
  }
}
