/** The order of file candidates for an @: open files, recently open files, then by how well their names match. */

export interface Candidate {
  /** Relative to its folder, with slashes. */
  readonly path: string;
  readonly isOpen: boolean;
  /** How many files were viewed since this one, or undefined if it was not viewed. */
  readonly seenAgo?: number;
}

/**
 * How a path matches the words: its name starts with them, its name or path contains them, or only their letters in
 * order.
 */
enum Fit {
  Begins,
  Has,
  PathHas,
  Letters,
  None,
}

/** Return the matching candidates, most likely first. */
export function ranked<T extends Candidate>(candidates: readonly T[], query: string): readonly T[] {
  const wanted = query.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, fit: fitOf(candidate.path.toLowerCase(), wanted) }))
    .filter(({ fit }) => fit !== Fit.None)
    .sort(
      (one, other) =>
        placeOf(one.candidate, one.fit) - placeOf(other.candidate, other.fit) ||
        agoOf(one.candidate) - agoOf(other.candidate) ||
        one.fit - other.fit ||
        one.candidate.path.length - other.candidate.path.length ||
        (one.candidate.path < other.candidate.path ? -1 : 1),
    )
    .map(({ candidate }) => candidate);
}

/** Letters that merely occur in order in a path are no reason to prefer it. */
function placeOf({ isOpen, seenAgo }: Candidate, fit: Fit): number {
  if (fit === Fit.Letters) return 3;
  return isOpen ? 0 : seenAgo === undefined ? 2 : 1;
}

const agoOf = ({ seenAgo }: Candidate): number => seenAgo ?? Number.MAX_SAFE_INTEGER;

function fitOf(path: string, wanted: string): Fit {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) return Fit.Begins;
  if (name.includes(wanted)) return Fit.Has;
  if (path.includes(wanted)) return Fit.PathHas;
  let at = 0;
  for (const letter of path) if (letter === wanted[at]) at += 1;
  return at >= wanted.length ? Fit.Letters : Fit.None;
}
