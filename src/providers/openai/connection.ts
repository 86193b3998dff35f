import type { ImageFormat } from "../../domain/model.ts";
import type { Classify } from "../transport/http.ts";
import type { ReferenceRules } from "../images/reference-image.ts";
import { createClassifier } from "./errors.ts";
import type { OpenAiSettings } from "./settings.ts";

/** Everything about a channel that is the same for each of its calls. */
export interface Connection {
  /** Address of an operation. `readModel` tells the vendor's name of the model, for addresses that hold it. */
  urlOf(operation: Operation, readModel: () => string): string;
  /** For a request in JSON that wants JSON back. */
  jsonHeaders: Readonly<Record<string, string>>;
  /** For a request in JSON that wants server-sent events back. */
  streamHeaders: Readonly<Record<string, string>>;
  /** For a form; its content type comes with the form. */
  formHeaders: Readonly<Record<string, string>>;
  /** Name of the form's file field when there is one reference; several are always `image[]`. */
  singleFileField: "image" | "image[]";
  /** What the address takes and gives of pictures. */
  imageLimits: ImageLimits;
  classify: Classify;
}

export type Operation = "chat/completions" | "images/generations" | "images/edits";

export interface ImageLimits {
  /** Formats it gives, whatever the model's record says. */
  formats: readonly ImageFormat[];
  references: ReferenceRules;
}

/** OpenAI image reference: files of under 50 MB. */
const IMAGE_LIMITS: ImageLimits = {
  formats: ["png", "jpeg", "webp"],
  references: { formats: ["png", "jpeg", "webp"], maxBytes: 50_000_000 },
};

/** Prepares a channel. Credentials go into headers here and nowhere else (OpenAI API reference, authentication). */
export function connect(settings: OpenAiSettings): Connection {
  const base = settings.baseUrl.replace(/(?<!\/)\/+$/, "");
  const credentials: Record<string, string> = { authorization: `Bearer ${settings.apiKey}` };
  if (settings.organization) credentials["openai-organization"] = settings.organization;
  if (settings.project) credentials["openai-project"] = settings.project;
  return {
    urlOf: (operation) => `${base}/${operation}`,
    ...writeHeaders(credentials),
    singleFileField: "image",
    imageLimits: IMAGE_LIMITS,
    classify: createClassifier(settings.apiKey, new URL(base).hostname),
  };
}

/** The headers of each kind of request, with these credentials. */
export function writeHeaders(
  credentials: Readonly<Record<string, string>>,
): Pick<Connection, "jsonHeaders" | "streamHeaders" | "formHeaders"> {
  const common = {
    ...credentials,
    // Compressed events would be held back, and bytes are handed on as they come.
    "accept-encoding": "identity",
    "user-agent": "model-inference-gateway",
  };
  const json = { ...common, "content-type": "application/json" };
  return {
    jsonHeaders: { ...json, accept: "application/json" },
    streamHeaders: { ...json, accept: "text/event-stream" },
    formHeaders: { ...common, accept: "application/json" },
  };
}
