/** A diagram drawn above its source. */

import DOMPurify from "dompurify";

import { DIAGRAM, noDiagram } from "../../messages/conversation";
import { load, nonce } from "../chunks/load";

const HOST = "diagram";
const FAULT = "diagram-fault";
/** The number of error lines shown. The first lines name the error and its place; the rest lists alternatives. */
const MAX_FAULT_LINES = 4;
const MAX_FAULT = 400;

/**
 * Draw a diagram, and redraw it when the theme changes. If that fails, show its source and the error. Call the result
 * to stop.
 */
export function drawDiagram(code: HTMLElement): () => void {
  let isOver = false;
  const draw = () =>
    void load("diagrams")
      .then(() => globalThis.hermesDiagram?.(code.querySelector("pre")?.textContent ?? "", nonce))
      .then((svg) => {
        if (svg && !isOver) show(code, svg);
      })
      .catch((error: unknown) => {
        if (!isOver) showFault(code, faultOf(error));
      });
  const watcher = new MutationObserver(draw);
  watcher.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  draw();
  return () => {
    isOver = true;
    watcher.disconnect();
  };
}

/** Return the useful part of the error for a person. */
export function faultOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return noDiagram(words.trim().split("\n").slice(0, MAX_FAULT_LINES).join("\n").slice(0, MAX_FAULT));
}

function showFault(code: HTMLElement, words: string): void {
  const known = code.querySelector<HTMLElement>(`.${FAULT}`);
  const note = known ?? document.createElement("div");
  note.className = FAULT;
  note.setAttribute("role", "note");
  note.textContent = words;
  if (!known) code.querySelector("pre")?.after(note);
}

function show(code: HTMLElement, svg: string): void {
  code.querySelector(`.${FAULT}`)?.remove();
  const known = code.querySelector<HTMLElement>(`.${HOST}`);
  const host = known ?? document.createElement("div");
  if (!known) {
    host.className = HOST;
    host.setAttribute("role", "img");
    host.setAttribute("aria-label", DIAGRAM);
    code.querySelector("pre")?.before(host);
    code.classList.add("drawn");
  }
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const { drawing, styles } = safe(svg);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [sheet];
  root.replaceChildren(drawing);
}

/** Remove anything that could run or load, and convert inline styles to a form that the page's policy allows. */
function safe(svg: string): { readonly drawing: Node; readonly styles: string } {
  const fragment = DOMPurify.sanitize(svg, {
    USE_PROFILES: { svg: true, svgFilters: true },
    FORBID_TAGS: ["image", "foreignObject", "feImage"],
    // Links are chosen by the diagram's author, so they are removed; the nodes stay.
    FORBID_ATTR: ["href", "xlink:href", "target"],
    RETURN_DOM_FRAGMENT: true,
  });
  const sheets = [...fragment.querySelectorAll("style")];
  const styles = sheets.map((each) => each.textContent ?? "").join("\n");
  for (const each of sheets) each.remove();
  const drawing = document.importNode(fragment, true);
  for (const element of drawing.querySelectorAll<SVGElement>("[style]")) {
    const words = element.getAttribute("style") ?? "";
    element.removeAttribute("style");
    element.style.cssText = words;
  }
  return { drawing, styles };
}
