import { z } from "zod";
import type { TextCall } from "../../gateway/upstreams.ts";
import { systemClock } from "../../lib/clock.ts";
import { removeMember } from "../../lib/json-edit.ts";
import { textOf } from "../../lib/json.ts";
import type { GenerateContentConnection } from "../generate-content/connection.ts";
import { readGoogleFailure } from "../generate-content/errors.ts";
import { createGenerateContentImages } from "../generate-content/images.ts";
import { createGenerateContentText } from "../generate-content/text.ts";
import type { Provider } from "../provider.ts";
import { createAccessTokens, type GrantedToken, type RequestToken } from "../transport/access-tokens.ts";
import { fanOutSetting, httpAddress, withoutEndSlash } from "../transport/channel-settings.ts";
import { authenticateByToken, withCredential } from "../transport/credential.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { joinModels, readModels } from "../transport/model-list.ts";
import { requestToken } from "../transport/token-request.ts";
import { createVendorErrors } from "../transport/vendor-errors.ts";
import { createVertexMessages, isClaude } from "./messages.ts";
import { readServiceAccount, requestAccountToken } from "./service-account.ts";
import { inputError } from "../../domain/schema-problems.ts";

const settings = z
  .object({
    baseUrl: httpAddress
      .optional()
      .describe("Base address before `/{version}/projects/…`; that of the region by default"),
    apiKey: z
      .string()
      .refine((text) => readServiceAccount(text) !== null, { error: inputError("input.serviceAccount", {}) })
      .optional()
      .describe("JSON of a service account's key. Without it the account of this machine is used"),
    project: z
      .string()
      .regex(/^[a-z0-9.:-]+$/, { error: inputError("input.projectId", {}) })
      .optional()
      .describe("The project to bill; the service account's own by default"),
    region: z
      .string()
      .regex(/^[a-z0-9-]+$/, { error: inputError("input.region.global", { region: "europe-west4" }) })
      .default("global"),
    metadataUrl: httpAddress
      .default("http://metadata.google.internal")
      .describe("Address of the metadata server, which issues tokens for the account of this machine"),
    fanOut: fanOutSetting,
  })
  .refine((value) => projectOf(value) !== undefined, {
    path: ["project"],
    error: inputError("input.project", {}),
  });

type VertexSettings = z.infer<typeof settings>;

/** Claude, and Gemini's text and image models, in a Google Cloud project, with short-lived access tokens. */
export const vertex: Provider<VertexSettings> = {
  name: "vertex",
  title: "Google Vertex AI",
  documentation:
    "The JSON of a service account's key; without it the account of this machine is used, and the settings name the project.",
  settings,
  async probe(settings, signal) {
    await createGenerateContentText(connectionOf(settings)).countTokens?.(countCall(signal));
  },
  models: (settings, signal) => {
    const base = withoutEndSlash(settings.baseUrl ?? GLOBAL_ADDRESS);
    return withCredential(connectionOf(settings).authenticate, signal, async ({ headers, secret }) => {
      const { classify } = createVendorErrors({ secret, baseUrl: base }, readGoogleFailure);
      const call = { headers: { ...JSON_HEADERS, ...headers }, signal };
      const lists = PUBLISHERS.map(({ publisher, names }) => {
        const url = `${base}/v1beta1/publishers/${publisher}/models?pageSize=${PAGE_SIZE}`;
        return readModels({ ...call, url }, classify, {
          member: "publisherModels",
          nameOf: ({ name }) => names.exec(textOf(name).split("/").at(-1) ?? "")?.[0],
          next: { member: "nextPageToken", parameter: "pageToken" },
        });
      });
      return joinModels(await Promise.all(lists));
    });
  },
  text(settings) {
    const connection = connectionOf(settings);
    const { baseUrl, authenticate } = connection;
    const modelsUrl = modelsUrlOf(settings, "v1", "anthropic");
    return [
      { ...createGenerateContentText(connection), serves: (model) => !isClaude(model) },
      createVertexMessages({ baseUrl, modelsUrl, authenticate }),
    ];
  },
  image: (settings, codecSlots) =>
    createGenerateContentImages(connectionOf(settings), settings.fanOut, codecSlots),
};

/** The global address. It lists models, which some regions do not (Vertex AI reference, `publishers.models.list`). */
const GLOBAL_ADDRESS = "https://aiplatform.googleapis.com";
const PAGE_SIZE = 100;
/** The publishers of the models that this provider serves, each with a pattern for the names of these models. */
const PUBLISHERS = [
  { publisher: "google", names: /^gemini-(?!.*embedding).*/ },
  { publisher: "anthropic", names: /^claude-.*/ },
] as const;

/** Returns a call that counts the tokens of a prompt. The vendor does not charge for such a call. */
const countCall = (signal: AbortSignal): TextCall => ({
  raw: '{"contents":[{"role":"user","parts":[{"text":"ping"}]}]}',
  upstreamModel: "gemini-2.5-flash",
  isStream: false,
  headers: {},
  signal,
});

/** Fields of a request that a counting call refuses (Vertex AI reference, `CountTokensRequest`). */
const NOT_COUNTED = ["toolConfig", "tool_config", "safetySettings", "safety_settings", "labels"];

/** Maximum bytes of an inline picture (Vertex AI, image understanding). */
const MAX_REFERENCE_BYTES = 7_000_000;
/** Multi-regions. Their host names have a form of their own. */
const MULTI_REGIONS: ReadonlySet<string> = new Set(["us", "eu"]);

function connectionOf(settings: VertexSettings): GenerateContentConnection {
  const models = modelsUrlOf(settings, "v1beta1", "google");
  return {
    baseUrl: baseUrlOf(settings),
    urlOf: (model, method) => `${models}/${encodeURIComponent(model)}:${method}`,
    writeCount: (raw) => NOT_COUNTED.reduce(removeMember, raw),
    authenticate: authenticateByToken(createAccessTokens(tokenRequest(settings), systemClock)),
    takesOutputOptions: true,
    demandsRoles: true,
    maxReferenceBytes: { each: MAX_REFERENCE_BYTES, together: Number.POSITIVE_INFINITY },
  };
}

/** Returns the base address of a publisher's models. */
function modelsUrlOf(settings: VertexSettings, version: string, publisher: string): string {
  const { region } = settings;
  const project = `${baseUrlOf(settings)}/${version}/projects/${projectOf(settings)}`;
  return `${project}/locations/${region}/publishers/${publisher}/models`;
}

function baseUrlOf({ baseUrl, region }: VertexSettings): string {
  return withoutEndSlash(baseUrl ?? regionalAddress(region));
}

/** Returns the base address of a region (Google Gen AI SDK, `_api_client`). */
function regionalAddress(region: string): string {
  if (region === "global") return GLOBAL_ADDRESS;
  if (MULTI_REGIONS.has(region)) return `https://aiplatform.${region}.rep.googleapis.com`;
  return `https://${region}-aiplatform.googleapis.com`;
}

function tokenRequest({ apiKey, metadataUrl }: VertexSettings): RequestToken {
  const account = apiKey === undefined ? null : readServiceAccount(apiKey);
  if (!account) return (signal) => requestInstanceToken(metadataUrl, signal);
  return (signal) => requestAccountToken(account, systemClock.now(), signal);
}

function projectOf({ project, apiKey }: { project?: string; apiKey?: string }): string | undefined {
  return project ?? (apiKey === undefined ? undefined : readServiceAccount(apiKey)?.projectId);
}

/**
 * Requests a token of this machine's account (Compute Engine metadata). Bypasses proxies, which could read the token.
 */
async function requestInstanceToken(metadataUrl: string, signal: AbortSignal): Promise<GrantedToken> {
  const base = withoutEndSlash(metadataUrl);
  return await requestToken(`${base}/computeMetadata/v1/instance/service-accounts/default/token`, {
    method: "GET",
    headers: { "metadata-flavor": "Google", accept: "application/json" },
    signal,
    proxy: false,
  });
}
