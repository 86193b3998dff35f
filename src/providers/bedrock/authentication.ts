import { UpstreamError } from "../../domain/upstream-error.ts";
import { type Cancellation, untilAborted } from "../../lib/waiting.ts";

/** A request without its credential. */
interface UnsignedRequest {
  method: "GET" | "POST";
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The headers of one call, including the credential, and the secrets that must not appear in an error. */
interface AuthenticatedRequest {
  headers: Readonly<Record<string, string>>;
  secrets: readonly string[];
}

/** Adds the credential to a request. Throws an `UpstreamError`, or the signal's reason. */
export type SignRequest = (request: UnsignedRequest, signal: Cancellation) => Promise<AuthenticatedRequest>;

/** A key of an AWS account, for a user or a session. */
interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** Authenticates by a Bedrock API key. */
export function authenticateByApiKey(apiKey: string): SignRequest {
  return async ({ headers }) => ({
    headers: { ...headers, authorization: `Bearer ${apiKey}` },
    secrets: [apiKey],
  });
}

/**
 * Authenticates by signatures with an access key (AWS Signature Version 4). Without a configured key, AWS's library
 * searches environment variables, profiles, web identity, containers and instances for a key of the machine, and renews
 * this key. The libraries are loaded at their first use, because they are large and few channels need them.
 */
export function authenticateBySignature(region: string, own?: AccessKey): SignRequest {
  const findKey = own ? async () => own : keyOfMachine();
  return async ({ method, url, headers, body }, signal) => {
    signal.throwIfAborted();
    const key = await untilAborted(findKey().catch(noKey), signal);
    const { SignatureV4 } = await import("@smithy/signature-v4");
    const { protocol, hostname, port, host, pathname, searchParams } = new URL(url);
    const signer = new SignatureV4({ service: "bedrock", region, credentials: key, sha256: Sha256 });
    const signed = await signer.sign({
      method,
      protocol,
      hostname,
      ...(port !== "" && { port: Number(port) }),
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: { ...headers, host },
      body,
    });
    const { accessKeyId, secretAccessKey, sessionToken } = key;
    return {
      headers: signed.headers,
      secrets: [secretAccessKey, accessKeyId, ...(sessionToken === undefined ? [] : [sessionToken])],
    };
  };
}

function keyOfMachine(): () => Promise<AccessKey> {
  let provider: Promise<() => Promise<AccessKey>> | null = null;
  return async () => {
    provider ??= import("@aws-sdk/credential-provider-node").then(({ defaultProvider }) => defaultProvider());
    return await (
      await provider
    )();
  };
}

function noKey(cause: unknown): never {
  throw new UpstreamError("account", "this machine has no usable AWS credential", { cause });
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** SHA-256, or HMAC-SHA-256 with a secret, in the interface that the signer requires. */
class Sha256 {
  readonly #secret: Bytes | undefined;
  #hasher: Bun.CryptoHasher;

  constructor(secret?: Bytes) {
    this.#secret = secret;
    this.#hasher = open(secret);
  }

  update(data: Bytes): void {
    this.#hasher.update(asInput(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hasher.digest();
  }

  reset(): void {
    this.#hasher = open(this.#secret);
  }
}

function open(secret?: Bytes): Bun.CryptoHasher {
  return new Bun.CryptoHasher("sha256", secret === undefined ? undefined : asInput(secret));
}

function asInput(data: Bytes): string | Uint8Array {
  if (typeof data === "string") return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
