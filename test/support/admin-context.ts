import { AdminError } from "../../src/admin/admin-error.ts";
import type { AdminContext } from "../../src/admin/context.ts";
import { loadSettings } from "../../src/config/index.ts";
import { createOrganization } from "./admin-calls.ts";
import { folderWithCatalogue, TEST_PROVIDERS } from "./config-fixture.ts";
import { memoryAdminStore, type MemoryAdminStore } from "./memory-admin-store.ts";

export const NOW = Date.UTC(2026, 4, 15, 10, 30);

/** Returns an administration with an empty store and the small catalogue, at the time `NOW`. */
export async function adminContext(): Promise<AdminContext & { store: MemoryAdminStore }> {
  await using folder = await folderWithCatalogue();
  const { settings } = await loadSettings({
    env: { OPENAI_API_KEY: "sk", SANDBOX: "on" },
    cwd: folder.path,
    providers: TEST_PROVIDERS,
    catalogueDirectory: `${folder.path}/catalogue`,
  });
  return {
    store: memoryAdminStore(),
    by: { actor: "test" },
    clock: { now: () => NOW, monotonic: () => 0 },
    catalogue: settings,
  };
}

/** Returns the result of `adminContext` with one organization, `acme`. */
export async function withOrganization(): ReturnType<typeof adminContext> {
  const context = await adminContext();
  await createOrganization(context, { id: "acme", name: "Acme" });
  return context;
}

/** Returns the status, field and message of a refused change. */
export async function refusal(work: Promise<unknown>): Promise<[number, string | null, string]> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AdminError)) throw new Error(`not refused: ${String(error)}`);
  return [error.status, error.field, error.message];
}
