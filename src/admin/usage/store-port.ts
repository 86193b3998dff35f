import type { Attempt, LedgerEntry } from "../../domain/ledger.ts";
import type { StoredImage } from "../../domain/image.ts";
import type { Span } from "../../domain/calendar.ts";
import type { TrafficCount } from "../../domain/traffic.ts";
import type { TokenCategory } from "../../domain/usage.ts";
import type { Nanos } from "../../lib/money.ts";
import type { LedgerPosition } from "../ledger/store-port.ts";

/** Sums of the ledger and of traffic, both kept beside what they sum up. */
export interface UsageStore {
  /** Sums of ledger entries by the dimensions in `by`; the names of all other dimensions are empty. */
  sums(range: UsageRange, by: readonly UsageDimension[]): Promise<UsageSum[]>;
  /** The same sums with the most requested figures only. */
  spending(range: UsageRange, by: readonly UsageDimension[]): Promise<SpendingSum[]>;
  /** Counts of requests; a count of calls to vendors has the route `attempt`. */
  traffic(range: UsageRange, by: readonly TrafficDimension[]): Promise<TrafficSum[]>;
  /** The same counts without durations. Keys are known of requests that failed, and empty of others. */
  counts(range: UsageRange, by: readonly TrafficDimension[]): Promise<CountSum[]>;
  /** Adds what a process has counted. */
  addTraffic(counts: readonly TrafficCount[]): Promise<void>;
  /** Removes counts whose time is over. */
  sweepTraffic(): Promise<void>;
  /** Returns true once any picture was delivered. */
  hasPictures(): Promise<boolean>;
}

/** Filter of sums; an absent field matches everything. */
export interface UsageRange {
  /** Unix milliseconds, inclusive and exclusive. */
  from: number;
  to: number;
  /** The span of one row of sums over time. Minutes and quarters of an hour are known for two days. */
  span: Span;
  /** At least one of each, where present. */
  organizations?: readonly string[];
  keys?: readonly string[];
  models?: readonly string[];
  channels?: readonly string[];
  /** Known of the ledger alone. */
  sources?: readonly string[];
  clients?: readonly string[];
}

export type UsageDimension = "at" | "organizationId" | "keyId" | "model" | "channel" | "source" | "client";
/** Of traffic, senders and programs are not known. */
export type TrafficDimension = Exclude<UsageDimension, "source" | "client"> | "route" | "code";

/** Names of a sum; empty for a dimension that was not requested or has no value. */
interface SumNames {
  /** Start of the span, Unix milliseconds; 0 where it was not asked for. */
  at: number;
  organizationId: string;
  keyId: string;
  model: string;
  channel: string;
}

export interface SpendingSum extends SumNames {
  /** As in the ledger. */
  source: string;
  client: string;
  currency: string;
  /** Number of charged requests. */
  requests: number;
  images: number;
  /** Tokens of all categories. */
  tokens: number;
  amount: Nanos;
}

export interface UsageSum extends SpendingSum {
  categories: Record<TokenCategory, number>;
  orphanCost: Nanos;
  /** The part that is in `currency`. */
  vendorCost: Nanos;
  /** Amount charged for requests whose vendor's cost is known. */
  costed: Nanos;
}

export interface CountSum extends SumNames {
  requests: number;
  errors: number;
  /** The errors that the ledger has too. */
  charged: number;
}

export interface TrafficSum extends Omit<CountSum, "charged"> {
  route: string;
  code: string;
  /** Durations of requests without an error; see `durationBucket`. */
  durations: number[];
}

/** A request that failed, took several attempts or was slow. */
export interface RequestRecord {
  /** The gateway's own id; that of the ledger entry where it was charged. */
  id: string;
  requestId: string;
  traceId: string | null;
  /** Unix milliseconds. */
  at: number;
  route: string;
  method: string;
  path: string;
  /** Only of a request that was refused for its key, address or path. */
  address: string | null;
  organizationId: string | null;
  keyId: string | null;
  /** As in the ledger. */
  source: string | null;
  model: string | null;
  /** The name that the caller gave, where no model has it; cut. */
  askedModel: string | null;
  /** The first product of the caller's `user-agent`, such as `OpenAI/Python`; cut. */
  client: string | null;
  channel: string | null;
  status: number;
  code: string | null;
  message: string | null;
  cause: string | null;
  durationMs: number;
  firstByteMs: number | null;
  isStream: boolean;
  isFailed: boolean;
  isCharged: boolean;
  attempts: readonly Attempt[];
}

export interface RequestFilter {
  organizations?: readonly string[];
  keyId?: string;
  model?: string;
  channel?: string;
  requestId?: string;
  outcome?: "succeeded" | "failed";
  statusClass?: "2xx" | "4xx" | "5xx";
  code?: string;
  /** Unix milliseconds, inclusive and exclusive. */
  from?: number;
  to?: number;
}

/** A request as it is listed: from its record, its charge, or both. */
export interface ListedRequest {
  id: string;
  at: number;
  record: RequestRecord | null;
  charge: LedgerEntry | null;
}

/** Requests that need looking at, beside the ledger's charges. */
export interface RequestStore {
  add(records: readonly RequestRecord[]): Promise<void>;
  /** Newest first, merged from records and charges. */
  list(
    filter: RequestFilter,
    page: { below: LedgerPosition | null; limit: number },
  ): Promise<ListedRequest[]>;
  /** Finds by the gateway's own id or the caller's, newest first, at most 20. */
  find(id: string): Promise<ListedRequest[]>;
  /** Removes what is older than `before`, and the oldest beyond `maxRows`, a bounded number; returns how many. */
  sweep(before: number, maxRows: number): Promise<number>;
}

export interface PictureRecord extends StoredImage {
  /** Unix milliseconds. */
  at: number;
  organizationId: string;
  keyId: string;
  model: string;
  requestId: string;
  ledgerId: string;
}

interface PictureFilter {
  organizations?: readonly string[];
  keyId?: string;
  model?: string;
  ledgerId?: string;
}

/** Delivered pictures that are stored. */
export interface PictureStore {
  add(pictures: readonly PictureRecord[]): Promise<void>;
  /** Newest first. `id` of a position is the picture's name. */
  list(
    filter: PictureFilter,
    page: { since: number; below: LedgerPosition | null; limit: number },
  ): Promise<PictureRecord[]>;
  /** Forgets pictures that were delivered before a time, a bounded number; returns how many. */
  sweep(before: number): Promise<number>;
}
