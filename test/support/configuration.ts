import { join } from "node:path";
import type { StoredEntry } from "../../src/admin/configuration/store-port.ts";
import type { OperationContext } from "../../src/admin/context.ts";
import { loadSettings } from "../../src/config/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openConfiguration } from "../../src/run/reload.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import { openStores } from "../../src/storage/index.ts";
import { folder } from "./config-fixture.ts";

/** Administration with a real database and the shipped catalogue, in its own folder. */
export interface ConfiguredAdministration extends AsyncDisposable {
  context: OperationContext;
  directory: string;
  /** Returns the context of a gateway with other variables or another file, and with the same database. */
  as(change: { env?: Record<string, string>; yaml?: string }): Promise<OperationContext>;
}

/** Opens an administration. By default the database is a SQLite file in its folder. */
export async function openAdministration(databaseUrl?: string): Promise<ConfiguredAdministration> {
  const own = await folder();
  const { admin, database } = await openStores(databaseUrl ?? join(own.path, "gateway.sqlite"));
  const as: ConfiguredAdministration["as"] = async ({ env = {}, yaml = "" }) => {
    await Bun.write(join(own.path, "gateway.yaml"), yaml);
    const load = (stored: readonly StoredEntry[] = []) =>
      loadSettings({ env, cwd: own.path, providers: PROVIDERS, stored });
    const { settings } = await load(await admin.configuration.list());
    return {
      store: admin,
      by: { actor: "test" },
      clock: systemClock,
      catalogue: settings,
      configuration: openConfiguration(load, async () => {}),
    };
  };
  return {
    context: await as({}),
    directory: own.path,
    as,
    async [Symbol.asyncDispose]() {
      await database.close();
      await own[Symbol.asyncDispose]();
    },
  };
}
