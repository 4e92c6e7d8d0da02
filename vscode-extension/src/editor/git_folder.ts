/** Whether a folder is in a Git repository. */

import { access } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Look for a repository in a folder and above it. */
export async function isInGit(folder: string): Promise<boolean> {
  // A work tree has a file of that name.
  const isThere = await access(join(folder, ".git")).then(
    () => true,
    () => false,
  );
  const above = dirname(folder);
  return isThere || (above !== folder && isInGit(above));
}
