import type { VendorTraits } from "../../dialects/dialect.ts";
import type { ImageFormat } from "../../domain/model.ts";
import type { ReferenceRules } from "../images/reference-image.ts";
import { JSON_HEADERS } from "../transport/json-call.ts";
import { createFetchResult, type FetchResult } from "../transport/result-link.ts";
import { createVendorErrors, type VendorErrors } from "../transport/vendor-errors.ts";
import { openAiFailures, type OwnCodes } from "./errors.ts";

export interface OpenAiConnection extends OpenAiAddress {
  /** Headers for a JSON request with a JSON response. */
  jsonHeaders: Readonly<Record<string, string>>;
  /** Headers for a JSON request with server-sent events as response. */
  streamHeaders: Readonly<Record<string, string>>;
  /** Headers for a form. The form adds its own content type. */
  formHeaders: Readonly<Record<string, string>>;
  errors: VendorErrors;
  fetchResult: FetchResult;
}

/** The differences between the addresses that serve OpenAI's protocol. */
export interface OpenAiAddress {
  /** Returns the URL of an operation. Some URLs contain the vendor's model name, which `readModel` returns. */
  urlOf(operation: VendorOperation, readModel: () => string): string;
  textTraits: VendorTraits;
  ownCodes?: OwnCodes;
  /** Name of the form's file field for a single reference. For several references the name is always `image[]`. */
  singleFileField: "image" | "image[]";
  /** The images that the address accepts and returns. */
  imageLimits: ImageLimits;
}

type VendorOperation =
  | "chat/completions"
  | "responses"
  | "responses/input_tokens"
  | "images/generations"
  | "images/edits"
  | "embeddings";

export interface ImageLimits {
  /** Formats that the address can return, even if a model's record lists more formats. */
  formats: readonly ImageFormat[];
  references: ReferenceRules;
}

/** The image fields of an address that serves only text. */
export const NO_IMAGES: Pick<OpenAiAddress, "singleFileField" | "imageLimits"> = {
  singleFileField: "image",
  imageLimits: { formats: [], references: { formats: [], maxBytes: 0 } },
};

/** The settings of a channel that describe its connection to the vendor. */
export interface OpenAiSettings {
  baseUrl: string;
  /** Null for a server that needs no key. */
  apiKey: string | null;
  /** The operator's own headers. Their values count as secrets. */
  headers?: Readonly<Record<string, string>>;
}

/** Prepares the connection of a channel. `credential` has the headers with `apiKey`. */
export function createOpenAiConnection(
  { baseUrl, apiKey, headers = {} }: OpenAiSettings,
  credential: Readonly<Record<string, string>>,
  address: OpenAiAddress,
): OpenAiConnection {
  // `JSON_HEADERS` request the identity encoding, because the vendor would delay compressed events.
  const formHeaders = { ...JSON_HEADERS, ...headers, ...credential };
  const jsonHeaders = { ...formHeaders, "content-type": "application/json" };
  return {
    ...address,
    formHeaders,
    jsonHeaders,
    streamHeaders: { ...jsonHeaders, accept: "text/event-stream" },
    errors: createVendorErrors(
      {
        secret: apiKey,
        otherSecrets: Object.values(headers),
        baseUrl,
      },
      openAiFailures(address.ownCodes),
    ),
    fetchResult: createFetchResult(baseUrl),
  };
}
