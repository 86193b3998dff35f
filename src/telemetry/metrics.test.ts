import { describe, expect, test } from "bun:test";
import { requestEvent } from "../../test/support/request-event.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { formatMetrics, Metrics } from "./metrics.ts";

function event(about: Partial<RequestEvent> = {}): RequestEvent {
  const answered = { route: "chat", status: 200, durationMs: 30 };
  return requestEvent({ at: 0, ...answered, ...about });
}

function textOf(...events: RequestEvent[]): string {
  const metrics = new Metrics([{ name: "gateway_ledger_backlog", value: () => 7 }]);
  for (const each of events) metrics.listener(each);
  return formatMetrics(new Map([[null, metrics.families()]]));
}

describe("metrics", () => {
  test("count requests by route and outcome: a status, or a code where there is one", () => {
    const text = textOf(
      event(),
      event(),
      event({ status: 429, code: "rate_limit_exceeded" }),
      event({ route: "models" }),
    );
    expect(text).toContain('gateway_requests_total{route="chat",outcome="200"} 2\n');
    expect(text).toContain('gateway_requests_total{route="chat",outcome="rate_limit_exceeded"} 1\n');
    expect(text).toContain('gateway_requests_total{route="models",outcome="200"} 1\n');
  });

  test("put durations into buckets that add up, also one beyond the last", () => {
    const text = textOf(event({ durationMs: 5 }), event({ durationMs: 30 }), event({ durationMs: 700_000 }));
    const of = (bound: string) => `gateway_request_duration_seconds_bucket{route="chat",le="${bound}"}`;
    expect(text).toContain(`${of("0.005")} 1\n`);
    expect(text).toContain(`${of("0.025")} 1\n`);
    expect(text).toContain(`${of("0.1")} 2\n`);
    expect(text).toContain(`${of("600")} 2\n`);
    expect(text).toContain(`${of("+Inf")} 3\n`);
    expect(text).toContain('gateway_request_duration_seconds_count{route="chat"} 3\n');
    expect(text).toContain('gateway_request_duration_seconds_sum{route="chat"} 700.035\n');
  });

  test("count usage and charges by model and organization, and vendor calls", () => {
    const attempt = { channel: "c", upstreamModel: "m", durationMs: 1 };
    const known = { model: 'm"1', organizationId: "org" };
    const charge = { ...known, channel: "c", currency: "USD" };
    const text = textOf(
      event({ ...known, usage: { unit: "token", tokens: { input: 2, cacheRead: 3 }, source: "upstream" } }),
      event({
        ...charge,
        amount: 40_000_000n,
        usage: { unit: "token", tokens: { input: 5 }, source: "estimated" },
      }),
      event({
        ...charge,
        amount: 10_000_000n,
        usage: { unit: "image", count: 4, tier: "1K", quality: "auto" },
      }),
      event({
        attempts: [
          { ...attempt, outcome: "timeout" },
          { ...attempt, outcome: "answered" },
        ],
      }),
    );
    const labels = 'model="m\\"1",organization="org"';
    expect(text).toContain(`gateway_model_requests_total{${labels},outcome="200"} 3\n`);
    expect(text).toContain(`gateway_tokens_total{category="input",${labels}} 7\n`);
    expect(text).toContain(`gateway_tokens_total{category="cache_read",${labels}} 3\n`);
    expect(text).toContain(`gateway_images_total{${labels}} 4\n`);
    expect(text).toContain(`gateway_charged_total{${labels},channel="c",currency="USD"} 0.05\n`);
    expect(text).toContain('gateway_attempts_total{channel="c",outcome="timeout"} 1\n');
    expect(text).toContain('gateway_attempts_total{channel="c",outcome="answered"} 1\n');
  });

  test("count a vendor's failures from zero on, so that the first one shows as an increase", () => {
    const metrics = new Metrics([], [], () => ["c"]);
    const text = formatMetrics(new Map([[null, metrics.families()]]));
    expect(text).toContain('gateway_attempts_total{channel="c",outcome="account"} 0\n');
    const attempt = { channel: "c", upstreamModel: "m", durationMs: 20, outcome: "account" } as const;
    metrics.listener(event({ attempts: [attempt] }));
    const later = formatMetrics(new Map([[null, metrics.families()]]));
    expect(later).toContain('gateway_attempts_total{channel="c",outcome="account"} 1\n');
  });

  test("time a stream's first content", () => {
    const text = textOf(event({ firstByteMs: 4, model: "m" }), event({ firstByteMs: 4 }), event());
    expect(text).toContain('gateway_first_byte_seconds_bucket{route="chat",model="m",le="0.005"} 1\n');
    expect(text).toContain('gateway_first_byte_seconds_count{route="chat",model="m"} 1\n');
    expect(text).toContain('gateway_first_byte_seconds_count{route="chat",model="none"} 1\n');
  });

  test("time each call to a vendor by its target, and models of a pattern together", () => {
    const attempt = { channel: "c", durationMs: 20, outcome: "answered" } as const;
    const text = textOf(
      event({ attempts: [{ ...attempt, upstreamModel: "m" }] }),
      ...["free/1", "free/2"].map((model) =>
        event({ model, modelPattern: "free/*", attempts: [{ ...attempt, upstreamModel: model }] }),
      ),
    );
    const seconds = "gateway_attempt_duration_seconds";
    expect(text).toContain(`${seconds}_bucket{channel="c",upstream_model="m",le="0.025"} 1\n`);
    expect(text).toContain(`${seconds}_sum{channel="c",upstream_model="m"} 0.02\n`);
    expect(text).toContain(`${seconds}_count{channel="c",upstream_model="free/*"} 2\n`);
  });

  test("fold what has too many targets or models into one series, but never a channel or a route", () => {
    const text = textOf(
      ...Array.from({ length: 400 }, (_, index) =>
        event({
          model: `m${index}`,
          firstByteMs: 1,
          attempts: [{ channel: "c", upstreamModel: `m${index}`, durationMs: 1, outcome: "answered" }],
        }),
      ),
    );
    expect(text).toContain(
      'gateway_attempt_duration_seconds_count{channel="c",upstream_model="other"} 100\n',
    );
    expect(text).toContain('gateway_first_byte_seconds_count{route="chat",model="other"} 100\n');
    expect(text).toContain("gateway_metrics_folded_total 200\n");
  });

  test("count refusals of an organization that came before its model was known", () => {
    const text = textOf(
      event({ organizationId: "org", status: 429, code: "rate_limit_exceeded" }),
      event({ organizationId: "org", model: "m" }),
    );
    const requests = "gateway_organization_requests_total";
    expect(text).toContain(`${requests}{organization="org",outcome="rate_limit_exceeded"} 1\n`);
    expect(text).toContain(`${requests}{organization="org",outcome="200"} 1\n`);
  });

  const charged = (about: Partial<RequestEvent>) =>
    event({ model: "m", channel: "c", currency: "USD", amount: 1_000_000_000n, ...about });

  test("count a model that a pattern covers under the pattern, whatever name a caller made up", () => {
    const text = textOf(
      ...Array.from({ length: 2_500 }, (_, index) =>
        charged({ model: `free/${index}`, modelPattern: "free/*", organizationId: "org" }),
      ),
      charged({ model: "real-chat", organizationId: "org" }),
    );
    expect(text).toContain(
      'gateway_model_requests_total{model="free/*",organization="org",outcome="200"} 2500\n',
    );
    expect(text).toContain(
      'gateway_model_requests_total{model="real-chat",organization="org",outcome="200"} 1\n',
    );
    expect(text).toContain("gateway_metrics_folded_total 0\n");
  });

  test("fold the organization first, then the model, and never the currency or the outcome", () => {
    const organizations = Array.from({ length: 2_500 }, (_, index) =>
      charged({ organizationId: `org-${index}`, currency: index % 2 ? "USD" : "EUR" }),
    );
    const models = Array.from({ length: 2_500 }, (_, index) =>
      charged({ model: `model-${index}`, organizationId: "org-0" }),
    );
    const text = textOf(...organizations, ...models, charged({ organizationId: "org-7", currency: "USD" }));
    const requests = "gateway_model_requests_total";
    expect(text).toContain(`${requests}{model="m",organization="org-7",outcome="200"} 2\n`);
    expect(text).toContain(`${requests}{model="m",organization="other",outcome="200"} 500\n`);
    expect(text).toContain(`${requests}{model="model-9",organization="other",outcome="200"} 1\n`);
    expect(text).toContain(`${requests}{model="other",organization="other",outcome="200"} 501\n`);
    const amounts = 'gateway_charged_total{model="m",organization="other",channel="c"';
    expect(text).toContain(`${amounts},currency="USD"} 250\n`);
    expect(text).toContain(`${amounts},currency="EUR"} 250\n`);
    // There are 3,000 folds in the requests, 3,000 in the amounts, and 500 in the requests of organizations.
    expect(text).toContain("gateway_metrics_folded_total 6500\n");
    expect(text.match(/^gateway_model_requests_total/gm)?.length).toBeLessThanOrEqual(4_001);
  });

  test("drop series that were idle for a day when others need their place", () => {
    const day = 24 * 3_600_000;
    const old = Array.from({ length: 2_000 }, (_, index) => charged({ organizationId: `old-${index}` }));
    const used = charged({ at: day / 2, organizationId: "old-1" });
    const text = textOf(...old, used, charged({ at: day + 1_000, organizationId: "new" }));
    expect(text).toContain('gateway_model_requests_total{model="m",organization="new",outcome="200"} 1\n');
    expect(text).toContain('gateway_model_requests_total{model="m",organization="old-1",outcome="200"} 2\n');
    expect(text.match(/^gateway_model_requests_total/gm)).toHaveLength(2);
    expect(text).toContain("gateway_metrics_folded_total 0\n");
  });

  test("of several processes stand together under one name, each with its number", () => {
    const counted = (...events: RequestEvent[]) => {
      const metrics = new Metrics([{ name: "gateway_ledger_backlog", value: () => events.length }]);
      for (const each of events) metrics.listener(each);
      return metrics.families();
    };
    const text = formatMetrics(
      new Map([
        [1, counted(event())],
        [2, counted(event(), event())],
      ]),
    );
    expect(text).toContain(
      'gateway_requests_total{process="1",route="chat",outcome="200"} 1\n' +
        'gateway_requests_total{process="2",route="chat",outcome="200"} 2\n',
    );
    expect(text).toEndWith(
      '# TYPE gateway_ledger_backlog gauge\ngateway_ledger_backlog{process="1"} 1\ngateway_ledger_backlog{process="2"} 2\n',
    );
    expect(text.match(/# TYPE gateway_requests_total/g)).toHaveLength(1);
  });

  test("are text that a scraper reads: each family described once, every line a sample or a comment", () => {
    const lines = textOf(event()).trimEnd().split("\n");
    for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [\d.e+-]+)$/);
    const described = lines.filter((line) => line.startsWith("# TYPE"));
    expect(new Set(described).size).toBe(described.length);
    expect(lines).toContain("gateway_ledger_backlog 7");
  });
});
