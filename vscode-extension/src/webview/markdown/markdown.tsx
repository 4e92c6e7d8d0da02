/** Markdown, rendered while it grows. */

import { memo } from "preact/compat";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { post } from "../bridge";
import { growBlocks, type Blocks } from "./blocks";
import { enrich } from "./enrich";
import { htmlOf } from "./sanitize";

const Block = memo(({ source }: { source: string }) => {
  const block = useRef<HTMLDivElement>(null);
  const html = useMemo(() => htmlOf(source), [source]);
  useEffect(() => (block.current ? enrich(block.current, source) : undefined), [html]);
  return <div class="block" ref={block} dangerouslySetInnerHTML={{ __html: html }} />;
});

export const Markdown = memo(({ text }: { text: string }) => {
  const grown = useRef<Blocks>({ text: "", blocks: [] });
  const { blocks } = useMemo(() => (grown.current = growBlocks(grown.current, text)), [text]);
  return (
    <div class="markdown" onClick={onClick} onKeyDown={onKeyDown}>
      {blocks.map((source, at) => (
        <Block key={at} source={source} />
      ))}
    </div>
  );
});

function onClick(event: MouseEvent): void {
  const target = event.target instanceof Element ? event.target : undefined;
  const action = target?.closest<HTMLElement>(".code-action");
  if (action) {
    const text = action.closest(".code")?.querySelector("pre")?.textContent ?? "";
    const wanted = action.dataset["action"];
    if (wanted === "source") action.closest(".code")?.classList.toggle("drawn");
    else if (wanted === "copy") post({ type: "copy", text });
    else if (wanted === "insert" || wanted === "apply" || wanted === "run")
      post({ type: "code", action: wanted, text });
    return;
  }
  const place = target?.closest<HTMLElement>(".place")?.dataset["place"];
  const href = target?.closest("a")?.getAttribute("href");
  if (!place && !href) return;
  event.preventDefault();
  if (place) post({ type: "follow", place });
  else if (href) post({ type: "browse", url: href });
}

/** Handle keys on a file name in code, which is not a real link. */
function onKeyDown(event: KeyboardEvent): void {
  const target = event.target instanceof HTMLElement ? event.target : undefined;
  if (event.key === "Enter" && target?.matches(".place")) target.click();
}
