import { createHash } from "node:crypto";
import { GatewayError } from "../../domain/gateway-error.ts";
import { asGatewayError } from "../../gateway/failure.ts";
import type { BlobStore } from "../../gateway/delivery/stored-blobs.ts";
import type { Claim, Outcome, OutcomeStore } from "../../gateway/outcomes.ts";
import { ClientDisconnected } from "../../gateway/routing/call.ts";
import { newId } from "../../lib/ids.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { AuthenticatedExchange } from "../http-exchange.ts";
import { baseHeaders, errorResponse } from "../respond.ts";
import type { ErrorFamily, HttpRoute, RouteResult, StreamedResponse } from "../routes.ts";

export interface Idempotency {
  outcomes: OutcomeStore;
  blobs: BlobStore;
  /** True when the disk has space for a body of this many bytes. */
  hasSpaceToKeep(bytes: number): boolean;
}

const HEADER = "idempotency-key";
const USABLE_KEY = /^[\x21-\x7e]{1,255}$/;
const RENEWAL_MS = 20_000;
/** Maximum bytes of a body in the outcome's row. A larger body is stored as a blob, up to `MAX_BLOB_BYTES`. */
const MAX_ROW_BYTES = 64 * 1024;
const MAX_BLOB_BYTES = 64 * 1024 * 1024;
const STORED_HEADER = /^(content-type|x-accel-buffering|x-gateway-(?!request-id)|x-image-)/;

/**
 * Runs a route's handler. On routes of text and images, the first request with an `Idempotency-Key` claims the key
 * after its body is read, and its outcome is stored. Later requests with the same key and body get the stored outcome,
 * without a vendor call or a charge. They get an error if the response was not kept.
 */
export function runIdempotently(
  idempotency: Idempotency,
  route: KeyedRoute,
  exchange: AuthenticatedExchange,
): RouteResult | Promise<RouteResult> {
  const key = route.pipeline && !route.keepsOutcomes ? idempotencyKeyOf(exchange.request) : null;
  return key === null ? route.handle(exchange) : runOnce(idempotency, route, exchange, key);
}

type KeyedRoute = Extract<HttpRoute, { auth: "key" }>;

async function runOnce(
  idempotency: Idempotency,
  route: KeyedRoute,
  exchange: AuthenticatedExchange,
  key: string,
): Promise<RouteResult> {
  const claim = new HeldClaim(idempotency, exchange, key);
  exchange.claimOutcome = (content) => claim.take(content);
  try {
    return await claim.captured(await route.handle(exchange));
  } catch (error) {
    if (error instanceof Replay) return error.response;
    await claim.settle(refusalToStore(error, route.family, exchange.requestId));
    throw error;
  }
}

/** Returns the hash of the idempotency key; null without a key. Throws `invalid_parameter` for an unusable key. */
export function idempotencyKeyOf({ headers }: Request): string | null {
  const key = headers.get(HEADER);
  if (key === null) return null;
  if (!USABLE_KEY.test(key)) throw unusableKey();
  return createHash("sha256").update(key).digest("hex");
}

/** Returns the response for a refusal that every repetition of the request would get; null for every other error. */
function refusalToStore(error: unknown, family: ErrorFamily, requestId: string): Response | null {
  const failure = asGatewayError(error);
  return failure.status === 400 ? errorResponse(failure, family, requestId) : null;
}

/** Ends the handler of a request whose outcome is already stored. */
class Replay extends Error {
  constructor(readonly response: Response) {
    super("the outcome of this request is stored");
  }
}

/** True when the stream contained the whole reply, even if the client did not receive all of it. */
function isWhole(failure: Awaited<StreamedResponse["ended"]>): boolean {
  return failure === null || (failure instanceof ClientDisconnected && failure.isReplyWhole);
}

class HeldClaim {
  readonly #idempotency: Idempotency;
  readonly #exchange: AuthenticatedExchange;
  readonly #claim: Claim;
  #renewal: BackgroundWork | null = null;

  constructor(idempotency: Idempotency, exchange: AuthenticatedExchange, key: string) {
    this.#idempotency = idempotency;
    this.#exchange = exchange;
    const { key: gatewayKey, organization } = exchange.principal;
    this.#claim = { keyId: gatewayKey.id, key, id: newId("claim"), organizationId: organization.id };
  }

  /** Throws a `Replay` when the outcome is stored, and a `GatewayError` when this request may not run now. */
  async take(content: unknown): Promise<void> {
    const { outcomes } = this.#idempotency;
    const fingerprint = await fingerprintOf([this.#exchange.path, content]);
    const result = await outcomes.claim(this.#claim, fingerprint);
    if (result.kind === "stored") throw new Replay(await this.#replayed(result.outcome));
    if (result.kind === "other") throw conflict("This idempotency key was used with another request.");
    if (result.kind === "running") throw stillRunning();
    this.#renewal = every(
      RENEWAL_MS,
      () => outcomes.renew(this.#claim),
      () => {},
    );
  }

  /** Stores the outcome. A whole response is stored before it is sent, a stream before its end is sent. */
  async captured(result: RouteResult): Promise<RouteResult> {
    if (!this.#renewal) return result;
    if (result instanceof Response) return await this.#storeWhole(result);
    const { response, ended } = result;
    void ended.then((failure) => (isWhole(failure) ? undefined : this.settle(null)));
    return { ended, response: new Response(this.#captureStream(response, ended), response) };
  }

  /** Stores the outcome, even if its body cannot be kept. Releases the key when there is no response. */
  async settle(response: Response | null): Promise<void> {
    if (!this.#renewal) return;
    const renewal = this.#renewal;
    this.#renewal = null;
    await renewal.stop();
    const { outcomes } = this.#idempotency;
    try {
      const outcome = response && (await this.#outcomeOf(response));
      await (outcome ? outcomes.complete(this.#claim, outcome) : outcomes.release(this.#claim));
    } catch {
      // The error does not matter, because the claim expires anyway.
    }
  }

  /** Stores the body before sending it, unless it is too large. A disconnected client gets it by a repeated request. */
  async #storeWhole(response: Response): Promise<Response> {
    const { status, headers } = response;
    if (!response.body) {
      await this.settle(null);
      return response;
    }
    const reader = response.body.getReader();
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        await this.settle(new Response(new Blob(pieces), { status, headers }));
        return new Response(new Blob(pieces), { status, headers });
      }
      pieces.push(new Uint8Array(value));
      bytes += value.length;
      if (bytes <= MAX_BLOB_BYTES) continue;
      await this.settle(new Response(null, { status, headers }));
      return new Response(joined(pieces, reader), { status, headers });
    }
  }

  #captureStream(
    { body, headers, status }: Response,
    ended: StreamedResponse["ended"],
  ): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (!body) return null;
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    const reader = body.getReader();
    const readPiece = async (): Promise<Uint8Array<ArrayBuffer> | null> => {
      const { done, value } = await reader.read();
      if (done) {
        const kept = bytes <= MAX_BLOB_BYTES ? new Blob(pieces) : null;
        await this.settle(isWhole(await ended) ? new Response(kept, { status, headers }) : null);
        return null;
      }
      const piece = new Uint8Array(value);
      bytes += piece.length;
      if (bytes <= MAX_BLOB_BYTES) pieces.push(piece);
      return piece;
    };
    const { request, principal } = this.#exchange;
    const readOn = async (): Promise<void> => {
      while (await readPiece());
    };
    let goesOn = false;
    const goOn = (): void => {
      goesOn = true;
      if (request.signal.aborted) void readOn();
      else request.signal.addEventListener("abort", () => void readOn(), { once: true });
    };
    // If the call continues without its client, the whole reply is read, so that a repeated request gets its outcome.
    // Otherwise the rest is read only if the vendor's reply ended without an error: then the whole reply is charged.
    if (principal.organization.settings.callerGone === "drain") goOn();
    else void ended.then((failure) => (failure === null ? goOn() : undefined));
    return new ReadableStream({
      pull: async (client) => {
        const piece = await readPiece();
        if (request.signal.aborted) return;
        if (piece) client.enqueue(piece);
        else client.close();
      },
      cancel: (reason) => (goesOn ? void readOn() : reader.cancel(reason)),
    });
  }

  async #outcomeOf(response: Response): Promise<Outcome> {
    const { status } = response;
    const headers = Object.fromEntries([...response.headers].filter(([name]) => STORED_HEADER.test(name)));
    const body = response.body && new Uint8Array(await response.arrayBuffer());
    const kept = body && (await this.#keep(body));
    return { status, headers, ...(kept ?? { body: null, blob: null, bytes: 0 }) };
  }

  /** Stores the body in the row or as a blob. Returns its location; null when the body cannot be kept. */
  async #keep(body: Uint8Array<ArrayBuffer>): Promise<Pick<Outcome, "body" | "blob" | "bytes"> | null> {
    const { outcomes, blobs, hasSpaceToKeep } = this.#idempotency;
    const { organization } = this.#exchange.principal;
    const bytes = body.length;
    if (!hasSpaceToKeep(bytes) || !outcomes.admits(organization.id, bytes)) return null;
    if (bytes <= MAX_ROW_BYTES) return { body, blob: null, bytes };
    const stored = await blobs.put(new Blob([body]), "bin", organization.id).catch(() => null);
    return stored && { body: null, blob: stored.name, bytes };
  }

  async #replayed({ status, headers, body, blob }: Outcome): Promise<Response> {
    const stored = blob === null ? body : (await this.#idempotency.blobs.get(blob))?.stream();
    if (!stored) throw notKept(status);
    const { requestId } = this.#exchange;
    const all = { ...baseHeaders(requestId), ...headers, "idempotent-replayed": "true" };
    return new Response(stored, { status, headers: all });
  }
}

/** Yields the part of a body that was already read, and then the rest of the body. */
async function* joined(
  pieces: readonly Uint8Array<ArrayBuffer>[],
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield* pieces;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return;
    yield new Uint8Array(value);
  }
}

function unusableKey(): GatewayError {
  const message = "`Idempotency-Key` must have 1 to 255 visible ASCII characters.";
  return new GatewayError("invalid_parameter", message, { param: "Idempotency-Key" });
}

function conflict(message: string): GatewayError {
  return new GatewayError("idempotency_conflict", message, { param: "Idempotency-Key", shouldRetry: false });
}

/** Returns an error that clients do not retry, because every retry with the same key would get this error again. */
function notKept(status: number): GatewayError {
  return conflict(
    `The first request with this idempotency key ended with status ${status}. Its response is not kept, and it does not run again; a new key runs, and charges, it once more.`,
  );
}

function stillRunning(): GatewayError {
  const message = "A request with this idempotency key is still running. Retry shortly.";
  const detail = { param: "Idempotency-Key", retryAfterSeconds: 1 };
  return new GatewayError("idempotency_conflict", message, detail);
}
