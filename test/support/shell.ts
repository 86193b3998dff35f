import { type LoadedSettings } from "../../src/config/index.ts";
import { anEntry } from "../contracts/storage-harness.ts";
import { MACHINE, runCommand } from "./command-line.ts";
import { folderWithCatalogue, TEST_PROVIDERS } from "./config-fixture.ts";
import { memoryAdminStore } from "./memory-admin-store.ts";

interface ShellOptions {
  env?: Record<string, string>;
  files?: Record<string, string>;
}

/**
 * Creates a command line with its own store. `calls` records starts of the gateway and of workers, and each close of
 * the store.
 */
export async function shell(options: ShellOptions = {}) {
  const folder = await folderWithCatalogue(options.files);
  const store = memoryAdminStore();
  const calls: string[] = [];
  const run = async (line: string) => {
    const result = await runCommand(line === "" ? [] : line.split(" "), {
      ...MACHINE,
      serve: async ({ settings }: LoadedSettings) => void calls.push(`serve ${settings.server.port}`),
      runWorker: async ({ settings }: LoadedSettings) =>
        void calls.push(`worker ${settings.jobs.concurrency}`),
      openAdminStore: async () => ({ store, close: async () => void calls.push("close") }),
      readStoredEntries: () => store.configuration.list(),
      migrate: async () => ({ applied: ["0001"] }),
      providers: TEST_PROVIDERS,
      env: options.env ?? {},
      cwd: folder.path,
      userName: () => "ada",
      catalogueDirectory: `${folder.path}/catalogue`,
    });
    return { ...result, json: () => JSON.parse(result.stdout) };
  };
  return { run, store, calls, path: folder.path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

/** Creates a command line whose store has an organization `default`. */
export async function shellWithOrganization(options: ShellOptions = {}) {
  const cli = await shell(options);
  await cli.run("orgs create --id default --name Default");
  return cli;
}

/** Creates a command line for an organization with three charges of 0.60. */
export async function shellWithCharges() {
  const cli = await shellWithOrganization();
  const usage = {
    unit: "token",
    tokens: { input: 1_000_000, output: 1_000_000 },
    source: "upstream",
  } as const;
  for (const id of ["req_1", "req_2", "req_3"])
    cli.store.ledger.entries.push(
      anEntry(id, 600_000_000n, { organizationId: "default", at: Date.UTC(2026, 0, 2), usage }),
    );
  return cli;
}
