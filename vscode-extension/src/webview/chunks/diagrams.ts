/**
 * Diagrams as SVG.
 *
 * It is loaded with the first diagram.
 */

import mermaid from "mermaid";

import { diagramTooLong } from "../../messages/conversation";

const MAX_SOURCE = 20_000;
const MAX_EDGES = 300;
/** Options that a diagram's own text cannot set: appearance comes from the theme, and security from here. */
const SECURE = [
  "secure",
  "securityLevel",
  "startOnLoad",
  "maxTextSize",
  "maxEdges",
  "suppressErrorRendering",
  "htmlLabels",
  "themeCSS",
  "theme",
  "themeVariables",
  "fontFamily",
  "altFontFamily",
  "dompurifyConfig",
];
let count = 0;

globalThis.hermesDiagram = async (source: string, nonce: string): Promise<string> => {
  if (source.length > MAX_SOURCE) throw new Error(diagramTooLong(MAX_SOURCE));
  const style = getComputedStyle(document.body);
  const colour = (name: string) => style.getPropertyValue(`--vscode-${name}`).trim();
  const isDark = /vscode-(?:dark|high-contrast(?!-light))/.test(document.body.className);
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    secure: SECURE,
    suppressErrorRendering: true,
    maxTextSize: MAX_SOURCE,
    maxEdges: MAX_EDGES,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    fontFamily: style.fontFamily,
    theme: "base",
    themeVariables: {
      darkMode: isDark,
      background: colour("editor-background"),
      primaryColor: colour("editorWidget-background"),
      primaryTextColor: colour("foreground"),
      primaryBorderColor: colour("descriptionForeground"),
      lineColor: colour("descriptionForeground"),
      textColor: colour("foreground"),
      fontSize: style.fontSize,
    },
  });
  await mermaid.parse(source);
  count += 1;
  return withStyles(nonce, async () => (await mermaid.render(`diagram-${count}`, source)).svg);
};

/**
 * Let Mermaid measure with its own styles. The page forbids inline styles, so each style element gets the page's
 * nonce, and style attributes are set as properties.
 */
async function withStyles<T>(nonce: string, work: () => Promise<T>): Promise<T> {
  const { createElement } = document;
  const { setAttribute } = Element.prototype;
  document.createElement = function (this: Document, ...given: Parameters<typeof createElement>) {
    const element = createElement.apply(this, given);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  } as typeof createElement;
  Element.prototype.setAttribute = function (this: Element, name: string, value: string) {
    if (name === "style" && "style" in this) (this.style as CSSStyleDeclaration).cssText = value;
    else setAttribute.call(this, name, value);
  };
  try {
    return await work();
  } finally {
    document.createElement = createElement;
    Element.prototype.setAttribute = setAttribute;
  }
}
