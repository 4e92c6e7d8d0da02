/**
 * Formulas as MathML, which needs no extra fonts or styles.
 *
 * It is loaded with the first formula.
 */

import katex from "katex";

const MAX_SIZE_EM = 10;
const MAX_EXPANSIONS = 200;
/** The source, which KaTeX repeats for other programs. */
const ANNOTATION = /<annotation[^]*?<\/annotation>/g;

globalThis.hermesMath = (tex: string, displayMode: boolean): string =>
  katex
    .renderToString(tex, {
      displayMode,
      output: "mathml",
      throwOnError: true,
      trust: false,
      strict: false,
      maxSize: MAX_SIZE_EM,
      maxExpand: MAX_EXPANSIONS,
    })
    .replace(ANNOTATION, "");
