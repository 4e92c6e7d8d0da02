/** Overlays of the page: a question, a folder picker, a diff, a toast. */

import type { Dialogs } from "../panel/host";
import type { FileDiff } from "../state/terms";
import { Observable } from "../state/observable";
import type { WorkPage } from "../work/work";

/** A file on the server as it was when opened. `line` is the requested line. */
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
/** Operations that finish sooner show no message. */
const PATIENCE_MS = 400;

export class Overlays implements Dialogs {
  readonly open = new Observable<Overlay | undefined>(undefined);
  readonly toast = new Observable("");
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Close the overlay. A closed question counts as no. */
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

  /** Show a toast. */
  say(words: string): void {
    this.hush();
    this.toast.set(words);
    this.timer = setTimeout(() => this.hush(), TOAST_MS);
  }

  /** Show a toast after a delay, unless it is cancelled before. */
  sayLater(words: string): void {
    this.hush();
    this.timer = setTimeout(() => this.say(words), PATIENCE_MS);
  }

  hush(): void {
    clearTimeout(this.timer);
    this.toast.set("");
  }
}
