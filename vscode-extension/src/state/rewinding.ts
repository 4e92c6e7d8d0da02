/** Changes since a prompt. */

import { placeOf, type Session } from "./session";
import type { Checkpoint } from "./terms";

/** Return the file changes since a prompt that were not undone, oldest first. */
export function changesSince(session: Session, itemId: string): readonly Checkpoint[] {
  const from = placeOf(session, "user", itemId);
  if (from < 0) return [];
  return session.items
    .slice(from)
    .flatMap((item) =>
      item.type === "end" && item.checkpoint && !item.checkpoint.isRestored ? [item.checkpoint] : [],
    );
}

/** Count the files changed since a prompt. */
export function filesSince(session: Session, itemId: string): number {
  return new Set(changesSince(session, itemId).flatMap(({ files }) => files.map(({ path }) => path))).size;
}
