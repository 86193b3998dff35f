import { GatewayError } from "../../domain/gateway-error.ts";
import type { ImageRequest } from "../../domain/image.ts";
import type { ImageFormat } from "../../domain/model.ts";
import { readSize } from "../../domain/size.ts";
import {
  checkTypes,
  type FieldChecks,
  type JsonSchema,
  knownNames,
  nullable,
  oneOf,
  refuseCaseVariants,
  requestSchema,
  text,
  whole,
  wrongType,
} from "../fields.ts";
import { MASK_FIELDS, REFERENCE_FIELDS } from "./references.ts";

/** The fields of an image request, without its pictures. */
export type ImageFields = Omit<ImageRequest, "references" | "mask" | "compressReferences">;

const SILENTLY_IGNORED: ReadonlySet<string> = new Set(["moderation", "user", "style"]);
/** Fields without effect. A field is reported as ignored if its value requests something. */
const STREAMING: ReadonlySet<string> = new Set(["stream", "partial_images"]);
const FORMATS: readonly ImageFormat[] = ["png", "jpeg", "webp"];
const DELIVERIES = ["url", "b64_json"] as const;

const FIELDS: FieldChecks = [
  ["size", text, "`1536x1024`, or a size class `1K`, `2K`, `4K`"],
  ["aspectRatio", text, "`16:9`, with a size class; also `aspect_ratio`"],
  ["quality", text, "Of family A: `auto`, or one that the model has"],
  ["background", text, "Of family A: `auto`, `opaque`, `transparent`"],
  ["n", whole(1, 4)],
  ["output_format", oneOf(FORMATS, wordsOf(FORMATS))],
  ["output_compression", whole(0, 100), "For jpeg and webp"],
  ["response_format", oneOf(DELIVERIES, wordsOf(DELIVERIES))],
];

function wordsOf(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}

const LINK: JsonSchema = {
  anyOf: [text.schema, { type: "object", properties: { image_url: {} }, required: ["image_url"] }],
  description: "A public https link, a `data:` URL, plain base64, or an object with such an `image_url`",
};
const REQUIRED = { model: text.schema, prompt: text.schema };
const REQUIRED_NAMES = Object.keys(REQUIRED);

/** The published schema of a request for new pictures. */
export const generationSchema = requestSchema(FIELDS, REQUIRED);

const EDIT: JsonSchema = {
  ...REQUIRED,
  image: {
    ...nullable({ anyOf: [LINK, { type: "array", items: LINK }] }),
    description: "References, image 1 first; also `images`, `input_images`, `image_urls`",
  },
  mask: {
    ...nullable(text.schema),
    description: "A PNG of the size of image 1, transparent where the model may paint",
  },
};

/** The published schema of a request for an edit. */
export const editSchema = requestSchema(FIELDS, EDIT, REQUIRED_NAMES);

const JOB_FIELDS: FieldChecks = [
  ...FIELDS,
  ["webhook_url", text, "A public https address that is told of the job's end"],
];

/** The published schema of a request that runs in the background. */
export const jobSchema = requestSchema(JOB_FIELDS, EDIT, REQUIRED_NAMES);

/** Form fields that are numbers. Forms send all values as text. */
export const NUMBERS: ReadonlySet<string> = new Set(["n", "output_compression"]);

const FILE = { type: "string", contentMediaType: "application/octet-stream" };

const FORM = {
  ...REQUIRED,
  ...Object.fromEntries(Array.from(NUMBERS, (name) => [name, text.schema])),
  image: { anyOf: [FILE, { type: "array", items: FILE }] },
  mask: FILE,
};

function formSchema(fields: FieldChecks): object {
  return requestSchema(
    fields.filter(([name]) => !NUMBERS.has(name)),
    FORM,
    REQUIRED_NAMES,
  );
}

/** The published schema of an edit that is sent as a form. */
export const editFormSchema = formSchema(FIELDS);

/** The published schema of a form that runs in the background. */
export const jobFormSchema = formSchema(JOB_FIELDS);

const READ: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "aspect_ratio",
  ...FIELDS.map(([name]) => name),
]);

/** True for a field whose value the image endpoints read. */
export function isReadField(name: string): boolean {
  return READ.has(name) || STREAMING.has(name);
}

/** True for a field without effect that is not reported as ignored. */
export function isSilentlyIgnored(name: string): boolean {
  return SILENTLY_IGNORED.has(name);
}

const ALL_NAMES = [...READ, ...REFERENCE_FIELDS, ...MASK_FIELDS];
const KNOWN_NAMES = knownNames(ALL_NAMES);
const JOB_NAMES = knownNames([...ALL_NAMES, "webhook_url", "contents"]);

/**
 * Throws for a field of a job's submission whose name differs only in case from a name that the gateway reads. The
 * submission may be a form, JSON of the image endpoints or native JSON.
 */
export function refuseJobVariants(submission: object): void {
  refuseCaseVariants(submission, JOB_NAMES);
}

/**
 * Reads the common fields of all image endpoints. `null` counts as absent. Throws a `GatewayError` that names a field
 * with a wrong type or out of range. Does not check that the model supports the values.
 */
export function readFields(body: Readonly<Record<string, unknown>>): ImageFields {
  const { model } = body;
  if (typeof model !== "string" || model === "")
    throw new GatewayError("model_required", "Set `model` to the id of an image model.", { param: "model" });
  refuseCaseVariants(body, KNOWN_NAMES);
  const prompt = body["prompt"];
  if (prompt instanceof Blob) throw wrongType("prompt", "text, not a file");
  if (typeof prompt !== "string" || prompt.trim() === "") {
    throw new GatewayError("prompt_required", "Set `prompt` to what the picture should show.", {
      param: "prompt",
    });
  }
  checkTypes(body, FIELDS);
  const ratio = textOf(body, "aspectRatio") || optionalText(body, "aspect_ratio");
  const { n, output_compression: compression } = body;
  return {
    model,
    prompt,
    size: readSize(textOf(body, "size"), ratio),
    quality: textOf(body, "quality"),
    background: textOf(body, "background"),
    count: typeof n === "number" ? n : 1,
    format: FORMATS.find((format) => format === body["output_format"]),
    compression: typeof compression === "number" ? compression : undefined,
    delivery: DELIVERIES.find((delivery) => delivery === body["response_format"]),
    ignored: Object.keys(body).filter(
      (name) => !READ.has(name) && !SILENTLY_IGNORED.has(name) && !asksForNothing(name, body[name]),
    ),
  };
}

/** True for a value that requests nothing: null, or false for `stream`. In a form, false is a text. */
function asksForNothing(name: string, value: unknown): boolean {
  return value === null || (name === "stream" && (value === false || value === "false"));
}

function optionalText(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  checkTypes(body, [[name, text]]);
  return textOf(body, name);
}

function textOf(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" ? value : undefined;
}
