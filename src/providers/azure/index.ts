import type { Cancellation } from "../../lib/waiting.ts";
import { z } from "zod";
import type { VendorTraits } from "../../dialects/dialect.ts";
import type { TextDialectName } from "../../dialects/name.ts";
import type { TextCall, TextUpstream } from "../../gateway/upstreams.ts";
import { systemClock } from "../../lib/clock.ts";
import {
  createOpenAiConnection,
  type ImageLimits,
  type OpenAiAddress,
  type OpenAiConnection,
} from "../openai-compatible/connection.ts";
import { createOpenAiEmbeddings } from "../openai-compatible/embeddings.ts";
import { createOpenAiImages } from "../openai-compatible/images.ts";
import { probeOpenAi } from "../openai-compatible/probe.ts";
import { createOpenAiResponses } from "../openai-compatible/responses.ts";
import { createOpenAiText } from "../openai-compatible/text.ts";
import type { Provider } from "../provider.ts";
import { createAccessTokens } from "../transport/access-tokens.ts";
import { extraHeaders, headerValue, httpAddress, withoutEndSlash } from "../transport/channel-settings.ts";
import { authenticateByToken, withCredential, type Credential } from "../transport/credential.ts";
import { entraTokens } from "./token-request.ts";
import { inputError } from "../../domain/schema-problems.ts";

const guid = z.string().regex(/^[\w.-]{1,100}$/, { error: inputError("input.directory", {}) });

const settings = z
  .object({
    baseUrl: httpAddress
      .refine((text) => !/[?#]/.test(text), { error: inputError("input.resource", {}) })
      .describe("Address of the resource, such as `https://{resource}.openai.azure.com`"),
    apiKey: headerValue
      .optional()
      .describe(
        "Without it the credential is a token of Microsoft Entra: for an application, else for the machine's identity",
      ),
    headers: extraHeaders,
    tenantId: guid.optional(),
    clientId: guid.optional(),
    clientSecret: z.string().min(1).optional(),
    authorityUrl: httpAddress
      .default("https://login.microsoftonline.com")
      .describe("Address of the token server; other clouds have their own"),
    metadataUrl: httpAddress
      .default("http://169.254.169.254")
      .describe("Address of the metadata service, which issues tokens for the identity of this machine"),
    surface: z
      .enum(["v1", "classic"])
      .default("v1")
      .describe("`v1` has the deployment in the body only, `classic` in the address"),
    apiVersion: z
      .string()
      .regex(/^[a-z0-9.-]+$/, { error: inputError("input.apiVersion", {}) })
      .optional()
      .describe("Value of `api-version`; that of the surface by default"),
  })
  .refine(({ tenantId, clientSecret }) => (tenantId === undefined) === (clientSecret === undefined), {
    path: ["clientSecret"],
    error: inputError("input.together", { other: "tenant_id" }),
  })
  .refine(({ clientId, clientSecret }) => clientSecret === undefined || clientId !== undefined, {
    path: ["clientId"],
    error: inputError("input.application", {}),
  })
  .refine(({ apiKey, clientId }) => apiKey === undefined || clientId === undefined, {
    path: ["clientId"],
    error: inputError("input.apart", { other: "credential" }),
  });

type AzureSettings = z.infer<typeof settings>;

/** OpenAI's chat, responses, embeddings and images at Azure OpenAI. An upstream model is a deployment's name. */
export const azure: Provider<AzureSettings> = {
  name: "azure",
  title: "Azure OpenAI",
  documentation: "The address of the resource and its key; without a key tokens of Microsoft Entra are used.",
  settings,
  probe: (settings, signal) =>
    connectorOf(settings)(signal, (connection) => probeOpenAi(connection, listUrlOf(settings), signal)),
  text(settings) {
    const connect = connectorOf(settings);
    const upstream = (dialect: TextDialectName, create: (connection: OpenAiConnection) => TextUpstream) => ({
      dialect,
      traits: TEXT_TRAITS,
      send: (call: TextCall) => connect(call.signal, (connection) => create(connection).send(call)),
    });
    const chat = upstream("chat", createOpenAiText);
    // The `classic` interface has no responses protocol (Azure OpenAI, API lifecycle).
    return settings.surface === "v1" ? [chat, upstream("responses", createOpenAiResponses)] : [chat];
  },
  embedding(settings) {
    const connect = connectorOf(settings);
    return {
      embed: (call) => connect(call.signal, (connection) => createOpenAiEmbeddings(connection).embed(call)),
    };
  },
  image(settings, codecSlots) {
    const connect = connectorOf(settings);
    return {
      generate: (order, signal) =>
        connect(signal, (connection) => createOpenAiImages(connection, codecSlots).generate(order, signal)),
    };
  },
};

const TEXT_TRAITS: VendorTraits = { maxTokensField: "max_completion_tokens" };

/** Makes a call over a connection with a valid credential. */
type Connect = <Result>(
  signal: Cancellation,
  call: (connection: OpenAiConnection) => Promise<Result>,
) => Promise<Result>;

function connectorOf(settings: AzureSettings): Connect {
  const { apiKey } = settings;
  if (apiKey !== undefined) {
    const connection = connectionOf(settings, { headers: { "api-key": apiKey }, secret: apiKey });
    return (_signal, call) => call(connection);
  }
  const authenticate = authenticateByToken(createAccessTokens(entraTokens(settings), systemClock));
  let prepared: { secret: string; connection: OpenAiConnection } | undefined;
  return (signal, call) =>
    withCredential(authenticate, signal, (credential) => {
      const { secret } = credential;
      if (prepared?.secret !== secret) prepared = { secret, connection: connectionOf(settings, credential) };
      return call(prepared.connection);
    });
}

/** The stable version of `v1`, and a version of `classic` with images (Azure OpenAI, API lifecycle; image how-to). */
const API_VERSIONS: Readonly<Record<AzureSettings["surface"], string>> = {
  v1: "v1",
  classic: "2025-04-01-preview",
};

/** Limits of images: no WebP as input or output, and files below 50 MB (Azure OpenAI image how-to). */
const IMAGE_LIMITS: ImageLimits = {
  formats: ["png", "jpeg"],
  references: { formats: ["png", "jpeg"], maxBytes: 50_000_000 },
};

function connectionOf(settings: AzureSettings, credential: Credential): OpenAiConnection {
  const { headers } = settings;
  const baseUrl = resourceOf(settings);
  return createOpenAiConnection({ baseUrl, apiKey: credential.secret, headers }, credential.headers, {
    urlOf: urlsOf(baseUrl, settings),
    textTraits: TEXT_TRAITS,
    singleFileField: "image[]",
    imageLimits: IMAGE_LIMITS,
  });
}

/** Returns the address of a resource's list of models (Azure OpenAI, "Models - List"). */
function listUrlOf(settings: AzureSettings): string {
  const { surface, apiVersion } = settings;
  const path = surface === "v1" ? "v1/models" : "models";
  return `${resourceOf(settings)}/openai/${path}?api-version=${apiVersion ?? API_VERSIONS[surface]}`;
}

/** Returns the address of the resource. Removes the path of an interface, which users often copy with the address. */
function resourceOf({ baseUrl }: AzureSettings): string {
  return withoutEndSlash(baseUrl).replace(/\/openai(\/v1)?$/, "");
}

function urlsOf(baseUrl: string, { surface, apiVersion }: AzureSettings): OpenAiAddress["urlOf"] {
  const query = `api-version=${apiVersion ?? API_VERSIONS[surface]}`;
  if (surface === "v1") return (operation) => `${baseUrl}/openai/v1/${operation}?${query}`;
  return (operation, readModel) =>
    `${baseUrl}/openai/deployments/${encodeURIComponent(readModel())}/${operation}?${query}`;
}
