/** The panel's host in a browser: the clipboard, other pages, files that the user chooses. */

import { tooLargePicture } from "../messages/editor";
import * as messages from "../messages/web";
import type { Answer, Attachments, Exits, PromptContext } from "../panel/host";
import type { Mention } from "../panel/protocol";
import type { Overlays } from "./dialogs";

const PICTURES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_PICTURE_BYTES = 5_000_000;
const MAX_TEXT_BYTES = 200_000;
const MAX_FILES = 20;

export type OpenFile = (path: string, line?: number) => Promise<boolean>;

export interface Commands {
  readonly [command: string]: () => void;
}

/** Files are on the server. `openFile` shows them and returns whether it could; otherwise their paths are copied. */
export function browserExits(overlays: Overlays, commands: Commands, openFile: OpenFile): Exits {
  const copyPath = async (path: string) => {
    await copyText(path);
    overlays.say(messages.pathCopied(path));
  };
  return {
    open: async (path, line) => {
      if (!(await openFile(path, line))) await copyPath(path);
    },
    follow: copyPath,
    located: () => Promise.resolve([]),
    browse: (url) => Promise.resolve(openPage(url)),
    copy: copyText,
    run: (command) => Promise.resolve(commands[command]?.()),
    compare: (diff, title) => overlays.showDiffs([diff], title),
    useCode: () => Promise.resolve(overlays.say(messages.NOT_HERE)),
    codeTarget: () => undefined,
  };
}

/** Open a web page in a new tab without a reference to this one. */
function openPage(url: string): void {
  if (/^(https?|mailto):/i.test(url)) window.open(url, "_blank", "noopener,noreferrer");
}

/** Put a text on the clipboard. */
export async function copyText(text: string): Promise<void> {
  // The clipboard is only available in secure contexts.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Files are chosen in the browser. `say` reports those that are too large. */
export function browserAttachments(say: (words: string) => void): Attachments {
  return {
    pick: async (answer) => {
      for (const file of (await chooseFiles()).slice(0, MAX_FILES)) await attachFile(file, answer, say);
    },
    drop: () => Promise.resolve(),
  };
}

function chooseFiles(): Promise<readonly File[]> {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  return new Promise((resolve) => {
    input.onchange = () => resolve([...(input.files ?? [])]);
    input.oncancel = () => resolve([]);
    input.click();
  });
}

/** Add a file to the prompt: a picture as an attachment, any other as text. */
export async function attachFile(file: File, answer: Answer, say: (words: string) => void): Promise<void> {
  const { name, type, size } = file;
  if (PICTURES.includes(type)) {
    if (size > MAX_PICTURE_BYTES) return say(tooLargePicture(name));
    let binary = "";
    for (const byte of new Uint8Array(await file.arrayBuffer())) binary += String.fromCharCode(byte);
    answer({ type: "insertPicture", picture: { mimeType: type, data: btoa(binary) } });
  } else {
    if (size > MAX_TEXT_BYTES) return say(messages.tooLargeText(name));
    const mention: Mention = { kind: "file", token: name, label: name, detail: name, text: await file.text() };
    answer({ type: "insert", mention });
  }
}

/** A browser has no editor context for a prompt. */
export const noContext: PromptContext = { shown: [], taken: [], take: () => undefined };
