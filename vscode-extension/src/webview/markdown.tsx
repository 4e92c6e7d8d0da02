/**
 * A text in Markdown, drawn while it grows.
 *
 * Knows: blocks that stay as they are. Does not know: how a block is drawn (`render`).
 */

import { memo } from "preact/compat";
import { useMemo, useRef } from "preact/hooks";

import { post } from "./bridge";
import { growBlocks, htmlOf, type Blocks } from "./render";

const Block = memo(({ source }: { source: string }) => {
  const html = useMemo(() => htmlOf(source), [source]);
  return <div class="block" dangerouslySetInnerHTML={{ __html: html }} />;
});

export const Markdown = memo(({ text }: { text: string }) => {
  const grown = useRef<Blocks>({ text: "", blocks: [] });
  const { blocks } = useMemo(() => (grown.current = growBlocks(grown.current, text)), [text]);
  return (
    <div class="markdown" onClick={onClick}>
      {blocks.map((source, at) => (
        <Block key={at} source={source} />
      ))}
    </div>
  );
});

function onClick(event: MouseEvent): void {
  const target = event.target instanceof Element ? event.target : undefined;
  const copy = target?.closest(".code-copy");
  if (copy) {
    post({ type: "copy", text: copy.closest(".code")?.querySelector("pre")?.textContent ?? "" });
    return;
  }
  const href = target?.closest("a")?.getAttribute("href");
  if (!href) return;
  event.preventDefault();
  if (/^(https?|mailto):/i.test(href)) post({ type: "browse", url: href });
  else post({ type: "open", path: href });
}
