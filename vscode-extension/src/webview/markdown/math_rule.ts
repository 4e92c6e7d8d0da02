/**
 * Formulas in Markdown: `$…$` and `\\(…\\)` in a line, `$$…$$` and `\\[…\\]` as blocks.
 *
 * Until the renderer is loaded, a formula's source is shown.
 */

import type MarkdownIt from "markdown-it";

import { escaped } from "./highlight";

const MAX_TEX = 5000;
const PAIRS = [
  ["$$", "$$"],
  ["\\[", "\\]"],
] as const;

type Parser = InstanceType<typeof MarkdownIt>;
type Inline = Parameters<Parser["inline"]["ruler"]["before"]>[2];
type Block = Parameters<Parser["block"]["ruler"]["before"]>[2];

export function parseMath(parser: Parser): void {
  parser.inline.ruler.before("escape", "math_inline", inline);
  parser.block.ruler.before("fence", "math_block", block, { alt: ["paragraph", "blockquote", "list"] });
  parser.renderer.rules["math_inline"] = (tokens, at) => shown(tokens[at]?.content ?? "", "$", "$", "span", "math");
  parser.renderer.rules["math_block"] = (tokens, at) =>
    shown(tokens[at]?.content ?? "", "$$", "$$", "div", "math math-block");
}

function shown(tex: string, open: string, close: string, tag: string, kind: string): string {
  return `<${tag} class="${kind}" data-tex="${escaped(tex)}">${escaped(`${open}${tex}${close}`)}</${tag}>`;
}

const inline: Inline = (state, isSilent) => {
  const { src, pos } = state;
  const found = src.startsWith("\\(", pos) ? bracketed(src, pos) : src[pos] === "$" ? inDollars(src, pos) : undefined;
  if (!found) return false;
  if (!isSilent) state.push("math_inline", "math", 0).content = found.tex;
  state.pos = found.end;
  return true;
};

function bracketed(src: string, pos: number) {
  const end = src.indexOf("\\)", pos + 2);
  const tex = src.slice(pos + 2, end).trim();
  return end < 0 || !tex || tex.length > MAX_TEX ? undefined : { tex, end: end + 2 };
}

/** A space inside next to a dollar sign, or a digit after it, means prices. */
function inDollars(src: string, pos: number) {
  const isDouble = src[pos + 1] === "$";
  const sign = isDouble ? "$$" : "$";
  const start = pos + sign.length;
  let end = src.indexOf(sign, start);
  while (end > 0 && src[end - 1] === "\\") end = src.indexOf(sign, end + 1);
  if (end <= start) return undefined;
  const tex = src.slice(start, end);
  const isPrice =
    !isDouble && (/^\s|\s$/.test(tex) || /[\w]/.test(src[end + 1] ?? "") || /\w/.test(src[pos - 1] ?? ""));
  if (isPrice || tex.includes("`") || tex.length > MAX_TEX || !tex.trim()) return undefined;
  return { tex: tex.trim(), end: end + sign.length };
}

const block: Block = (state, firstLine, endLine, isSilent) => {
  const lineOf = (line: number) =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line] ?? 0);
  const first = lineOf(firstLine);
  const pair = PAIRS.find(([open]) => first.startsWith(open));
  if (!pair) return false;
  const [open, close] = pair;
  const lines = [first.slice(open.length)];
  let line = firstLine;
  while (!(lines.at(-1) ?? "").trimEnd().endsWith(close)) {
    line += 1;
    if (line >= endLine || lineOf(line).trim() === "") return false;
    lines.push(lineOf(line));
  }
  const tex = lines.join("\n").trimEnd().slice(0, -close.length).trim();
  if (!tex || tex.length > MAX_TEX || tex.includes(close)) return false;
  if (isSilent) return true;
  const token = state.push("math_block", "math", 0);
  token.content = tex;
  token.block = true;
  token.map = [firstLine, line + 1];
  state.line = line + 1;
  return true;
};
