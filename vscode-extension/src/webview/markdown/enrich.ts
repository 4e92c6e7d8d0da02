/**
 * What is added to a block after it was drawn: links to files that are there.
 *
 * Knows: when something has to be asked for first. Does not know: Markdown.
 */

import { locate } from "../places";

/** Add what a block lacks; the answer ends that, for a block that is drawn anew. */
export function enrich(block: HTMLElement): () => void {
  const words = [...block.querySelectorAll<HTMLElement>("[data-place]")];
  const stops = words.map((word) => locate(word.dataset["place"] ?? "", () => link(word)));
  return () => stops.forEach((stop) => stop());
}

function link(word: HTMLElement): void {
  word.classList.add("place");
  word.tabIndex = 0;
  word.setAttribute("role", "link");
}
