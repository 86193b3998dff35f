import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { SpoolAccount } from "../../lib/spool.ts";
import { ResourceQuota, type QuotaShare, type ResourceUser } from "./resource-quota.ts";

export interface SpoolQuotaOptions {
  /** Folder of temporary files, inside the data folder. */
  directory: string;
  /** Maximum bytes of temporary files of all requests; a key may use a quarter of it, an organization half. */
  maxBytes: number;
  /** Bytes of free disk space that uploads leave for the journal. */
  reserveBytes: number;
}

const FREE_SPACE_MS = 250;
const RETRY_SECONDS = 10;

/**
 * Bounds the temporary files of requests: by key, organization, client network and process, and by the free space of
 * the disk.
 */
export class SpoolQuota {
  readonly #quota: ResourceQuota;
  readonly #options: SpoolQuotaOptions;
  /** Bytes that may be written before the reserve is reached, as last measured. */
  #availableBytes = 0;
  #readAt = -Infinity;

  constructor(options: SpoolQuotaOptions) {
    const { maxBytes } = options;
    this.#options = options;
    this.#quota = new ResourceQuota("disk space for uploads", {
      key: maxBytes / 4,
      organization: maxBytes / 2,
      process: maxBytes,
    });
  }

  /** Opens the account of a request. Throws at once when the quota does not cover the bytes that the body declares. */
  open(user: ResourceUser, declaredBytes: number): SpoolAccount {
    this.#quota.open(user, declaredBytes)[Symbol.dispose]();
    return new RequestAccount(this.#quota.open(user), (byteLength) => {
      this.#requireSpace(byteLength);
      this.#availableBytes -= byteLength;
    });
  }

  #requireSpace(byteLength: number): void {
    const isOld = performance.now() - this.#readAt > FREE_SPACE_MS;
    if (isOld || byteLength > this.#availableBytes) this.#readFreeSpace();
    if (byteLength <= this.#availableBytes) return;
    const message = `The server has too little disk space for uploads. Retry in ${RETRY_SECONDS} seconds.`;
    throw new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_SECONDS });
  }

  #readFreeSpace(): void {
    const { bavail, bsize } = statfsSync(dirname(this.#options.directory));
    this.#availableBytes = bavail * bsize - this.#options.reserveBytes;
    this.#readAt = performance.now();
  }
}

/** The disk use of one request. */
class RequestAccount implements SpoolAccount {
  #refuses = true;
  #isReleased = false;
  readonly #share: QuotaShare;
  readonly #useSpace: (byteLength: number) => void;

  constructor(share: QuotaShare, useSpace: (byteLength: number) => void) {
    this.#share = share;
    this.#useSpace = useSpace;
  }

  add(byteLength: number): void {
    if (this.#isReleased) return;
    if (!this.#refuses) return this.#share.addAnyway(byteLength);
    this.#useSpace(byteLength);
    this.#share.add(byteLength);
  }

  stopRefusing(): void {
    this.#refuses = false;
  }

  release(): void {
    this.#isReleased = true;
    this.#share[Symbol.dispose]();
  }
}
