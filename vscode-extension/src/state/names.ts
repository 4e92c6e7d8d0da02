/** Distinct names for sessions. */

import { nameOf, type Session } from "./session";

/** Return the names of sessions in order. Later ones with the same title are numbered. */
export function distinctNames(sessions: readonly Session[]): readonly string[] {
  const counts = new Map<string, number>();
  const taken = new Set(sessions.map(nameOf));
  return sessions.map((session) => {
    const name = nameOf(session);
    let count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count === 1) return name;
    while (taken.has(`${name} (${count})`)) count += 1;
    counts.set(name, count);
    taken.add(`${name} (${count})`);
    return `${name} (${count})`;
  });
}
