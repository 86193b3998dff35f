import type { Address } from "./client-connection.ts";
import type { BOTH_CORES, LOAD_CORE, Machine, SERVER_CORE } from "./machine.ts";
import { RUNTIME_VARIABLES } from "../src/config/environment.ts";

/** A server process of the benchmark that listens on loopback. */
export interface ServerProcess {
  name: string;
  processId: number;
  /** Other processes of the server, such as workers. Their processor time counts as the server's. */
  workerIds: readonly number[];
  address: Address;
  stop(): Promise<void>;
}

export interface ServerCommand {
  name: string;
  /** Path of the program; by default the runtime of this process. */
  program?: string;
  arguments: string[];
  core: Core;
  environment?: Record<string, string>;
}

/** The core on which a process runs; `BOTH_CORES` leaves the choice to the system. */
export type Core = typeof SERVER_CORE | typeof LOAD_CORE | typeof BOTH_CORES;

const STOP_PATIENCE_MS = 5_000;
const READY_PATIENCE_MS = 15_000;

/** Starts a script and waits for its line `listening <port>`. */
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

/** Starts a server on a known port, with its output in a file. Does not wait until the server accepts requests. */
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

/** Waits until a server of `startLogged` responds to `path` with a success. Throws the log after a timeout. */
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

/** Returns the command line of a process. The process is pinned to its core if possible. */
export function commandLine(machine: Machine, command: ServerCommand): string[] {
  const pin = machine.canPin ? ["taskset", "--cpu-list", String(command.core)] : [];
  return [...pin, command.program ?? process.execPath, ...command.arguments];
}

/**
 * Returns the variables of a command. This process's variables are left out, except those that locate programs and the
 * home folder.
 */
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
