import { expect } from "bun:test";
import { ConfigurationError, loadSettings, type LoadedSettings } from "../../src/config/index.ts";
import { folderWithCatalogue, TEST_PROVIDERS } from "./config-fixture.ts";

/** Loads the settings with this `gateway.yaml`, this environment and other files. */
export async function load(
  yaml: string | null,
  env: Record<string, string> = {},
  files: Record<string, string> = {},
): Promise<LoadedSettings> {
  await using ancestor = await folderWithCatalogue({
    ...(yaml !== null && { "gateway.yaml": yaml }),
    ...files,
  });
  const catalogueDirectory = `${ancestor.path}/catalogue`;
  return await loadSettings({ env, cwd: ancestor.path, providers: TEST_PROVIDERS, catalogueDirectory });
}

/** Returns every problem as one line. */
export async function problems(...load_: Parameters<typeof load>): Promise<string[]> {
  const error = await load(...load_).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConfigurationError);
  return error instanceof ConfigurationError
    ? error.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
}

export const OWN_MODEL = "type: chat, max_output_tokens: 100";
