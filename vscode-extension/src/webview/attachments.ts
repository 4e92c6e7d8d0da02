/** Pasted and dropped files and pictures. */

import type { Mention, Picture } from "../panel/protocol";
import { post } from "./bridge";
import type { Draft } from "./draft";

const PICTURES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** The formats of dragged files: VS Code's own one and the common one. */
const URI_LISTS: readonly string[] = ["application/vnd.code.uri-list", "text/uri-list"];
const MAX_TEXT_BYTES = 200_000;

/** Return the pictures of a transfer, and prevent the event's default action. */
export async function picturesOf(event: Event, transfer: DataTransfer | null): Promise<readonly Picture[]> {
  const files = [...(transfer?.files ?? [])].filter((file) => PICTURES.includes(file.type));
  if (files.length > 0) event.preventDefault();
  return Promise.all(files.map(pictureOf));
}

async function pictureOf(file: File): Promise<Picture> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { mimeType: file.type, data: btoa(binary) };
}

/** Accept dropped files on an element. */
export function dropOn(draft: Draft, takesImages: boolean) {
  return {
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      const transfer = event.dataTransfer;
      const uris = urisOf(transfer);
      if (uris.length > 0) return post({ type: "dropped", uris });
      if (takesImages) void picturesOf(event, transfer).then(draft.addPictures);
      void textsOf(transfer).then((mentions) => mentions.forEach((mention) => draft.mention(mention)));
    },
  };
}

function urisOf(transfer: DataTransfer | null): readonly string[] {
  const list = URI_LISTS.map((type) => transfer?.getData(type) ?? "").find(Boolean) ?? "";
  return list.split(/\r?\n/).filter((line) => /^(file|vscode-remote):/.test(line));
}

/** Files from the operating system have no address here, so their text is attached. */
async function textsOf(transfer: DataTransfer | null): Promise<readonly Mention[]> {
  const files = [...(transfer?.files ?? [])].filter(
    (file) => !file.type.startsWith("image/") && file.size <= MAX_TEXT_BYTES,
  );
  return Promise.all(
    files.map(async (file): Promise<Mention> => {
      const { name } = file;
      return { kind: "file", token: name, label: name, detail: name, text: await file.text() };
    }),
  );
}
