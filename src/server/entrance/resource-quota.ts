import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { Principal } from "../../domain/api-key.ts";
import { GatewayError } from "../../domain/gateway-error.ts";
import type { SpoolAccount } from "../../lib/spool.ts";

/** The maximum amounts in use at the same time. */
interface QuotaMaxima {
  key: number;
  organization: number;
  process: number;
}

/** The sender of a request that uses a resource. */
export interface ResourceUser {
  principal: Principal;
  /**
   * Returns the network part of the client's address. Networks are limited too, because keys of several organizations
   * may belong to one person. Called only when the total use is so high that one network could exceed its share,
   * because reading an address costs microseconds.
   */
  network(): string;
}

/** Share of the process's maximum for one network. Clients behind an undeclared load balancer are one network. */
const NETWORK_SHARE = 0.75;

const RETRY_SECONDS = 2;

/** The use of one key or organization, kept as long as the owner has an open share. */
interface OwnerUse {
  amount: number;
  shares: number;
}

/**
 * Limits the amount of one resource that requests use at the same time: by key, organization, client network and
 * process. No caller can thus use up the amount that others need.
 */
export class ResourceQuota {
  readonly #keys = new Map<string, OwnerUse>();
  readonly #organizations = new Map<string, OwnerUse>();
  /** The open shares in no particular order. Each share knows its index. */
  readonly #shares: QuotaShare[] = [];
  #total = 0;
  readonly #resource: string;
  readonly #maxima: QuotaMaxima;

  /** `resource` completes the sentence 'This key uses too much …'. */
  constructor(resource: string, maxima: QuotaMaxima) {
    this.#resource = resource;
    this.#maxima = maxima;
  }

  /** Returns the share of one request. Disposing of it gives back everything. Throws as `QuotaShare.add` does. */
  open(user: ResourceUser, amount = 0): QuotaShare {
    const { key, organization } = user.principal;
    const ofKey = useOf(this.#keys, key.id);
    const ofOrganization = useOf(this.#organizations, organization.id);
    const share = new QuotaShare(this, user, ofKey, ofOrganization);
    share.index = this.#shares.push(share) - 1;
    if (amount === 0) return share;
    try {
      this.take(share, amount);
    } catch (error) {
      this.close(share);
      throw error;
    }
    return share;
  }

  /**
   * Takes the whole amount or nothing. Throws `rate_limit_exceeded` when a key, organization or network would exceed
   * its maximum. Throws `overloaded` when the process would exceed its maximum.
   */
  take(share: QuotaShare, amount: number): void {
    const maxima = this.#maxima;
    const total = this.#total + amount;
    if (share.ofKey.amount + amount > maxima.key)
      throw this.#exceeded("rate_limit_exceeded", "This key uses");
    if (share.ofOrganization.amount + amount > maxima.organization)
      throw this.#exceeded("rate_limit_exceeded", "Your organization uses");
    const maxOfNetwork = maxima.process * NETWORK_SHARE;
    if (total > maxOfNetwork && this.#usedBy(share.network) + amount > maxOfNetwork)
      throw this.#exceeded("rate_limit_exceeded", "Your address uses");
    if (total > maxima.process) throw this.#exceeded("overloaded", "All requests together use");
    this.count(share, amount);
  }

  /** Adds an amount without checking the maxima. */
  count(share: QuotaShare, amount: number): void {
    share.amount += amount;
    share.ofKey.amount += amount;
    share.ofOrganization.amount += amount;
    this.#total += amount;
  }

  /** Gives back everything that the share has taken. */
  close(share: QuotaShare): void {
    this.count(share, -share.amount);
    const { key, organization } = share.principal;
    if (--share.ofKey.shares === 0) this.#keys.delete(key.id);
    if (--share.ofOrganization.shares === 0) this.#organizations.delete(organization.id);
    const last = this.#shares.pop();
    if (last && last !== share) {
      this.#shares[share.index] = last;
      last.index = share.index;
    }
    share.index = -1;
  }

  #usedBy(network: string): number {
    let sum = 0;
    for (const share of this.#shares) if (share.network === network) sum += share.amount;
    return sum;
  }

  #exceeded(code: "rate_limit_exceeded" | "overloaded", subject: string): GatewayError {
    const message = `${subject} too much ${this.#resource} at once. Retry in ${RETRY_SECONDS} seconds.`;
    return new GatewayError(code, message, { retryAfterSeconds: RETRY_SECONDS });
  }
}

/** The part of a quota that one request uses. */
export class QuotaShare implements Disposable {
  amount = 0;
  /** Index of this share among the open shares of its quota; -1 once this share is closed. */
  index = -1;
  readonly principal: Principal;
  readonly ofKey: OwnerUse;
  readonly ofOrganization: OwnerUse;
  readonly #quota: ResourceQuota;
  readonly #user: ResourceUser;
  #network: string | undefined;

  constructor(quota: ResourceQuota, user: ResourceUser, ofKey: OwnerUse, ofOrganization: OwnerUse) {
    this.#quota = quota;
    this.#user = user;
    this.principal = user.principal;
    this.ofKey = ofKey;
    this.ofOrganization = ofOrganization;
  }

  get network(): string {
    return (this.#network ??= this.#user.network());
  }

  /** Takes the whole amount or nothing. Throws as `ResourceQuota.take` does. */
  add(amount: number): void {
    this.#quota.take(this, amount);
  }

  /** Adds an amount without checking the maxima. */
  addAnyway(amount: number): void {
    this.#quota.count(this, amount);
  }

  [Symbol.dispose](): void {
    if (this.index >= 0) this.#quota.close(this);
  }
}

function useOf(uses: Map<string, OwnerUse>, owner: string): OwnerUse {
  let use = uses.get(owner);
  if (!use) uses.set(owner, (use = { amount: 0, shares: 0 }));
  use.shares += 1;
  return use;
}

export interface SpoolQuotaOptions {
  /** Folder of temporary files, inside the data folder. */
  directory: string;
  /** Maximum bytes of all temporary files. A key may use a quarter of this, an organization half. */
  maxBytes: number;
  /** Bytes of free disk space that uploads leave for the journal. */
  reserveBytes: number;
}

const FREE_SPACE_MS = 250;
const DISK_RETRY_SECONDS = 10;

/** Limits requests' temporary files by key, organization, client network and process, and by the free disk space. */
export class SpoolQuota {
  readonly #quota: ResourceQuota;
  readonly #options: SpoolQuotaOptions;
  /** Number of bytes that may be written before only the reserve is left, by the last measurement. */
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

  /** Opens the account of a request. Throws at once when the quota cannot cover the declared size of the body. */
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
    const message = `The server has too little disk space for uploads. Retry in ${DISK_RETRY_SECONDS} seconds.`;
    throw new GatewayError("overloaded", message, { retryAfterSeconds: DISK_RETRY_SECONDS });
  }

  #readFreeSpace(): void {
    const { bavail, bsize } = statfsSync(dirname(this.#options.directory));
    this.#availableBytes = bavail * bsize - this.#options.reserveBytes;
    this.#readAt = performance.now();
  }
}

/** The disk space that one request uses. */
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
