import type { ReceivedRequest } from "../http-server.ts";
import { invalid, REFUSALS, type Refusal } from "./refusals.ts";

export type Surface = "v1" | "classic";
export type Operation = "chat/completions" | "responses" | "images/generations" | "images/edits";

/** Operation and deployment of a path. Only the classic surface has the deployment in its path. */
export interface Target {
  surface: Surface;
  operation: Operation;
  deployment: string | undefined;
}

const OPERATION = "(chat/completions|images/generations|images/edits)";
/** Only the v1 surface has the responses protocol. */
const V1 = new RegExp(`^/openai/v1/(responses|${OPERATION.slice(1, -1)})$`);
const CLASSIC = new RegExp(`^/openai/deployments/([^/]+)/${OPERATION}$`);

const V1_VERSIONS: ReadonlySet<string | null> = new Set([null, "v1", "preview"]);
/** Versions of the classic surface that support images. */
const CLASSIC_VERSIONS: ReadonlySet<string | null> = new Set(["2025-04-01-preview", "2026-01-01-preview"]);

/** Reads path and version like the vendor: each surface accepts only its own versions. */
export function readTarget({ path, query }: ReceivedRequest): Target | Refusal {
  const version = query.get("api-version");
  const onV1 = V1.exec(path);
  if (onV1) {
    if (!V1_VERSIONS.has(version)) return REFUSALS["BadApiVersion"]!;
    return { surface: "v1", operation: onV1[1] as Operation, deployment: undefined };
  }
  const onClassic = CLASSIC.exec(path);
  if (!onClassic || !CLASSIC_VERSIONS.has(version)) return REFUSALS["404"]!;
  const deployment = decodeURIComponent(onClassic[1]!);
  return { surface: "classic", operation: onClassic[2] as Operation, deployment };
}

/** Returns an error that only Azure sends: for WebP output, files other than PNG and JPEG, or a file named `image`. */
export function findImageFault({ body }: ReceivedRequest): Refusal | undefined {
  const text = body.toString("latin1");
  if (/"output_format":"webp"|name="output_format"\r\n\r\nwebp\r\n/.test(text))
    return invalid("Invalid value: 'webp'. Supported values are: 'png' and 'jpeg'.", "output_format");
  const file = /name="((?:image|mask)(?:\[\])?)"; filename="[^"]*"\r\nContent-Type: (\S+)/g;
  for (const [, name = "", type] of text.matchAll(file)) {
    if (name === "image") return invalid("Unknown parameter: 'image'.", "image", "unknown_parameter");
    if (type !== "image/png" && type !== "image/jpeg")
      return invalid(`Invalid file: unsupported mimetype ('${type}').`, name, "unsupported_file_mimetype");
  }
  return undefined;
}

/** Returns the deployment that the body names. */
export function bodyModel({ body, headers }: ReceivedRequest): string | undefined {
  const text = body.toString("latin1");
  if (headers["content-type"]?.startsWith("multipart/form-data"))
    return /name="model"\r\n\r\n([^\r]*)\r\n/.exec(text)?.[1];
  const { model }: { model?: string } = JSON.parse(body.toString("utf8"));
  return model;
}
