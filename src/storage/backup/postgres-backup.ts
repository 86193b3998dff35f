import { reportWhile, type Progress } from "../../lib/progress.ts";
import { libpqAddress } from "../../lib/postgres-address.ts";
import { requireCurrent, type DatabaseFacts } from "./database-facts.ts";
import { openDatabase } from "../database/open.ts";
import type { Integer } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import { compareJournals } from "../tables/journal-verification.ts";
import { verifyLedger } from "../tables/verification.ts";

/**
 * Dumps one consistent state of a database with `pg_dump`, while the database may be in use, and reads the dump back.
 * Throws an `Error` when the dump lacks an entry of the ledger, or when a program is missing or fails. `copyJournals`
 * is called after the dump and returns the folder of the copied journals.
 */
export async function dumpPostgres(
  server: DumpedServer,
  target: string,
  { copyJournals, onProgress }: { copyJournals: () => string; onProgress: Progress },
): Promise<DatabaseFacts> {
  return await withDatabase(server.location, async (database) => {
    const migrations = await requireCurrent(database);
    const { entries, journals, waiting } = await database.readConsistently(async (sql) => {
      const [row] = await sql<{ snapshot: string }[]>`SELECT pg_export_snapshot() AS snapshot`;
      const snapshot = `--snapshot=${row?.snapshot}`;
      const command = ["pg_dump", "--format=custom", ...NO_OWNERS, snapshot, `--file=${target}`, "--dbname"];
      // A dump is compressed, so its size cannot be known from the size of the database.
      await run(server, command, () => onProgress("Copying the database.", 0));
      const journals = copyJournals();
      // The comparison must use the snapshot of the dump: the running gateway may have posted more charges since then.
      const { waiting } = await compareJournals("postgres", sql, journals);
      return { entries: await countEntries(sql), journals, waiting };
    });
    await verifyDump(target, server, entries);
    return {
      migrations,
      entries,
      verification: { ...(await verifyLedger(database, journals)), waiting },
    };
  });
}

/** Throws an `Error` unless the dump is readable to its end and contains this number of ledger entries. */
export async function verifyDump(
  path: string,
  { environment }: DumpedServer,
  entries: number,
): Promise<void> {
  const dumped = await countDumped(path, environment);
  if (dumped !== entries) throw new Error(`the dump has ${dumped} entries of ${entries} in the ledger`);
}

/** Throws an `Error` when a database has tables. */
export async function requireEmptyPostgres(location: string): Promise<void> {
  const [row] = await withDatabase(location, (database) =>
    database.read(
      (sql) => sql<{ count: Integer }[]>`SELECT COUNT(*) AS count FROM information_schema.tables
        WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
    ),
  );
  if (Number(row?.count ?? 0) > 0)
    throw new Error("the database has tables: create an empty one and name it in DATABASE_URL");
}

/** Fills an empty database from a dump, completely or not at all. */
export async function restorePostgres(path: string, server: DumpedServer): Promise<void> {
  await run(server, ["pg_restore", ...NO_OWNERS, "--single-transaction", path, "--dbname"]);
}

/** The address of a PostgreSQL database, and the environment of the programs that work on it. */
export interface DumpedServer {
  location: string;
  environment: Environment;
}

type Environment = Readonly<Record<string, string | undefined>>;

const NO_OWNERS = ["--no-owner", "--no-privileges"];

async function withDatabase<T>(location: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(location, { poolSize: 2 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function countEntries(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: Integer }[]>`SELECT COUNT(*) AS count FROM ledger`;
  return Number(row?.count ?? 0);
}

/** Reads the whole dump as an SQL script and counts the entries of the ledger in it. */
async function countDumped(path: string, environment: Environment): Promise<number> {
  const child = start(["pg_restore", "--file=-", path], environment);
  const errors = new Response(child.stderr).text();
  const decoder = new TextDecoder();
  let rest = "";
  let isLedger = false;
  let count = 0;
  for await (const piece of child.stdout) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "\\.") isLedger = false;
      else if (isLedger) count += 1;
      else if (/^COPY (?:\w+\.)?ledger \(/.test(line)) isLedger = true;
    }
  }
  await ended(child, "pg_restore", errors);
  return count;
}

/**
 * Runs a program whose last argument is the address of the database. The password is passed in the environment.
 * `report` is called while the program runs. When `report` throws, the program is ended.
 */
async function run(
  { location, environment }: DumpedServer,
  command: readonly string[],
  report: () => void = () => {},
): Promise<void> {
  const { address, password } = libpqAddress(location, environment["NODE_EXTRA_CA_CERTS"]);
  const child = start([...command, address], {
    ...environment,
    ...(password !== "" && { PGPASSWORD: password }),
  });
  try {
    await reportWhile(ended(child, command[0] ?? "", new Response(child.stderr).text()), report);
  } finally {
    child.kill();
  }
}

function start([program = "", ...args]: readonly string[], env: Environment) {
  const path = Bun.which(program, { PATH: env["PATH"] ?? "" });
  if (!path)
    throw new Error(
      `${program} is not on PATH: install the client programs of PostgreSQL, no older than the server`,
    );
  return Bun.spawn([path, ...args], {
    env: { ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function ended(child: Bun.Subprocess, program: string, errors: Promise<string>): Promise<void> {
  const code = await child.exited;
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${(await errors).trim()}`);
}
