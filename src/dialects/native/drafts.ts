import type { ImageFormat } from "../../domain/model.ts";
import { decodeBase64 } from "../../lib/base64.ts";
import type { StreamedJson, StreamedObject } from "../../lib/json-spool.ts";
import { isThought } from "./parts.ts";
import { changeParts, isInlinePicture, withPicture, type InlinePicture } from "./reply-parts.ts";

/** Stores a draft and returns its link; null when it cannot be stored. */
export type LinkDraft = (draft: Blob) => Promise<{ format: ImageFormat; url: string } | null>;

/** Replaces the drafts among a reply's thoughts by links, for a caller who wants no bytes in the message. */
export async function linkDrafts(reply: StreamedObject, link: LinkDraft): Promise<StreamedObject> {
  const drafts: InlinePicture[] = [];
  changeParts(reply, (part) => {
    if (isDraft(part)) drafts.push(part);
    return [part];
  });
  const linked = new Map<StreamedJson, StreamedObject>();
  for (const draft of drafts) linked.set(draft, await linkDraft(draft, link));
  return changeParts(reply, (part) => [linked.get(part) ?? part]);
}

function isDraft(part: StreamedJson): part is InlinePicture {
  return isInlinePicture(part) && isThought(part);
}

async function linkDraft(part: InlinePicture, link: LinkDraft): Promise<StreamedObject> {
  const { data } = part.inlineData;
  const draft = typeof data === "string" ? decodeDraft(data) : data instanceof Blob ? data : data.blob;
  const found = draft && (await link(draft));
  if (!found) return part;
  return withPicture(part, { fileData: { mimeType: `image/${found.format}`, fileUri: found.url } });
}

function decodeDraft(base64: string): Blob | null {
  const bytes = decodeBase64(base64);
  return bytes && new Blob([Uint8Array.from(bytes)]);
}
