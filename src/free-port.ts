import type { Settings } from "./config/index.ts";

/** Workers whose supervisor was killed may still be stopping when the next one starts. */
const LEAVING_MS = 2_000;
const PAUSE_MS = 50;

/**
 * Throws when a port is not free, before anything is created that is shown only once. Workers share their port
 * (SO_REUSEPORT), so the system would let them share it with another gateway: this probes without sharing.
 */
export async function requireFreePort({ server, workers }: Settings): Promise<void> {
  const end = performance.now() + (workers > 1 ? LEAVING_MS : 0);
  for (;;) {
    const { host, port, metricsPort } = server;
    const metricsProblem = metricsPort === null ? null : probe(host, metricsPort, "METRICS_PORT");
    const problem = probe(host, port, "PORT") ?? metricsProblem;
    if (problem === null) return;
    if (performance.now() >= end) throw new Error(problem);
    await Bun.sleep(PAUSE_MS);
  }
}

/** Why the port cannot be listened on, or null. */
function probe(host: string, port: number, variable: string): string | null {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE")
      return `port ${port} of ${host} is in use, maybe by another gateway: stop that one, or set ${variable} to another port`;
    if (code === "EACCES")
      return `port ${port} of ${host} is not allowed to this user: set ${variable} to one above 1023`;
    return `${host} is no address of this machine: set HOST to one that is, such as 127.0.0.1, or 0.0.0.0 for all`;
  }
}
