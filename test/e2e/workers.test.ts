import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listeners, openFleet, untilServing, type Fleet } from "../support/fleet.ts";
import { reportAtMost, reportExact } from "../support/figure.ts";
import { SECOND_SIGNAL_MS, startTestGateway, until, type LogLine } from "../support/gateway.ts";
import { freePort } from "../support/free-port.ts";

/* A gateway with WORKERS=3 is one gateway to clients: one port, replacement of ended processes, one signal for all. */
const WORKERS = 3;
const REPLACED_MS = 5_000;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet({ workers: WORKERS });
}, 30_000);
afterAll(() => fleet[Symbol.asyncDispose]());

test("several processes serve on one port", async () => {
  const [gateway] = fleet.gateways;
  expect(listeners(Number(new URL(gateway!.url).port))).toBe(WORKERS);
  const before = fleet.pids().map(cpuTicks);
  // The system chooses a process for each connection.
  await Promise.all(
    Array.from({ length: 300 }, () =>
      fleet.chat({ isOnNewConnection: true }).then((response) => response.text()),
    ),
  );
  const busy = fleet.pids().map((pid, index) => cpuTicks(pid) - before[index]!);
  expect(
    reportExact("W1", "processes that answered", busy.filter((ticks) => ticks > 0).length, "of 3", WORKERS),
  ).toBe(true);
});

test("a worker obeys its supervisor alone, not signals that the process group receives", async () => {
  const [gateway] = fleet.gateways;
  const pids = fleet.pids();
  for (const pid of pids) for (const signal of ["SIGTERM", "SIGINT"] as const) process.kill(pid, signal);
  for (let sent = 0; sent < 60; sent += 1)
    expect((await fleet.chat({ isOnNewConnection: true })).status).toBe(200);
  expect(gateway!.logs().filter(({ message }) => String(message).includes("it drains"))).toEqual([]);
  expect(fleet.pids()).toEqual(pids);
});

test("metrics cover every process", async () => {
  const url = `${fleet.gateways[0]!.url}/metrics`;
  const before = requestsByProcess(await fetch(url).then((response) => response.text()));
  await Promise.all(Array.from({ length: 60 }, () => fleet.chat().then((response) => response.text())));
  for (let attempts = 0; attempts < 6; attempts += 1) {
    const text = await fetch(url, { headers: { connection: "close" } }).then((response) => response.text());
    const residents = [...text.matchAll(/^process_resident_memory_bytes\{process="(\d)"\} \d+$/gm)];
    expect(residents.map(([, number]) => number)).toEqual(["1", "2", "3"]);
    expect(sum(requestsByProcess(text)) - sum(before)).toBe(60);
  }
});

test("a killed process is replaced, and retrying clients see no failure", async () => {
  const [victim, ...others] = fleet.pids();
  const killedAt = performance.now();
  process.kill(victim!, "SIGKILL");
  const hasResponded = async (): Promise<boolean> =>
    fleet.chat().then(
      async (response) => (await response.text()) !== "" && response.status === 200,
      () => false,
    );
  await until("a response after the kill", async () => ((await hasResponded()) ? true : undefined));
  await until(
    "a new process",
    () => (fleet.pids().length === WORKERS && !fleet.pids().includes(victim!) ? true : undefined),
    REPLACED_MS * 2,
  );
  await untilServing(fleet.gateways[0]!, WORKERS);
  const replacedMs = performance.now() - killedAt;
  for (const pid of others) expect(fleet.pids()).toContain(pid);
  const metrics = await (await fetch(`${fleet.gateways[0]!.url}/metrics`)).text();
  const restarts = [...metrics.matchAll(/^gateway_worker_restarts_total\{process="\d"\} (\d)$/gm)];
  expect(restarts.map(([, count]) => count).toSorted()).toEqual(["0", "0", "1"]);
  expect(reportAtMost("W2", "killed process replaced after", Math.round(replacedMs), "ms", REPLACED_MS)).toBe(
    true,
  );
});

test("a worker that no longer responds is replaced, and its charges are in the ledger", async () => {
  await using own = await openFleet({ workers: 2 });
  for (let sent = 0; sent < 20; sent += 1)
    expect((await own.chat({ isOnNewConnection: true })).status).toBe(200);
  const [stopped, other] = own.pids();
  const stoppedAt = performance.now();
  process.kill(stopped!, "SIGSTOP");
  await until(
    "a new worker",
    () => (own.pids().length === 2 && !own.pids().includes(stopped!) ? true : undefined),
    15_000,
  );
  await untilServing(own.gateways[0]!, 2);
  const replacedMs = Math.round(performance.now() - stoppedAt);
  expect(replacedMs).toBeGreaterThan(4_000);
  expect(reportAtMost("W6", "silent worker replaced after", replacedMs, "ms", 10_000)).toBe(true);
  expect(own.pids()).toContain(other!);
  await until("all charges", async () =>
    (await own.query("SELECT id FROM ledger")).length === 20 ? true : undefined,
  );
  const lines = own.gateways[0]!.logs().map(({ message }) => message);
  expect(lines).toContain("a worker no longer responds and is killed");
  expect(lines).toContain("a worker ended and is started again");
}, 40_000);

test("workers that cannot start end the supervisor", async () => {
  await using own = await openFleet({ workers: 2 });
  const [gateway] = own.gateways;
  await Bun.write(`${gateway!.dataDirectory}/../gateway.yaml`, "workers: many\n");
  for (const pid of own.pids()) process.kill(pid, "SIGKILL");
  expect(await gateway!.exited).toBe(1);
  expect(own.pids()).toEqual([]);
}, 30_000);

test("a worker that cannot start again is retried as long as another one serves", async () => {
  await using own = await openFleet({ workers: 2 });
  const [gateway] = own.gateways;
  const path = `${gateway!.dataDirectory}/../gateway.yaml`;
  const valid = await Bun.file(path).text();
  await Bun.write(path, "workers: many\n");
  const [killed] = own.pids();
  process.kill(killed!, "SIGKILL");
  const restarts = () =>
    gateway!.logs().filter(({ message }) => message === "a worker ended and is started again").length;
  await until("some failed starts", () => (restarts() > 3 ? true : undefined));
  expect((await own.chat({ isOnNewConnection: true })).status).toBe(200);
  await Bun.write(path, valid);
  await untilServing(gateway!, 2);
}, 30_000);

test("SIGTERM lets running requests end in every process, then all exit with 0", async () => {
  await using own = await openFleet({ workers: WORKERS });
  const [gateway] = own.gateways;
  const pids = own.pids();
  const slow = Array.from({ length: 30 }, () =>
    own
      .chat({ isStream: true, prompt: "[[reply tokens=8 frameDelayMs=60]]" })
      .then((response) => response.text()),
  );
  await own.vendors[0]!.waitForHits(slow.length);
  const code = gateway!.stop();
  const complete = (await Promise.all(slow)).filter((body) => body.includes("[DONE]"));
  expect(await code).toBe(0);
  expect(pids.filter(isRunning)).toEqual([]);
  expect(reportExact("W3", "answers ended whole while draining", complete.length, "of 30", slow.length)).toBe(
    true,
  );
  const rows = await own.query("SELECT amount FROM ledger");
  expect(rows).toHaveLength(slow.length);
}, 20_000);

test("a SIGTERM a second after the first ends all processes at once and loses no charge", async () => {
  await using own = await openFleet({ workers: WORKERS });
  const [gateway] = own.gateways;
  for (let sent = 0; sent < 20; sent += 1) await own.chat();
  const pids = own.pids();
  const hanging = Array.from({ length: 6 }, () =>
    own.chat({ prompt: "[[stall]]" }).then(
      (response) => response.status,
      () => 0,
    ),
  );
  await own.vendors[0]!.waitForHits(20 + hanging.length);
  // One process is paused, so that both of the supervisor's orders wait for that process.
  process.kill(pids[0]!, "SIGSTOP");
  gateway!.signal("SIGTERM");
  const isDraining = (line: LogLine) => String(line["message"]).includes("it drains");
  await until("the other processes to drain", () =>
    gateway!.logs().filter(isDraining).length === WORKERS - 1 ? true : undefined,
  );
  await Bun.sleep(SECOND_SIGNAL_MS);
  const sentAt = performance.now();
  gateway!.signal("SIGTERM");
  await until("the others to end", () => (pids.slice(1).some(isRunning) ? undefined : true));
  process.kill(pids[0]!, "SIGCONT");
  const code = await gateway!.exited;
  const endedMs = Math.round(performance.now() - sentAt);
  await Promise.all(hanging);
  expect(code).toBe(0);
  expect(pids.filter(isRunning)).toEqual([]);
  expect(reportAtMost("W4", "ended after the second signal", endedMs, "ms", 2_000)).toBe(true);
  await gateway!.restart();
  await until("all charges", async () => {
    const rows = await own.query("SELECT id FROM ledger");
    return rows.length === 20 ? true : undefined;
  });
}, 30_000);

test("processes whose supervisor is killed end by themselves and lose no charge", async () => {
  await using own = await openFleet({ workers: WORKERS });
  const pids = own.pids();
  const responses = await Promise.all(Array.from({ length: 20 }, () => own.chat()));
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  const killedAt = performance.now();
  await own.gateways[0]!.kill();
  // A service manager may signal the whole process group. These signals must not count as a second signal.
  for (const pid of pids) process.kill(pid, "SIGTERM");
  await until("the processes to end", () => (pids.some(isRunning) ? undefined : true));
  expect(
    reportAtMost(
      "W5",
      "orphaned processes ended after",
      Math.round(performance.now() - killedAt),
      "ms",
      6_000,
    ),
  ).toBe(true);
  expect(await own.query("SELECT id FROM ledger")).toHaveLength(20);
}, 20_000);

test.each([
  [1, false],
  [1, true],
  [WORKERS, true],
])(
  "with %d processes a port in use is reported and exits with 1, shared or not: %p",
  async (workers, reusePort) => {
    const port = freePort();
    using _listener = Bun.serve({ hostname: "127.0.0.1", port, reusePort, fetch: () => new Response() });
    const folder = join(tmpdir(), `gateway-not-made-${port}`);
    const env = { PORT: String(port), WORKERS: String(workers), GATEWAY_DATA_DIR: folder };
    const failure: unknown = await startTestGateway({ env }).then(
      (gateway) => gateway[Symbol.asyncDispose](),
      (error: unknown) => error,
    );
    expect(String(failure)).toContain(`port ${port} of 127.0.0.1 is in use`);
    expect(String(failure)).toContain("set PORT");
    expect(existsSync(folder)).toBe(false);
  },
  20_000,
);

test("workers older than the database are not restarted: the rest serve, then exit 1", async () => {
  await using own = await openFleet({ workers: 2 });
  const [gateway] = own.gateways;
  const [first, second] = own.pids();
  using database = new Database(join(gateway!.dataDirectory, "gateway.sqlite"));
  database.run("INSERT INTO schema_migrations VALUES (999, 'of_a_newer_version', 0)");
  process.kill(first!, "SIGKILL");
  await until("one worker", () => (own.pids().length === 1 ? true : undefined));
  expect((await own.chat()).status).toBe(200);
  process.kill(second!, "SIGKILL");
  expect(await gateway!.exited).toBe(1);
}, 20_000);

/** Returns the number of chat requests of each process. */
function requestsByProcess(text: string): number[] {
  const samples = text.matchAll(/^gateway_requests_total\{process="\d",route="chat[^}]*\} (\d+)$/gm);
  return [...samples].map(([, count]) => Number(count));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** True when a process runs and is not a zombie. */
function isRunning(pid: number): boolean {
  try {
    return statOf(pid)[0] !== "Z";
  } catch {
    return false;
  }
}

/** Returns the user and system time of a process in clock ticks. */
function cpuTicks(pid: number): number {
  const fields = statOf(pid);
  return Number(fields[11]) + Number(fields[12]);
}

/** Returns the fields of a process, starting with its state (proc_pid_stat). */
function statOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
}
