/** The string literals of a TypeScript file, found in its syntax tree. */

import { parseSync } from "vite";

export interface Found {
  readonly text: string;
  readonly line: number;
  /** Whether JSX shows it: text between tags, or an attribute such as `title` or `aria-label`. */
  readonly isMarkup: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly name?: unknown;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly cooked?: string | null } }[];
}

const SHOWN_ATTRIBUTES: ReadonlySet<unknown> = new Set(["alt", "aria-label", "label", "placeholder", "title"]);

/** Return the literals of a file in their order, without import paths and literal types. */
export function literalsIn(path: string, source: string): readonly Found[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const found: Found[] = [];
  const visit = (value: unknown, isShown: boolean): void => {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) return value.forEach((each) => visit(each, false));
    const node = value as Node;
    if (node.type === "ImportDeclaration" || node.type?.startsWith("TSLiteral")) return;
    const text = textOf(node);
    if (text !== undefined) {
      const line = source.slice(0, node.start).split("\n").length;
      found.push({ text, line, isMarkup: isShown || node.type === "JSXText" });
    }
    const isAttribute =
      node.type === "JSXAttribute" && SHOWN_ATTRIBUTES.has((node.name as { readonly name?: unknown }).name);
    for (const each of Object.values(node)) visit(each, isAttribute);
  };
  visit(program, false);
  return found;
}

function textOf({ type, value, quasis }: Node): string | undefined {
  if (type === "Literal" && typeof value === "string") return value;
  if (type === "JSXText") return String(value).trim();
  if (type === "TemplateLiteral") return quasis?.map((each) => each.value.cooked ?? "").join("…");
  return undefined;
}

/** Return whether a text reads like a sentence: a capital letter or an inserted value first, then more words. */
export function looksLikeASentence(text: string): boolean {
  return /^(\$\([\w~-]+\) )?\p{Lu}\p{L}*[ ,:]\s*\S/u.test(text) || /^…:? \p{L}/u.test(text);
}
