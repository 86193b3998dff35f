import type { DrillWorld, Verdict } from "./world.ts";

/** A fault, with the verdict, causes and alerts that must report it. */
export interface DrillFault {
  name: string;
  /** The organization whose verdict reports the fault. Undefined if only the installation's verdict reports it. */
  organization?: string;
  /** True when the fault needs a small disk. */
  fillsDisk?: true;
  /** Causes the fault, and sends requests where the fault is visible only by them. */
  break(world: DrillWorld): Promise<void>;
  mend(world: DrillWorld): Promise<void>;
  state: "warning" | "critical";
  /** Causes that must be reported, each as `kind subject`. */
  causes: readonly string[];
  /** Other causes that may be reported. */
  also?: readonly string[];
  /** Alerts that must open. None if alerts cannot be stored during the fault. */
  alerts: readonly string[];
}

const CALLS = 8;

const many = async (world: DrillWorld, organization: string): Promise<void> => {
  for (let sent = 0; sent < CALLS; sent += 1) await world.chat(organization);
};

/** Faults of vendors and settings. Each fault affects one organization. */
export const ORGANIZATION_FAULTS: readonly DrillFault[] = [
  {
    name: "vendor dead",
    organization: "dead",
    async break(world) {
      world.vendors.dead.respondBy(() => ({ fault: "error-status", status: 503 }));
      await many(world, "dead");
    },
    mend: async ({ vendors }) => vendors.dead.respondBy(() => undefined),
    state: "critical",
    causes: ["model dead-chat", "ejection dead/gpt-5.4", "requests dead"],
    also: ["calls dead/dead-chat"],
    alerts: ["status dead-chat", "status dead/gpt-5.4", "status dead"],
  },
  {
    name: "vendor slow",
    organization: "slow",
    async break(world) {
      for (let sent = 0; sent < 25; sent += 1) await world.chat("slow");
      world.vendors.slow.respondBy(() => ({ delayMs: 25_000 }));
      // These calls get a response after the drill, or end with the gateway.
      for (let sent = 0; sent < CALLS; sent += 1) void world.chat("slow").catch(() => {});
    },
    mend: async ({ vendors }) => vendors.slow.respondBy(() => undefined),
    state: "warning",
    causes: ["slow slow"],
    alerts: ["status slow"],
  },
  {
    name: "one organization's key wrong",
    organization: "theirs",
    break: (world) => many(world, "theirs"),
    mend: async ({ administrator }) =>
      void (await administrator.act("DELETE", "/routes?organizationId=theirs&model=calm-chat")),
    state: "critical",
    causes: ["model calm-chat", "ejection theirs/gpt-5.4", "requests theirs"],
    also: ["calls theirs/calm-chat"],
    alerts: ["status theirs/gpt-5.4", "status calm-chat"],
  },
  {
    name: "budget spent",
    organization: "spent",
    async break(world) {
      await world.limit("spent", "0.0001");
      await many(world, "spent");
    },
    mend: (world) => world.limit("spent", "10"),
    state: "warning",
    causes: ["budget spent"],
    alerts: ["status spent"],
  },
  {
    name: "budget too small for any request",
    organization: "tight",
    async break(world) {
      await world.limit("tight", "0.000000001");
      await many(world, "tight");
    },
    mend: (world) => world.limit("tight", "10"),
    state: "warning",
    causes: ["budget tight"],
    alerts: ["status tight"],
  },
  {
    name: "price missing",
    organization: "unpriced",
    break: (world) => many(world, "unpriced"),
    mend: async ({ administrator }) =>
      void (await administrator.act("POST", "/prices", {
        model: "calm-chat",
        organizationId: "unpriced",
        currency: "CNY",
        perMillion: { input: "1", output: "1" },
      })),
    state: "critical",
    causes: ["price calm-chat"],
    alerts: ["status calm-chat"],
  },
];

/** Mails cannot be delivered, which is reported for a day. A mail is sent only because of another cause. */
export const MAIL_FAULT: DrillFault = {
  name: "mail away",
  break: (world) => many(world, "unpriced"),
  mend: async () => {},
  state: "critical",
  causes: ["notices mail", "price calm-chat"],
  alerts: ["status calm-chat"],
};

/** Faults of parts of the gateway, which affect all organizations. */
export const PART_FAULTS: readonly DrillFault[] = [
  {
    name: "Redis away",
    break: ({ redis }) => redis.crash(),
    mend: ({ redis }) => redis.restart(),
    state: "warning",
    causes: ["part limits"],
    alerts: ["status limits"],
  },
  {
    name: "disk full",
    fillsDisk: true,
    async break({ disk, chat }) {
      disk?.fill();
      for (let sent = 0; sent < CALLS; sent += 1) await chat("calm");
    },
    mend: async ({ disk }) => disk?.free(),
    state: "critical",
    causes: ["part journal"],
    also: ["requests calm", "part overload"],
    alerts: ["status journal"],
  },
  {
    name: "database away",
    break: ({ postgres }) => postgres.crash(),
    mend: ({ postgres }) => postgres.restart(),
    state: "critical",
    causes: ["part database"],
    alerts: [],
  },
];

/**
 * Returns the difference between a verdict and a fault. Null when the verdict reports the fault, and all its causes are
 * expected or allowed.
 */
export function difference(
  { state, causes, also = [] }: DrillFault,
  verdict: Verdict,
  others: readonly string[] = [],
): string | null {
  const named = verdict.causes.map(({ kind, subject }) => `${kind} ${subject}`);
  const missing = causes.filter((cause) => !named.includes(cause));
  const allowed = [...causes, ...also, ...others, "notices mail", "alert All"];
  const wrong = named.filter((cause) => !allowed.includes(cause));
  if (verdict.state === "ok" || verdict.state === "idle") return `it is ${verdict.state}`;
  if (missing.length > 0 || wrong.length > 0)
    return `missing: ${missing.join(", ")}; wrong: ${wrong.join(", ")}`;
  return verdict.state === state || others.length > 0 ? null : `it is ${verdict.state}`;
}
