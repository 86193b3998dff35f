import type { AdminContext } from "../context.ts";
import { readEjections } from "../status/ejected-targets.ts";
import { RECENT_MS } from "../status/recent-traffic.ts";
import { every, type BackgroundWork } from "../../lib/waiting.ts";

/** A change that `LiveEvents` reports to its followers. */
export interface LiveEvent {
  kind: "jobs" | "channels" | "requests";
  /** The organization that the change concerns; null when the change concerns all organizations. */
  organizationId: string | null;
  data: object;
}

type OnEvent = (event: LiveEvent) => void;

type Sources = Pick<AdminContext, "store" | "clock" | "running">;

const LOOK_MS = 2_000;
/** Number of newest jobs whose changes are followed. */
const JOBS = 100;

/** Looks for changes every two seconds while there are followers. One look serves all followers. */
export class LiveEvents {
  readonly #sources: Sources;
  readonly #followers = new Set<OnEvent>();
  /** The state that was last seen, as text, by kind and name. */
  #seen = new Map<string, string>();
  #looking: BackgroundWork | null = null;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** Calls `onEvent` for every change from now on. Returns a function that stops these calls. */
  follow(onEvent: OnEvent): () => void {
    this.#followers.add(onEvent);
    const look = () => this.#look();
    if (this.#looking === null) {
      // Errors are ignored: other parts report an unavailable database, and the next look finds the changes.
      this.#looking = every(LOOK_MS, look, () => {});
      void look().catch(() => {});
    }
    return () => {
      this.#followers.delete(onEvent);
      if (this.#followers.size > 0) return;
      void this.#looking?.stop();
      this.#looking = null;
      this.#seen = new Map();
    };
  }

  async #look(): Promise<void> {
    const states = await readStates(this.#sources);
    const isFirst = this.#seen.size === 0;
    const seen = new Map([["", ""]]);
    for (const [name, event] of states) {
      const text = JSON.stringify(event.data);
      seen.set(name, text);
      if (!isFirst && this.#seen.get(name) !== text) this.#notify(event);
    }
    this.#seen = seen;
  }

  #notify(event: LiveEvent): void {
    for (const follower of this.#followers) follower(event);
  }
}

async function readStates(sources: Sources): Promise<[string, LiveEvent][]> {
  const { store, clock, running } = sources;
  const now = clock.now();
  const range = { from: now - RECENT_MS, to: now + RECENT_MS, span: "minute" as const };
  await running?.writeCounts();
  const [jobs, counts, ejections] = await Promise.all([
    store.jobs.list({ limit: JOBS }),
    store.usage.traffic(range, ["organizationId"]),
    readEjections(sources),
  ]);
  const ejected = new Set(ejections.map(({ target }) => target.replace(/\/.*/, "")));
  return [
    ...jobs.map(({ id, organizationId, status }) =>
      named(id, { kind: "jobs", organizationId, data: { id, organizationId, status } }),
    ),
    ...counts.map(({ organizationId, requests, errors }) =>
      named(organizationId, { kind: "requests", organizationId, data: { organizationId, requests, errors } }),
    ),
    named("", { kind: "channels", organizationId: null, data: { ejected: [...ejected].toSorted() } }),
  ];
}

function named(name: string, event: LiveEvent): [string, LiveEvent] {
  return [`${event.kind} ${name}`, event];
}
