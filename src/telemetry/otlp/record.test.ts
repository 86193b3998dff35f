import { expect, test } from "bun:test";
import { startCollector } from "../../../test/support/collector.ts";
import { until } from "../../../test/support/gateway.ts";
import { requestEvent } from "../../../test/support/request-event.ts";
import { RequestContent } from "../../domain/request-content.ts";
import type { RequestEvent } from "../../domain/request-event.ts";
import { traceSampler } from "../../domain/trace.ts";
import { OtlpExporter } from "./exporter.ts";
import { measurementOf, spanRecordOf } from "./record.ts";
import { contentAttributes } from "./spans.ts";

const ID = "01a20b3e08b77085829f520201a534f5";

function recordOf(about: Partial<RequestEvent>, isContentExported: boolean, ratio = 1) {
  const options = { providerOf: () => "openai", isContentExported };
  const event = requestEvent({ trace: traceSampler(ratio)(null, ID), ...about });
  return spanRecordOf(event, measurementOf(event, options), options);
}

function logged(prompt = '{"messages":[{"role":"user","content":"call +44 20 7946 0958"}]}'): RequestContent {
  const content = new RequestContent(prompt, 1);
  content.keepReply("sk-abcdef123456");
  return content;
}

test("prompts and replies are exported only where operator and organization both want it", () => {
  expect(recordOf({ content: logged() }, false)).toMatchObject({ content: null });
  expect(recordOf({ content: null }, true)).toMatchObject({ content: null });
  expect(recordOf({ content: logged() }, true)).toMatchObject({ content: { reply: "sk-abcdef123456" } });
});

test("exported content is redacted", () => {
  const record = recordOf({ content: logged() }, true);
  expect(record && contentAttributes(record)).toEqual({
    "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"call [phone]"}]}]',
    "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"[redacted]"}]}]',
  });
});

test.each([
  "",
  '{"messages":[{"role":"user","content":"cu',
  "[1]",
  '{"messages":{"role":"user","content":"hi"}}',
  '{"messages":[{"role":"user"}]}',
  '{"messages":[{"role":1,"content":"hi"}]}',
])("a body without readable messages is exported as one message: %s", (body) => {
  const record = recordOf({ content: logged(body) }, true);
  expect(record && contentAttributes(record)["gen_ai.input.messages"]).toBe(
    JSON.stringify([{ role: "user", parts: [{ type: "text", content: body }] }]),
  );
});

test("a request that is not sampled has no spans", () => {
  expect(recordOf({}, true, 0)).toBeNull();
});

function exporterTo(endpoint: string): OtlpExporter {
  return new OtlpExporter({
    endpoint,
    headers: {},
    serviceName: "gateway",
    instance: "1",
    version: "1",
    providerOf: () => "openai",
    isContentExported: true,
    onProblem: () => {},
  });
}

test.each([
  ["4,000 records, beside the full batch that is sent at once", 5_100, null, 100],
  [
    "16 million characters of contents, beside a batch of one",
    400,
    new RequestContent("p".repeat(50_000), 1),
    60,
  ],
])("what waits for a collector is at most %s", async (_, count, content, expected) => {
  const exporter = exporterTo("http://127.0.0.1:9");
  const trace = traceSampler(1)(null, ID);
  for (let sent = 0; sent < count; sent += 1) exporter.listener(requestEvent({ trace, content }));
  const dropped = exporter.families().map(({ samples }) => samples[0]?.[2]);
  await exporter.stop();
  expect(dropped).toEqual([expected]);
});

test("the contents of many requests at once are all exported", async () => {
  const collector = startCollector();
  const exporter = exporterTo(collector.url);
  const trace = traceSampler(1)(null, ID);
  for (let sent = 0; sent < 200; sent += 1)
    exporter.listener(requestEvent({ at: 1_700_000_000_000, trace, content: logged() }));
  const all = await until("the events", () =>
    collector.events.length >= 200 ? collector.events : undefined,
  );
  expect(all).toHaveLength(200);
  await exporter.stop();
  await collector.stop();
});

test("all requests that wait are exported at its end, also those beyond one batch", async () => {
  const collector = startCollector();
  const exporter = exporterTo(collector.url);
  const trace = traceSampler(1)(null, ID);
  for (let sent = 0; sent < 1_500; sent += 1)
    exporter.listener(requestEvent({ at: 1_700_000_000_000, trace }));
  await exporter.stop();
  await collector.stop();
  expect(collector.spans.length).toBe(1_500);
});

test("all events of requests that wait are exported at its end", async () => {
  const collector = startCollector();
  const exporter = exporterTo(collector.url);
  const trace = traceSampler(1)(null, ID);
  const content = logged();
  const record = () => exporter.listener(requestEvent({ at: 1_700_000_000_000, trace, content }));
  record();
  // The first event shows that the thread has started.
  await until("the first event", () => (collector.events.length === 1 ? true : undefined));
  for (let sent = 0; sent < 900; sent += 1) record();
  await exporter.stop();
  await collector.stop();
  expect(collector.events).toHaveLength(901);
});
