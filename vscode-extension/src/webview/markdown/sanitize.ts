/** Convert Markdown blocks to sanitized HTML. */

import DOMPurify from "dompurify";

import { parser } from "./parser";

/** Convert one block. The result never contains scripts, styles or forms. */
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
    // Their values are not URLs and are not checked as such.
    ADD_URI_SAFE_ATTR: ["start", "type", "tabindex"],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  });
}
