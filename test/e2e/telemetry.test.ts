import { expect, test } from "bun:test";
import { IMAGE_MODEL, openFleet } from "../support/fleet.ts";
import { type TestGateway, until } from "../support/gateway.ts";
import { startCollector } from "../support/collector.ts";
import { submit, untilStatus } from "../support/job-calls.ts";
import { startRealCollector } from "../support/real-collector.ts";

/* Traces, metrics and events of OpenTelemetry, as a collector receives them. */
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const PROMPT = "write to anna@example.com with sk-abcdef123456";

/** Path of the OpenTelemetry Collector. Its test runs only if the path is given. */
const COLLECTOR = process.env["OTEL_COLLECTOR"];

test("a request is one trace with a span for each call, told to vendors, also while its collector is away", async () => {
  const collector = startCollector();
  await using fleet = await openFleet({
    vendors: 2,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: "x-token=a%20secret" },
    yaml: "telemetry: {content: true}",
  });
  const [gateway] = fleet.gateways;
  await keepPrompts(gateway!);
  const send = async (traceparent?: string): Promise<number> => {
    const body = { model: "fleet-chat", stream: true, messages: [{ role: "user", content: PROMPT }] };
    const response = await gateway!.call("/v1/chat/completions", {
      method: "POST",
      headers: traceparent === undefined ? {} : { traceparent },
      body,
    });
    await response.text();
    return response.status;
  };
  fleet.vendors[0]!.next({ fault: "error-status", status: 401 });
  expect(await send(`00-${TRACE}-${PARENT}-01`)).toBe(200);
  const spans = await until("three spans", () => (collector.spans.length >= 3 ? collector.spans : undefined));
  const [root, failed, answered] = spans;
  expect(spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE, TRACE]);
  expect(root).toMatchObject({ name: "chat", kind: 2, parentSpanId: PARENT });
  expect(root!.attributes).toMatchObject({
    "gateway.model": "fleet-chat",
    "gateway.organization.id": "default",
    "gateway.charge.currency": "USD",
    "http.response.status_code": 200,
  });
  for (const call of [failed, answered])
    expect(call).toMatchObject({ name: "chat gpt-5.4", kind: 3, parentSpanId: root!.spanId });
  expect(failed).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "account" } });
  expect(answered!.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-5.4",
    "gen_ai.usage.output_tokens": 8,
    "gen_ai.usage.cost": root!.attributes["gateway.charge.amount"],
  });
  expect(String(answered!.attributes["gen_ai.input.messages"])).toBe(
    '[{"role":"user","parts":[{"type":"text","content":"write to [e-mail] with [redacted]"}]}]',
  );
  expect(fleet.vendors.map(({ hits }) => hits.at(-1)?.headers["traceparent"])).toEqual([
    `00-${TRACE}-${failed!.spanId}-01`,
    `00-${TRACE}-${answered!.spanId}-01`,
  ]);
  expect(collector.headers.every((headers) => headers.get("x-token") === "a secret")).toBe(true);
  const event = "gen_ai.client.inference.operation.details";
  await until("the event", () => collector.events.includes(event) || undefined);

  expect(await gateway!.stop()).toBe(0);
  const call = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "fleet-chat",
    "gen_ai.response.model": "gpt-5.4",
  };
  expect(collector.metrics.get("gen_ai.client.operation.duration")).toMatchObject([
    { count: 1, attributes: call },
  ]);
  expect(collector.metrics.get("gen_ai.client.operation.time_to_first_chunk")).toMatchObject([{ count: 1 }]);
  expect(collector.metrics.get("gen_ai.client.token.usage")).toMatchObject([
    { count: 1, attributes: { ...call, "gen_ai.token.type": "input" } },
    { count: 1, sum: 8, attributes: { ...call, "gen_ai.token.type": "output" } },
  ]);

  await gateway!.restart();
  await collector.stop();
  for (let sent = 0; sent < 5; sent += 1) expect(await send()).toBe(200);
  await until("spans to be dropped", async () => {
    const text = await (await fetch(`${gateway!.url}/metrics`)).text();
    return Number(/^gateway_telemetry_dropped_total (\d+)$/m.exec(text)?.[1]) > 0 ? true : undefined;
  });
  const away = gateway!
    .logs()
    .filter(({ message }) => String(message).startsWith("the collector of telemetry is away"));
  expect(away).toHaveLength(1);
  expect(await gateway!.stop()).toBe(0);
}, 60_000);

if (COLLECTOR)
  test("the OpenTelemetry Collector refuses nothing, also after it was away", async () => {
    await using collector = await startRealCollector(COLLECTOR);
    await using fleet = await openFleet({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      yaml: "telemetry: {content: true}",
    });
    const [gateway] = fleet.gateways;
    await keepPrompts(gateway!);
    const send = async (count: number): Promise<void> => {
      const sent = Array.from({ length: count }, () => fleet.chat({ prompt: PROMPT }));
      for (const response of await Promise.all(sent)) expect(response.status).toBe(200);
    };
    const said = (text: string) =>
      until(text, () => gateway!.logs().find(({ message }) => String(message).includes(text)));
    const none = { refused_spans: 0, failed_spans: 0, refused_log_records: 0, failed_log_records: 0 };
    await send(100);
    await until("the spans", async () =>
      (await collector.received())["accepted_spans"] === 200 ? true : undefined,
    );
    expect(await collector.received()).toMatchObject({ ...none, accepted_log_records: 100 });
    await collector.stop();
    await send(10);
    await said("the collector of telemetry is away");
    await collector.start();
    await send(50);
    await said("the collector of telemetry is back");
    expect(await gateway!.stop()).toBe(0);
    const metrics = { accepted_metric_points: 3, refused_metric_points: 0, failed_metric_points: 0 };
    expect(await collector.received()).toMatchObject({ ...none, ...metrics, accepted_spans: 100 });
    const records = await collector.records();
    for (const part of [
      "write to [e-mail] with [redacted]",
      "gen_ai.response.model: Str(gpt-5.4)",
      "Count: 160",
    ])
      expect(records).toContain(part);
  }, 120_000);

test("the run of a job is a trace of its own, with the request of its submission", async () => {
  const collector = startCollector();
  await using fleet = await openFleet({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const [gateway] = fleet.gateways;
  const body = { model: IMAGE_MODEL, prompt: "a boat" };
  const { id } = await submit(gateway!, body, { headers: { "x-request-id": "of-the-submission" } });
  expect(await untilStatus(gateway!, id)).toMatchObject({ status: "completed" });
  expect(await gateway!.stop()).toBe(0);
  const [run, call] = collector.spans;
  expect(run).toMatchObject({ name: "jobs.run", kind: 5, traceId: id.replace("job_", "") });
  expect(run!.attributes).toMatchObject({
    "gateway.job.id": id,
    "gateway.request.id": "of-the-submission",
  });
  expect(call).toMatchObject({ kind: 3, traceId: run!.traceId, parentSpanId: run!.spanId });
  expect(fleet.vendors[0]!.hits.at(-1)?.headers["traceparent"]).toBe(`00-${run!.traceId}-${call!.spanId}-01`);
  await collector.stop();
}, 60_000);

test("without a collector nothing is exported, and vendors are told of no trace", async () => {
  await using fleet = await openFleet();
  const [gateway] = fleet.gateways;
  const body = { model: "fleet-chat", messages: [{ role: "user", content: "hello" }] };
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
  const response = await gateway!.call("/v1/chat/completions", { method: "POST", headers, body });
  await response.text();
  expect(fleet.vendors[0]?.hits.at(-1)?.headers).not.toHaveProperty("traceparent");
  expect(await (await fetch(`${gateway!.url}/metrics`)).text()).not.toContain("gateway_telemetry");
});

/** Makes the organization store prompts. Otherwise content is not exported. */
async function keepPrompts(gateway: TestGateway): Promise<void> {
  await gateway.stop();
  await gateway.cli("orgs", "set", "default", "--prompt-log-days", "1");
  await gateway.restart();
}
