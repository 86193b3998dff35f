import { z } from "zod";
import type { Ejection } from "../../gateway/routing/health.ts";
import { newId } from "../../lib/ids.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";
import { RedisLink } from "./redis-link.ts";
import { script } from "./script.ts";

interface SharedHealthOptions {
  url: string;
  /** Beginning of the name of every key and of the channel. */
  prefix?: string;
  /**
   * Called with ejections that other processes announced, possibly more than once for the same ejection. Must not throw.
   */
  onEjection(ejection: Ejection): void;
}

/** Maximum time for a response. It is long, because no request waits for these responses. */
const BOUND_MS = 1_000;
/** A subscription without messages looks like a dead connection, so a ping tests the connection. */
const PING_MS = 5_000;
/** Time for which the list of ejections is kept. Longer ejections are not accepted. */
const KEPT_MS = 120_000;

/** KEYS: the hash of ejections. ARGV: milliseconds to keep the hash, the channel, the field, the ejection. */
const ANNOUNCE = script(`
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("HSET", KEYS[1], ARGV[3], string.format("%d %s", now, ARGV[4]))
redis.call("PEXPIRE", KEYS[1], ARGV[1])
redis.call("PUBLISH", ARGV[2], ARGV[4])
`);

/** KEYS: the hash of ejections. Returns the server's time, then each entry. */
const LIST = script(`
local time = redis.call("TIME")
local entries = {tostring(time[1] * 1000 + math.floor(time[2] / 1000))}
for _, entry in ipairs(redis.call("HVALS", KEYS[1])) do entries[#entries + 1] = entry end
return entries
`);

const messageSchema = z.object({
  from: z.string(),
  target: z.string(),
  organization: z.string().nullable().default(null),
  reason: z.enum(["overload", "account", "limited"]),
  durationMs: z.number().positive().max(KEPT_MS),
});

/**
 * Shares ejections between processes: immediately by message, and after every new connection by reading the list of
 * ejections in force. While the store is unavailable, each process knows only its own ejections.
 */
export class SharedHealth {
  readonly #options: SharedHealthOptions;
  readonly #id = newId("proc");
  readonly #hash: string;
  readonly #channel: string;
  readonly #publisher: RedisLink;
  readonly #subscriber: RedisLink;
  readonly #pings: BackgroundWork;

  constructor(options: SharedHealthOptions) {
    this.#options = options;
    const { url, prefix = "gateway:" } = options;
    this.#hash = `${prefix}ejections`;
    this.#channel = `${prefix}ejected`;
    // The list of ejections is read when either connection becomes ready. The later reading finds the ejections that
    // were announced before the process subscribed.
    const onState = (isUp: boolean) => {
      if (isUp) this.#readList();
    };
    this.#publisher = new RedisLink({
      url,
      boundMs: BOUND_MS,
      onState,
      prepare: async (send) => {
        for (const { source } of [ANNOUNCE, LIST]) await send("SCRIPT", ["LOAD", source]);
      },
    });
    this.#subscriber = new RedisLink({
      url,
      boundMs: BOUND_MS,
      onState,
      prepare: async (send, client) => {
        const subscribed = client.subscribe(this.#channel, (message) => this.#onEjection(message, 0));
        // Subscribing has no deadline of its own. A late ping closes the connection, which also ends the subscribing.
        await Promise.all([subscribed, send("PING", [])]);
      },
    });
    // A failed ping closes its connection, and the link connects again by itself, so the error is ignored here.
    this.#pings = every(
      PING_MS,
      () => this.#subscriber.send("PING", []),
      () => {},
    );
  }

  /** Settles when the first attempts to connect have succeeded or failed. */
  get ready(): Promise<unknown> {
    return Promise.all([this.#publisher.ready, this.#subscriber.ready]);
  }

  /** Publishes an ejection of this process. Does not wait and does not throw. */
  announce(ejection: Ejection): void {
    const message = JSON.stringify({ from: this.#id, ...ejection });
    const field = JSON.stringify([ejection.target, ejection.organization]);
    const args = [ANNOUNCE.sha, "1", this.#hash, String(KEPT_MS), this.#channel, field, message];
    this.#publisher.send("EVALSHA", args).catch(() => {});
  }

  close(): void {
    void this.#pings.stop();
    this.#publisher.close();
    this.#subscriber.close();
  }

  #readList(): void {
    this.#publisher.send("EVALSHA", [LIST.sha, "1", this.#hash]).then(
      (response) => {
        if (!Array.isArray(response)) return;
        const [now, ...entries] = response.map(String);
        for (const entry of entries) {
          const space = entry.indexOf(" ");
          this.#onEjection(entry.slice(space + 1), Number(now) - Number(entry.slice(0, space)));
        }
      },
      () => {},
    );
  }

  #onEjection(message: string, ageMs: number): void {
    const parsed = messageSchema.safeParse(parseJson(message));
    if (!parsed.success || parsed.data.from === this.#id) return;
    const { target, organization, reason, durationMs } = parsed.data;
    const restMs = durationMs - Math.max(0, ageMs);
    if (restMs > 0) this.#options.onEjection({ target, organization, reason, durationMs: restMs });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
