import { describe, expect, test } from "bun:test";
import { untilServing } from "../support/fleet.ts";
import { startTestGateway } from "../support/gateway.ts";
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
