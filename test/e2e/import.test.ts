import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { MACHINE, runCommand } from "../support/command-line.ts";
import { newMasterKey } from "../../src/lib/seal.ts";

/** Configurations in the formats that the other gateways document. All values are invented. */
const SOURCES = {
  litellm: {
    "config.yaml": `
model_list:
  - model_name: house
    litellm_params: {model: azure/house-eu, api_base: "https://eu.example.com", api_key: os.environ/AZURE_KEY, api_version: "2024-10-21", rpm: 300}
  - model_name: house
    litellm_params: {model: openai/gpt-5.4, api_key: sk-of-the-file, rpm: 100, input_cost_per_token: 0.0000025, output_cost_per_token: 1.5e-05}
  - model_name: spare
    litellm_params: {model: hosted_vllm/llama-3.3-70b, api_base: "http://127.0.0.1:8000/v1", api_key: none}
    model_info: {max_output_tokens: 8192, input_cost_per_token: 0, output_cost_per_token: 0}
  - model_name: vectors
    litellm_params: {model: text-embedding-3-small, api_key: sk-of-the-file}
    model_info: {mode: embedding, output_vector_size: 1536}
  - model_name: odd
    litellm_params: {model: watsonx/granite, api_key: x}
litellm_settings:
  fallbacks: [{house: [spare]}]
  drop_params: true
router_settings: {routing_strategy: least-busy, model_group_alias: {fast: spare}}
`,
    "teams.json": JSON.stringify([
      { team_id: "t-1", team_alias: "Research", max_budget: 500, budget_duration: "30d" },
    ]),
    "keys.json": JSON.stringify({
      keys: [
        {
          key_alias: "ci",
          models: ["house"],
          team_id: "t-1",
          max_budget: 12.5,
          budget_duration: "1d",
          rpm_limit: 60,
          expires: null,
        },
        { key_alias: "old\u001b[2J", models: [], expires: "2020-01-01T00:00:00Z" },
      ],
    }),
  },
  "new-api": {
    "channels.json": JSON.stringify({
      success: true,
      data: {
        items: [
          {
            type: 1,
            name: "Main",
            models: "gpt-5.4,gpt-other",
            key: "sk-main",
            base_url: "https://vendor.example.com",
            priority: 10,
            weight: 3,
            status: 1,
            group: "vip",
            model_mapping: '{"gpt-other":"other-2026"}',
          },
          {
            type: 43,
            name: "Spare",
            models: "gpt-other",
            key: "sk-a\nsk-b",
            base_url: "",
            priority: 0,
            weight: 1,
            status: 1,
            group: "default",
          },
          { type: 36, name: "Music", models: "suno", key: "x", status: 1 },
        ],
      },
    }),
    "options.json": JSON.stringify({
      success: true,
      data: [
        { key: "ModelRatio", value: '{"gpt-other":1.25}' },
        { key: "CompletionRatio", value: '{"gpt-other":4}' },
        { key: "QuotaPerUnit", value: "500000" },
      ],
    }),
    "tokens.json": JSON.stringify({
      success: true,
      data: [
        {
          name: "app",
          status: 1,
          remain_quota: 1_000_000,
          unlimited_quota: false,
          expired_time: -1,
          model_limits_enabled: true,
          model_limits: "gpt-other",
        },
        { name: "off", status: 2, remain_quota: 0, unlimited_quota: true, expired_time: -1 },
      ],
    }),
    "groups.json": JSON.stringify({ success: true, data: { vip: { ratio: 1 } } }),
  },
  portkey: {
    "configs.json": JSON.stringify({
      house: {
        strategy: { mode: "fallback" },
        retry: { attempts: 3 },
        targets: [
          { virtual_key: "main-258f4d", override_params: { model: "gpt-5.4" } },
          { provider: "anthropic", api_key: "sk-ant-x", override_params: { model: "claude-sonnet-5" } },
        ],
      },
      shared: {
        strategy: { mode: "loadbalance" },
        targets: [
          { virtual_key: "main-258f4d", weight: 0.75, override_params: { model: "gpt-5.4" } },
          { virtual_key: "lost", weight: 0.25 },
          {
            provider: "anthropic",
            api_key: "sk-ant-x",
            weight: 0.25,
            override_params: { model: "claude-sonnet-5" },
          },
        ],
      },
    }),
    "virtual-keys.json": JSON.stringify({
      data: [{ name: "Main", slug: "main-258f4d", provider_id: "openai" }],
    }),
    "keys.json": JSON.stringify({
      data: [
        {
          name: "backend",
          rate_limits: [{ type: "requests", unit: "rpm", value: 100 }],
          usage_limits: { type: "cost", credit_limit: 50, periodic_reset: "monthly" },
        },
      ],
    }),
  },
} as const;

async function importFrom(
  source: keyof typeof SOURCES,
  replaced: Record<string, string> = {},
  files: Record<string, string> = SOURCES[source],
) {
  const folder = await mkdtemp(`${tmpdir()}/import-`);
  const paths = await Promise.all(
    Object.entries(files).map(async ([name, content]) => {
      await Bun.write(`${folder}/${name}`, content);
      return `${folder}/${name}`;
    }),
  );
  const env = { GATEWAY_MASTER_KEY: newMasterKey(), AZURE_KEY: "sk-azure" };
  const run = (...args: string[]) => runCommand(args, { ...MACHINE, cwd: folder, env });
  await run("orgs", "create", "--id", "default", "--name", "Default");
  const made = await run("import", source, ...paths);
  let yaml = made.stdout;
  for (const [from, to] of Object.entries(replaced)) yaml = yaml.replaceAll(from, to);
  await Bun.write(`${folder}/import.yaml`, yaml);
  const notes = made.stderr.split("\n").filter((line) => line !== "");
  return {
    notes,
    document: Bun.YAML.parse(made.stdout) as Record<string, Record<string, object>>,
    repeat: () => run("import", source, ...paths),
    async compare(document: string) {
      await Bun.write(`${folder}/again.yaml`, document);
      return await run("config", "import", "--dry-run", `${folder}/again.yaml`);
    },
    /** Imports the written document into the installation that the command has read. */
    async expectApplied(lines: readonly string[]) {
      const applied = await run("config", "import", `${folder}/import.yaml`);
      expect(applied).toMatchObject({ code: 0, stderr: "" });
      for (const line of lines) expect(applied.stdout).toContain(line);
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

test("LiteLLM's models, routes, fallbacks, prices, keys, teams and budgets are imported", async () => {
  await using imported = await importFrom("litellm");
  const { channels, models, keys, budgets } = imported.document;
  expect(channels).toEqual({
    azure: {
      provider: "azure",
      base_url: "https://eu.example.com",
      credential: "sk-azure",
      settings: { surface: "classic", api_version: "2024-10-21" },
    },
    openai: { provider: "openai", credential: "sk-of-the-file" },
    vllm: { provider: "vllm", base_url: "http://127.0.0.1:8000/v1", credential: "none" },
  });
  expect(models?.["house"]).toMatchObject({
    max_output_tokens: 128_000,
    price: { per_million: { input: "2.50", output: "15.00" } },
    route: {
      strategy: "weighted",
      targets: [
        { channel: "azure", upstream_model: "house-eu", weight: 300_000 },
        { channel: "openai", upstream_model: "gpt-5.4", weight: 100_000 },
        { channel: "vllm", upstream_model: "llama-3.3-70b", weight: 1 },
      ],
    },
  });
  expect(models?.["fast"]).toEqual(models?.["spare"]);
  expect(models?.["vectors"]).toMatchObject({ type: "embedding", dimensions: 1536 });
  expect(keys).toEqual({
    key_ci: { organizationId: "research", name: "ci", models: ["house"], limits: { requestsPerMinute: 60 } },
  });
  expect(budgets).toMatchObject({
    budget_research: { amount: "500.00", period: "month" },
    budget_key_ci: { keyId: "key_ci", amount: "12.50", period: "day" },
  });
  expect(imported.notes).toEqual([
    "warning: model odd has a target that is left out: the vendor of watsonx/granite is not known here",
    "warning: router_settings.routing_strategy least-busy is not carried: requests are shared by weight",
    "warning: fallbacks of house stand behind a shared route: each gets a thousandth of the requests",
    "warning: drop_params is not carried",
    "warning: key old?[2J is left out: it has expired",
  ]);
  await imported.expectApplied(["The secret of the key key_ci"]);
});

test("new-api's channels, prices and tokens are imported", async () => {
  await using imported = await importFrom("new-api");
  const { channels, models, keys, budgets } = imported.document;
  expect(channels).toEqual({
    main: { provider: "openai", base_url: "https://vendor.example.com/v1", credential: "sk-main" },
    spare: { provider: "deepseek", credential: "sk-a" },
  });
  expect(models).toEqual({
    "gpt-5.4": { route: { strategy: "ordered", targets: [{ channel: "main", upstream_model: "gpt-5.4" }] } },
    "gpt-other": {
      type: "chat",
      max_output_tokens: 16_384,
      price: { per_million: { input: "2.50", output: "10.00" } },
      route: {
        strategy: "ordered",
        targets: [
          { channel: "main", upstream_model: "other-2026" },
          { channel: "spare", upstream_model: "gpt-other" },
        ],
      },
    },
  });
  expect(keys).toMatchObject({ key_app: { models: ["gpt-other"] }, key_off: { isDisabled: true } });
  expect(budgets).toMatchObject({ budget_key_app: { keyId: "key_app", amount: "2.00", period: "total" } });
  expect(imported.notes).toEqual([
    "warning: channel Main serves everybody here: the groups vip are not carried",
    "warning: channel Spare has 2 keys: the first one is carried",
    "warning: channel Music is left out: it is of type 36, which is not known here",
    "warning: model gpt-other has no known max_output_tokens: 16384 is assumed",
    expect.stringMatching(/^warning: .*groups.json is left out: it is none of saved responses of /),
  ]);
  await imported.expectApplied(["The secret of the key key_app", "The secret of the key key_off"]);
});

test("Portkey's configs and keys are imported", async () => {
  await using imported = await importFrom("portkey", { "********": "sk-portkey" });
  const { models, keys, budgets } = imported.document;
  const targets = [
    { channel: "main-258f4d", upstream_model: "gpt-5.4" },
    { channel: "anthropic", upstream_model: "claude-sonnet-5" },
  ];
  expect(models).toMatchObject({
    house: { route: { strategy: "ordered", targets } },
    shared: { route: { strategy: "weighted", targets: [{ weight: 750 }, { weight: 250 }] } },
  });
  expect(keys).toEqual({
    key_backend: {
      name: "backend",
      organizationId: "default",
      models: "*",
      limits: { requestsPerMinute: 100 },
    },
  });
  expect(budgets).toMatchObject({ budget_key_backend: { amount: "50.00", period: "month" } });
  expect(imported.notes).toEqual([
    "warning: channel main-258f4d has no known credential: write it in place of ********",
    "warning: config house has retry, which is not carried",
    "warning: config shared has a target that is left out: the vendor lost is not known here",
  ]);
  await imported.expectApplied(["The secret of the key key_backend"]);
});

test("shares of requests keep their proportion, large ones and fractions too", async () => {
  const weightsOf = async (weights: readonly string[]) => {
    const targets = weights.map(
      (weight, index) =>
        `  - {model_name: house, litellm_params: {model: openai/gpt-${index}, api_key: none, ${weight}}}\n`,
    );
    const spare = "  - {model_name: spare, litellm_params: {model: openai/spare, api_key: none}}\n";
    const fallbacks = "litellm_settings: {fallbacks: [{house: [spare]}]}\n";
    const files = { "config.yaml": `model_list:\n${targets.join("")}${spare}${fallbacks}` };
    await using imported = await importFrom("litellm", {}, files);
    const { house } = imported.document["models"] as Record<
      "house",
      { route: { targets: { weight: number }[] } }
    >;
    return house.route.targets.map(({ weight }) => weight);
  };
  expect(await weightsOf(["rpm: 20000", "rpm: 5000"])).toEqual([1_000_000, 250_000, 1]);
  expect(await weightsOf(["weight: 0.7", "weight: 0.3"])).toEqual([700, 300, 1]);
});

test("what is there already stays, and a second import changes nothing", async () => {
  await using imported = await importFrom("new-api");
  await imported.expectApplied([]);
  const again = await imported.repeat();
  expect(again.stderr).toContain("warning: keys.key_app stays as it is here");
  expect(await imported.compare(again.stdout)).toMatchObject({ code: 0, stderr: "" });
});
