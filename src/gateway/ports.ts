/**
 * What the core needs from the world. Adapters above implement these; `run` joins the two.
 */
import type { ByteStream } from "../lib/byte-stream.ts";
import type { PatternMap } from "../lib/pattern-map.ts";
import type { ApiKey } from "../domain/api-key.ts";
import type { Channel, Route } from "../domain/channel.ts";
import type { ImageFormat, Model } from "../domain/model.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import type { Organization } from "../domain/organization.ts";
import type { Price } from "../domain/price.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { VendorTraits } from "../dialects/dialect.ts";
import type { TextDialectName } from "../dialects/name.ts";
import type { Cancellation } from "../lib/cancellation.ts";
import type { Nanos } from "../lib/money.ts";

/** Everything a request is decided by, in memory and immutable; after a change a new one replaces it within a second. */
export interface Directory {
  organizations: ReadonlyMap<string, Organization>;
  models: PatternMap<Model>;
  /** Default route of each model. */
  routes: PatternMap<Route>;
  channels: ReadonlyMap<string, Channel>;
  /** The price in force at `now`, each cell from the organization's rows first; null when nothing prices the model. */
  price(
    organization: Pick<Organization, "id" | "currency">,
    model: string,
    unit: Price["unit"],
    now: number,
  ): Price | null;
}

/** The current directory, and keys by the hash of their secret. */
export interface Snapshot {
  directory(): Directory;
  /**
   * Known keys return at once; an unknown hash queries the store, before which `onLookup` is called, and may throw.
   * Throws a `DependencyError` when the query fails.
   */
  key(hash: string, onLookup?: () => void): ApiKey | null | Promise<ApiKey | null>;
}

/** The store is unavailable just now: the database, or the place of pictures. */
export class DependencyError extends Error {
  override readonly name = "DependencyError";
  readonly dependency: "database" | "blobs";
  /** What the operator has to do, where waiting does not help. */
  readonly advice: string | null;

  constructor(
    message: string,
    { dependency = "database", advice = null, ...options }: DependencyErrorOptions = {},
  ) {
    super(message, options);
    this.dependency = dependency;
    this.advice = advice;
  }
}

interface DependencyErrorOptions extends ErrorOptions {
  dependency?: DependencyError["dependency"];
  advice?: string | null;
}

/** Local, append-only, written before the last byte of a response: survives the end of the process at any moment. */
export interface Journal {
  /** Returns once the operating system has the record. Throws when the disk refuses it. */
  append(record: JournalRecord): void;
  /** False while the disk refuses records; it turns true again by itself. */
  isWritable(): boolean;
}

/** A `checkpoint` counts as the charge unless one with the same id follows. */
export type JournalRecord = { type: "charge" | "checkpoint"; entry: LedgerEntry };

/** Budgets in the shared store, of which a process takes leases ahead of need. */
export interface BudgetStore {
  /**
   * Moves some of what is left of each budget into this process's lease, all or none. Returns what was granted
   * (between `needed` and `wanted` each) and what is left of each budget after it; a budget the store no longer has
   * limits nothing and is in neither map. Throws a `DependencyError` when the store is unavailable; the
   * money may have moved all the same.
   */
  take(processId: string, requests: readonly BudgetRequest[]): Promise<Granted | Exhausted>;
  /** Gives back what this process does not use. */
  giveBack(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /** Gives back and then deletes those of these leases that hold nothing any more. */
  close(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /**
   * Keeps leases for another 15 minutes of the store's time. Returns what each has drawn from its budget, less what
   * was given back or written off. A budget that is not in the result has no lease any more.
   */
  renew(processId: string, budgets: Iterable<string>): Promise<ReadonlyMap<string, Nanos>>;
  /** Budgets this process holds money of and another one needs money of. */
  contended(processId: string): Promise<ReadonlySet<string>>;
}

export interface Granted {
  granted: ReadonlyMap<string, Nanos>;
  left: ReadonlyMap<string, Nanos>;
}

/** The first budget that has not even `needed` left. Other processes are requested to return theirs if that helps. */
export interface Exhausted {
  exhausted: string;
  /** Neither spent nor held. Below zero when the amount was lowered or a charge exceeded its hold. */
  left: Nanos;
  heldByOthers: Nanos;
}

export interface BudgetRequest {
  budget: string;
  /** Zero finds out whether the budget is overdrawn. */
  needed: Nanos;
  wanted: Nanos;
}

/** Where delivered images are kept until their retention ends. */
export interface BlobStore {
  put(image: Blob, format: ImageFormat | "bin", organizationId: string): Promise<StoredBlob>;
  /** Whether `put` would succeed now, as far as is known. */
  isAvailable(): boolean;
  /** Succeeds when the blob is gone, whoever removed it. */
  remove(name: string): Promise<void>;
  /** The stored picture, or null when unknown or gone. */
  get(name: string): Promise<StoredPicture | null>;
}

/** A stored picture of which nothing is read before `stream` is. Every `Blob` is one. */
export interface StoredPicture {
  readonly size: number;
  /** MIME type. */
  readonly type: string;
  /** The bytes from `start` up to `end`. */
  slice(start: number, end: number): StoredPicture;
  /** Reads piece by piece, as fast as the reader takes them. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Outcomes of requests with an idempotency key, for 24 hours. Methods throw a `DependencyError`. */
export interface OutcomeStore {
  /** Claims the key for a request, unless another one has it. The claim lasts a minute from its last renewal. */
  claim(claim: Claim, fingerprint: string): Promise<ClaimResult>;
  renew(claim: Claim): Promise<void>;
  /**
   * Whether the body of an outcome may be kept; it counts from then on. Between two sweeps an organization adds a
   * bounded number of bytes.
   */
  admits(organizationId: string, bytes: number): boolean;
  /** Stores the outcome of a claim that is still held. */
  complete(claim: Claim, outcome: Outcome): Promise<void>;
  /** Gives the key back, so that the next request runs. */
  release(claim: Claim): Promise<void>;
}

export interface Claim {
  /** Id of the gateway key. */
  keyId: string;
  /** Hash of the idempotency key. */
  key: string;
  /** New for every request. */
  id: string;
  /** Whose outcomes are bounded together; null of members' acts. */
  organizationId: string | null;
}

export type ClaimResult =
  | { kind: "claimed" }
  /** Another request has the key, and runs. */
  | { kind: "running" }
  /** The key belongs to a request with other content. */
  | { kind: "other" }
  | { kind: "stored"; outcome: Outcome };

export interface Outcome {
  status: number;
  headers: Record<string, string>;
  /** Null where it is stored as a blob, or not kept. */
  body: Uint8Array<ArrayBuffer> | null;
  /** Name of the stored blob. */
  blob: string | null;
  /** Of the body; 0 where it is not kept. */
  bytes: number;
}

interface StoredBlob {
  /** `{id}.{extension}`, the last part of its link. */
  name: string;
}

/** Makes and checks signed, time-limited links. */
export interface Links {
  /** Absolute link to a stored blob under a base address, valid for so many hours or, with null, as configured. */
  sign(base: string, name: string, hours?: number | null): string;
  check(name: string, expires: string | null, signature: string | null): "valid" | "expired" | "invalid";
  /**
   * Whether a valid link may be of the last minutes, by its expiry and the lifetimes in use, so that its picture may wait
   * on the disk of another machine. Never without object storage.
   */
  isNew(expires: string | null): boolean;
}

/** The vendors' adapters by channel. */
export interface Upstreams {
  /** One for each protocol that the channel's vendor speaks, the one to translate into first. */
  text(channel: Channel): readonly TextUpstream[] | undefined;
  image(channel: Channel): ImageUpstream | undefined;
  embedding(channel: Channel): EmbeddingUpstream | undefined;
}

/** A way to send text requests: the provider transports them, a dialect reads and writes them. */
export interface TextUpstream {
  /** The protocol the vendor speaks. */
  dialect: TextDialectName;
  traits?: VendorTraits;
  /** Whether the vendor takes this protocol for an upstream model; for every one where absent. */
  serves?(upstreamModel: string): boolean;
  /**
   * Sends a request in that protocol and resolves once the vendor's status is known.
   * Throws an `UpstreamError` for every response that is not a success.
   */
  send(call: TextCall): Promise<TextResponse>;
  /** Counts the tokens of a request, where the vendor does: the text of its response. Throws as `send` does. */
  countTokens?(call: TextCall): Promise<string>;
}

export interface TextCall {
  /** The request's exact text, with the vendor's model name where the protocol has it in the body. */
  raw: string;
  /** The vendor's name of the model. */
  upstreamModel: string;
  isStream: boolean;
  /** Headers of the caller, by lower-case name, for a vendor of its own protocol. */
  headers: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects or a timeout passes. */
  signal: Cancellation;
}

/**
 * The vendor's response as it came: JSON, or server-sent events as bytes. `parsed` is the JSON's value where the
 * provider had to parse it. A vendor may respond whole although a stream was requested.
 */
export type TextResponse = {
  /** The vendor's own id of the call. */
  requestId?: string;
} & ({ kind: "whole"; text: string; parsed?: unknown } | { kind: "stream"; stream: ByteStream });

export interface ImageUpstream {
  /** Makes the pictures: at least one. Throws an `UpstreamError`. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
  /** Whether a call that may have been made already can be made again: it costs nothing. */
  isRepeatable?: true;
}

/** A way to embed texts. Throws an `UpstreamError`. */
export interface EmbeddingUpstream {
  embed(call: EmbeddingCall): Promise<EmbeddingResponse>;
}

export interface EmbeddingCall {
  /** The request's exact text with the vendor's model name, for vendors of OpenAI's protocol. */
  raw: string;
  /** For others: the texts, or null where the caller gave tokens, and the number of dimensions if it named one. */
  texts: readonly string[] | null;
  dimensions: number | null;
  upstreamModel: string;
  signal: Cancellation;
}

/**
 * The vendor's response, with its vectors in short: `restore` puts them back in its text. Or the vectors of another protocol
 * with its count of input tokens.
 */
type EmbeddingResponse = { requestId?: string } & (
  | { kind: "whole"; text: string; parsed: unknown; restore(text: string): string }
  | { kind: "vectors"; vectors: readonly (readonly number[])[]; inputTokens: number | null }
);

/** Receives the record of each request after its end. Must not throw. */
export type RequestListener = (event: RequestEvent) => void;
