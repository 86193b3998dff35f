import type { Server } from "bun";
import { networkOf, type AddressList } from "../../lib/cidr.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";
import { listDescriptors, type ClientConnection, type OpenDescriptors } from "./client-connections.ts";
import { openLibc, type Libc } from "./libc.ts";
import { countText } from "../../lib/count-text.ts";

interface ConnectionLimitOptions {
  /** Maximum number of connections of one client address, or of one /64 network of IPv6; null for no limit. */
  perAddress: number | null;
  /** Addresses of proxies. A proxy's connections may belong to many clients, so the limit does not apply. */
  trustedProxies: AddressList;
  onClosed(message: string): void;
}

/** Time between two samples. The connections that arrive in this time must fit into the reserve. */
const SAMPLE_MS = 20;
/** Number of samples after which the connections of each address are counted again. */
const COUNT_SAMPLES = 50;
/**
 * Bounds of the reserve. It is the number of descriptors that are kept for files and for connections to vendors and
 * stores. Within these bounds, the reserve is a quarter of the limit.
 */
const MIN_RESERVE = 32;
const MAX_RESERVE = 1024;
/** Above this share of `maxOpen`, samples scan all descriptors: some above the lowest free descriptor may be in use. */
const TIGHT_SHARE = 0.9;
/** Pause after a scan, as a multiple of its duration. `BUSY_SCAN_SHARE` is for scans that closed something. */
const SCAN_SHARE = 20;
const BUSY_SCAN_SHARE = 5;
/** Multiple of a scan's duration for the pause while at least half of the reserve is used. */
const URGENT_SCAN_SHARE = 1;
/** Share of `maxOpen` that a scan frees beyond the excess, for connections that arrive before the next scan. */
const HEADROOM_SHARE = 0.1;
const REPORT_MS = 10_000;
const SHUT_BOTH = 2;
const RLIMIT_NOFILE = 7;
/** Maximum number of descriptors in one scan. Such a scan takes about 50 ms. */
const MAX_SCANNED = 131_072;

/**
 * Limits the client connections of this process, so that the process does not reach its limit of open files. The
 * runtime accepts every connection, so this class checks many times a second and closes excess connections. It never
 * closes a connection with a running request or an unfinished response. It closes connections of the address that has
 * the most connections: first connections without any response so far, then connections that have been silent for the
 * longest time.
 */
export class ConnectionLimit {
  readonly #options: ConnectionLimitOptions;
  readonly #libc: Libc | null = openLibc();
  readonly #servers: Server<undefined>[] = [];
  readonly #running = new Set<Request>();
  #closed = 0;
  #samples = 0;
  #isTight = false;
  #scannedAt = 0;
  #scanMs = 0;
  #scanShare = SCAN_SHARE;
  #reportedAt = -Infinity;
  #unreported = 0;

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  get closed(): number {
    return this.#closed;
  }

  /** Number of requests that run now, including probes. */
  get running(): number {
    return this.#running.size;
  }

  /** Starts limiting the connections of these servers. */
  start(servers: readonly Server<undefined>[], onProblem: (error: unknown) => void): BackgroundWork {
    this.#servers.push(...servers);
    return every(SAMPLE_MS, () => this.#enforce(), onProblem);
  }

  /** Records the start of a request. Its connection is not closed until `ended` is called. */
  began(request: Request): void {
    this.#running.add(request);
  }

  ended(request: Request): void {
    this.#running.delete(request);
  }

  #enforce(): void {
    const libc = this.#libc;
    if (!libc) return;
    const limit = fileLimit(libc);
    const reserve = Math.min(MAX_RESERVE, Math.max(MIN_RESERVE, limit / 4));
    const maxOpen = limit - reserve;
    const isCounting = this.#options.perAddress !== null && this.#samples++ % COUNT_SAMPLES === 0;
    const lowest = lowestFree(libc);
    const isTight = this.#isTight || lowest >= maxOpen;
    const startedAt = performance.now();
    const share = lowest >= maxOpen + reserve / 2 ? URGENT_SCAN_SHARE : this.#scanShare;
    if ((!isTight && !isCounting) || startedAt < this.#scannedAt + this.#scanMs * share) return;
    const ports = new Set(this.#servers.map(({ port = 0 }) => port));
    const open = listDescriptors(libc, Math.min(limit, MAX_SCANNED), ports);
    const excess = this.#findExcess(open, maxOpen);
    for (const { descriptor } of excess) libc.shutdown(descriptor, SHUT_BOTH);
    this.#report(excess.length);
    // The closed descriptors still count here, because new connections will take them at once.
    this.#isTight = open.count >= maxOpen * TIGHT_SHARE;
    this.#scanShare = excess.length > 0 ? BUSY_SCAN_SHARE : SCAN_SHARE;
    this.#scannedAt = startedAt;
    this.#scanMs = performance.now() - startedAt;
  }

  #findExcess({ count, connections }: OpenDescriptors, maxOpen: number): ClientConnection[] {
    const { perAddress, trustedProxies } = this.#options;
    const busy = this.#busyPeers();
    const groups = [...Map.groupBy(connections, ({ address }) => networkOf(address)).values()].map(
      (group) => ({
        size: group.length,
        isProxy: trustedProxies.has(group[0]?.address ?? ""),
        idle: group.filter((one) => !one.isSending && !busy.has(nameOf(one))).toSorted(compareForClosing),
      }),
    );
    const excess: ClientConnection[] = [];
    for (const group of groups)
      if (perAddress !== null && !group.isProxy) excess.push(...take(group, group.size - perAddress));
    // In this order, each connection to close belongs to the address that has the most connections left.
    const ranked = groups.flatMap(({ size, idle }) =>
      idle.map((connection, index) => ({ connection, rank: size - index })),
    );
    ranked.sort((one, other) => other.rank - one.rank || compareForClosing(one.connection, other.connection));
    const left = count - excess.length;
    const surplus = left > maxOpen ? left - Math.floor(maxOpen * (1 - HEADROOM_SHARE)) : 0;
    excess.push(...ranked.slice(0, surplus).map(({ connection }) => connection));
    return excess;
  }

  #busyPeers(): Set<string> {
    const peers = new Set<string>();
    for (const request of this.#running) {
      const peer = this.#servers[0]?.requestIP(request);
      if (peer) peers.add(nameOf(peer));
    }
    return peers;
  }

  #report(closed: number): void {
    this.#closed += closed;
    this.#unreported += closed;
    if (this.#unreported === 0 || performance.now() - this.#reportedAt < REPORT_MS) return;
    this.#options.onClosed(
      `closed ${countText(this.#unreported, "connection")} without a request to stay within limits`,
    );
    this.#reportedAt = performance.now();
    this.#unreported = 0;
  }
}

/** Compares connections; the first connection to close comes first. */
function compareForClosing(one: ClientConnection, other: ClientConnection): number {
  return Number(other.isUnserved) - Number(one.isUnserved) || other.silentMs - one.silentMs;
}

function take(group: { size: number; idle: ClientConnection[] }, count: number): ClientConnection[] {
  const taken = group.idle.splice(0, Math.max(0, count));
  group.size -= taken.length;
  return taken;
}

function nameOf({ address, port }: { address: string; port: number }): string {
  return `${networkOf(address)} ${port}`;
}

/** Returns the lowest free descriptor. The system always assigns it next, so all lower ones are in use. */
function lowestFree(libc: Libc): number {
  const descriptor = libc.dup(0);
  if (descriptor < 0) return Infinity;
  libc.close(descriptor);
  return descriptor;
}

/** Returns the current soft limit of open files, which an operator may change at any time (`getrlimit(2)`). */
function fileLimit(libc: Libc): number {
  const bytes = Buffer.alloc(16);
  return libc.getrlimit(RLIMIT_NOFILE, bytes) === 0 ? Number(bytes.readBigUInt64LE(0)) : Infinity;
}
