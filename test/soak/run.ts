import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../support/kill-rounds.ts";
import { readOptions } from "../support/program-options.ts";
import { openMessagesGateway, type MessagesGateway } from "../support/messages-gateway.ts";
import type { InsideFigures } from "./inside.ts";
import { administer, openConsole, readConsole, TRAFFIC } from "./traffic.ts";
import { quantile, trendOf } from "./trend.ts";

/*
 * Sends mixed traffic for an hour: `npm run soak`. Prints the growth of memory, descriptors, timers, files and latency
 * after a warm-up of a fifth of the time. Exits with 1 when a figure grows that must stay flat, or a call had a wrong
 * result.
 */
const values = readOptions({
  command: "npm run soak --",
  does: "Sends mixed traffic, and prints how memory, descriptors, timers, files and latency grow.",
  options: {
    minutes: { type: "string", value: "N", help: "how long it runs", default: "60" },
    clients: { type: "string", value: "N", help: "callers at the same time", default: "8" },
    seed: { type: "string", value: "N", help: "repeats the run that printed this seed" },
  },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
const seed = Number(values.seed ?? Date.now() % 1_000_000);

const THINK_MS = 150;
const SAMPLE_MS = 10_000;
const CONSOLE_MS = 3_000;
const ADMINISTER_MS = 30_000;
const WARM_UP = 0.2;
/** Allowed growth over the measured time, as a share of the first value. */
const FLAT = 0.1;
const MAX_PRINTED = 10;

/** The sampled figures. Growth up to `allowance`, in the figure's unit, is ignored. */
const FIGURES = {
  residentMb: { unit: "MB", allowance: 15, isFlat: true },
  heapMb: { unit: "MB", allowance: 3, isFlat: true },
  objects: { unit: "", allowance: 20_000, isFlat: true },
  timers: { unit: "", allowance: 20, isFlat: true },
  promises: { unit: "", allowance: 200, isFlat: true },
  descriptors: { unit: "", allowance: 5, isFlat: true },
  threads: { unit: "", allowance: 2, isFlat: true },
  spoolFiles: { unit: "", allowance: 2, isFlat: true },
  journalMb: { unit: "MB", allowance: 2, isFlat: true },
  keptJournalMb: { unit: "MB", allowance: 0, isFlat: false },
  databaseMb: { unit: "MB", allowance: 0, isFlat: false },
  walMb: { unit: "MB", allowance: 10, isFlat: true },
  storedFiles: { unit: "", allowance: 0, isFlat: false },
  chatP50Ms: { unit: "ms", allowance: 2, isFlat: true },
  chatP99Ms: { unit: "ms", allowance: 30, isFlat: true },
} as const;

type Sample = Partial<Record<keyof typeof FIGURES, number>>;

interface Progress {
  calls: Map<string, number>;
  failures: string[];
  /** Durations of chats since the last sample. */
  durations: number[];
}

async function run(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  const figuresPath = join(folder, "figures.json");
  try {
    const inside = join(import.meta.dir, "inside.ts");
    const env = { SOAK_FIGURES: figuresPath, BUN_OPTIONS: `--preload=${inside}`, LOG_LEVEL: "error" };
    await using setting = await openMessagesGateway("", env);
    const startedAt = performance.now();
    const end = startedAt + minutes * 60_000;
    const progress: Progress = { calls: new Map(), failures: [], durations: [] };
    const samples: [seconds: number, sample: Sample][] = [];
    const work = [
      ...Array.from({ length: clients }, (_, client) => beClient(setting, client, end, progress)),
      beMember(setting, end, progress),
      repeat(SAMPLE_MS, end, () => {
        setting.vendor.reset();
        setting.spare.reset();
        setting.chat.reset();
        samples.push([(performance.now() - startedAt) / 1_000, sampleOf(setting, figuresPath, progress)]);
        return Promise.resolve();
      }),
    ];
    await Promise.all(work);
    const code = await setting.gateway.stop();
    if (code !== 0) progress.failures.push(`the gateway stopped with ${code}`);
    return report(samples, progress);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function beClient(setting: MessagesGateway, client: number, end: number, progress: Progress) {
  const random = seeded(seed * 100 + client);
  const kinds = Object.entries(TRAFFIC);
  const total = kinds.reduce((sum, [, { weight }]) => sum + weight, 0);
  while (performance.now() < end) {
    let left = random() * total;
    const [name, { act }] = kinds.find(([, { weight }]) => (left -= weight) < 0) ?? kinds[0]!;
    const began = performance.now();
    await note(progress, name, () => act(setting, random));
    if (name === "chat") progress.durations.push(performance.now() - began);
    await Bun.sleep(random() * 2 * THINK_MS);
  }
}

/** A member with an open console, who makes changes at times. */
async function beMember(setting: MessagesGateway, end: number, progress: Progress): Promise<void> {
  let member = await openConsole(setting);
  let changedAt = performance.now();
  await repeat(CONSOLE_MS, end, async () => {
    await note(progress, "console", () => readConsole(member));
    if (performance.now() - changedAt < ADMINISTER_MS) return;
    changedAt = performance.now();
    await note(progress, "changes", () => administer(setting, member));
    await note(progress, "sign-in", async () => void (member = await openConsole(setting)));
  });
}

async function note(progress: Progress, name: string, act: () => Promise<void>): Promise<void> {
  progress.calls.set(name, (progress.calls.get(name) ?? 0) + 1);
  await act().catch((error: unknown) => progress.failures.push(`${name}: ${String(error)}`));
}

async function repeat(intervalMs: number, end: number, act: () => Promise<void>): Promise<void> {
  while (performance.now() < end) {
    await Bun.sleep(Math.min(intervalMs, Math.max(0, end - performance.now())));
    await act();
  }
}

function sampleOf({ gateway }: MessagesGateway, figuresPath: string, progress: Progress): Sample {
  const { residentMb, descriptors } = gateway.resources();
  const files = filesOf(gateway.dataDirectory);
  const sizeOf = (begin: string) =>
    files.filter(([name]) => name.startsWith(begin)).reduce((sum, [, size]) => sum + size, 0) / 1e6;
  const countOf = (begin: string) => files.filter(([name]) => name.startsWith(begin)).length;
  const inside = existsSync(figuresPath)
    ? (JSON.parse(readFileSync(figuresPath, "utf8")) as InsideFigures)
    : null;
  const durations = progress.durations.splice(0);
  const threads = /^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1];
  return {
    residentMb,
    descriptors,
    threads: Number(threads),
    ...inside,
    spoolFiles: countOf("spool/"),
    journalMb: sizeOf("journal/") - sizeOf("journal/posted/"),
    keptJournalMb: sizeOf("journal/posted/"),
    walMb: sizeOf("gateway.sqlite-wal"),
    databaseMb: sizeOf("gateway.sqlite") - sizeOf("gateway.sqlite-wal") - sizeOf("gateway.sqlite-shm"),
    storedFiles: countOf("blobs/"),
    ...(durations.length > 0 && {
      chatP50Ms: quantile(durations, 0.5),
      chatP99Ms: quantile(durations, 0.99),
    }),
  };
}

function filesOf(folder: string): [name: string, size: number][] {
  return readdirSync(folder, { recursive: true }).flatMap((entry): [string, number][] => {
    const name = String(entry);
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return found?.isFile() ? [[name, found.size]] : [];
  });
}

/** Prints the figures. Returns true when all are within their bounds. */
function report(samples: readonly [number, Sample][], { calls, failures }: Progress): boolean {
  const total = [...calls.values()].reduce((sum, count) => sum + count, 0);
  console.log(`seed ${seed}, ${minutes} minutes, ${clients} clients, ${total} acts`);
  console.log([...calls].map(([name, count]) => `${name} ${count}`).join(", "));
  const warm = samples.filter(([seconds]) => seconds >= minutes * 60 * WARM_UP);
  const hours = ((warm.at(-1)?.[0] ?? 0) - (warm[0]?.[0] ?? 0)) / 3_600;
  const growing: string[] = [];
  const rows = Object.entries(FIGURES).flatMap(([name, { unit, allowance, isFlat }]) => {
    const known = warm.flatMap(([seconds, sample]): [number, number][] => {
      const value = sample[name as keyof typeof FIGURES];
      return value === undefined ? [] : [[seconds, value]];
    });
    if (known.length < 2) return [];
    const trend = trendOf(known);
    const isGrowing = isFlat && trend.perHour * hours > Math.max(allowance, FLAT * trend.first);
    if (isGrowing) growing.push(name);
    const show = (value: number) => `${value.toFixed(1)} ${unit}`.trim();
    const verdict = isGrowing ? "GROWS" : isFlat ? "flat" : "by what is stored";
    return [
      {
        figure: name,
        first: show(trend.first),
        last: show(trend.last),
        perHour: show(trend.perHour),
        verdict,
      },
    ];
  });
  console.table(rows);
  for (const failure of failures.slice(0, MAX_PRINTED)) console.log(`  ${failure}`);
  console.log(
    `${failures.length} failures; ${growing.length === 0 ? "flat" : `growing: ${growing.join(", ")}`}`,
  );
  return failures.length === 0 && growing.length === 0;
}

process.exit((await run()) ? 0 : 1);
