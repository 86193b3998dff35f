import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClientConnection } from "../client-connection.ts";
import { cpuBetween, LOAD_CORE, readCpu, readResidentMb, SERVER_CORE } from "../machine.ts";
import { type Gateway, launchGateway } from "../gateway.ts";
import { type ServerProcess, startScript } from "../processes.ts";
import type { Row } from "../report.ts";
import type { Stage } from "../stage.ts";
import { type Spread, spreadOf } from "../statistics.ts";
import type { UploadBody } from "./w5-samples.ts";

/** An image vendor, a bare proxy in front of this vendor, and a gateway that only this workload uses. */
export interface ImageStage {
  mock: ServerProcess;
  floor: ServerProcess;
  gateway: Gateway;
  stop(): Promise<void>;
}

export async function openImageStage({ machine, options }: Stage): Promise<ImageStage> {
  const folder = `${import.meta.dir}/..`;
  const mock = await startScript(machine, {
    name: "image mock",
    core: LOAD_CORE,
    arguments: [`${import.meta.dir}/w5-image-mock.ts`],
  });
  const upstream = `http://127.0.0.1:${mock.address.port}`;
  const floor = await startScript(machine, {
    name: "bare-bun",
    core: SERVER_CORE,
    arguments: [`${folder}/bare-bun.ts`, upstream],
  });
  const gateway = await launchGateway(machine, upstream, options.profileFolder);
  const stop = async () => {
    await Promise.all([mock, floor, gateway].map((server) => server.stop()));
  };
  return { mock, floor, gateway, stop };
}

/** Figures of transfers through one server. Each connection makes its transfers one after another. */
export interface Transfer {
  megabytesPerSecond: number;
  cpuMsPerMegabyte: number;
  /** Peak of the resident memory minus its value before the transfers, divided by the connections. */
  megabytesEach: number;
}

export interface TransferPlan {
  path: string;
  key: string;
  body: UploadBody;
  connections: number;
  transfers: number;
  /** Megabytes of one transfer, in either direction. */
  megabytes: number;
}

/** Runs transfers and measures them. Throws when a response is not a success. */
export async function transfer(server: ServerProcess, plan: TransferPlan): Promise<Transfer> {
  // Creating the request is not measured, because copying a large body takes as long as sending it.
  const request = writeRequest(plan);
  const idleMb = readResidentMb(server.processId);
  writeFileSync(`/proc/${server.processId}/clear_refs`, "5");
  const cpu = readCpu([server.processId]);
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: plan.connections }, () => runConnection(server, request, plan.transfers)),
  );
  const elapsedMs = performance.now() - startedAt;
  const cpuMs = cpuBetween(cpu, readCpu([server.processId]));
  const megabytes = plan.megabytes * plan.transfers * plan.connections;
  return {
    megabytesPerSecond: (megabytes * 1000) / elapsedMs,
    cpuMsPerMegabyte: cpuMs / megabytes,
    megabytesEach: Math.max(0, readPeakMb(server.processId) - idleMb) / plan.connections,
  };
}

/** Measures baseline server (floor) and gateway in alternating order. The first round is discarded. */
export async function compareTransfers(
  { floor, gateway }: ImageStage,
  rounds: number,
  plan: TransferPlan,
): Promise<{ floor: Transfer; gateway: Transfer }[]> {
  const results: { floor: Transfer; gateway: Transfer }[] = [];
  const throughGateway = async () => {
    const measured = await transfer(gateway, plan);
    // The next round reuses the files' memory, because new memory costs far more time in a virtual machine.
    rmSync(join(gateway.dataFolder, "blobs"), { recursive: true, force: true });
    return measured;
  };
  const throughFloor = () => transfer(floor, plan);
  for (let round = -1; round < rounds; round += 1) {
    const isSwapped = round % 2 === 0;
    const first = await (isSwapped ? throughGateway() : throughFloor());
    const second = await (isSwapped ? throughFloor() : throughGateway());
    if (round >= 0)
      results.push(isSwapped ? { floor: second, gateway: first } : { floor: first, gateway: second });
  }
  return results;
}

/** Returns three rows of the report: bytes per second with a bar, processor time, and memory with a bar. */
export function transferRows(
  names: Pick<Row, "workload" | "figure">,
  rounds: readonly { floor: Transfer; gateway: Transfer }[],
  bars: { share: number; megabytesEach: number },
): Row[] {
  const speed = pick(rounds, "megabytesPerSecond");
  const cpu = pick(rounds, "cpuMsPerMegabyte");
  const memory = pick(rounds, "megabytesEach");
  const each = memory.gateway;
  return [
    {
      ...names,
      floor: `${Math.round(speed.floor.median)} MB/s`,
      gateway: `${Math.round(speed.gateway.median)} MB/s`,
      comparison: ratioText(speed.ratio),
      bar: `>= ${bars.share}x`,
      passed: speed.ratio.median >= bars.share,
    },
    {
      ...names,
      figure: `${names.figure}: CPU`,
      floor: `${cpu.floor.median.toFixed(2)} ms/MB`,
      gateway: `${cpu.gateway.median.toFixed(2)} ms/MB`,
      comparison: ratioText(cpu.ratio),
    },
    {
      ...names,
      figure: `${names.figure}: memory each`,
      floor: `${memory.floor.median.toFixed(0)} MB`,
      gateway: `${each.median.toFixed(0)} MB`,
      comparison: `${each.median.toFixed(0)} MB (${each.min.toFixed(0)} to ${each.max.toFixed(0)})`,
      bar: `<= ${bars.megabytesEach} MB`,
      passed: each.median <= bars.megabytesEach,
    },
  ];
}

function writeRequest({ path, key, body }: TransferPlan): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    `authorization: Bearer ${key}`,
    `content-type: ${body.contentType}`,
    `content-length: ${body.bytes.byteLength}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body.bytes]);
}

async function runConnection(server: ServerProcess, request: Buffer, transfers: number): Promise<void> {
  let ended = Promise.withResolvers<number>();
  const connection = await ClientConnection.open(server.address, {
    onReply: ({ status }) => ended.resolve(status),
    onLost: () => ended.reject(new Error(`${server.name} closed without a whole reply`)),
  });
  for (let sent = 0; sent < transfers; sent += 1) {
    ended = Promise.withResolvers();
    connection.send(request);
    const status = await ended.promise;
    if (status !== 200) throw new Error(`${server.name} answered ${status}`);
  }
  connection.close();
}

type Rounds = readonly { floor: Transfer; gateway: Transfer }[];

function pick(rounds: Rounds, figure: keyof Transfer): Record<"floor" | "gateway" | "ratio", Spread> {
  return {
    floor: spreadOf(rounds.map(({ floor }) => floor[figure])),
    gateway: spreadOf(rounds.map(({ gateway }) => gateway[figure])),
    ratio: spreadOf(rounds.map(({ floor, gateway }) => gateway[figure] / Math.max(floor[figure], 1e-9))),
  };
}

function ratioText({ median, min, max }: Spread): string {
  return `${median.toFixed(2)}x (${min.toFixed(2)} to ${max.toFixed(2)})`;
}

function readPeakMb(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, "latin1");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
