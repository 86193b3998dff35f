import type { Principal } from "../domain/api-key.ts";
import { GatewayError } from "../domain/gateway-error.ts";

/** The maximum amount in use at once. */
interface QuotaMaxima {
  key: number;
  organization: number;
  process: number;
}

/** Whose request uses a resource. */
export interface ResourceUser {
  principal: Principal;
  /** The client's network, by its address: keys of several organizations may be in one hand. */
  network: string;
}

/** What one network may use of the maximum of the process; a balancer that is not trusted looks like one. */
const NETWORK_SHARE = 0.75;

const RETRY_SECONDS = 2;

/**
 * Bounds how much of one resource requests use at once: of each key, organization and client network, and of this process, so that
 * one caller cannot exhaust what others need.
 */
export class ResourceQuota {
  readonly #keys = new Map<string, number>();
  readonly #organizations = new Map<string, number>();
  readonly #networks = new Map<string, number>();
  #total = 0;
  readonly #resource: string;
  readonly #maxima: QuotaMaxima;

  /** `resource` completes the sentence 'This key uses too much …'. */
  constructor(resource: string, maxima: QuotaMaxima) {
    this.#resource = resource;
    this.#maxima = maxima;
  }

  /** A request's part, empty at first. Disposing of it gives everything back. */
  open(user: ResourceUser, amount = 0): QuotaShare {
    const share = new QuotaShare(this, user);
    if (amount > 0) share.add(amount);
    return share;
  }

  /** Takes all or nothing. Throws `rate_limit_exceeded` for a key, organization or network, else `overloaded`. */
  take(user: ResourceUser, amount: number): void {
    const { key, organization } = user.principal;
    const ofKey = (this.#keys.get(key.id) ?? 0) + amount;
    const ofOrganization = (this.#organizations.get(organization.id) ?? 0) + amount;
    const ofNetwork = (this.#networks.get(user.network) ?? 0) + amount;
    const maxima = this.#maxima;
    if (ofKey > maxima.key) throw this.#exceeded("rate_limit_exceeded", "This key uses");
    if (ofOrganization > maxima.organization)
      throw this.#exceeded("rate_limit_exceeded", "Your organization uses");
    if (ofNetwork > maxima.process * NETWORK_SHARE)
      throw this.#exceeded("rate_limit_exceeded", "Your address uses");
    if (this.#total + amount > maxima.process)
      throw this.#exceeded("overloaded", "All requests together use");
    this.count(user, amount);
  }

  /** Adds an amount whatever the maxima say; a negative one gives back. */
  count({ principal, network }: ResourceUser, amount: number): void {
    add(this.#keys, principal.key.id, amount);
    add(this.#organizations, principal.organization.id, amount);
    add(this.#networks, network, amount);
    this.#total += amount;
  }

  #exceeded(code: "rate_limit_exceeded" | "overloaded", subject: string): GatewayError {
    const message = `${subject} too much ${this.#resource} at once. Retry in ${RETRY_SECONDS} seconds.`;
    return new GatewayError(code, message, { retryAfterSeconds: RETRY_SECONDS });
  }
}

/** What one request uses of a quota. */
export class QuotaShare implements Disposable {
  #amount = 0;
  readonly #quota: ResourceQuota;
  readonly #user: ResourceUser;

  constructor(quota: ResourceQuota, user: ResourceUser) {
    this.#quota = quota;
    this.#user = user;
  }

  /** Throws as `ResourceQuota.take` does, and then adds nothing. */
  add(amount: number): void {
    this.#quota.take(this.#user, amount);
    this.#amount += amount;
  }

  /** Adds beyond the maxima too. */
  addAnyway(amount: number): void {
    this.#quota.count(this.#user, amount);
    this.#amount += amount;
  }

  [Symbol.dispose](): void {
    this.#quota.count(this.#user, -this.#amount);
    this.#amount = 0;
  }
}

function add(amounts: Map<string, number>, owner: string, amount: number): void {
  const sum = (amounts.get(owner) ?? 0) + amount;
  if (sum > 0) amounts.set(owner, sum);
  else amounts.delete(owner);
}
