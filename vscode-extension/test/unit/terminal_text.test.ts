import { describe, expect, it } from "vitest";

import { toCallNews } from "../../src/acp/translate";
import { terminalPieces } from "../../src/webview/terminal_text";

const ESC = "\u001b";
const pieces = (output: string) => terminalPieces(output).map(({ words, look }) => [words, look]);

describe("a command's output", () => {
  it("has the sixteen colours, and what else one can select", () => {
    expect(pieces(`a${ESC}[31mb${ESC}[1;94mc${ESC}[22;39md${ESC}[7;42me${ESC}[mf`)).toEqual([
      ["a", {}],
      ["b", { text: 1 }],
      ["c", { text: 12, isBold: true }],
      ["d", {}],
      ["e", { ground: 2, isInverse: true }],
      ["f", {}],
    ]);
  });

  it("has the 256 colours and all others, in both ways to write them", () => {
    expect(pieces(`${ESC}[38;5;9ma${ESC}[38;5;208mb${ESC}[48;5;244;3mc`)).toEqual([
      ["a", { text: 9 }],
      ["b", { text: "rgb(255 135 0)" }],
      ["c", { text: "rgb(255 135 0)", ground: "rgb(128 128 128)", isItalic: true }],
    ]);
    expect(pieces(`${ESC}[38;2;1;2;3ma${ESC}[38:2::4:5:6mb${ESC}[38:2:7:8:9mc${ESC}[38:5:1md`)).toEqual([
      ["a", { text: "rgb(1 2 3)" }],
      ["b", { text: "rgb(4 5 6)" }],
      ["c", { text: "rgb(7 8 9)" }],
      ["d", { text: 1 }],
    ]);
  });

  it("takes no colour that is none", () => {
    expect(pieces(`${ESC}[38;2;1;2;999ma${ESC}[0m${ESC}[38;5mb${ESC}[777mc`)).toEqual([["abc", {}]]);
    expect(
      pieces(`${ESC}[38;2;1;2;0;url(x)mz`)
        .map(([words]) => words)
        .join(""),
    ).not.toContain(ESC);
  });

  it("keeps of a line written over the last writing, in its colour", () => {
    expect(pieces(`${ESC}[31m10%\r${ESC}[32m100%\r\ndone\r`)).toEqual([["100%\ndone", { text: 2 }]]);
    expect(
      terminalPieces("10%\r50%\r\n\nend")
        .map(({ words }) => words)
        .join(""),
    ).toBe("50%\n\nend");
  });

  it("is known of a past command too, without what the model is told of its end", () => {
    const ended = (text: string, exit_code?: number) =>
      toCallNews({ toolCallId: "c", rawOutput: { text, exit_code } } as never).output;
    expect(ended(`${ESC}[31mred${ESC}[0m\n[exit code 3]`, 3)).toBe(`${ESC}[31mred${ESC}[0m`);
    expect(ended("(no output)\n[exit code 0]", 0)).toBe("");
    expect(ended("half\n[timed out after 2 s; ended]")).toBe("half");
    expect(ended("a file's text")).toBeUndefined();
  });
});
