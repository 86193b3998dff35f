import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { getPriority } from "node:os";
import { expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";

const body = { model: "sandbox-chat", messages: [{ role: "user", content: "Answer in 3 words." }] };
const FILES = 200;

/** Connects from an address of this machine and sends the beginning of a request. */
function openHalf({ url }: TestGateway, localAddress: string): Socket {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), localAddress });
  socket.on("error", () => {});
  socket.write("POST /v1/chat/completions HTTP/1.1\r\nHost: gateway.test\r\n");
  return socket;
}

/** Returns a process's processor time in seconds (proc_pid_stat: utime and stime in hundredths). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const chat = (gateway: TestGateway, init: object = {}) =>
  gateway.call("/v1/chat/completions", {
    body,
    keepalive: false,
    signal: AbortSignal.timeout(3_000),
    ...init,
  });

test.skipIf(process.platform !== "linux")(
  "half-open connections beyond the limit of files lock nobody out, burn no core and cut no stream",
  async () => {
    await using gateway = await startTestGateway({ env: { SANDBOX_TOKENS_PER_SECOND: "100" } });
    const limited = Bun.spawnSync(["prlimit", "--pid", String(gateway.pid), `--nofile=${FILES}:${FILES}`]);
    expect(limited.exitCode).toBe(0);
    const prompt = [{ role: "user", content: "Answer in 200 words." }];
    const stream = await gateway.call("/v1/chat/completions", {
      body: { ...body, stream: true, messages: prompt },
    });
    const text = stream.text();
    const sockets = Array.from({ length: 260 }, () => openHalf(gateway, "127.0.0.2"));
    try {
      await until("excess connections to be closed", async () => {
        const metrics = await gateway.call("/metrics", { keepalive: false });
        const closed = /^gateway_closed_connections_total (\d+)$/m.exec(await metrics.text())?.[1];
        return Number(closed) >= 60 ? true : undefined;
      });
      const before = cpuSeconds(gateway.pid);
      const startedAt = performance.now();
      for (let index = 0; index < 10; index++) {
        expect((await chat(gateway)).status).toBe(200);
        sockets.push(openHalf(gateway, "127.0.0.2"));
      }
      const share = (cpuSeconds(gateway.pid) - before) / ((performance.now() - startedAt) / 1000);
      expect(share).toBeLessThan(0.7);
      expect(gateway.resources().descriptors).toBeLessThan(FILES);
      expect(await text).toEndWith("data: [DONE]\n\n");
      expect(gateway.logs().some(({ message }) => /^closed \d+ connections/.test(String(message)))).toBe(
        true,
      );
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
  40_000,
);

test.skipIf(process.platform !== "linux")(
  "an address may have so many connections, others are not concerned",
  async () => {
    await using gateway = await startTestGateway({ yaml: "server: { connections_per_address: 5 }" });
    const open = new Set<Socket>();
    const from = (address: string, count: number): Socket[] =>
      Array.from({ length: count }, () => {
        const socket = openHalf(gateway, address);
        open.add(socket);
        return socket;
      });
    const [many, few] = [from("127.0.0.2", 20), from("127.0.0.3", 5)];
    const alive = (sockets: Socket[]) => sockets.filter(({ readyState }) => readyState === "open").length;
    try {
      await until("the excess to be closed", () => (alive(many) === 5 ? true : undefined), 8_000);
      expect(alive(few)).toBe(5);
    } finally {
      for (const socket of open) socket.destroy();
    }
  },
  30_000,
);

test.skipIf(process.platform !== "linux")(
  "the ledger's thread, that of the checkpoints and the runtime's compilers run behind the requests",
  async () => {
    await using gateway = await startTestGateway();
    expect((await chat(gateway)).status).toBe(200);
    const own = getPriority(gateway.pid);
    const lowered = (name: string) =>
      readdirSync(`/proc/${gateway.pid}/task`)
        .filter((id) => readFileSync(`/proc/${gateway.pid}/task/${id}/comm`, "utf8").trim() === name)
        .map((id) => getPriority(Number(id)) - own);
    // The ledger's thread starts with the first charge.
    await until("two threads behind", async () =>
      lowered("Worker").filter((nice) => nice === 5).length >= 2 ? true : undefined,
    );
    expect(new Set(lowered("JITWorker"))).toEqual(new Set([5]));
  },
);
