/** Values that survive this process. They are written at once, because a window may close at any moment. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export class Memory {
  private values: Record<string, unknown> | undefined;

  /** Without a path (no workspace), nothing survives the process. */
  constructor(private readonly path: string | undefined) {}

  get<T>(key: string): T | undefined {
    return this.read()[key] as T | undefined;
  }

  /** Store a value; undefined removes it. If it cannot be written, it is kept until the process ends. */
  set(key: string, value: unknown): void {
    const values = { ...this.read() };
    if (value === undefined) delete values[key];
    else values[key] = value;
    this.values = values;
    if (!this.path) return;
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      writeFileSync(`${this.path}.new`, JSON.stringify(values));
      renameSync(`${this.path}.new`, this.path);
    } catch {
      return;
    }
  }

  private read(): Record<string, unknown> {
    this.values ??= this.load();
    return this.values;
  }

  private load(): Record<string, unknown> {
    if (!this.path) return {};
    try {
      const found: unknown = JSON.parse(readFileSync(this.path, "utf8"));
      return found && typeof found === "object" ? (found as Record<string, unknown>) : {};
    } catch {
      return {};
    }
  }
}
