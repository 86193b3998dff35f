import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { TOKEN_CATEGORIES, TOKEN_CATEGORY_NAMES } from "../../src/domain/usage.ts";
import { DURATION_BUCKETS } from "../../src/domain/traffic.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { ALL_ORGANIZATIONS, SERIES, SERIES_SPANS_MS, SPAN_KEY } from "../../src/storage/tables/usage-sums.ts";
import { spreadOf } from "../statistics.ts";
import type { Row } from "../report.ts";
import { databaseKinds } from "./w7-databases.ts";
import type { Workload } from "./workload.ts";

const ENTRIES = 10_000_000;
const ENTRIES_A_STEP = 250_000;
const FAILED_REQUESTS = 100_000;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
/** A query for sums by hour covers 92 days at most, so older sums are not written here. */
const HOURS_MS = 92 * DAY_MS;
/** Time zones ahead of UTC, behind UTC, and with an offset of hours and minutes. */
const ZONES = ["America/New_York", "Asia/Tokyo", "Asia/Kolkata", "Australia/Sydney", "Pacific/Auckland"];
const ROUNDS = 15;
const BAR_MS = 100;

/**
 * The console's queries over ten million ledger entries of one year, on SQLite and PostgreSQL. The entries belong to 50
 * organizations, 500 keys and 40 models.
 */
export const ledgerWorkload: Workload = {
  id: "W11",
  title: "the console over ten million ledger entries",
  async run(stage) {
    const upstream = `http://${stage.mock.address.hostname}:${stage.mock.address.port}`;
    const rows: Row[] = [];
    for (const kind of databaseKinds()) {
      const databaseUrl = await kind.create();
      const gateway = await launchGateway(stage.machine, upstream, undefined, { fill, databaseUrl });
      try {
        const cookie = await signIn(gateway);
        for (const [figure, path, status] of pages(Date.now()))
          rows.push(rowOf(`${figure}, ${kind.name}`, await timesOf(gateway, cookie, path, status)));
      } finally {
        await gateway.stop();
        await kind.stop();
      }
    }
    return { rows, cpuSamples: [], latencySamples: [] };
  },
};

function pages(now: number): [figure: string, path: string, status?: number][] {
  const since = (days: number) => now - days * DAY_MS;
  return [
    ["overview of a day", "/overview"],
    ["overview of a week", `/overview?from=${since(7)}`],
    ["overview of 30 days", `/overview?from=${since(30)}`],
    ["overview of 90 days", `/overview?from=${since(90)}`],
    ["overview of a year", `/overview?from=${since(365)}`],
    ...ZONES.flatMap((zone) =>
      [7, 30, 90].map((days): [string, string] => [
        `overview of ${days} days of ${zone}`,
        `/overview?from=${since(days)}&zone=${zone}`,
      ]),
    ),
    ["usage of 30 days by key", `/usage?groupBy=key`],
    ...ZONES.flatMap((zone): [string, string][] => [
      [`usage of 30 days of ${zone} by key`, `/usage?groupBy=key&from=${since(30)}&zone=${zone}`],
      [`usage of 30 days of ${zone} by member`, `/usage?groupBy=member&from=${since(30)}&zone=${zone}`],
      [`usage of 90 days of ${zone} by client`, `/usage?groupBy=client&from=${since(90)}&zone=${zone}`],
      [`usage of 90 days of ${zone} by model`, `/usage?groupBy=model&from=${since(90)}&zone=${zone}`],
    ]),
    ["requests, newest", "/requests"],
    ["requests, from the middle", `/requests?cursor=${now - YEAR_MS / 2}.req`],
    ["requests of a key", "/requests?keyId=key_77"],
    ["requests that failed", "/requests?outcome=failed"],
    // Entry `i` has model `i % 40` and channel `i % 5`. So no entry has model 1 and channel 2.
    ["requests of a model and a channel, none", `/requests?model=model_1&channel=channel_2`],
    ["the same of 30 days", `/requests?model=model_1&channel=channel_2&from=${since(30)}`],
    ["ledger of an organization and a model, none", `/ledger?organizationId=org_1&model=model_2`],
    ["requests of an unknown model", "/requests?model=nobody"],
    ["requests by a vendor's id, none", "/requests/chatcmpl-nobody-has-it", 404],
    ["usage of 7 days by organization", `/usage?groupBy=organization&from=${since(7)}`],
    ["usage of a year by key", `/usage?groupBy=key&from=${since(365)}&limit=10000`],
    ["overview of an hour", `/overview?from=${now - 3_600_000}`],
  ];
}

/** The calls and the SQL that depend on the kind of database. */
interface FilledDatabase extends AsyncDisposable {
  run(text: string): Promise<unknown>;
  /** Statements before and after the rows. They speed up writing and collect statistics for the query planner. */
  begin: readonly string[];
  end: readonly string[];
  /** Query for the ledger's indexes that belong to no constraint. Returns the indexes' names and definitions. */
  indexes: string;
  read(text: string): Promise<{ name: string; sql: string }[]>;
  /** Returns a table expression with a column `i` that counts from `from` to `to - 1`. */
  numbers(from: number, to: number): string;
  paddedNumber: string;
  /** Expression for the start of the month of `at`, in milliseconds. */
  month: string;
}

function openSqlite(path: string): FilledDatabase {
  const database = new Database(path);
  return {
    run: async (text) => database.run(text),
    begin: ["PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -500000"],
    end: ["ANALYZE", "PRAGMA journal_mode = WAL"],
    indexes:
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ledger' AND sql IS NOT NULL",
    read: async (text) => database.query<{ name: string; sql: string }, []>(text).all(),
    numbers: (from, to) =>
      `(WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to - 1}) SELECT i FROM n)`,
    paddedNumber: "printf('%012d', i)",
    month: "unixepoch(at / 1000, 'unixepoch', 'start of month') * 1000",
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}

function openPostgres(address: string): FilledDatabase {
  const database = new SQL(address, { max: 1, bigint: true });
  return {
    run: (text) => database.unsafe(text),
    begin: ["SET maintenance_work_mem = '512MB'"],
    end: ["VACUUM ANALYZE"],
    indexes: `SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename = 'ledger'
      AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)`,
    read: (text) => database.unsafe(text),
    numbers: (from, to) => `generate_series(${from}::bigint, ${to - 1}) AS n (i)`,
    paddedNumber: "lpad(i::text, 12, '0')",
    month:
      "(extract(epoch FROM date_trunc('month', to_timestamp(at / 1000) AT TIME ZONE 'UTC')) * 1000)::bigint",
    [Symbol.asyncDispose]: () => database.close(),
  };
}

/**
 * Fills the store by direct statements: entries, sums like those of posting, names and failed requests. Entries and
 * sums are written in order of time, as posting does.
 */
async function fill(location: string): Promise<void> {
  await using database = location.startsWith("postgres:") ? openPostgres(location) : openSqlite(location);
  const start = Date.now() - YEAR_MS;
  for (const setting of database.begin) await database.run(setting);
  // The indexes are created again after the rows, because building an index from sorted rows is faster.
  const indexes = await database.read(database.indexes);
  for (const { name } of indexes) await database.run(`DROP INDEX ${name}`);
  for (let from = 0; from < ENTRIES; from += ENTRIES_A_STEP)
    await database.run(`INSERT INTO ledger (id, kind, request_id, organization_id, key_id, model, channel, upstream_model,
        at, admitted_at, source, client, consumed, amount, currency, price_source, orphan_cost, budgets, attempts, flags)
      SELECT 'req_' || ${database.paddedNumber}, 'charge', 'request_' || i, 'org_' || (i % 50), 'key_' || (i % 500),
        'model_' || (i % 40), 'channel_' || (i % 5), 'upstream', ${start} + i * ${YEAR_MS} / ${ENTRIES}, 0,
        CASE WHEN i % 25 = 0 THEN 'playground/member_' || (i % 40) END, CASE WHEN i % 5 > 0 THEN 'client_' || (i % 20) END,
        '{"unit":"token","tokens":{"input":120,"output":340},"source":"upstream"}', 1000 + i % 1000, 'USD', 'default',
        0, '[]', '[{"channel":"channel","upstreamModel":"upstream","durationMs":512,"outcome":"answered"}]', '[]'
      FROM ${database.numbers(from, Math.min(from + ENTRIES_A_STEP, ENTRIES))}`);
  for (const { sql } of indexes) await database.run(sql);
  await fillSums(database);
  await fillNames(database, start);
  for (const statement of database.end) await database.run(statement);
}

async function fillSums({ run, month }: FilledDatabase): Promise<void> {
  const tokens = TOKEN_CATEGORIES.map((category) =>
    category === "input" ? "120 * COUNT(*)" : category === "output" ? "340 * COUNT(*)" : "0",
  );
  const columns = TOKEN_CATEGORIES.map((category) => TOKEN_CATEGORY_NAMES[category]);
  const names = "organization_id, key_id, model, channel, source, client, currency";
  const fromLedger = names.replace("source, client", "COALESCE(source, ''), COALESCE(client, '')");
  const levels = {
    usage_minutes: ["at - at % 60000", `WHERE at > (SELECT MAX(at) FROM ledger) - ${2 * DAY_MS}`],
    usage_hours: ["at - at % 3600000", `WHERE at > (SELECT MAX(at) FROM ledger) - ${HOURS_MS}`],
    usage_days: [`at - at % ${DAY_MS}`, ""],
  };
  for (const [table, [start, where]] of Object.entries(levels))
    await run(`INSERT INTO ${table} (at, ${names}, requests, images, tokens, ${columns.join(", ")}, amount, orphan_cost,
        vendor_cost, costed) SELECT ${start}, ${fromLedger}, COUNT(*), 0, 460 * COUNT(*), ${tokens.join(", ")}, SUM(amount), 0, 0, 0
      FROM ledger ${where} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1`);
  const sums = ["requests", "images", "tokens", ...columns, "amount", "orphan_cost", "vendor_cost", "costed"];
  await run(`INSERT INTO usage_months (at, ${names}, ${sums.join(", ")})
      SELECT ${month}, ${names},
        ${sums.map((column) => `SUM(${column})`).join(", ")}
      FROM usage_days GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1`);
  const spans = SERIES_SPANS_MS.map((spanMs) => `SELECT ${spanMs} AS span_ms`).join(" UNION ALL ");
  for (const { table, key } of SERIES.usage) {
    const columns = key.slice(SPAN_KEY.length);
    const own = columns.map((column) => `COALESCE(${column}, '')`).join(", ");
    await run(`INSERT INTO ${table} (${[...key, ...sums].join(", ")})
      SELECT span_ms, organization_id, at - at % span_ms, ${own}, COUNT(*), 0, 460 * COUNT(*), ${tokens.join(", ")}, SUM(amount), 0, 0, 0
      FROM ledger CROSS JOIN (${spans}) AS spans WHERE at > (SELECT MAX(at) FROM ledger) - ${HOURS_MS}
      GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 3`);
    await run(`INSERT INTO ${table} (${[...key, ...sums].join(", ")})
      SELECT span_ms, '${ALL_ORGANIZATIONS}', at, ${columns.join(", ")}, ${sums.map((column) => `SUM(${column})`).join(", ")}
      FROM ${table} GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 3`);
  }
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, index) =>
    index === 7 ? "SUM(requests)" : "0",
  );
  await run(`INSERT INTO traffic_series (span_ms, organization_id, at, route, status, code, requests, charged,
        ${durations.map((_, index) => `d${index}`).join(", ")})
      SELECT span_ms, organization_id, at, 'chat', 2, '', SUM(requests), 0, ${durations.join(", ")} FROM usage_series GROUP BY 1, 2, 3 ORDER BY 1, 3`);
  for (const span of ["minutes", "hours", "days", "months"])
    await run(`INSERT INTO traffic_${span} (at, organization_id, key_id, model, channel, route, status, code, requests,
        ${durations.map((_, index) => `d${index}`).join(", ")})
      SELECT at, organization_id, '', model, channel, 'chat', 2, '', SUM(requests), ${durations.join(", ")} FROM usage_${span} GROUP BY at, organization_id, model, channel ORDER BY at`);
}

async function fillNames({ run, numbers }: FilledDatabase, start: number): Promise<void> {
  await run(`INSERT INTO organizations (id, name, currency, is_disabled, models, settings, limits, routes, created_at, revision)
    SELECT 'org_' || i, 'Organization ' || i, 'USD', 0, '"*"', '{}', '{}', '{}', 0, 0 FROM ${numbers(0, 50)}`);
  await run(`INSERT INTO api_keys (id, organization_id, name, hint, hash, scopes, models, limits, is_disabled, created_at,
      revision, refuse_ignored)
    SELECT 'key_' || i, 'org_' || (i % 50), 'Key ' || i, 'gk_', 'hash_' || i, '["ai:*"]', '"*"', '{}', 0, 0, 0, 0
    FROM ${numbers(0, 500)}`);
  await run(`INSERT INTO request_log (id, request_id, at, route, method, path, organization_id, key_id, model, status, code,
      duration_ms, is_stream, is_failed, is_charged, attempts)
    SELECT 'failed_' || i, 'request_failed_' || i, ${start} + i * ${YEAR_MS} / ${FAILED_REQUESTS}, 'chat', 'POST',
      '/v1/chat/completions', 'org_' || (i % 50), 'key_' || (i % 500), 'model_' || (i % 40), 503, 'overloaded', 12, 0, 1, 0,
      '[]' FROM ${numbers(0, FAILED_REQUESTS)}`);
}

async function signIn({ address }: Gateway): Promise<string> {
  const response = await fetch(`http://${address.hostname}:${address.port}/admin/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ name: "admin", password: "bench-administrator" }),
  });
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0];
  if (response.status !== 200 || !cookie) throw new Error(`not signed in: ${await response.text()}`);
  return cookie;
}

/** Returns the milliseconds of each repeated request. The first request warms the caches and is not counted. */
async function timesOf({ address }: Gateway, cookie: string, path: string, status = 200): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const since = performance.now();
    const response = await fetch(`http://${address.hostname}:${address.port}/admin/v1${path}`, {
      headers: { cookie },
    });
    const text = await response.text();
    if (response.status !== status) throw new Error(`${path} ended with ${response.status}: ${text}`);
    if (round > 0) times.push(performance.now() - since);
  }
  return times;
}

function rowOf(figure: string, times: readonly number[]): Row {
  const { median, max } = spreadOf(times);
  return {
    workload: "W11",
    figure,
    floor: "",
    gateway: `${median.toFixed(1)} ms`,
    comparison: `at most ${max.toFixed(1)} ms`,
    bar: `<= ${BAR_MS} ms`,
    passed: median <= BAR_MS,
  };
}
