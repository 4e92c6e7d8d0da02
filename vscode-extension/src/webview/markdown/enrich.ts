/**
 * What is added to a block after it was drawn: links to files that are there, formulas, diagrams.
 *
 * Knows: when something has to be asked for or loaded first. Does not know: Markdown.
 */

import { locate } from "../places";
import { drawDiagram } from "./diagram";
import { drawMath } from "./math";

/** Add what a block lacks; the answer ends that, for a block that is drawn anew. */
export function enrich(block: HTMLElement, source: string): () => void {
  const words = [...block.querySelectorAll<HTMLElement>("[data-place]")];
  const stops = words.map((word) => locate(word.dataset["place"] ?? "", () => link(word)));
  for (const formula of block.querySelectorAll<HTMLElement>(".math")) drawMath(formula);
  for (const code of block.querySelectorAll<HTMLElement>(".diagram-source")) {
    if (isClosed(source)) stops.push(drawDiagram(code));
  }
  return () => stops.forEach((stop) => stop());
}

/** Return whether a block of code has its end: one that is still being written is no diagram yet. */
function isClosed(source: string): boolean {
  return /\n\s*(?:`{3,}|~{3,})\s*$/.test(source);
}

function link(word: HTMLElement): void {
  word.classList.add("place");
  word.tabIndex = 0;
  word.setAttribute("role", "link");
}
