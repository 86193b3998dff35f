import type { Address } from "./client-connection.ts";
import type { BOTH_CORES, LOAD_CORE, Machine, SERVER_CORE } from "./machine.ts";
import { RUNTIME_VARIABLES } from "../src/config/environment.ts";

/** A server process of the benchmark on loopback. */
export interface ServerProcess {
  name: string;
  processId: number;
  /** Other processes of the server, such as workers; their processor time counts as its own. */
  workerIds: readonly number[];
  address: Address;
  stop(): Promise<void>;
}

export interface ServerCommand {
  name: string;
  /** The program; this process's runtime where absent. */
  program?: string;
  arguments: string[];
  core: Core;
  environment?: Record<string, string>;
}

/** Where a process runs: on one core, or on those of servers and load alike. */
export type Core = typeof SERVER_CORE | typeof LOAD_CORE | typeof BOTH_CORES;

const STOP_PATIENCE_MS = 5_000;
const READY_PATIENCE_MS = 15_000;

/** Starts a script that prints `listening <port>` when it serves. */
export async function startScript(machine: Machine, command: ServerCommand): Promise<ServerProcess> {
  const child = Bun.spawn(commandLine(machine, command), {
    env: environmentOf(command),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const port = await announcedPort(child.stdout);
  if (port === undefined) throw new Error(`${command.name} ended before it listened`);
  return asServer(command.name, child, port);
}

/** Starts a server with a known port and output to a file; does not wait until it serves. */
export function startLogged(
  machine: Machine,
  command: ServerCommand,
  port: number,
  logPath: string,
): ServerProcess {
  const log = Bun.file(logPath);
  const child = Bun.spawn(commandLine(machine, command), {
    env: environmentOf(command),
    stdin: "ignore",
    stdout: log,
    stderr: log,
  });
  return asServer(command.name, child, port);
}

/** Waits until a path of a server started with `startLogged` responds with a success. Throws with the server's log. */
export async function untilReady(
  { name, address }: ServerProcess,
  path: string,
  logPath: string,
): Promise<void> {
  const url = `http://${address.hostname}:${address.port}${path}`;
  const deadline = performance.now() + READY_PATIENCE_MS;
  while (performance.now() < deadline) {
    const isReady = await fetch(url).then(
      (reply) => reply.ok,
      () => false,
    );
    if (isReady) return;
    await Bun.sleep(50);
  }
  throw new Error(`${name} did not become ready. It said:\n${await Bun.file(logPath).text()}`);
}

/** The command line of a process, pinned to its core if possible. */
export function commandLine(machine: Machine, command: ServerCommand): string[] {
  const pin = machine.canPin ? ["taskset", "--cpu-list", String(command.core)] : [];
  return [...pin, command.program ?? process.execPath, ...command.arguments];
}

/** Only the variables that are needed to find programs: no proxies, no vendor keys. */
export function environmentOf(command: Pick<ServerCommand, "environment">): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    ...RUNTIME_VARIABLES,
    ...command.environment,
  };
}

function asServer(name: string, child: Bun.Subprocess, port: number): ServerProcess {
  return {
    name,
    processId: child.pid,
    workerIds: [],
    address: { hostname: "127.0.0.1", port },
    async stop() {
      child.kill("SIGTERM");
      const timeout = setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE_MS);
      await child.exited;
      clearTimeout(timeout);
    },
  };
}

async function announcedPort(output: ReadableStream<Uint8Array>): Promise<number | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of output) {
    text += decoder.decode(piece, { stream: true });
    const port = /^listening (\d+)$/m.exec(text)?.[1];
    if (port !== undefined) return Number(port);
  }
  return undefined;
}
