/**
 * Blocks of Markdown as HTML that may stand in the page.
 *
 * Knows: what may stand in the page. Does not know: Markdown, components.
 */

import DOMPurify from "dompurify";

import { parser } from "./parser";

/** Draw one block; whatever came in, no script, style or form comes out. */
export function htmlOf(block: string): string {
  return DOMPurify.sanitize(parser.render(block), {
    ALLOWED_TAGS: [
      "p",
      "br",
      "hr",
      "h1",
      "h2",
      "h3",
      "h4",
      "h5",
      "h6",
      "ul",
      "ol",
      "li",
      "blockquote",
      "strong",
      "em",
      "s",
      "a",
      "code",
      "pre",
      "span",
      "div",
      "button",
      "i",
      "table",
      "thead",
      "tbody",
      "tr",
      "th",
      "td",
    ],
    ALLOWED_ATTR: [
      "href",
      "class",
      "start",
      "type",
      "tabindex",
      "aria-label",
      "title",
      "data-action",
      "data-place",
      "data-tex",
    ],
    // Their values are no addresses, and are not judged as such.
    ADD_URI_SAFE_ATTR: ["start", "type", "tabindex"],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  });
}
