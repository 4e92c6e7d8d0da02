/** Convert a command's output to lines of styled spans. */

const CONTROL = /\u001b(?:\[([0-?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])|\r\n|[\r\n]/g;

/** A colour: one of the terminal's sixteen, or a red, green and blue value. */
export type Colour = number | `rgb(${number} ${number} ${number})`;

export interface Look {
  readonly text?: Colour;
  readonly ground?: Colour;
  readonly isBold?: boolean;
  readonly isFaint?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isStruck?: boolean;
  readonly isInverse?: boolean;
}

export interface Piece {
  readonly words: string;
  readonly look: Look;
}

const PLAIN: Look = {};

/** Split output into spans with the same style. */
export function terminalPieces(output: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let line: Piece[] = [];
  let look = PLAIN;
  let at = 0;
  let isReturned = false;
  const put = (words: string) => {
    if (!words) return;
    // Text after a carriage return replaces the line.
    if (isReturned) line = [];
    isReturned = false;
    const last = line.at(-1);
    if (last?.look === look) line[line.length - 1] = { words: last.words + words, look };
    else line.push({ words, look });
  };
  for (const found of output.matchAll(CONTROL)) {
    put(output.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[0] === "\r") {
      isReturned = true;
    } else if (found[0].endsWith("\n")) {
      isReturned = false;
      put("\n");
      pieces.push(...line);
      line = [];
    } else if (found[2] === "m") {
      look = lookAfter(look, found[1] ?? "");
    }
  }
  put(output.slice(at));
  return joined([...pieces, ...line]);
}

function joined(pieces: readonly Piece[]): readonly Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last?.look === piece.look) all[all.length - 1] = { words: last.words + piece.words, look: last.look };
    else all.push(piece);
  }
  return all;
}

const SWITCHES: Readonly<Record<number, Look>> = {
  1: { isBold: true },
  2: { isFaint: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  7: { isInverse: true },
  9: { isStruck: true },
  22: { isBold: false, isFaint: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isInverse: false },
  29: { isStruck: false },
};

/** Return the style after a "select graphic rendition" sequence. */
function lookAfter(before: Look, parameters: string): Look {
  let look = before;
  const codes = parameters.split(";");
  for (let at = 0; at < codes.length; at += 1) {
    const [code = 0, ...rest] = (codes[at] ?? "").split(":").map(Number);
    if (code === 38 || code === 48) {
      const given = rest.length > 0 ? rest : codes.slice(at + 1, at + 5).map(Number);
      const colour = colourOf(rest.length > 4 ? [given[0] ?? 0, ...given.slice(-3)] : given);
      if (rest.length === 0) at += given[0] === 5 ? 2 : 4;
      if (colour !== undefined) look = { ...look, [code === 38 ? "text" : "ground"]: colour };
    } else {
      look = lookWith(look, code);
    }
  }
  return Object.values(look).some((value) => value !== undefined && value !== false) ? look : PLAIN;
}

function lookWith(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code >= 30 && code <= 37) return { ...look, text: code - 30 };
  if (code >= 90 && code <= 97) return { ...look, text: code - 82 };
  if (code >= 40 && code <= 47) return { ...look, ground: code - 40 };
  if (code >= 100 && code <= 107) return { ...look, ground: code - 92 };
  const { text, ground, ...others } = look;
  if (code === 39) return ground === undefined ? others : { ...others, ground };
  if (code === 49) return text === undefined ? others : { ...others, text };
  return { ...look, ...SWITCHES[code] };
}

/** The levels of the cube of 216 colours. */
const LEVELS = [0, 95, 135, 175, 215, 255] as const;

function colourOf([kind, ...values]: readonly number[]): Colour | undefined {
  if (values.length === 0 || values.some((value) => !(value >= 0 && value <= 255))) return undefined;
  const [first = 0, green = 0, blue = 0] = values;
  if (kind === 2) return `rgb(${first} ${green} ${blue})`;
  if (kind !== 5) return undefined;
  if (first < 16) return first;
  if (first >= 232) {
    const grey = 8 + (first - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (place: number) => LEVELS[Math.floor((first - 16) / place) % 6] ?? 0;
  return `rgb(${level(36)} ${level(6)} ${level(1)})`;
}
