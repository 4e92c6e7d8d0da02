/** The folders on the server in which sessions start. */

import type { KeptValues } from "../panel/host";
import { Observable } from "../state/observable";

const KEY = "folder";

export class Folders {
  readonly current: Observable<string>;

  constructor(private readonly memory: KeptValues) {
    this.current = new Observable(memory.get<string>(KEY) ?? "");
  }

  /** Return the folder of new sessions, or undefined if none was chosen. */
  get place(): { readonly cwd: string; readonly more: readonly string[] } | undefined {
    return this.current.value ? { cwd: this.current.value, more: [] } : undefined;
  }

  choose(folder: string): void {
    const plain = folder.length > 1 ? folder.replace(/\/+$/, "") : folder;
    this.memory.set(KEY, plain);
    this.current.set(plain);
  }

  /** Return the folders relative to which paths are shortened: that of the shown session, or else that of new ones. */
  rootsOf(cwd: string | undefined): readonly string[] {
    return [cwd ?? this.current.value].filter(Boolean);
  }
}
