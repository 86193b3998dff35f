import { textOf } from "../support/bytes.ts";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { UpstreamError } from "../../src/domain/upstream-error.ts";
import type { TextCall, TextUpstream } from "../../src/gateway/upstreams.ts";
import { knownKeys } from "../../src/domain/schema-problems.ts";
import { bedrock } from "../../src/providers/bedrock/index.ts";
import { shippedSettings } from "../support/image-calls.ts";
import { REQUEST_ID, SIMULATED_ACCESS_KEY, SIMULATED_API_KEY, startBedrock } from "../upstreams/bedrock.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import { startSimulator } from "../upstreams/simulator.ts";
import { sendJson } from "../upstreams/transport.ts";

/* Claude on Bedrock, with an API key, with a signature, and with the machine's credentials. */
const OPUS = "global.anthropic.claude-opus-5";
const HAIKU = "global.anthropic.claude-haiku-4-5-20251001-v1:0";
const vendor = await startBedrock();

afterAll(() => vendor.close());
beforeEach(() => vendor.reset());

const REGION = "eu-central-1";
const open = (settings: object): TextUpstream =>
  bedrock.text!(bedrock.settings.parse({ baseUrl: `${vendor.url}/`, region: REGION, ...settings }))[0]!;
const byKey = open({ apiKey: SIMULATED_API_KEY });
const bySignature = open(SIMULATED_ACCESS_KEY);

const RAW = `{"model":"${OPUS}", "max_tokens": 64,"messages":[{"role":"user","content":"12345678901234567890 \\u00e9"}]  }`;
const callOf = (change: Partial<TextCall> = {}): TextCall => ({
  raw: RAW,
  upstreamModel: OPUS,
  isStream: false,
  headers: { "anthropic-version": "2026-10-21" },
  signal: new AbortController().signal,
  ...change,
});
const failureOf = async (call: Promise<unknown>): Promise<UpstreamError> => {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof UpstreamError) return error;
  throw new Error(`no failure: ${Bun.inspect(error)}`);
};
async function stream(behaviour: Behaviour, change: Partial<TextCall> = {}): Promise<string> {
  vendor.next(behaviour);
  const reply = await bySignature.send(callOf({ isStream: true, ...change }));
  if (reply.kind !== "stream") throw new Error("no stream");
  return textOf(reply.stream);
}

describe("a request", () => {
  test("goes to the model's address, without what the address says, and else as it is", async () => {
    const raw = RAW.replace("{", '{"stream": false ,');
    const reply = await byKey.send(callOf({ raw }));
    expect(reply).toMatchObject({ kind: "whole", requestId: REQUEST_ID });
    const [hit] = vendor.hits;
    expect([hit!.path, hit!.body.toString()]).toEqual([
      `/model/${OPUS}/invoke`,
      '{"anthropic_version":"bedrock-2023-05-31", "max_tokens": 64,"messages":[{"role":"user","content":"12345678901234567890 \\u00e9"}]  }',
    ]);
    expect(hit!.headers["authorization"]).toBe(`Bearer ${SIMULATED_API_KEY}`);
    expect(hit!.headers["anthropic-version"]).toBeUndefined();
  });

  test("has the features in trial in its body", async () => {
    await byKey.send(callOf({ headers: { "anthropic-beta": "one-2025-01-01, two-2025-02-02" } }));
    expect(vendor.hits[0]!.json()["anthropic_beta"]).toEqual(["one-2025-01-01", "two-2025-02-02"]);
  });

  test("is signed, also for an id with a version and a body of other alphabets", async () => {
    const raw = JSON.stringify({ ...JSON.parse(RAW), model: HAIKU, system: "Ответь по-русски 🦊" });
    expect(await bySignature.send(callOf({ raw, upstreamModel: HAIKU }))).toMatchObject({ kind: "whole" });
    expect(await bySignature.send(callOf({ raw, upstreamModel: HAIKU, isStream: true }))).toMatchObject({
      kind: "stream",
    });
    expect(vendor.hits[0]!.path).toContain("-v1%3A0/invoke");
  });

  test.each([
    [{ secretAccessKey: "another/secret" }, "InvalidSignatureException"],
    [{ region: "us-east-1" }, "InvalidSignatureException"],
    [{ sessionToken: undefined }, "UnrecognizedClientException"],
  ])("signed with %j is the account's failure", async (change, code) => {
    const error = await failureOf(open({ ...SIMULATED_ACCESS_KEY, ...change }).send(callOf()));
    expect(error).toMatchObject({ kind: "account", status: 403, requestId: REQUEST_ID });
    expect(error.message).toContain(code);
  });
});

describe("a reply", () => {
  test("comes whole as it was, without the vendor's own members", async () => {
    const reply = await byKey.send(callOf());
    if (reply.kind !== "whole") throw new Error("no whole reply");
    expect(reply.text).not.toContain("amazon");
    expect(JSON.parse(reply.text)).toMatchObject({ type: "message", usage: vendor.totals.usages[0] });
  });

  test("streams as events of the protocol, wherever the vendor's bytes are cut", async () => {
    const texts = [];
    for (const fault of [undefined, "one-byte", "gzip"] as const) texts.push(await stream({ fault }));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toStartWith('event: message_start\ndata: {"type":"message_start"');
    expect(texts[0]).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n');
  });

  test("has the usage of the last event where it reports none itself", async () => {
    const text = await stream({ fault: "no-usage", tokens: 5 });
    const [usage] = vendor.totals.usages as { input_tokens: number; output_tokens: number }[];
    expect(usage!.output_tokens).toBe(5);
    expect(text).toMatch(
      new RegExp(`"usage":{"input_tokens":${usage!.input_tokens},"output_tokens":5,.*"end_turn"`),
    );
  });

  test("may be whole although a stream was requested", async () => {
    vendor.next("json-for-stream");
    expect(await byKey.send(callOf({ isStream: true }))).toMatchObject({ kind: "whole" });
  });
});

describe("an exception inside a stream", () => {
  test.each([
    ["throttlingException", "limited"],
    ["modelStreamErrorException", "overloaded"],
    ["internalServerException", "overloaded"],
    ["modelTimeoutException", "overloaded"],
    ["serviceUnavailableException", "overloaded"],
    ["validationException", "rejected"],
    ["somethingNewException", "overloaded"],
    [":InternalFailure", "overloaded"],
  ])("%s at its beginning is %s", async (code, kind) => {
    const error = await failureOf(stream({ fault: "error-frame-first", code }));
    expect(error).toMatchObject({ kind, isAmbiguous: false });
  });

  test("comes after everything before it", async () => {
    vendor.next({ fault: "error-frame-later", after: 3, code: "throttlingException" });
    const reply = await bySignature.send(callOf({ isStream: true }));
    if (reply.kind !== "stream") throw new Error("no stream");
    const pieces: Uint8Array[] = [];
    const reading = (async () => {
      for await (const piece of reply.stream) pieces.push(piece);
    })();
    expect(await failureOf(reading)).toMatchObject({ kind: "limited" });
    expect(Buffer.concat(pieces).toString().split('"content_block_delta"').length).toBe(5);
  });

  test.each<[Behaviour, string]>([
    [{ fault: "damaged-frame" }, "broken"],
    [{ fault: "damaged-frame", after: 3 }, "broken"],
    [{ fault: "truncated", after: 3 }, "broken"],
  ])("as %j is %s", async (behaviour, kind) => {
    expect((await failureOf(stream(behaviour))).kind).toBe(kind as UpstreamError["kind"]);
  });

  test("of another protocol is broken, however long it says it is", async () => {
    await using other = await startSimulator(async (_request, response) => {
      await response.start(200, { "content-type": "application/vnd.amazon.eventstream" });
      await response.write(Buffer.from("event: message_start\ndata: {}\n\n"));
      await response.closed();
    });
    const upstream = open({ apiKey: SIMULATED_API_KEY, baseUrl: other.url });
    const reply = await upstream.send(callOf({ isStream: true }));
    if (reply.kind !== "stream") throw new Error("no stream");
    expect((await failureOf(textOf(reply.stream))).kind).toBe("broken");
    await other.waitForClose();
  });
});

describe("a failure", () => {
  test.each<[Behaviour, string, object]>([
    [{ fault: "rate-limited", retryAfter: "7" }, "limited", { retryAfterSeconds: 7 }],
    [{ fault: "context-length" }, "too_long", {}],
    [status(403, "AccessDeniedException"), "account", { isByRequest: false }],
    [status(400, "ServiceQuotaExceededException"), "account", {}],
    [status(404, "ResourceNotFoundException"), "account", { isByRequest: false }],
    [status(403, "ExpiredTokenException"), "account", {}],
    [status(429, "ThrottlingException", "Too_many_tokens_per_day"), "account", {}],
    [status(429, "ModelNotReadyException"), "overloaded", {}],
    [status(408, "ModelTimeoutException"), "overloaded", {}],
    [status(424, "ModelErrorException"), "overloaded", {}],
    [status(503, "ServiceUnavailableException"), "overloaded", {}],
    [status(400, "ValidationException", "The_provided_model_identifier_is_invalid."), "account", {}],
    [
      status(400, "ValidationException", "messages:_too_few"),
      "rejected",
      { publicMessage: "messages: too few" },
    ],
    [{ fault: "html" }, "broken", {}],
    [{ fault: "redirect" }, "broken", {}],
    [{ fault: "truncated" }, "broken", {}],
    [{ fault: "reset-before-headers" }, "unreachable", { isAmbiguous: true }],
  ])("%j is %s", async (behaviour, kind, detail) => {
    vendor.next(behaviour);
    expect(await failureOf(byKey.send(callOf()))).toMatchObject({ kind, ...detail });
  });

  test.each([
    ["an API key", byKey],
    ["an access key", bySignature],
  ])("never repeats %s", async (_, upstream) => {
    vendor.next("echo-authorization");
    const shown = Bun.inspect(await failureOf(upstream.send(callOf())));
    const { accessKeyId, sessionToken } = SIMULATED_ACCESS_KEY;
    for (const secret of [SIMULATED_API_KEY, accessKeyId, sessionToken!]) expect(shown).not.toContain(secret);
  });

  test("an abort closes the vendor's connection inside a stream", async () => {
    const caller = new AbortController();
    vendor.next({ fault: "stall-midway", after: 2 });
    const reply = await byKey.send(callOf({ isStream: true, signal: caller.signal }));
    if (reply.kind !== "stream") throw new Error("no stream");
    const reader = reply.stream.getReader();
    await reader.read();
    await reader.cancel();
    caller.abort(new Error("gone"));
    await vendor.waitForClose();
  });
});

function status(code: number, type: string, text?: string): Behaviour {
  return { fault: "error-status", status: code, code: type, text };
}

describe("the credentials of the machine", () => {
  const NAMES = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
  ];
  const before = NAMES.map((name) => [name, process.env[name]] as const);
  beforeEach(() => {
    for (const name of NAMES) delete process.env[name];
    process.env["AWS_SHARED_CREDENTIALS_FILE"] = process.env["AWS_CONFIG_FILE"] = "/dev/null";
  });
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test("are found in the environment", async () => {
    process.env["AWS_ACCESS_KEY_ID"] = SIMULATED_ACCESS_KEY.accessKeyId;
    process.env["AWS_SECRET_ACCESS_KEY"] = SIMULATED_ACCESS_KEY.secretAccessKey;
    process.env["AWS_SESSION_TOKEN"] = SIMULATED_ACCESS_KEY.sessionToken!;
    expect(await open({}).send(callOf())).toMatchObject({ kind: "whole" });
  });

  test("are asked of the container once for many calls", async () => {
    await using container = await startSimulator(async (_request, response) => {
      await sendJson(response, 200, {
        AccessKeyId: SIMULATED_ACCESS_KEY.accessKeyId,
        SecretAccessKey: SIMULATED_ACCESS_KEY.secretAccessKey,
        Token: SIMULATED_ACCESS_KEY.sessionToken,
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      });
    });
    process.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = `${container.url}/credentials`;
    const upstream = open({});
    await Promise.all([upstream.send(callOf()), upstream.send(callOf())]);
    await upstream.send(callOf());
    expect([container.hits.length, vendor.hits.length]).toEqual([1, 3]);
  });

  test("that do not exist are the account's failure, and nothing is sent", async () => {
    process.env["AWS_EC2_METADATA_DISABLED"] = "true";
    expect(await failureOf(open({}).send(callOf()))).toMatchObject({ kind: "account", isAmbiguous: false });
    expect(vendor.hits).toHaveLength(0);
  });
});

describe("settings", () => {
  const problems = (settings: object) =>
    bedrock.settings.safeParse(settings).error?.issues.map(({ path }) => path.join("."));

  test("have known names", () => {
    expect(knownKeys(bedrock.settings).toSorted()).toEqual(
      ["accessKeyId", "apiKey", "baseUrl", "region", "secretAccessKey", "sessionToken"].toSorted(),
    );
  });

  test("name one credential, and all of it", () => {
    expect(problems({})).toBeUndefined();
    expect(problems({ accessKeyId: "A" })).toEqual(["secretAccessKey"]);
    expect(problems({ apiKey: "k", sessionToken: "t" })).toEqual(["sessionToken"]);
    expect(problems({ apiKey: "k", accessKeyId: "A", secretAccessKey: "s" })).toEqual(["accessKeyId"]);
    expect(problems({ region: "../x" })).toEqual(["region"]);
  });
});

test("the shipped channel has the region of the environment, and comes after the models' own vendor", async () => {
  for (const region of ["eu-west-1", undefined]) {
    const settings = await shippedSettings({
      ANTHROPIC_API_KEY: "sk-ant-simulated",
      AWS_BEARER_TOKEN_BEDROCK: SIMULATED_API_KEY,
      ...(region && { AWS_REGION: region }),
    });
    expect(settings.channels.get("bedrock")!.settings).toMatchObject({ region: region ?? "us-east-1" });
    const targets = settings.routes.get("claude-haiku-4-5")!.targets;
    expect(targets.map(({ channel, upstreamModel }) => [channel.id, upstreamModel])).toEqual([
      ["anthropic", "claude-haiku-4-5"],
      ["bedrock", HAIKU],
    ]);
  }
});
