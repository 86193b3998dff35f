/**
 * What the heart needs from the world. Adapters above implement these; `app.ts` joins the two.
 */
import type { ApiKey } from "../domain/api-key.ts";
import type { Channel, Route } from "../domain/channel.ts";
import type { ImageFormat, Model } from "../domain/model.ts";
import type { LedgerEntry } from "../domain/ledger.ts";
import type { Organization } from "../domain/organization.ts";
import type { Price } from "../domain/price.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import type { ImageOrder, ImageReply } from "../domain/image.ts";
import type { Payload, TextDialectName } from "../dialects/dialect.ts";
import type { Nanos } from "../lib/money.ts";

/** Everything a request is decided by, in memory and never changing: a new one replaces it within a second. */
export interface Directory {
  organizations: ReadonlyMap<string, Organization>;
  models: ReadonlyMap<string, Model>;
  /** Default route of each model. */
  routes: ReadonlyMap<string, Route>;
  channels: ReadonlyMap<string, Channel>;
  /** The price in force now, the organization's own first. */
  price(organizationId: string, model: string, now: number): Price | undefined;
}

/** The current directory, and keys by the hash of their secret. */
export interface Snapshot {
  directory(): Directory;
  /** Known keys answer at once; an unknown hash asks the store. Throws a `DependencyError` when that fails. */
  key(hash: string): ApiKey | null | Promise<ApiKey | null>;
}

/** The store cannot be asked just now. */
export class DependencyError extends Error {
  override readonly name = "DependencyError";
}

/** Local, append-only, before the last byte: survives the end of the process at any moment. */
export interface Journal {
  /** Returns once the record is with the operating system. Throws when the disk refuses it. */
  append(record: JournalRecord): void;
  /** False while the disk refuses records; it turns true again by itself. */
  isWritable(): boolean;
}

/** `checkpoint` stands for a charge until one with the same id follows. */
export type JournalRecord = { type: "charge" | "checkpoint"; entry: LedgerEntry };

/** Budgets in the shared store, of which a process takes slices ahead of need. */
export interface BudgetStore {
  /**
   * Moves `amount` of each budget's rest into this process's lease, all or none. Answers what was granted
   * (between `needed` and `wanted` each) and what is left of each budget after it, by which the next wish can be
   * sized; a budget the store no longer has limits nothing and is in neither map. Or the id of the first budget
   * that has not even `needed` left; when others hold some of that one, they are asked to give back what they do
   * not use. Throws a `DependencyError` when the store cannot be asked; the money may have moved all the same.
   */
  take(
    processId: string,
    requests: readonly BudgetRequest[],
  ): Promise<
    { granted: Map<string, Nanos>; left: Map<string, Nanos> } | { exhausted: string; isHeldByOthers: boolean }
  >;
  /** Gives unused slices back. */
  giveBack(processId: string, amounts: ReadonlyMap<string, Nanos>): Promise<void>;
  /**
   * Keeps a lease's slices for another 15 minutes of the store's time. Answers what the lease has drawn from each
   * budget, less what it gave back or what was returned after it ran out. A budget that is not in the answer has
   * no slice any more.
   */
  renew(processId: string): Promise<ReadonlyMap<string, Nanos>>;
  /** Budgets this lease has slices of and somebody misses money of. */
  contended(processId: string): Promise<ReadonlySet<string>>;
}

export interface BudgetRequest {
  budget: string;
  needed: Nanos;
  wanted: Nanos;
}

/** Where delivered images are kept until their retention ends. */
export interface BlobStore {
  put(image: Blob, format: ImageFormat, organizationId: string): Promise<StoredBlob>;
  /** The stored bytes, or null when unknown or gone. */
  get(name: string): Promise<Blob | null>;
}

export interface StoredBlob {
  /** `{id}.{extension}`, the last part of its link. */
  name: string;
}

/** Makes and checks signed, time-limited links. */
export interface Links {
  /** Absolute link to a stored blob, relative to the base address the caller used. */
  sign(base: string, name: string): string;
  check(name: string, expires: string | null, signature: string | null): "valid" | "expired" | "invalid";
}

/** Ways to the vendors by channel. */
export interface Upstreams {
  text(channel: Channel): TextUpstream | undefined;
  image(channel: Channel): ImageUpstream | undefined;
}

/** Text: the provider carries words, the dialect understands them. */
export interface TextUpstream {
  /** The protocol the vendor speaks. */
  dialect: TextDialectName;
  /**
   * Sends a request in that protocol and answers once the vendor's status is known.
   * Throws an `UpstreamError` for every answer that is not a success.
   */
  send(call: TextCall): Promise<TextResponse>;
}

export interface TextCall {
  /** The request's exact text, the vendor's model name already in place. */
  payload: Payload;
  isStream: boolean;
  /** Aborted when the caller goes or a deadline passes. */
  signal: AbortSignal;
}

/**
 * The vendor's answer as it came: JSON, or server-sent events as bytes. `parsed` is the same JSON read, where
 * the provider had to read it anyway. A vendor may answer whole although a stream was asked for.
 */
export type TextResponse =
  | { kind: "whole"; text: string; parsed?: unknown }
  | { kind: "stream"; stream: ReadableStream<Uint8Array<ArrayBuffer>> };

export interface ImageUpstream {
  /** Makes the pictures. Throws an `UpstreamError`; gives at least one image otherwise. */
  generate(order: ImageOrder, signal: AbortSignal): Promise<ImageReply>;
}

/** Hears what happened to each request, after its end. Must not throw. */
export type RequestListener = (event: RequestEvent) => void;
