import type { FeatureUse } from "../../domain/feature.ts";
import { isObject } from "../../lib/json.ts";
import { knownNames, refuseCaseVariants } from "../fields.ts";
import type { InputSize } from "../input-size.ts";
import { requireLink } from "../links.ts";

/** References of a conversation's blocks to anything outside of the request. */
export interface References {
  /** Files in the operator's account at the vendor. */
  files: readonly FeatureUse[];
  /** The field of the first `https:` link; null where there is none. */
  linkParam: string | null;
}

const BLOCK_NAMES = knownNames(["type", "text", "source", "content", "file_id", "tool_use_id", "input"]);
const SOURCE_NAMES = knownNames(["type", "url", "data", "media_type", "file_id", "content"]);

/**
 * Reads the sources of blocks of every kind, those inside of tool results and documents too, and counts their media.
 * Throws a `GatewayError` for a link that is not a public `https:` one: a vendor inside a private network would
 * fetch it.
 */
export function readReferences(body: Record<string, unknown>, size: InputSize): References {
  const files: FeatureUse[] = [];
  let linkParam: string | null = null;
  for (const [path, block] of locatedBlocks(body)) {
    refuseCaseVariants(block, BLOCK_NAMES, path);
    readMembers(path, block);
    const { source } = block;
    if (!isObject(source)) continue;
    refuseCaseVariants(source, SOURCE_NAMES, `${path}.source`);
    readMembers(`${path}.source`, source);
    countSource(block["type"], source, size);
  }
  return { files, linkParam };

  function readMembers(path: string, object: Record<string, unknown>): void {
    const { file_id: file, url } = object;
    if (typeof file === "string") files.push({ feature: "file_id", param: `${path}.file_id` });
    if (typeof url === "string" && isSource(path) && requireLink(url, `${path}.url`))
      linkParam ??= `${path}.url`;
  }
}

/** The `url` of a search result is only text: no vendor fetches it. */
function isSource(path: string): boolean {
  return path.endsWith(".source");
}

function countSource(type: unknown, { data, url }: Record<string, unknown>, size: InputSize): void {
  if (typeof data === "string") {
    if (type === "image") size.addImage(data);
    else if (type === "document") size.addMedia(data);
  } else if (typeof url === "string") {
    if (type === "image") size.addImage(url.startsWith("data:") ? url : null);
    else size.addLinkedMedia();
  }
}

/** Tool results hold blocks, which may be documents that are made of blocks. */
const MAX_LEVELS = 4;

type LocatedBlock = [path: string, block: Record<string, unknown>];

function* locatedBlocks({ messages, system }: Record<string, unknown>): Generator<LocatedBlock> {
  yield* blocksOf("system", system, MAX_LEVELS);
  if (!Array.isArray(messages)) return;
  for (let at = 0; at < messages.length; at += 1) {
    const message: unknown = messages[at];
    if (isObject(message)) yield* blocksOf(`messages[${at}].content`, message["content"], MAX_LEVELS);
  }
}

function* blocksOf(path: string, blocks: unknown, levels: number): Generator<LocatedBlock> {
  if (!Array.isArray(blocks) || levels === 0) return;
  for (let index = 0; index < blocks.length; index += 1) {
    const block: unknown = blocks[index];
    if (!isObject(block)) continue;
    const at = `${path}[${index}]`;
    yield [at, block];
    yield* blocksOf(`${at}.content`, block["content"], levels - 1);
    const { source } = block;
    if (isObject(source)) yield* blocksOf(`${at}.source.content`, source["content"], levels - 1);
  }
}
