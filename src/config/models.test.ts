import { expect, test } from "bun:test";
import { load, OWN_MODEL, problems } from "../../test/support/load-settings.ts";

test("a credential is read from a file beside the configuration", async () => {
  const yaml =
    "channels: {mine: {provider: openai, credential: {file: key.txt}, settings: {image_deadline: 5}}}";
  const { settings } = await load(yaml, {}, { "key.txt": "sk-from-file\n" });
  expect(settings.channels.get("mine")).toMatchObject({
    provider: "openai",
    settings: { apiKey: "sk-from-file", baseUrl: "https://vendor.example/v1", imageDeadline: 5 },
  });
  expect(await problems(yaml)).toEqual([
    "channels.mine.credential: names the file key.txt, which cannot be read",
  ]);
  expect(await problems(yaml, {}, { "key.txt": "\n" })).toEqual([
    "channels.mine.credential: names the file key.txt, which is empty",
  ]);
});

test("problems of a provider's own settings have their path in the file", async () => {
  const yaml = `
channels:
  mine: {provider: openai, region: eu, settings: {image_dedline: 5, organization: 7}}
`;
  expect(await problems(yaml)).toEqual([
    'channels.mine.settings.image_dedline: is not a setting of the provider "openai"; did you mean "image_deadline"?',
    'channels.mine.region: is not a setting of the provider "openai"',
    "channels.mine.credential: is missing: it must be text",
    "channels.mine.settings.organization: must be text, not a number",
  ]);
});

test("a vendor's variable switches its shipped channel and models on", async () => {
  const { settings, origins, rows } = await load(null, { OPENAI_API_KEY: "sk-secret" });
  expect([...settings.channels.keys()]).toEqual(["openai"]);
  expect(settings.routes.get("big-chat")).toEqual({
    strategy: "ordered",
    targets: [{ channel: settings.channels.get("openai")!, upstreamModel: "big-chat-2026", weight: 1 }],
  });
  expect(origins.get("channels.openai")).toBe("environment");
  expect(JSON.stringify(rows)).not.toContain("sk-secret");
});

test("a declared channel replaces the shipped one of the same id", async () => {
  const yaml =
    "channels: {openai: {provider: openai, base_url: 'http://127.0.0.1:9', credential: {env: OTHER}}}";
  const { settings, origins } = await load(yaml, { OTHER: "sk-other", OPENAI_API_KEY: "sk-first" });
  const target = settings.routes.get("big-chat")?.targets[0];
  expect(target?.channel.settings).toEqual({ apiKey: "sk-other", baseUrl: "http://127.0.0.1:9" });
  expect(origins.get("channels.openai")).toBe("file");
});

test("a shipped model does not follow its channel's id to another vendor", async () => {
  const { settings } = await load("channels: {openai: {provider: sandbox}}");
  expect(settings.models.has("big-chat")).toBe(false);
});

test("the sandbox and the shipped catalogue can each be switched off", async () => {
  const sandboxOff = await load("sandbox: {enabled: false}", { OPENAI_API_KEY: "sk" });
  expect([...sandboxOff.settings.channels.keys()]).toEqual(["openai"]);
  const catalogueOff = await load("catalogue: {enabled: false}", { OPENAI_API_KEY: "sk" });
  expect([...catalogueOff.settings.channels.keys()]).toEqual(["sandbox"]);
});

test("the sandbox is off as soon as a vendor is configured, unless it is requested", async () => {
  const isOn = async (yaml: string | null, env: Record<string, string>) => {
    const { settings } = await load(yaml, env);
    expect(settings.channels.has("sandbox")).toBe(settings.sandbox.isEnabled);
    expect(settings.models.has("sandbox-chat")).toBe(settings.sandbox.isEnabled);
    return settings.sandbox.isEnabled;
  };
  const vendor = "channels: {mine: {provider: openai, credential: {env: K}}}";
  expect(await isOn(null, { OPENAI_API_KEY: "sk" })).toBe(false);
  expect(await isOn(vendor, { K: "sk" })).toBe(false);
  expect(await isOn(vendor, { K: "sk", SANDBOX: "on" })).toBe(true);
  expect(await isOn("sandbox: {enabled: true}", { OPENAI_API_KEY: "sk" })).toBe(true);
  expect(await isOn(null, { SANDBOX: "off" })).toBe(false);
  expect(await isOn("channels: {own: {provider: sandbox}}", {})).toBe(true);
  expect(await problems(null, { SANDBOX: "yes" })).toEqual(['SANDBOX: must be "on" or "off"']);
  const route = `models: {m: {${OWN_MODEL}, route: {targets: [{channel: sandbox}]}}}`;
  expect(await problems(route, { OPENAI_API_KEY: "sk" })).toEqual([
    'models.m.route.targets[0].channel: "sandbox" is not a known channel; the sandbox is off beside real vendors unless SANDBOX=on',
  ]);
});

test("an own model needs its type, its route and a price in quotes", async () => {
  const yaml = `
models:
  one: {type: chat, max_output_tokens: 5}
  two: {max_output_tokens: 5}
  three: {type: chat, max_output_tokens: 5, price: {per_million: {input: 0.1, output: "1"}}}
  four: {type: chat, family: A, price: {per_image: {1K: {"*": "1"}}}, route: {targets: [{channel: sandbox}]}}
  "no spaces": {type: chat}
`;
  expect(await problems(yaml)).toEqual([
    'models.three.price.per_million.input: must be a decimal of at most nine places in quotes, such as "0.04"',
    'models["no spaces"]: is not a usable model id: letters, digits and . _ : / - only, at most 128, with * only at the end of a pattern',
    "models.one.route: is missing: name at least one channel under targets",
    'models.two.type: is missing: it must be "image" or "chat" or "messages" or "embedding"',
    "models.three.route: is missing: name at least one channel under targets",
    "models.four.family: is for image models only",
    "models.four.max_output_tokens: is missing: it must be a number",
    expect.stringContaining("models.four.price.per_million: is missing"),
    "models.four.price.per_image: is not a known setting of a text model",
  ]);
});

test("a declared model overrides fields of the shipped one and keeps the rest", async () => {
  const yaml = `
models:
  sandbox-chat: {display_name: Ours, price: {currency: EUR, per_million: {input: "3", output: "4"}}}
  sandbox-a: {image: {formats: [jpeg]}}
  mine:
    type: messages
    max_output_tokens: 1000
    default_output_tokens: 5000
    route: {strategy: weighted, targets: [{channel: sandbox, upstream_model: sandbox-chat, weight: 3}, {channel: sandbox}]}
`;
  const { settings, origins, rows } = await load(yaml);
  expect(settings.models.get("sandbox-chat")).toMatchObject({ displayName: "Ours", maxOutputTokens: 32_768 });
  expect(settings.prices.get("sandbox-chat")).toEqual({
    currency: "EUR",
    source: "default",
    effectiveFrom: 0,
    effectiveUntil: null,
    unit: "token",
    perMillion: { input: 3_000_000_000n, output: 4_000_000_000n },
  });
  expect(settings.models.get("sandbox-a")).toMatchObject({
    image: { formats: ["jpeg"], tiers: ["1K", "2K"] },
  });
  expect(settings.models.get("mine")).toMatchObject({ type: "messages", defaultOutputTokens: 1000 });
  expect(settings.routes.get("mine")?.strategy).toBe("weighted");
  expect(
    settings.routes.get("mine")?.targets.map(({ upstreamModel, weight }) => [upstreamModel, weight]),
  ).toEqual([
    ["sandbox-chat", 3],
    ["mine", 1],
  ]);
  expect(rows.find(({ path }) => path === "models.mine")?.value).toBe(
    "messages, sandbox/sandbox-chat 75 %, sandbox/mine 25 %, no price",
  );
  expect(settings.prices.has("mine")).toBe(false);
  expect(origins.get("models.mine")).toBe("file");
  expect(origins.get("models.old-chat")).toBe("default");
});

test("a pattern is described with the prices of its table", async () => {
  const price = "{per_million: {input: '1', output: '1'}}";
  const model = "type: chat, max_output_tokens: 9, route: {targets: [{channel: sandbox}]}";
  const { rows } = await load(`
models:
  some/*: {${model}, prices: {a: ${price}, b*: ${price}}}
  none/*: {${model}}
`);
  const shown = rows.filter(({ path }) => path.includes("/*")).map(({ value }) => value);
  expect(shown).toEqual(["chat, sandbox/*, prices of 2 names", "chat, sandbox/*, no price"]);
});

test("an image model must be able to do what it offers", async () => {
  const yaml = `
models:
  sandbox-a:
    image: {tiers: [1K, 4K], sizes: {1K: {"4:3": 1x1}}, default_quality: best, size_mode: table}
`;
  expect(await problems(yaml)).toEqual([
    "models.sandbox-a.image.sizes.4K: is missing: the model offers this tier",
    'models.sandbox-a.image.sizes.1K["4:3"]: is not one of the model\'s ratios',
    "models.sandbox-a.image.default_quality: is not one of the model's qualities",
  ]);
  expect(await problems("models: {sandbox-a: {image: {size_mode: pixels}}}")).toEqual([
    "models.sandbox-a.image.bounds: is missing: a model with size_mode pixels needs it",
  ]);
});

test("a price names only what its model has", async () => {
  const yaml = `
models:
  sandbox-a: {price: {per_image: {1K: {hihg: "1", auto: "2", "*": "3"}, 4K: {"*": "1"}, 2K: {}}}}
  mine:
    type: image
    family: A
    image: {size_mode: table, tiers: [1K], ratios: ["1:1"], sizes: {1K: {"1:1": 1024x1024}}, formats: [png]}
    price: {per_image: {}}
    route: {targets: [{channel: sandbox}]}
`;
  expect(await problems(yaml)).toEqual([
    'models.sandbox-a.price.per_image.1K.hihg: is not one of the model\'s qualities; did you mean "high"?',
    "models.sandbox-a.price.per_image.4K: is not one of the model's tiers; it has 1K, 2K",
    'models.sandbox-a.price.per_image.2K: is empty: name a price for "*", every quality',
    "models.mine.price.per_image: is empty: name a price for 1K",
  ]);
});

test("a shipped price may know more than the file leaves of its model", async () => {
  const { settings } = await load("models: {sandbox-a: {image: {tiers: [1K], qualities: [low]}}}");
  expect(settings.prices.get("sandbox-a")).toMatchObject({ unit: "image", perImage: { "2K": {} } });
});

test("timeouts and bounds of a channel become the program's settings", async () => {
  const yaml = "channels: {mine: {provider: sandbox, max_concurrent: 4, deadlines: {idle_ms: 5000}}}";
  const { settings } = await load(yaml);
  expect(settings.channels.get("mine")).toEqual({
    id: "mine",
    provider: "sandbox",
    settings: {},
    maxConcurrent: 4,
    timeouts: { idleMs: 5000 },
  });
});

test("the example file is sound", async () => {
  const yaml = await Bun.file(`${import.meta.dir}/../../gateway.example.yaml`).text();
  const { settings } = await load(yaml, { HOUSE_API_KEY: "sk" });
  expect(settings.channels.get("house")?.maxConcurrent).toBe(32);
  expect(settings.routes.get("house-chat")?.targets.map(({ channel }) => channel.id)).toEqual(["house"]);
  expect(settings.limits).toEqual((await load(null)).settings.limits);
});
