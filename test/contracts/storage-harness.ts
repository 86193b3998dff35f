import { afterAll, beforeAll, describe } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerEntry } from "../../src/domain/ledger.ts";
import { DEFAULT_ORGANIZATION_SETTINGS } from "../../src/domain/organization.ts";
import type { NewBudget } from "../../src/admin/budgets/store-port.ts";
import { openDatabase } from "../../src/storage/database/open.ts";
import type { Database } from "../../src/storage/database/sql.ts";
import { findPgBouncer, startPgBouncer, type PgBouncer } from "../support/pgbouncer.ts";
import { findPostgres, startPostgres, type PrivatePostgres } from "../support/postgres.ts";
import type { KeyRecord } from "../../src/admin/keys/schema.ts";
import type { OrganizationRecord } from "../../src/admin/organizations/schema.ts";

/** Creates empty databases of the tested kind. */
export interface TestDatabases {
  kind: Database["kind"];
  /** Returns the location of a new, empty database. */
  location(): Promise<string>;
  /** Opens a database that is closed after the suite. */
  open(location: string): Promise<Database>;
  /** Returns the database's server. Throws on SQLite, which has none. */
  server(): PrivatePostgres;
}

/** Runs a suite on SQLite, and on a private PostgreSQL server if PostgreSQL is installed. */
export function onEachDatabase(name: string, suite: (databases: TestDatabases) => void): void {
  describe(`${name} on SQLite`, () => suite(sqliteDatabases()));
  const found = findPostgres();
  if ("missing" in found) {
    console.log(`SKIPPED: ${name} on PostgreSQL: ${found.missing}`);
    return;
  }
  describe(`${name} on PostgreSQL`, () => suite(postgresDatabases(found.folder)));
}

/** Runs a suite as `onEachDatabase` does, and through PgBouncer as well if it is installed. */
export function onEachDatabaseAndPooler(name: string, suite: (databases: TestDatabases) => void): void {
  onEachDatabase(name, suite);
  const [found, pooler] = [findPostgres(), findPgBouncer()];
  if ("missing" in pooler) console.log(`SKIPPED: ${name} through PgBouncer: ${pooler.missing}`);
  else if ("folder" in found)
    describe(`${name} through PgBouncer`, () => suite(pooledDatabases(found.folder, pooler.binary)));
}

function pooledDatabases(folder: string, binary: string): TestDatabases {
  const direct = postgresDatabases(folder);
  let pooler: PgBouncer;
  beforeAll(async () => {
    pooler = await startPgBouncer(binary, direct.server().port);
  });
  afterAll(() => pooler[Symbol.asyncDispose]());
  return { ...direct, location: async () => pooler.through(await direct.location()) };
}

function sqliteDatabases(): TestDatabases {
  const folder = temporaryFolder();
  let count = 0;
  return {
    kind: "sqlite",
    async location() {
      count += 1;
      return join(folder, `gateway-${count}.sqlite`);
    },
    open: closedAfterwards(),
    server() {
      throw new Error("SQLite has no server");
    },
  };
}

function postgresDatabases(folder: string): TestDatabases {
  let server: PrivatePostgres;
  beforeAll(async () => {
    server = await startPostgres(folder);
  });
  afterAll(async () => {
    await server.stop();
  });
  return {
    kind: "postgres",
    location: () => server.createDatabase(),
    open: closedAfterwards(),
    server: () => server,
  };
}

function closedAfterwards(): TestDatabases["open"] {
  const databases: Database[] = [];
  afterAll(async () => {
    await Promise.all(databases.map((database) => database.close()));
  });
  return async (location) => {
    const database = await openDatabase(location);
    databases.push(database);
    return database;
  };
}

/** Creates a folder that is removed after the suite. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gateway-storage-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const BY = { actor: "test" };

export function anOrganization(
  id: string,
  change: Partial<OrganizationRecord> = {},
): Omit<OrganizationRecord, "version"> {
  return {
    id,
    name: `Organization ${id}`,
    currency: "USD",
    isDisabled: false,
    models: "*",
    settings: { ...DEFAULT_ORGANIZATION_SETTINGS },
    limits: {},
    routes: {},
    createdAt: 1_000,
    ...change,
  };
}

export function aKey(
  id: string,
  organizationId: string,
  change: Partial<KeyRecord> = {},
): Omit<KeyRecord, "version"> {
  return {
    id,
    organizationId,
    name: `Key ${id}`,
    prefix: "gk_abcd",
    hash: hashOf(id),
    scopes: ["ai:*"],
    models: "*",
    addresses: null,
    limits: {},
    isDisabled: false,
    refuseIgnored: false,
    expiresAt: null,
    createdAt: 2_000,
    ...change,
  };
}

export function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

export function aBudget(id: string, amount: bigint, change: Partial<NewBudget> = {}): NewBudget {
  return {
    id,
    organizationId: "org_a",
    keyId: null,
    amount,
    period: "total",
    spent: 0n,
    held: 0n,
    periodStart: 0,
    createdAt: 3_000,
    ...change,
  };
}

export function anEntry(id: string, amount: bigint, change: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    id,
    kind: "charge",
    requestId: `request-${id}`,
    organizationId: "org_a",
    keyId: "key_a",
    model: "sandbox-chat",
    channel: "sandbox",
    upstreamModel: "sandbox-chat",
    at: 1_700_000_000_000,
    usage: { unit: "token", tokens: { input: 12, output: 34 }, source: "upstream" },
    amount,
    currency: "USD",
    priceSource: "default",
    orphanCost: 0n,
    budgets: [],
    attempts: [
      { channel: "sandbox", upstreamModel: "sandbox-chat", durationMs: 5, outcome: "answered", status: 200 },
    ],
    flags: [],
    ...change,
  };
}
