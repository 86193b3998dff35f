import { describe, expect, test } from "bun:test";
import { MODEL, openFleet, untilServing } from "../support/fleet.ts";
import { startTestGateway, until } from "../support/gateway.ts";
import { freePort } from "../support/free-port.ts";

const status = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(url, { headers })).status;

describe.each([1, 2])("with %i workers", (workers) => {
  const processes = (): Record<string, string> =>
    workers > 1 ? { WORKERS: String(workers), PORT: String(freePort()) } : {};

  test("a metrics port serves metrics and probes only, and the public port no metrics", async () => {
    const metricsPort = String(freePort());
    await using gateway = await startTestGateway({ env: { ...processes(), METRICS_PORT: metricsPort } });
    await untilServing(gateway, workers);
    const own = `http://127.0.0.1:${metricsPort}`;
    expect(await status(`${gateway.url}/metrics`)).toBe(404);
    for (const path of ["/healthz", "/readyz"]) expect(await status(`${gateway.url}${path}`)).toBe(200);
    for (const path of ["/healthz", "/readyz", "/metrics"]) expect(await status(`${own}${path}`)).toBe(200);
    for (const path of ["/v1/models", "/console", "/files/x.png"])
      expect(await status(`${own}${path}`, { authorization: `Bearer ${gateway.key}` })).toBe(404);
    const metrics = await (await fetch(`${own}/metrics`)).text();
    expect(metrics.match(/^gateway_build_info/gm)?.length).toBe(workers);
    expect(await gateway.stop()).toBe(0);
  }, 30_000);

  test("a metrics token is required for metrics only, on either port", async () => {
    const token = "a-token-for-metrics";
    const metricsPort = freePort();
    const variants: [Record<string, string>, number | null][] = [
      [{}, null],
      [{ METRICS_PORT: String(metricsPort) }, metricsPort],
    ];
    for (const [env, port] of variants) {
      await using gateway = await startTestGateway({ env: { ...processes(), METRICS_TOKEN: token, ...env } });
      await untilServing(gateway, workers);
      const base = port === null ? gateway.url : `http://127.0.0.1:${port}`;
      expect(await status(`${base}/metrics`, { authorization: `Bearer ${token}` })).toBe(200);
      expect(await status(`${base}/metrics`)).toBe(401);
      for (const wrong of [`Bearer ${token}x`, `Bearer ${gateway.key}`, "Bearer", `Basic ${token}`])
        expect(await status(`${base}/metrics`, { authorization: wrong })).toBe(401);
      expect(await status(`${base}/readyz`)).toBe(200);
      expect(gateway.logs().join()).not.toContain(token);
    }
  }, 30_000);
});

test("a metrics port in use ends the start with its variable's name", async () => {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  try {
    const started = startTestGateway({ env: { METRICS_PORT: String(listener.port) } });
    await expect(started).rejects.toThrow("set METRICS_PORT to another port");
  } finally {
    listener.stop(true);
  }
});

test("a scrape contains targets, budgets, limits, stores and the process", async () => {
  const token = "a-token-for-metrics";
  const headers = { authorization: `Bearer ${token}` };
  await using fleet = await openFleet({ vendors: 2, env: { METRICS_TOKEN: token } });
  const [gateway] = fleet.gateways;
  await gateway!.stop();
  await gateway!.cli("orgs", "set", "default", "--limit", "requests_per_minute=700");
  const created = await gateway!.cli("budgets", "create", "--amount", "5", "--json");
  await gateway!.restart();
  fleet.vendors[0]!.next({ fault: "error-status", status: 401 });
  const response = await fleet.chat({ isStream: true });
  expect(response.status).toBe(200);
  await response.text();
  const { value } = await until("the request in the metrics", async () => {
    const text = await (await fetch(`${gateway!.url}/metrics`, { headers })).text();
    const value = (series: string): number | undefined => {
      const line = text.split("\n").find((each) => each.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length));
    };
    const isBudgetRead = text.includes("gateway_budget_left{");
    return value('gateway_attempts_total{channel="fleet-chat-2",outcome="answered"}') && isBudgetRead
      ? { value }
      : undefined;
  });
  const target = (vendor: number): string => `{channel="${MODEL}-${vendor}",upstream_model="gpt-5.4"}`;
  const budget = `{budget="${JSON.parse(created).id}",organization="default",currency="USD"}`;
  const values = {
    [`gateway_target_up${target(1)}`]: 0,
    [`gateway_target_up${target(2)}`]: 1,
    [`gateway_attempt_duration_seconds_count${target(2)}`]: 1,
    [`gateway_first_byte_seconds_count{route="chat",model="${MODEL}"}`]: 1,
    'gateway_organization_requests_total{organization="default",outcome="200"}': 1,
    'gateway_limit{organization="default",limit="requests_per_minute"}': 700,
    [`gateway_budget_left${budget}`]: 5,
    [`gateway_budget_amount${budget}`]: 5,
    gateway_requests_running: 1,
    'gateway_webhooks_total{outcome="delivered"}': 0,
    'gateway_mails_total{outcome="delivered"}': 0,
  };
  for (const [series, expected] of Object.entries(values))
    expect([series, value(series)]).toEqual([series, expected]);
  for (const series of [
    'gateway_database_call_seconds_count{operation="read"}',
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_max_fds",
    "process_resident_memory_bytes",
  ])
    expect([series, (value(series) ?? 0) > 0]).toEqual([series, true]);
  expect(value("process_start_time_seconds")).toBeWithin(Date.now() / 1000 - 60, Date.now() / 1000);
  const lines = gateway!.logs().map(({ message }) => message);
  expect(lines).toContain(`the target ${MODEL}-1/gpt-5.4 is out of service: account`);

  const verdict = async (sent?: Record<string, string>): Promise<string> =>
    (await fetch(`${gateway!.url}/readyz?verbose`, { headers: sent })).text();
  const told = await until("the target among the causes", async () => {
    const text = await verdict(headers);
    return text.includes('"kind":"ejection"') ? text : undefined;
  });
  expect(told).toContain(`"subject":"${MODEL}-1/gpt-5.4"`);
  // Without the token, a caller learns the problem but no names.
  for (const sent of [undefined, { authorization: `Bearer ${gateway!.key}` }]) {
    const untold = await verdict(sent);
    expect(untold).toContain('"kind":"ejection"');
    expect(untold).not.toMatch(new RegExp(`${MODEL}|gpt-5|default|subject|message`));
  }
}, 30_000);
