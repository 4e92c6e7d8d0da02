/** Enrich drawn blocks with links to existing files, formulas and diagrams. */

import { locate } from "../places";
import { drawDiagram } from "./diagram";
import { drawMath } from "./math";

/** Enrich a block. Call the result before the block is redrawn. */
export function enrich(block: HTMLElement, source: string): () => void {
  const words = [...block.querySelectorAll<HTMLElement>("[data-place]")];
  const stops = words.map((word) => locate(word.dataset["place"] ?? "", () => link(word)));
  for (const formula of block.querySelectorAll<HTMLElement>(".math")) drawMath(formula);
  for (const code of block.querySelectorAll<HTMLElement>(".diagram-source")) {
    if (isClosed(source)) stops.push(drawDiagram(code));
  }
  return () => stops.forEach((stop) => stop());
}

/** Return whether a code block is closed. An open one is not a diagram yet. */
function isClosed(source: string): boolean {
  return /\n\s*(?:`{3,}|~{3,})\s*$/.test(source);
}

function link(word: HTMLElement): void {
  word.classList.add("place");
  word.tabIndex = 0;
  word.setAttribute("role", "link");
}
