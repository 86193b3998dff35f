import { describe, expect, test } from "bun:test";
import { requestEvent } from "../../test/support/request-event.ts";
import type { RequestEvent } from "../domain/request-event.ts";
import { formatMetrics, Metrics } from "./metrics.ts";

function event(about: Partial<RequestEvent> = {}): RequestEvent {
  const answered = { route: "chat", status: 200, durationMs: 30 };
  return requestEvent({ at: 0, ...answered, ...about });
}

function textOf(...events: RequestEvent[]): string {
  const metrics = new Metrics([{ name: "gateway_things", help: "Things.", value: () => 7 }]);
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

  test("count tokens by category, images and vendor calls", () => {
    const attempt = { channel: "c", upstreamModel: "m", durationMs: 1 };
    const text = textOf(
      event({ usage: { unit: "token", tokens: { input: 2, cacheRead: 3 }, source: "upstream" } }),
      event({ usage: { unit: "token", tokens: { input: 5 }, source: "estimated" } }),
      event({ usage: { unit: "image", count: 4, tier: "1K", quality: "auto" } }),
      event({
        attempts: [
          { ...attempt, outcome: "timeout" },
          { ...attempt, outcome: "answered" },
        ],
      }),
    );
    expect(text).toContain('gateway_tokens_total{category="input"} 7\n');
    expect(text).toContain('gateway_tokens_total{category="cache_read"} 3\n');
    expect(text).toContain("gateway_images_total 4\n");
    expect(text).toContain('gateway_attempts_total{channel="c",outcome="timeout"} 1\n');
    expect(text).toContain('gateway_attempts_total{channel="c",outcome="answered"} 1\n');
  });

  test("of several processes stand together under one name, each with its number", () => {
    const counted = (...events: RequestEvent[]) => {
      const metrics = new Metrics([{ name: "gateway_things", help: "Things.", value: () => events.length }]);
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
      '# TYPE gateway_things gauge\ngateway_things{process="1"} 1\ngateway_things{process="2"} 2\n',
    );
    expect(text.match(/# TYPE gateway_requests_total/g)).toHaveLength(1);
  });

  test("are text that a scraper reads: each family described once, every line a sample or a comment", () => {
    const lines = textOf(event()).trimEnd().split("\n");
    for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? [\d.e+-]+)$/);
    const described = lines.filter((line) => line.startsWith("# TYPE"));
    expect(new Set(described).size).toBe(described.length);
    expect(lines).toContain("gateway_things 7");
  });
});
