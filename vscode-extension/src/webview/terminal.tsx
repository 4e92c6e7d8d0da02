/** A command's output, rendered like a terminal. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import * as messages from "../messages/conversation";
import { terminalPieces, type Colour, type Look, type Piece } from "./terminal_text";

const NEAR_END_PX = 16;
const NAMES = ["Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White"] as const;

interface Props {
  /** Undefined until it is known. */
  readonly output: string | undefined;
  readonly isOver: boolean;
}

/** The newest lines stay visible until the user scrolls up. */
export function Terminal({ output, isOver }: Props) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const pieces = useMemo(() => terminalPieces(output ?? ""), [output]);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [output]);
  if (!output) return <div class="terminal-empty">{isOver ? messages.NO_OUTPUT : messages.NO_OUTPUT_YET}</div>;
  return (
    <pre
      class="terminal"
      role="group"
      tabIndex={0}
      aria-label={messages.OUTPUT}
      ref={box}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
    >
      {pieces.map(drawn)}
    </pre>
  );
}

function drawn({ words, look }: Piece, at: number) {
  const style = styleOf(look);
  return style ? (
    <span key={at} style={style}>
      {words}
    </span>
  ) : (
    words
  );
}

function styleOf(look: Look): Record<string, string> | undefined {
  const text = look.text === undefined ? undefined : drawnColour(look.text);
  const ground = look.ground === undefined ? undefined : drawnColour(look.ground);
  const [front, back] = look.isInverse
    ? [ground ?? "var(--terminal-ground)", text ?? "var(--terminal-text)"]
    : [text, ground];
  const lines = [look.isUnderlined ? "underline" : "", look.isStruck ? "line-through" : ""].filter(Boolean).join(" ");
  const style = {
    ...(front ? { color: front } : {}),
    ...(back ? { background: back } : {}),
    ...(look.isBold ? { fontWeight: "bold" } : {}),
    ...(look.isFaint ? { opacity: "0.7" } : {}),
    ...(look.isItalic ? { fontStyle: "italic" } : {}),
    ...(lines ? { textDecoration: lines } : {}),
  };
  return Object.keys(style).length > 0 ? style : undefined;
}

function drawnColour(colour: Colour): string {
  if (typeof colour === "string") return colour;
  return `var(--vscode-terminal-ansi${colour < 8 ? "" : "Bright"}${NAMES[colour % 8]})`;
}
