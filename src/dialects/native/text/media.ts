import type { FeatureUse } from "../../../domain/feature.ts";
import type { StreamedObject } from "../../../lib/json-spool.ts";
import { refuseCaseVariants } from "../../field-names.ts";
import { InputSize } from "../../input-size.ts";
import { requireLink } from "../../links.ts";
import { findItems, findObject, findText, invalid } from "../fields.ts";
import { bothSpellings } from "./checks.ts";

interface Media {
  /** Files in the operator's account at the vendor. */
  files: readonly FeatureUse[];
  /** The field of the first link that a vendor would fetch; null where there is none. */
  linkParam: string | null;
  size: InputSize["tokens"];
}

const PART_NAMES = bothSpellings([
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "thought",
  "thoughtSignature",
]);
const MEDIA_NAMES = bothSpellings(["mimeType", "data", "fileUri"]);

/**
 * Reads what the parts of a conversation hold beside text: sizes, links and files, in turns, instructions and results
 * of functions. `bytes` and `units` are those of the body. Throws a `GatewayError` for a link that is not public.
 */
export function readMedia(body: StreamedObject, bytes: number, units: number): Media {
  const files: FeatureUse[] = [];
  const size = new InputSize(bytes, units);
  let linkParam: string | null = null;
  const instruction = findObject(body, "systemInstruction");
  if (instruction) readParts(instruction.value, instruction.key);
  for (const [index, turn] of (findItems(body, "contents")?.value ?? []).entries()) {
    findText(turn, "role");
    readParts(turn, `contents[${index}]`);
  }
  return { files, linkParam, size: size.tokens };

  function readParts(owner: StreamedObject, path: string): void {
    for (const [index, part] of (findItems(owner, "parts")?.value ?? []).entries())
      readPart(part, `${path}.parts[${index}]`);
  }

  function readPart(part: StreamedObject, path: string): void {
    refuseCaseVariants(part, PART_NAMES, path);
    findText(part, "text");
    const inline = findObject(part, "inlineData");
    if (inline) readInline(inline.value, `${path}.${inline.key}`);
    const file = findObject(part, "fileData");
    if (file) readFile(file.value, `${path}.${file.key}`);
    const result = findObject(part, "functionResponse");
    if (result) readParts(result.value, `${path}.${result.key}`);
  }

  function readInline(inline: StreamedObject, path: string): void {
    refuseCaseVariants(inline, MEDIA_NAMES, path);
    const data = findText(inline, "data");
    if (data === undefined) throw invalid(`${path}.data`, "must be base64");
    if (isImage(findText(inline, "mimeType"))) size.addImage(data);
    else size.addMedia(data);
  }

  function readFile(file: StreamedObject, path: string): void {
    refuseCaseVariants(file, MEDIA_NAMES, path);
    const uri = findText(file, "fileUri");
    const param = `${path}.fileUri`;
    if (uri === undefined) throw invalid(param, "must be an https link");
    if (isOfOperator(uri)) files.push({ feature: "file_id", param });
    else if (requireLink(uri, param)) linkParam ??= param;
    if (isImage(findText(file, "mimeType"))) size.addImage(null);
    else size.addLinkedMedia();
  }
}

function isImage(mimeType: string | undefined): boolean {
  return mimeType !== undefined && /^image\//i.test(mimeType);
}

/** Files of the vendor's own storage are read with the operator's credential (Gemini API, file input methods). */
function isOfOperator(uri: string): boolean {
  if (/^(?:gs:\/\/|files\/)/i.test(uri)) return true;
  const host = URL.parse(uri)?.hostname ?? "";
  return /(?:^|\.)googleapis\.com$/.test(host) || host === "storage.cloud.google.com";
}
