import { isObject } from "../lib/json.ts";
import { editItems, editMembers, removeMember } from "../lib/json-edit.ts";

export interface InlinePicture {
  /** MIME type of the picture. */
  type: string;
  base64: string;
}

/** Returns the links to pictures in a conversation of any dialect, in order and without repetitions. */
export function pictureLinks(body: Record<string, unknown>): string[] {
  const links = new Set<string>();
  for (const name of CONVERSATIONS) collect(body[name], links);
  return [...links];
}

/** Returns the text of a request with pictures in place of their links. All other characters stay unchanged. */
export function withPictures(raw: string, pictures: ReadonlyMap<string, InlinePicture>): string {
  const edits = CONVERSATIONS.map((name) => [name, (old?: string) => old && edit(old, pictures)] as const);
  return editMembers(raw, Object.fromEntries(edits));
}

const CONVERSATIONS = ["messages", "input", "contents"] as const;
/** Names of fields with parts and blocks. Arguments of tool calls are excluded: their links are the caller's data. */
const LISTS = ["content", "output", "parts"] as const;
const LINK = /^https:/i;

function collect(value: unknown, links: Set<string>): void {
  if (Array.isArray(value)) for (const each of value) collect(each, links);
  if (!isObject(value)) return;
  const link = linkOf(value);
  if (link !== undefined) links.add(link);
  for (const name of LISTS) collect(value[name], links);
}

/** Returns the link in a part of any dialect; undefined for a part without a link. */
function linkOf({
  type,
  image_url: image,
  source,
  fileData,
  file_data,
}: Record<string, unknown>): string | undefined {
  const file = fileData ?? file_data;
  if (isObject(file) && isPicture(file)) return linkIn(file["fileUri"] ?? file["file_uri"]);
  if (type === "image") return isObject(source) ? linkIn(source["url"]) : undefined;
  return linkIn(isObject(image) ? image["url"] : image);
}

function isPicture(file: Record<string, unknown>): boolean {
  return String(file["mimeType"] ?? file["mime_type"] ?? "image/").startsWith("image/");
}

function linkIn(value: unknown): string | undefined {
  return typeof value === "string" && LINK.test(value) ? value : undefined;
}

/** Replaces the links in `text`, which is the JSON of a list, a message or a part. */
function edit(text: string, pictures: ReadonlyMap<string, InlinePicture>): string {
  if (!text.includes("http")) return text;
  if (text.startsWith("[")) return editItems(text, (item) => edit(item, pictures));
  if (!text.startsWith("{")) return text;
  const value: unknown = JSON.parse(text);
  const link = isObject(value) ? linkOf(value) : undefined;
  const picture = link === undefined ? undefined : pictures.get(link);
  if (picture) return withPicture(text, picture);
  const lists = LISTS.map((name) => [name, (old?: string) => old && edit(old, pictures)] as const);
  return editMembers(text, Object.fromEntries(lists));
}

function withPicture(text: string, { type, base64 }: InlinePicture): string {
  const url = JSON.stringify(`data:${type};base64,${base64}`);
  const native = ["fileData", "file_data"].find((name) => isObject(Object(JSON.parse(text))[name]));
  if (native !== undefined) {
    const data = JSON.stringify({ mimeType: type, data: base64 });
    return editMembers(removeMember(text, native), { inlineData: () => data });
  }
  return editMembers(text, {
    image_url: (old) => (old?.startsWith("{") ? editMembers(old, { url: () => url }) : old && url),
    source: (old) => old && JSON.stringify({ type: "base64", media_type: type, data: base64 }),
  });
}
