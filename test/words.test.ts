import { expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { stripped } from "./support/stripped-source.ts";

/*
 * Terms of an earlier vocabulary, with the standard terms that have replaced them. No earlier term may return as an
 * identifier or as a file name in `src`. A final `*` in a key matches any further characters.
 */
const REPLACED: Readonly<Record<string, string>> = {
  heart: "core",
  Heart: "Core",
  ImageHeart: "ImageCore",
  till: "billing",
  Till: "Billing",
  door: "authenticator",
  Door: "Authenticator",
  authorize: "authenticate",
  visit: "context",
  Visit: "RequestContext",
  Exchange: "HttpExchange",
  wish: "request",
  wishes: "requests",
  wished: "requested",
  Wish: "RequestedSize, LimitRequest, BudgetRequest",
  SizeWish: "RequestedSize",
  SizePlan: "ResolvedSize",
  LimitWish: "LimitRequest",
  BudgetWish: "BudgetRequest",
  ImageWish: "FittedImageRequest",
  BootstrapWishes: "BootstrapInput",
  planSize: "resolveSize",
  sight: "jobStatus",
  Sight: "JobStatus",
  ticket: "jobId",
  Ticket: "JobId",
  handIn: "submit",
  place: "slot, path, position",
  places: "slots",
  Place: "slot, path, position",
  Places: "ConcurrencyLimiter",
  CODEC_PLACES: "CODEC_SLOTS",
  Slice: "BudgetLease",
  slices: "leases",
  TakingQueues: "KeyedMutex",
  Shortages: "ExhaustionCache",
  shortage: "exhaustion",
  shortages: "exhaustions",
  Drains: "DetachedCalls",
  drains: "detachedCalls",
  CallerGone: "ClientDisconnected",
  isCallerGone: "isClientDisconnected",
  Deadlines: "Timeouts (durations), DeadlineTimer (a timer)",
  answer: "handle, response, reply",
  Answer: "Response, Reply, Result",
  ask: "call",
  asks: "calls",
  asked: "requested",
  askedAt: "calledAt",
  askTarget: "callTarget",
  draw: "random, generate",
  drawn: "acquired",
  tell: "notify",
  told: "reported",
  hear: "onEvent",
  heard: "upstreamParts",
  say: "print",
  said: "clientParts",
  show: "print",
  desk: "CommandContext",
  Desk: "CommandContext",
  voice: "redaction",
  Voice: "Redaction",
  neutralize: "sanitize",
  createNeutralizer: "createSanitizer",
  books: "refcounts",
  SegmentBooks: "SegmentRefcounts",
  SliceWatch: "LeaseExpiry",
  sliceWatch: "leaseExpiry",
  stand: "history",
  stands: "histories",
  ChargeStand: "ChargeHistory",
  outline: "skeleton",
  lifted: "extracted",
  LiftedJson: "ExtractedJson",
  mark: "placeholder",
  spoken: "clientParts",
  hole: "slot",
  pause: "sleep, yieldToEventLoop",
  breathe: "yieldToEventLoop",
  Breathe: "yieldToEventLoop",
  free: "detachBuffer",
  SpareFiles: "FilePool",
  spareFiles: "filePool",
  SpoolGround: "SpoolContext",
  ground: "context",
  isPlausible: "isWellFormed",
  Whole: "Integer",
  wholeNumber: "integer",
  secretHint: "secretPrefix",
  suppose: "simulateRoute",
  useActing: "useOperationMutation",
  useReading: "useOperationQuery",
  ReadingState: "QueryState",
  openAdmin: "openAdminStore",
  isMapping: "isObject",
  RateState: "LimitState",
  GuardedFetch: "SafeFetch",
  startCheckpoints: "startSqliteUpkeep",
  "MOST_*": "MAX_",
  "LONGEST_*": "MAX_",
  "SHORTEST_*": "MIN_",
  "LEAST_*": "MIN_",
  "DEEPEST*": "MAX_DEPTH",
  "USUAL_*": "DEFAULT_",
};

const FILES = [
  "heart",
  "till",
  "visit",
  "authorize",
  "image-wish",
  "plan",
  "places",
  "slice",
  "shortages",
  "taking-queues",
  "drains",
  "breathe",
  "draw",
  "free",
  "spare-files",
  "segment-books",
  "slice-watch",
  "lifted-json",
];

/** Columns of the database keep their old names. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = { "storage/": ["drawn"] };
/** Names of exports that a library has chosen. */
const IMPORTED: Readonly<Record<string, readonly string[]>> = {
  "config/yaml.ts": ["visit"],
  "console/ui/chart/use-plot.ts": ["show"],
};

const ROOT = resolve(import.meta.dir, "../src");
const paths = Array.from(new Bun.Glob("**/*.{ts,tsx}").scanSync(ROOT)).filter(
  (path) => !path.endsWith(".test.ts"),
);

test("no replaced term is an identifier", async () => {
  const found: string[] = [];
  for (const path of paths) {
    for (const name of identifiersOf(await Bun.file(join(ROOT, path)).text())) {
      const better = replacementOf(name);
      if (better && !isAllowed(path, name)) found.push(`${path}: ${name} → ${better}`);
    }
  }
  expect(found).toEqual([]);
});

test("no replaced term is the name of a file", () => {
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1).replace(/\.tsx?$/, ""));
  expect(names.filter((name) => FILES.includes(name))).toEqual([]);
});

/**
 * Matches definitions by relative clause, whose subject comes last, articles that no longer fit after a rename, and a
 * final ellipsis.
 */
const READ_TWICE: readonly RegExp[] = [
  /^(?:What(?:ever)?|Whether|Who(?:m|se|ever)?|Where(?:ver)?|Which(?:ever)?|How)\b/,
  /\b[Aa]n (?:budget|caller|channel|key|member|price|record|reply|request|response|stream|target|vendor)\b/,
  /\b[Aa] (?:amount|attempt|entry|error|event|identity|image|organization|owner)\b/,
  /(?:\.\.\.|…)$/,
];

test("comments begin with their subject or verb", async () => {
  const found: string[] = [];
  for (const path of paths)
    for (const comment of commentsOf(await Bun.file(join(ROOT, path)).text()))
      if (READ_TWICE.some((pattern) => pattern.test(comment))) found.push(`${path}: ${comment}`);
  expect(found).toEqual([]);
  const comments = commentsOf('const a = "// no"; // Whether\n// one\n/** An key\n * of a list… */');
  expect(comments).toEqual(["Whether one", "An key of a list…"]);
  expect(comments.every((comment) => READ_TWICE.some((pattern) => pattern.test(comment)))).toBe(true);
});

test("the search sees identifiers and not strings, comments or database columns", () => {
  const source =
    'const till = `heart ${door}`; // visit\n/* desk */ use("wish", row.drawn, { voice: till });';
  expect([...identifiersOf(source)].toSorted()).toEqual(["const", "door", "row", "till", "use", "voice"]);
  expect(replacementOf("MOST_BYTES")).toBe("MAX_");
  expect(replacementOf("constructor")).toBeUndefined();
});

function isAllowed(path: string, name: string): boolean {
  return [COLUMNS, IMPORTED].some((allowed) =>
    Object.entries(allowed).some(([start, names]) => path.startsWith(start) && names.includes(name)),
  );
}

function replacementOf(name: string): string | undefined {
  if (Object.hasOwn(REPLACED, name)) return REPLACED[name];
  const prefix = Object.keys(REPLACED).find((key) => key.endsWith("*") && name.startsWith(key.slice(0, -1)));
  return prefix && REPLACED[prefix];
}

/**
 * Returns identifiers outside of strings and comments, and in `${…}` of a template. Members after a dot are omitted.
 */
function identifiersOf(source: string): Set<string> {
  return new Set([...stripped(source).matchAll(/(?<![\w$.])[A-Za-z_$][\w$]*/g)].map(([name]) => name));
}

/** Returns the text of each comment. Line comments on consecutive lines form one comment. */
function commentsOf(source: string): string[] {
  const strings =
    /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[=(,:[!&|?{};]\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/;
  const comments = /(\/\/.*(?:\n\s*\/\/.*)*|\/\*[\s\S]*?\*\/)/;
  return [...source.matchAll(new RegExp(`${strings.source}|${comments.source}`, "g"))]
    .flatMap(([, comment]) => comment ?? [])
    .map((comment) =>
      comment
        .replace(/^\/\*+|\*+\/$/g, "")
        .replace(/^\s*(?:\*|\/\/) ?/gm, " ")
        .replace(/\s+/g, " ")
        .trim(),
    );
}
