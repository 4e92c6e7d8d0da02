/** Convert Markdown to unsanitized HTML: links, code blocks with actions, formulas. */

import MarkdownIt from "markdown-it";

import * as messages from "../../messages/conversation";
import { escaped, highlight } from "./highlight";
import { parseMath } from "./math_rule";
import { isPlace, isPlaceInCode } from "./place_links";

/** Links may lead to pages, mail addresses and files, and nowhere else. */
const FOLLOWED = /^(?:https?|mailto):/i;
const SHELLS: ReadonlySet<string> = new Set(["bash", "sh", "shell", "zsh", "fish", "console", "powershell", "pwsh"]);
const DIAGRAM = "mermaid";

export const parser = new MarkdownIt({ html: false, linkify: true, highlight });
parser.use(markTasks);
parser.use(parseMath);
parser.validateLink = (url) => FOLLOWED.test(url) || isPlace(url);

const { rules } = parser.renderer;
// Remote pictures would tell a server what was read here, so they are shown as links.
rules["image"] = (tokens, at) => {
  const token = tokens[at];
  return `<a href="${escaped(String(token?.attrGet("src") ?? ""))}">${escaped(token?.content || messages.PICTURE)}</a>`;
};
// Wide tables scroll, also with the keyboard.
rules["table_open"] = () => '<table tabindex="0">';
rules["link_open"] = (tokens, at) => {
  const href = String(tokens[at]?.attrGet("href") ?? "");
  // A file becomes a link once it is known to exist.
  return FOLLOWED.test(href) ? `<a href="${escaped(href)}">` : `<a data-place="${escaped(decoded(href))}">`;
};
rules["code_inline"] = (tokens, at) => {
  const text = tokens[at]?.content ?? "";
  const place = isPlaceInCode(text) ? ` data-place="${escaped(text)}"` : "";
  return `<code${place}>${escaped(text)}</code>`;
};
rules["fence"] = (tokens, at) => {
  const token = tokens[at];
  const language = (token?.info ?? "").trim().split(/\s+/)[0] ?? "";
  return codeBlock(token?.content ?? "", language);
};

function codeBlock(text: string, language: string): string {
  const isDiagram = language.toLowerCase() === DIAGRAM;
  const actions = [
    actionFor(language.toLowerCase()),
    button("insert", "insert", messages.INSERT_CODE),
    button("copy", "copy", messages.COPY_CODE),
  ].join("");
  const bar = `<div class="code-bar"><span>${escaped(language)}</span><span class="code-actions">${actions}</span></div>`;
  const kind = isDiagram ? " diagram-source" : "";
  return `<div class="code${kind}">${bar}<pre tabindex="0"><code>${highlight(text, language)}</code></pre></div>`;
}

/** Return the usual action for code in this language. */
function actionFor(language: string): string {
  if (language === DIAGRAM) return button("source", "code", messages.SHOW_SOURCE);
  if (SHELLS.has(language)) return button("run", "terminal", messages.RUN_CODE);
  return button("apply", "git-pull-request-create", messages.APPLY_CODE);
}

function button(action: string, icon: string, label: string): string {
  return `<button type="button" class="code-action" data-action="${action}" aria-label="${label}" title="${label}"><i class="codicon codicon-${icon}"></i></button>`;
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}

/** Draw `[ ]` and `[x]` at the start of list items as checkboxes. */
export function markTasks({ core }: typeof parser): void {
  core.ruler.after("inline", "tasks", ({ tokens }) => {
    tokens.forEach((token, at) => {
      const first = tokens[at - 2]?.type === "list_item_open" ? token.children?.[0] : undefined;
      const task = first?.type === "text" ? /^\[([ xX])\] /.exec(first.content) : null;
      if (first && task) first.content = `${task[1] === " " ? "☐" : "☑"} ${first.content.slice(task[0].length)}`;
    });
  });
}
