import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import packageFile from "../../package.json";
import { startTestGateway } from "../support/gateway.ts";
import { submit, untilStatus } from "../support/job-calls.ts";
import { findPostgres, startPostgres } from "../support/postgres.ts";
import { RELEASE_ENVIRONMENT, RELEASES } from "./kept.ts";

/*
 * Stores a database of the current version as a backup for each kind of database: `bun test/releases/make.ts`. A test
 * opens the backups with later versions. Run this for each release. Until 1.0.0, also run it whenever a migration has
 * changed.
 */
async function make(kind: "sqlite" | "postgres", databaseUrl: string | null): Promise<void> {
  const env = { ...RELEASE_ENVIRONMENT, ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }) };
  await using gateway = await startTestGateway({ env });
  await gateway.cli("orgs", "create", "--id", "shop", "--name", "The shop", "--currency", "EUR");
  await gateway.cli(
    "prices",
    "set",
    "sandbox-chat",
    "--org",
    "shop",
    "--currency",
    "EUR",
    "--tokens",
    "input=0.10",
    "--tokens",
    "output=0.40",
  );
  await gateway.cli("budgets", "create", "--org", "default", "--amount", "100.00", "--period", "month");
  await gateway.cli("keys", "create", "--name", "Web shop", "--limit", "images_per_minute=30");
  const messages = [{ role: "user", content: "Hello" }];
  for (const model of ["sandbox-chat", "sandbox-chat", "sandbox-chat"])
    await gateway.call("/v1/chat/completions", { body: { model, messages } });
  const drawn = await gateway.call("/v1/images/generations", {
    body: { model: "sandbox-a", prompt: "Dawn" },
  });
  const job = await submit(gateway, { model: "sandbox-a", prompt: "Dusk" });
  await untilStatus(gateway, job.id);
  const [charge] = await gateway.charged(drawn.headers.get("x-request-id")!);
  await gateway.cli("ledger", "refund", charge!.id, "--reason", "Too dark");
  await gateway.stop();
  const folder = await mkdtemp(join(tmpdir(), "gateway-release-"));
  try {
    await gateway.cli("backup", join(folder, "backup.tar"));
    const kept = join(RELEASES, packageFile.version);
    await mkdir(kept, { recursive: true });
    await Bun.write(
      join(kept, `${kind}.tar.gz`),
      gzipSync(await readFile(join(folder, "backup.tar")), { level: 9 }),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

await make("sqlite", null);
const found = findPostgres();
if ("missing" in found) throw new Error(`PostgreSQL is needed for a release: ${found.missing}`);
const postgres = await startPostgres(found.folder);
try {
  await make("postgres", await postgres.createDatabase());
} finally {
  await postgres.stop();
}
