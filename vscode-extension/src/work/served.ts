/** Data stored by a server: the shown state, and how it is requested. */

import { errorText } from "../acp/error_text";
import type { Link } from "../acp/link";
import { announces } from "../acp/methods";
import { Observable } from "../state/observable";

export class Served<T extends { readonly problem: string }> {
  readonly shown: Observable<T>;
  /** Whether the server supports it. */
  readonly isThere = new Observable(false);
  private link: Link | undefined;
  private canLook = true;

  constructor(
    private readonly ability: string,
    nothing: T,
  ) {
    this.shown = new Observable(nothing);
  }

  adopt(link: Link): void {
    this.link = announces(link, this.ability) ? link : undefined;
    this.isThere.set(this.link !== undefined);
  }

  /** Perform a user's action. Resolves to whether it succeeded. Errors are shown until the next attempt. */
  async work(work: (link: Link) => Promise<void>): Promise<boolean> {
    if (this.shown.value.problem) this.say("");
    return this.attempt(work);
  }

  /** Refresh the data. Success clears an earlier error. */
  async look(work: (link: Link) => Promise<void>): Promise<void> {
    const couldLook = this.canLook;
    this.canLook = await this.attempt(work);
    if (this.canLook && !couldLook) this.say("");
  }

  private async attempt(work: (link: Link) => Promise<void>): Promise<boolean> {
    const { link } = this;
    if (!link || link.isClosed) return false;
    try {
      await work(link);
      return true;
    } catch (error) {
      this.say(errorText(error));
      return false;
    }
  }

  private say(problem: string): void {
    this.change({ problem } as Partial<T>);
  }

  change(changes: Partial<T>): void {
    this.shown.set({ ...this.shown.value, ...changes });
  }
}
