import { expect, test } from "bun:test";
import { load, OWN_MODEL, problems } from "../../test/support/load-settings.ts";

test("an empty environment gives a local gateway with the sandbox", async () => {
  const { settings, origins } = await load(null);
  expect(settings.server).toMatchObject({ host: "127.0.0.1", port: 8080, publicUrl: null, drainSeconds: 30 });
  expect(settings.dataDirectory).toEndWith("/data");
  expect(settings).toMatchObject({
    databaseUrl: null,
    redisUrl: null,
    blobUrl: null,
    workers: 1,
    blobs: { linkHours: 24, retentionDays: 7 },
    sandbox: { isEnabled: true, tokensPerSecond: null },
    bootstrap: { key: null, administratorPassword: null },
    timeouts: {
      text: { firstByteMs: 300_000, idleMs: 300_000, totalMs: 600_000 },
      image: { firstByteMs: 600_000, totalMs: 900_000 },
    },
  });
  expect(settings.limits.organization.requestsPerMinute).toBe(600);
  expect(settings.limits.key.concurrentImages).toBe(8);
  expect([...settings.channels.keys()]).toEqual(["sandbox"]);
  expect([...settings.models.declared.keys()]).toEqual(["old-chat", "sandbox-chat", "sandbox-a"]);
  expect(new Set(origins.values())).toEqual(new Set(["default"]));
});

test("the environment wins over the file, the file over defaults, and each setting has its origin", async () => {
  const yaml = "server: {port: 9000, host: 0.0.0.0}\nblobs: {link_hours: 2}\nworkers: 2";
  const { settings, origins, rows } = await load(yaml, {
    PORT: "9100",
    WORKERS: "",
    DATABASE_URL: "postgres://u:p@h/d",
  });
  expect(settings.server).toMatchObject({ port: 9100, host: "0.0.0.0" });
  expect(settings.databaseUrl).toBe("postgres://u:p@h/d");
  expect(settings.workers).toBe(2);
  expect(origins.get("server.port")).toBe("environment");
  expect(origins.get("server.host")).toBe("file");
  expect(origins.get("workers")).toBe("file");
  expect(origins.get("blobs.link_hours")).toBe("file");
  expect(origins.get("blobs.retention_days")).toBe("default");
  expect(origins.get("database_url")).toBe("environment");
  expect(rows.find((row) => row.path === "server.port")).toEqual({
    path: "server.port",
    value: "9100",
    origin: "environment",
    from: "PORT",
  });
});

test("every variable of the environment sets what it names", async () => {
  const { settings } = await load(null, {
    HOST: "::1",
    PORT: "0",
    PUBLIC_URL: "https://gateway.example/",
    TRUSTED_PROXIES: "10.0.0.0/8, 192.168.1.1",
    GATEWAY_DATA_DIR: "/srv/gateway",
    REDIS_URL: "rediss://cache:6379",
    BLOB_URL: "s3://id:secret@bucket/prefix",
    SANDBOX_TOKENS_PER_SECOND: "12.5",
    GATEWAY_DEFAULT_LIMITS: "none",
    GATEWAY_BOOTSTRAP_KEY: "gk_abcdefghijklmnopqrst",
    GATEWAY_ADMIN_PASSWORD: "open, sesame",
  });
  expect(settings.server).toMatchObject({ host: "::1", port: 0, publicUrl: "https://gateway.example" });
  expect(settings.server.trustedProxies.has("10.1.2.3")).toBe(true);
  expect(settings.server.trustedProxies.has("192.168.1.2")).toBe(false);
  expect(settings).toMatchObject({
    dataDirectory: "/srv/gateway",
    redisUrl: "rediss://cache:6379",
    blobUrl: "s3://id:secret@bucket/prefix",
    bootstrap: { key: "gk_abcdefghijklmnopqrst", administratorPassword: "open, sesame" },
  });
  expect(Object.values(settings.limits.organization)).toEqual(Array(6).fill(null));
  expect(Object.values(settings.limits.key)).toEqual(Array(6).fill(null));
  expect(settings.channels.get("sandbox")?.settings).toEqual({ tokensPerSecond: 12.5 });
});

test("all problems are reported at once, each with its path and what to change", async () => {
  const yaml = `
server: {prt: 1, port: 70000}
blob: {link_hours: 1}
workers: many
database_url: mysql://host
channels:
  one: {provider: opnai, credential: {env: UNSET}}
  two: {provider: opena, api_key: sk-live-123, credential: sk-live-123}
  three: {provider: openai, credential: {env: UNSET_THREE}}
models:
  mine: {${OWN_MODEL}, route: {targets: [{channel: tree}]}}
`;
  const found = await problems(yaml, {
    PORT: "http",
    GATEWAY_DEFAULT_LIMITS: "off",
    GATEWAY_BOOTSTRAP_KEY: "gk_x",
    GATEWAY_ADMIN_PASSWORD: "x".repeat(11),
  });
  expect(found.toSorted()).toEqual(
    [
      'GATEWAY_DEFAULT_LIMITS: must be "none", the only value it knows',
      'GATEWAY_BOOTSTRAP_KEY: must be "gk_" and 20 to 200 letters, digits, "-" or "_"',
      "GATEWAY_ADMIN_PASSWORD: must have at least 12 characters",
      "server.port: must be at most 65535",
      'server.prt: is not a known setting; did you mean "port"?',
      "database_url: must be an address such as postgres://host/database, or a reference to one: {env: NAME} or {file: path}",
      "workers: must be a number, not text",
      "channels.two.credential: holds a secret in plain words; put it into an environment variable or a file of its own and write {env: NAME} or {file: path} here",
      'channels.two.api_key: is not a known setting; did you mean "credential"?',
      'blob: is not a known setting; did you mean "blobs"?',
      "PORT: must be a number, not text",
      'channels.one.provider: "opnai" is not a known provider; did you mean "openai"?',
      'channels.two.provider: "opena" is not a known provider; did you mean "openai"?',
      "channels.three.credential: names the environment variable UNSET_THREE, which is not set",
      'models.mine.route.targets[0].channel: "tree" is not a known channel; did you mean "three"?',
    ].toSorted(),
  );
});

test("a wrong field hides no other problem of its channel or model, and makes none up", async () => {
  const yaml = `
channels:
  one: {provider: openai, credential: sk-live-123, max_concurrent: 0, settings: {organisation: 7}}
  two: {provider: openai, credential: {env: UNSET}, settings: {image_deadline: soon}}
models:
  mine: {${OWN_MODEL}, max_output: 5, route: {targets: [{channel: oen}]}}
  other: {type: chat, max_output_tokens: 0, route: {target: []}}
`;
  expect((await problems(yaml)).toSorted()).toEqual([
    expect.stringMatching(/^channels\.one\.credential: holds a secret in plain words/),
    "channels.one.max_concurrent: must be at least 1",
    'channels.one.settings.organisation: is not a setting of the provider "openai"; did you mean "organization"?',
    "channels.two.credential: names the environment variable UNSET, which is not set",
    "channels.two.settings.image_deadline: must be a number, not text",
    "models.mine.max_output: is not a known setting",
    'models.mine.route.targets[0].channel: "oen" is not a known channel; did you mean "one"?',
    "models.other.max_output_tokens: must be at least 1",
    'models.other.route.target: is not a known setting; did you mean "targets"?',
    "models.other.route.targets: is missing: it must be a list",
  ]);
});

test("no problem ever shows a value that may be secret", async () => {
  const yaml = `
database_url: postgres://user:hunter2@host/db
channels:
  one: {provider: openai, credential: hunter2}
  two: {provider: openai, credential: {env: NAME}, settings: {client_secret: hunter2}}
  three: {provider: openai, base_url: "https://me:hunter2@host", credential: {env: NAME}}
`;
  const found = await problems(yaml, { NAME: "hunter2" });
  expect(found).toHaveLength(4);
  expect(found.every((line) => line.includes("holds a secret in plain words"))).toBe(true);
  expect(found.join()).not.toContain("hunter2");
});

test("the port of the metrics is not that of the gateway", async () => {
  expect(await problems(null, { PORT: "9090", METRICS_PORT: "9090" })).toEqual([
    "server.metrics_port: must differ from server.port",
  ]);
});

test("a folder in place of the file is refused, named or not", async () => {
  expect(await problems(null, { GATEWAY_CONFIG: "catalogue" })).toEqual([
    "catalogue: is a folder: name a file by --config or GATEWAY_CONFIG",
  ]);
  expect(await problems(null, {}, { "gateway.yaml/other": "" })).toEqual([
    "gateway.yaml: is a folder: name a file by --config or GATEWAY_CONFIG",
  ]);
});

test("a named file that is not there is refused, and a missing gateway.yaml is not", async () => {
  expect(await problems(null, { GATEWAY_CONFIG: "other.yaml" })).toEqual([
    "other.yaml: is not there: name an existing file by --config or GATEWAY_CONFIG",
  ]);
  const { settings } = await load(
    "workers: 3",
    { GATEWAY_CONFIG: "other.yaml" },
    { "other.yaml": "workers: 5" },
  );
  expect(settings.workers).toBe(5);
});

test("a file that is not YAML, or not a mapping, is refused by its name", async () => {
  expect(await problems("server: [1\nport: 2")).toEqual([
    expect.stringMatching(/^gateway\.yaml:\d+:\d+: is not YAML: /),
  ]);
  expect(await problems("- server")).toEqual([
    "gateway.yaml: must be a mapping of settings, such as server: {port: 8080}",
  ]);
  expect((await load("")).settings.workers).toBe(1);
});

test("an address from the environment is checked, too, and named by its variable", async () => {
  expect(
    await problems(null, { DATABASE_URL: "mysql://user:secret@host/db", PUBLIC_URL: "gateway.example" }),
  ).toEqual([
    "PUBLIC_URL: must be an http or https address",
    "DATABASE_URL: must be an address such as postgres://host/database",
  ]);
});

test.each([
  ["DATABASE_URL", "postgres://user:hunter2@host/%zz", 'has a "%" that begins no escape'],
  ["DATABASE_URL", "postgres://user:hunter2%@host/db", 'has a "%" that begins no escape'],
  ["REDIS_URL", "redis://user:1/hunter2@host:6379", "must have only the number of a database after"],
])("%s with a part that cannot be read is refused without a part of it", async (name, address, message) => {
  const found = await problems(null, { [name]: address });
  expect(found).toEqual([expect.stringContaining(`${name}: ${message}`)]);
  expect(found.join()).not.toContain("hunter2");
});

test("an address of Redis may end with the number of a database", async () => {
  for (const REDIS_URL of ["redis://host", "redis://host:6379/", "rediss://:p%40ss@host:6379/3"])
    expect((await load(null, { REDIS_URL })).settings.redisUrl).toBe(REDIS_URL);
});

test.each([
  ["s3://id:hunter2@", "must be an address such as s3://id:secret@bucket/prefix"],
  ["s3:///prefix", "must be an address such as s3://id:secret@bucket/prefix"],
  ["https://id:hunter2@bucket", "must be an address such as s3://id:secret@bucket/prefix"],
  ["s3://hunter2@bucket", "must name the access key and its secret, as in s3://id:secret@bucket/prefix"],
  ["s3://id:hunter2@bucket?endpoint=notaurl", "must have an http or https address as its endpoint"],
  ["s3://id:hunter2@bucket?endpoint=file:///x", "must have an http or https address as its endpoint"],
  ["s3://id:hunter2@bucket?style=other", 'must have "path" or "virtual" as its style'],
  ["s3://id:x@bucket?hunter2=1", "has an unknown parameter; there are endpoint, region, style"],
  ["s3://id:hunter2%@bucket", 'has a "%" that begins no escape: write "%25" for the sign itself'],
])("an object storage at %p is refused before anything is made", async (address, message) => {
  expect(await problems(null, { BLOB_URL: address })).toEqual([`BLOB_URL: ${message}`]);
  expect(await problems("blob_url: {file: url.txt}", {}, { "url.txt": address })).toEqual([
    `blob_url: ${message}`,
  ]);
});

test("every parameter of an object storage is taken", async () => {
  const address = "s3://id:a%2Fb@bucket/some/where?endpoint=http://127.0.0.1:9000&region=eu&style=virtual";
  expect((await load(null, { BLOB_URL: address })).settings.blobUrl).toBe(address);
});

test("the database may have several hosts, without a password in the file", async () => {
  const DATABASE_URL = "postgres://user:hunter2@one:5432,two:5433/db?sslmode=verify-ca";
  expect((await load(null, { DATABASE_URL })).settings.databaseUrl).toBe(DATABASE_URL);
  expect(await problems(`database_url: ${DATABASE_URL}`)).toEqual([
    expect.stringMatching(/^database_url: holds a secret in plain words/),
  ]);
  const plain = "postgres://user@one:5432,two:5433/db";
  expect((await load(`database_url: ${plain}`)).settings.databaseUrl).toBe(plain);
  expect(await problems(null, { DATABASE_URL: `${plain}?sslmode=hunter2` })).toEqual([
    expect.stringMatching(/^DATABASE_URL: must have one of these as its sslmode: disable, /),
  ]);
});

test("a password among the parameters of an address is a secret like one before the host", async () => {
  const yaml = `
database_url: postgres://user@host/db?sslmode=require&password=hunter2
redis_url: redis://host:6379?Password=hunter2
`;
  const found = await problems(yaml);
  expect(found).toEqual([
    expect.stringMatching(/^database_url: holds a secret in plain words/),
    expect.stringMatching(/^redis_url: holds a secret in plain words/),
  ]);
  expect(found.join()).not.toContain("hunter2");
  const DATABASE_URL = "postgres://user@host/db?password=hunter2";
  const { settings, rows } = await load(null, { DATABASE_URL });
  expect(settings.databaseUrl).toBe(DATABASE_URL);
  expect(JSON.stringify(rows)).not.toContain("hunter2");
});

test.each(["https://gateway.example/?a=1", "https://gateway.example#top", "https://gateway.example/?"])(
  "links cannot begin with %p",
  async (address) => {
    const message = 'must end before any "?" or "#": links are made by adding a path';
    expect(await problems(null, { PUBLIC_URL: address })).toEqual([`PUBLIC_URL: ${message}`]);
    expect(await problems(`server: {public_url: "${address}"}`)).toEqual([`server.public_url: ${message}`]);
  },
);

test("a key that the file has twice is refused with its line, beside the file's other problems", async () => {
  const yaml = `
channels:
  one: {provider: sandbox}
workers: 0
models:
  sandbox-chat:
    price:
      per_million: {input: "1", output: "2"}
      per_million: {input: "3", output: "4"}
channels:
  two: {provider: sandbox}
`;
  expect(await problems(yaml)).toEqual([
    'gateway.yaml:9:7: names "per_million" again after line 8, of which only the last would count; write it once',
    'gateway.yaml:10:1: names "channels" again after line 2, of which only the last would count; write it once',
    "workers: must be at least 1",
  ]);
});

test("single sign-on needs to know which organizations and roles it gives, before anybody gets them", async () => {
  const oidc = (more: string) =>
    `console: { oidc: { issuer: "https://accounts.example", client_id: c, client_secret: { env: S }, ${more} } }`;
  const found = (more: string) => problems(oidc(more), { S: "secret" });
  expect(await found("allowed_domains: [acme.example]")).toEqual([
    expect.stringContaining("console.oidc.default_organizations: is missing"),
  ]);
  expect(await found("role_claim: groups")).toEqual([
    expect.stringContaining("console.oidc.roles: is missing"),
  ]);
  expect(await found("roles: { owner: [ops] }")).toEqual([
    expect.stringContaining("console.oidc.role_claim: is missing"),
  ]);
  expect(await found("role_claim: groups, roles: { boss: [ops] }")).not.toEqual([]);
  const whole =
    "role_claim: groups, roles: { owner: [ops] }, allowed_domains: [acme.example], default_organizations: [acme]";
  const { settings } = await load(oidc(whole), { S: "secret" });
  expect(settings.identity).toMatchObject({ roles: { owner: ["ops"] }, defaultOrganizations: ["acme"] });
});
