import { expect, test } from "bun:test";
import { join } from "node:path";
import { load } from "../test/support/load-settings.ts";

/** Values of variables without a default. */
const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: "change-me",
  S3_SECRET: "change-me-too",
};

test("the gateway of the compose file has a valid configuration, whose addresses name its services", async () => {
  const file = Bun.YAML.parse(await Bun.file(join(import.meta.dir, "compose.yaml")).text()) as ComposeFile;
  const written = Object.entries(file.services["gateway"]?.environment ?? {});
  const env = Object.fromEntries(written.map(([name, value]) => [name, interpolated(value)]));
  const { settings, warnings } = await load(null, env);
  // Only the unencrypted connection to the database causes a warning. It stays within Compose's private network.
  expect(warnings.map(({ path }) => path)).toEqual(["database_url"]);
  const storage = new URL(settings.blobUrl ?? "").searchParams.get("endpoint");
  const hosts = [settings.databaseUrl, settings.redisUrl, storage].map((url) => new URL(url ?? "").hostname);
  expect(hosts.every((host) => host in file.services)).toBe(true);
  expect(settings.blobUrl).toContain(SECRETS["S3_SECRET"] ?? "");
  const metrics = file.configs["prometheus"]?.content;
  expect(metrics).toContain(`gateway:${settings.server.metricsPort}`);
});

interface ComposeFile {
  services: Record<string, { environment?: Record<string, string> }>;
  configs: Record<string, { content: string }>;
}

/** Replaces `${NAME:-default}` with the default, and `${NAME:?message}` with the value in `SECRETS`. */
function interpolated(value: string): string {
  return value.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, text: string) =>
    kind === "-" ? text : (SECRETS[name] ?? ""),
  );
}
