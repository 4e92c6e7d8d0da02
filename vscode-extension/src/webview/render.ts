/**
 * Markdown as safe HTML, block by block, so that a growing text draws only its end again.
 *
 * Knows: the parser, the highlighter, what may stand in the page. Does not know: components.
 */

import DOMPurify from "dompurify";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import MarkdownIt from "markdown-it";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, makefile, markdown, php,
  python, ruby, rust, sql, swift, typescript, xml, yaml,
}; // prettier-ignore
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

const MAX_HIGHLIGHTED = 30_000;
const parser = new MarkdownIt({ html: false, linkify: true, highlight });
// Pictures from elsewhere would tell a server what was read here; they are shown as links.
parser.renderer.rules["image"] = (tokens, at) => {
  const token = tokens[at];
  const label = parser.utils.escapeHtml(token?.content || "picture");
  return `<a href="${parser.utils.escapeHtml(String(token?.attrGet("src") ?? ""))}">${label}</a>`;
};
parser.renderer.rules["fence"] = (tokens, at) => {
  const token = tokens[at];
  const language = (token?.info ?? "").trim().split(/\s+/)[0] ?? "";
  const name = parser.utils.escapeHtml(language);
  const code = highlight(token?.content ?? "", language);
  return `<div class="code"><div class="code-bar"><span>${name}</span><button type="button" class="code-copy" aria-label="Copy code"><i class="codicon codicon-copy"></i></button></div><pre tabindex="0"><code>${code}</code></pre></div>`;
};

parser.use(markTasks);

/** Draw `[ ]` and `[x]` at the beginning of a list's item as boxes. */
export function markTasks({ core }: typeof parser): void {
  core.ruler.after("inline", "tasks", ({ tokens }) => {
    tokens.forEach((token, at) => {
      const first = tokens[at - 2]?.type === "list_item_open" ? token.children?.[0] : undefined;
      const task = first?.type === "text" ? /^\[([ xX])\] /.exec(first.content) : null;
      if (first && task) first.content = `${task[1] === " " ? "☐" : "☑"} ${first.content.slice(task[0].length)}`;
    });
  });
}

function highlight(code: string, language: string): string {
  if (!hljs.getLanguage(language) || code.length > MAX_HIGHLIGHTED) return parser.utils.escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

/** Cut a text into its top-level blocks, in source; joined by line feeds they are the text. */
export function blocksOf(text: string): readonly string[] {
  const lines = text.split("\n");
  const starts = parser
    .parse(text, {})
    .filter((token) => token.level === 0 && token.map && token.nesting >= 0)
    .map((token) => token.map?.[0] ?? 0);
  if (starts.length === 0) return text.trim() ? [text] : [];
  return starts.map((start, at) => lines.slice(at === 0 ? 0 : start, starts[at + 1] ?? lines.length).join("\n"));
}

export interface Blocks {
  readonly text: string;
  readonly blocks: readonly string[];
}

/** So many blocks at the end may still become others when the text goes on. */
const UNSETTLED = 2;

/** Cut a text into its blocks; of one that has only grown, those that are settled are kept. */
export function growBlocks(before: Blocks, text: string): Blocks {
  const settled = before.blocks.slice(0, -UNSETTLED);
  const length = settled.reduce((sum, block) => sum + block.length + 1, 0);
  if (settled.length === 0 || before.text.length > text.length || !text.startsWith(before.text)) {
    return { text, blocks: blocksOf(text) };
  }
  return { text, blocks: [...settled, ...blocksOf(text.slice(length))] };
}

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
    ALLOWED_ATTR: ["href", "class", "start", "type", "tabindex", "aria-label", "title"],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto|file|vscode):|^[^a-z]|^[a-z][^:]*$/i,
  });
}
