import type { Attempt, LedgerEntry } from "../../domain/ledger.ts";
import type { StoredImage } from "../../domain/image.ts";
import type { Span } from "../../domain/calendar.ts";
import type { TrafficCount } from "../../domain/traffic.ts";
import type { TokenCategory } from "../../domain/usage.ts";
import type { Nanos } from "../../lib/money.ts";
import type { LedgerPosition } from "../ledger/store-port.ts";

/** Sums of the ledger and of traffic. The sums are stored, not computed at each reading. */
export interface UsageStore {
  /** Returns sums of ledger entries by the dimensions in `by`. The names of all other dimensions are empty. */
  sums(range: UsageRange, by: readonly UsageDimension[]): Promise<UsageSum[]>;
  /** Returns the same sums as `sums`, but only the figures that are needed most often. */
  spending(range: UsageRange, by: readonly UsageDimension[]): Promise<SpendingSum[]>;
  /**
   * Returns counts of requests. Calls to vendors are counted too, under the route `attempt`, and only if `by` contains
   * `route`. `keyId` is empty for requests without an error code.
   */
  traffic(range: UsageRange, by: readonly TrafficDimension[]): Promise<TrafficSum[]>;
  /**
   * Returns counts of requests like `traffic`, without durations but with the number of failed requests that were
   * charged. Never counts calls to vendors.
   */
  counts(range: UsageRange, by: readonly TrafficDimension[]): Promise<CountSum[]>;
  /** Adds the counts of a process. */
  addTraffic(counts: readonly TrafficCount[]): Promise<void>;
  /**
   * Removes counts whose retention has ended. Adds to the tables of series the amounts that processes of an earlier
   * version have added only to the sums by hour.
   */
  maintain(): Promise<void>;
  /** True when at least one picture was ever delivered. */
  hasPictures(): Promise<boolean>;
}

/** Filter of sums; an absent field matches everything. */
export interface UsageRange {
  /** Unix milliseconds; `from` is inclusive, `to` is exclusive. */
  from: number;
  to: number;
  /** The time span of one row, for sums over time. Minutes and quarters of an hour are kept for two days. */
  span: Span;
  /**
   * Starts of the days of a time zone, for sums by such days. The first day may have started before `from`. Sums that
   * are grouped or filtered by keys, sources or clients are made of hours. Each hour counts in the day in which it
   * begins.
   */
  days?: readonly number[];
  /** Each of these lists, if present, has at least one item. */
  organizations?: readonly string[];
  keys?: readonly string[];
  models?: readonly string[];
  channels?: readonly string[];
  /** Only the sums of the ledger have sources and clients. */
  sources?: readonly string[];
  clients?: readonly string[];
}

export type UsageDimension = "at" | "organizationId" | "keyId" | "model" | "channel" | "source" | "client";
/** Dimensions of the sums of traffic, which do not name source and client. */
export type TrafficDimension = Exclude<UsageDimension, "source" | "client"> | "route" | "code";

/** Names of a sum. A name is empty when its dimension was not requested or has no value. */
interface SumNames {
  /** Start of the span in Unix milliseconds; 0 when sums over time were not requested. */
  at: number;
  organizationId: string;
  keyId: string;
  model: string;
  channel: string;
}

export interface SpendingSum extends SumNames {
  /** `source` of the ledger entries. */
  source: string;
  client: string;
  currency: string;
  /** Number of charged requests. */
  requests: number;
  images: number;
  /** Number of tokens of all categories. */
  tokens: number;
  amount: Nanos;
}

export interface UsageSum extends SpendingSum {
  categories: Record<TokenCategory, number>;
  orphanCost: Nanos;
  /** The part of the vendors' cost that is in `currency`. */
  vendorCost: Nanos;
  /** Amount charged for the requests whose vendor cost is known. */
  costed: Nanos;
}

export interface CountSum extends SumNames {
  requests: number;
  errors: number;
  /** Number of failed requests that have a ledger entry. */
  charged: number;
}

export interface TrafficSum extends Omit<CountSum, "charged"> {
  route: string;
  code: string;
  /** Durations of requests without an error, by bucket; see `durationBucket`. */
  durations: number[];
}

/** A logged request: by default, only requests that failed, took several attempts or were slow. */
export interface RequestRecord {
  /** The gateway's own id, which is also the id of the ledger entry of a charged request. */
  id: string;
  requestId: string;
  traceId: string | null;
  /** Unix milliseconds. */
  at: number;
  route: string;
  method: string;
  path: string;
  /** Set only for a request that was refused because of its key, address or path. */
  address: string | null;
  organizationId: string | null;
  keyId: string | null;
  /** `source` of the ledger entry. */
  source: string | null;
  model: string | null;
  /** The model name that the caller gave, if the request could not use a model of this name; shortened. */
  askedModel: string | null;
  /** The first product in the caller's `user-agent`, such as `OpenAI/Python`; shortened. */
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
  /** Unix milliseconds; `from` is inclusive, `to` is exclusive. */
  from?: number;
  to?: number;
}

/** A request in a list, made from its log record, its charge, or both. */
export interface ListedRequest {
  id: string;
  at: number;
  record: RequestRecord | null;
  charge: LedgerEntry | null;
}

/** The log of requests, which complements the ledger's charges. */
export interface RequestStore {
  add(records: readonly RequestRecord[]): Promise<void>;
  /** Returns a page of requests, newest first, merged from log records and charges. */
  list(
    filter: RequestFilter,
    page: { below: LedgerPosition | null; limit: number },
  ): Promise<ListedRequest[]>;
  /**
   * Finds requests by the gateway's id or the caller's id. If no request has the gateway's id, also searches the ids
   * that vendors gave to calls. Returns the newest 20, and always those that the gateway's or a vendor's id has found,
   * because any caller may send the same `id`. `organizations` restricts the requests to these organizations.
   */
  find(id: string, organizations?: readonly string[]): Promise<ListedRequest[]>;
  /**
   * Removes a limited number of records that are older than `before` or beyond the newest `maxRows`; returns the number
   * of removed records.
   */
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

/** Records of the delivered pictures that are stored. */
export interface PictureStore {
  add(pictures: readonly PictureRecord[]): Promise<void>;
  /** Returns a page of pictures, newest first. `id` of a position is the picture's name. */
  list(
    filter: PictureFilter,
    page: { since: number; below: LedgerPosition | null; limit: number },
  ): Promise<PictureRecord[]>;
  /** Removes a limited number of records of pictures delivered before a time; returns the number of removed records. */
  sweep(before: number): Promise<number>;
}
