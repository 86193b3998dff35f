import type { Classify } from "../http.ts";
import { createClassifier } from "./errors.ts";
import type { OpenAiSettings } from "./settings.ts";

/** Everything about a channel that is the same for each of its calls. */
export interface Connection {
  chatUrl: string;
  generationsUrl: string;
  editsUrl: string;
  /** For a request in JSON that wants JSON back. */
  jsonHeaders: Readonly<Record<string, string>>;
  /** For a request in JSON that wants server-sent events back. */
  streamHeaders: Readonly<Record<string, string>>;
  /** For a form; its content type comes with the form. */
  formHeaders: Readonly<Record<string, string>>;
  classify: Classify;
}

/** Prepares a channel. Credentials go into headers here and nowhere else (OpenAI API reference, authentication). */
export function connect(settings: OpenAiSettings): Connection {
  const base = settings.baseUrl.replace(/\/+$/, "");
  const common: Record<string, string> = {
    authorization: `Bearer ${settings.apiKey}`,
    // Compressed events would be held back, and bytes are handed on as they come.
    "accept-encoding": "identity",
    "user-agent": "model-inference-gateway",
  };
  if (settings.organization) common["openai-organization"] = settings.organization;
  if (settings.project) common["openai-project"] = settings.project;
  const json = { ...common, "content-type": "application/json" };
  return {
    chatUrl: `${base}/chat/completions`,
    generationsUrl: `${base}/images/generations`,
    editsUrl: `${base}/images/edits`,
    jsonHeaders: { ...json, accept: "application/json" },
    streamHeaders: { ...json, accept: "text/event-stream" },
    formHeaders: { ...common, accept: "application/json" },
    classify: createClassifier(settings.apiKey, new URL(base).hostname),
  };
}
