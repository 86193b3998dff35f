import { FAMILIES } from "./family.ts";
import type { Model } from "./model.ts";

/** Paths of text models in protocols that send the model's id in the body. */
const TEXT_PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions"] as const;

/** Returns the main paths at which callers can use a model, without variants such as `:streamGenerateContent`. */
export function endpointsOf(model: Model): string[] {
  const native = `/v1beta/models/${model.id}:generateContent`;
  if (model.type === "embedding") return ["/v1/embeddings", `/v1beta/models/${model.id}:embedContent`];
  if (model.type !== "image") return [...TEXT_PATHS, native];
  const images = ["/v1/images/generations", "/v1/images/edits", "/api/jobs"];
  return FAMILIES[model.family].native ? [...images, native] : images;
}
