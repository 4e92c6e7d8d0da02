/** The content of a prompt with its extras, for the agent and for the conversation. */

import type * as acp from "@agentclientprotocol/sdk/unstable";

import type { Prompt } from "../acp/conversations";
import { IMAGE } from "../messages/panel";
import type { Attachment } from "../state/terms";
import type { MentionReader } from "./host";
import type { Mention, Picture } from "./protocol";

/** Additional content of a prompt. */
export interface Extras {
  readonly mentions?: readonly Mention[];
  readonly pictures?: readonly Picture[];
  /** What only the agent sees. */
  readonly aside?: string;
  /** Whether the prompt joins the running turn. */
  readonly steers?: boolean;
}

/** Read the current content of a prompt's mentions. */
export async function promptContent(
  reader: Pick<MentionReader, "blockOf">,
  text: string,
  { mentions = [], pictures = [], aside = "", steers = false }: Extras,
): Promise<Prompt> {
  const blocks: acp.ContentBlock[] = [{ type: "text", text: aside ? `${text}\n\n${aside}` : text }];
  const attachments: Attachment[] = [];
  for (const mention of mentions) {
    const block = await reader.blockOf(mention);
    if (!block) continue;
    blocks.push(block);
    const kind = mention.kind === "file" || mention.kind === "folder" ? mention.kind : "text";
    attachments.push({ kind, label: mention.label, ...(mention.uri ? { uri: mention.uri } : {}) });
  }
  for (const { mimeType, data } of pictures) {
    blocks.push({ type: "image", mimeType, data });
    attachments.push({ kind: "image", label: IMAGE, data: `data:${mimeType};base64,${data}` });
  }
  return { text, blocks, attachments, steers };
}
