/** Replace the source of a formula by its rendering. */

import DOMPurify from "dompurify";

import { load } from "../chunks/load";

/** Draw a formula, or keep its source if that fails. */
export function drawMath(formula: HTMLElement): void {
  const tex = formula.dataset["tex"] ?? "";
  void load("math")
    .then(() => {
      const drawn = globalThis.hermesMath?.(tex, formula.classList.contains("math-block"));
      if (!drawn) return;
      formula.innerHTML = DOMPurify.sanitize(drawn, { USE_PROFILES: { mathMl: true }, FORBID_ATTR: ["style"] });
    })
    .catch(() => undefined);
}
