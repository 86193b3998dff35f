import { z, type ZodType } from "zod";
import { chatSchema, completionsSchema } from "../../dialects/chat/index.ts";
import { embeddingsSchema } from "../../dialects/embeddings/index.ts";
import {
  editFormSchema,
  editSchema,
  generationSchema,
  jobFormSchema,
  jobSchema,
} from "../../dialects/images/index.ts";
import { countSchema, messagesSchema } from "../../dialects/messages/index.ts";
import { batchEmbedSchema, embedSchema } from "../../dialects/native/embeddings.ts";
import { nativeSchema } from "../../dialects/native/text/index.ts";
import { responsesSchema } from "../../dialects/responses/index.ts";
import * as images from "./image-shapes.ts";
import * as models from "./model-shapes.ts";
import { jsonSchema } from "./schema.ts";
import * as text from "./text-shapes.ts";

/** The description of a route that is not an operation of administration. */
export interface EndpointDescription {
  tag: string;
  summary: string;
  description?: string;
  query?: z.ZodObject;
  /** JSON Schema of the body. */
  body?: object;
  /** JSON Schema of the body's fields as `multipart/form-data`. */
  form?: object;
  example?: object;
  /** Schemas of the response by content type; null for content without a schema. */
  responses: Readonly<Record<string, ZodType | null>>;
  /** Status of the response; 200 by default. A status from 400 on means that no call succeeds. */
  status?: number;
  /** Descriptions by the value of `{call}` in the path. The document has a path for each, as OpenAPI requires. */
  calls?: Readonly<Record<string, Partial<EndpointDescription>>>;
}

const STREAM = { "text/event-stream": null };
const HTML = { "text/html": null };
const json = (schema: ZodType) => ({ "application/json": schema });
const STATUS = z.object({ status: z.string() });

const MESSAGES = [{ role: "user", content: "Say hello" }];
const PICTURE = { model: "sandbox-a", prompt: "A lighthouse at dawn", size: "1K" };
const CONTENTS = [{ role: "user", parts: [{ text: "Say hello" }] }];

const TEXT = "Text";
const IMAGES = "Images";
const JOBS = "Jobs";
const MODELS = "Models and prices";
const NATIVE = "Native protocol";
const OPERATION = "Operation";
export const AZURE = "Paths of Azure's clients";
export const NOT_OFFERED = "Not offered";

/** Descriptions by name of the route. */
export const PUBLIC_ENDPOINTS: Readonly<Record<string, EndpointDescription>> = {
  chat: {
    tag: TEXT,
    summary: "Chat",
    description: "The chat protocol of OpenAI. Fields besides these are forwarded to the vendor.",
    body: chatSchema,
    example: { model: "sandbox-chat", messages: MESSAGES },
    responses: { ...json(text.chatResponse), ...STREAM },
  },
  completions: {
    tag: TEXT,
    summary: "Completions",
    description: "The earlier form of chat: one prompt, whose completion any text model writes.",
    body: completionsSchema,
    example: { model: "sandbox-chat", prompt: "Say hello" },
    responses: { ...json(text.completionsResponse), ...STREAM },
  },
  messages: {
    tag: TEXT,
    summary: "Messages",
    description: "The messages protocol of Anthropic. Fields besides these are forwarded to the vendor.",
    body: messagesSchema,
    example: { model: "sandbox-chat", max_tokens: 100, messages: MESSAGES },
    responses: { ...json(text.messagesResponse), ...STREAM },
  },
  "messages.count": {
    tag: TEXT,
    summary: "Count the tokens of a messages request",
    description: "Free; counts as a request.",
    body: countSchema,
    example: { model: "sandbox-chat", messages: MESSAGES },
    responses: json(text.countResponse),
  },
  responses: {
    tag: TEXT,
    summary: "Responses",
    description: "The responses protocol of OpenAI, without a store of its own.",
    body: responsesSchema,
    example: { model: "sandbox-chat", input: "Say hello" },
    responses: { ...json(text.responsesResponse), ...STREAM },
  },
  "responses.count": {
    tag: TEXT,
    summary: "Count the tokens of a responses request",
    description: "Free; counts as a request.",
    body: responsesSchema,
    example: { model: "sandbox-chat", input: "Say hello" },
    responses: json(text.responsesCountResponse),
  },
  "responses.stored": {
    tag: NOT_OFFERED,
    summary: "Not offered: responses are not stored here",
    description: "Always 404.",
    responses: {},
    status: 404,
  },
  embeddings: {
    tag: TEXT,
    summary: "Embeddings",
    body: embeddingsSchema,
    example: { model: "text-embedding-3-small", input: "A lighthouse at dawn" },
    responses: json(text.embeddingsResponse),
  },
  "images.generations": {
    tag: IMAGES,
    summary: "Make pictures",
    body: generationSchema,
    example: PICTURE,
    responses: json(images.imageResponse),
  },
  "images.edits": {
    tag: IMAGES,
    summary: "Edit pictures",
    description: "As JSON with links or base64, or as a form with files.",
    body: editSchema,
    form: editFormSchema,
    example: { ...PICTURE, prompt: "The same at night", image: "https://example.com/lighthouse.png" },
    responses: json(images.imageResponse),
  },
  files: {
    tag: IMAGES,
    summary: "The picture of a signed link",
    query: z.object({ exp: z.string(), sig: z.string() }),
    responses: { "image/png": null, "image/jpeg": null, "image/webp": null },
  },
  "jobs.submit": {
    tag: JOBS,
    summary: "Make or edit pictures in the background",
    body: jobSchema,
    form: jobFormSchema,
    example: PICTURE,
    responses: json(images.job),
  },
  "jobs.list": {
    tag: JOBS,
    summary: "The organization's jobs, newest first",
    query: images.jobListQuery,
    responses: json(images.jobList),
  },
  "jobs.get": { tag: JOBS, summary: "One job", query: images.jobQuery, responses: json(images.job) },
  "jobs.cancel": { tag: JOBS, summary: "Cancel a job", responses: json(images.cancellation) },
  "jobs.cancel_all": {
    tag: JOBS,
    summary: "Cancel several jobs",
    body: jsonSchema(images.cancelRequest, "input"),
    example: { job_ids: ["job_…"] },
    responses: json(images.cancelResponse),
  },
  models: {
    tag: MODELS,
    summary: "The models that the key may call",
    responses: json(models.modelList),
  },
  "models.one": { tag: MODELS, summary: "One model", responses: json(models.model) },
  "pricing.lookup": {
    tag: MODELS,
    summary: "Price of a request, or all prices",
    query: models.priceQuery,
    responses: json(models.prices),
  },
  usage: {
    tag: MODELS,
    summary: "Usage and remaining limits of the key",
    query: models.usageQuery,
    responses: json(models.usage),
  },
  "native.models": {
    tag: NATIVE,
    summary: "The models that can be called natively",
    query: models.nativeModelQuery,
    responses: json(models.nativeModelList),
  },
  "native.models.one": { tag: NATIVE, summary: "One model", responses: json(models.nativeModel) },
  native: {
    tag: NATIVE,
    summary: "Generate text or pictures",
    description: "The generate protocol of Gemini. Fields besides these are forwarded to the vendor.",
    body: nativeSchema,
    example: { contents: CONTENTS },
    responses: json(text.nativeResponse),
    calls: {
      "{model}:generateContent": {},
      "{model}:streamGenerateContent": {
        summary: "Generate text or a picture as a stream",
        query: z.object({ alt: z.enum(["sse"]).optional().describe("Server-sent events, else one array") }),
        responses: { ...STREAM, ...json(z.array(text.nativeResponse)) },
      },
      "{model}:countTokens": {
        summary: "Count the tokens of a request",
        body: { type: "object" },
        responses: json(text.nativeCountResponse),
      },
      "{model}:embedContent": {
        summary: "The vector of a text",
        body: embedSchema,
        example: { content: { parts: [{ text: "A lighthouse at dawn" }] } },
        responses: json(text.nativeEmbedding),
      },
      "{model}:batchEmbedContents": {
        summary: "The vectors of texts",
        body: batchEmbedSchema,
        example: { requests: [{ content: { parts: [{ text: "A lighthouse at dawn" }] } }] },
        responses: json(text.nativeEmbeddings),
      },
    },
  },
  health: { tag: OPERATION, summary: "Health of the process", responses: json(STATUS) },
  readiness: {
    tag: OPERATION,
    summary: "Readiness for requests; 503 while it stops",
    responses: json(STATUS),
  },
  metrics: { tag: OPERATION, summary: "Metrics for Prometheus", responses: { "text/plain": null } },
  console: {
    tag: OPERATION,
    summary: "The console",
    responses: { ...HTML, "application/octet-stream": null },
  },
  openapi: { tag: OPERATION, summary: "This document", responses: json(z.looseObject({})) },
  docs: { tag: OPERATION, summary: "The documents, with this one at `/docs/api`", responses: HTML },
};
