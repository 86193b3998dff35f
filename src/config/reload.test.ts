import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { folderWithCatalogue, TEST_PROVIDERS } from "../../test/support/config-fixture.ts";
import { loadSettings } from "./load.ts";
import { mergeReloaded } from "./reload.ts";

const HOUSE = "channels: {house: {provider: openai, credential: {file: key}}}";
const model = (id: string, price: string) =>
  `  ${id}: {type: chat, max_output_tokens: 9, price: {per_million: {input: "${price}", output: "1"}}, route: {targets: [{channel: house}]}}`;
const BEFORE = `${HOUSE}
models:
${model("kept", "1")}
${model("dropped", "1")}
${model("dearer", "1")}
`;

/** Returns the result of a reload after a change of the configuration file or of a file that contains a secret. */
async function change(before: string, after: string, secrets = ["sk-1", "sk-1"]) {
  await using place = await folderWithCatalogue({});
  const load = async (yaml: string, secret = "") => {
    await Bun.write(join(place.path, "gateway.yaml"), yaml);
    await Bun.write(join(place.path, "key"), secret);
    return await loadSettings({
      env: {},
      cwd: place.path,
      providers: TEST_PROVIDERS,
      catalogueDirectory: `${place.path}/catalogue`,
    });
  };
  const running = await load(before, secrets[0]);
  const next = await load(after, secrets[1]);
  return { running, next, ...mergeReloaded(running, next) };
}

describe("a reload", () => {
  test("takes over models, routes, prices and limits, and names what changed", async () => {
    const after = `${HOUSE}
models:
${model("kept", "1")}
${model("added", "1")}
${model("dearer", "2")}
limits: {default: {requests_per_minute: 7}}
`;
    const { loaded, changed, needsRestart } = await change(BEFORE, after);
    expect(changed.toSorted()).toEqual([
      "limits.default.requests_per_minute",
      "models.added",
      "models.dearer",
      "models.dropped",
    ]);
    expect(needsRestart).toEqual([]);
    const { settings } = loaded;
    expect([settings.models.has("added"), settings.models.has("dropped")]).toEqual([true, false]);
    expect(settings.prices.get("dearer")).toMatchObject({ perMillion: { input: 2_000_000_000n } });
    expect(settings.limits.organization.requestsPerMinute).toBe(7);
  });

  test.each([
    [
      "a row",
      "gpt: {per_million: {input: '1', output: '2'}}, 'gpt-6*': {per_million: {input: '1', output: '1'}}",
    ],
    [
      "a pattern",
      "gpt: {per_million: {input: '1', output: '1'}}, 'gpt-6*': {per_million: {input: '3', output: '1'}}",
    ],
    ["a row too few", "gpt: {per_million: {input: '1', output: '1'}}"],
  ])("names a pattern whose table of prices differs in %s", async (_, after) => {
    const yaml = (prices: string) => `${HOUSE}
models:
  "openai/*": {type: chat, max_output_tokens: 9, prices: {${prices}}, route: {targets: [{channel: house}]}}
  "o*": {type: chat, max_output_tokens: 9, route: {targets: [{channel: house}]}}
`;
    const before =
      "gpt: {per_million: {input: '1', output: '1'}}, 'gpt-6*': {per_million: {input: '1', output: '1'}}";
    expect((await change(yaml(before), yaml(after))).changed).toEqual(['models["openai/*"]']);
  });

  test("keeps an unchanged channel the same object, in routes too", async () => {
    const { running, next, loaded, changed } = await change(
      BEFORE,
      `${BEFORE}limits: {key: {running_jobs: 3}}`,
    );
    const kept = running.settings.channels.get("house");
    expect(next.settings.channels.get("house")).not.toBe(kept!);
    expect(loaded.settings.channels.get("house")).toBe(kept!);
    expect(loaded.settings.routes.get("kept")!.targets[0]!.channel).toBe(kept!);
    expect(changed).toEqual(["limits.key.running_jobs"]);
  });

  test("replaces a channel whose secret changed, and names the channel and not its models", async () => {
    const { running, loaded, changed } = await change(BEFORE, BEFORE, ["sk-1", "sk-2"]);
    expect(changed).toEqual(["channels.house"]);
    const channel = loaded.settings.channels.get("house")!;
    expect(channel).not.toBe(running.settings.channels.get("house")!);
    expect(channel.settings).toMatchObject({ apiKey: "sk-2" });
    expect(loaded.settings.routes.get("kept")!.targets[0]!.channel).toBe(channel);
  });

  test("leaves what needs a restart as it runs, and names it again at every reload", async () => {
    const after = `${BEFORE}server: {port: 9999}\ndata_dir: elsewhere\nworkers: 4\n`;
    const { running, next, loaded, changed, needsRestart } = await change(BEFORE, after);
    expect(changed).toEqual([]);
    expect(needsRestart.toSorted()).toEqual(["data_dir", "server.port", "workers"]);
    expect(loaded.settings).toMatchObject({ server: { port: 8080 }, workers: 1 });
    expect(loaded.settings.dataDirectory).toBe(running.settings.dataDirectory);
    expect(mergeReloaded(loaded, next).needsRestart).toEqual(needsRestart);
  });

  test("without a change changes nothing", async () => {
    const { changed, needsRestart } = await change(BEFORE, BEFORE);
    expect([changed, needsRestart]).toEqual([[], []]);
  });
});
