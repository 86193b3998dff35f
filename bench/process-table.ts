import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Returns the processes that listen on a port, and their children. Empty on systems without `/proc`. */
export function processesOn(port: number): number[] {
  const sockets = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => listeningSockets(readOrEmpty(path), port)),
  );
  const listening = processIds().filter((id) => linksOf(`/proc/${id}/fd`).some((link) => sockets.has(link)));
  return [...new Set(listening.flatMap((id) => [id, ...childrenOf(id)]))];
}

/** Returns the running processes that a process has started. */
export function childrenOf(processId: number): number[] {
  return processIds().filter((id) => parentIn(readOrEmpty(`/proc/${id}/stat`)) === processId);
}

/**
 * Returns the sockets that listen on a port, as links in `/proc/<pid>/fd` name them. `table` is the text of
 * `/proc/net/tcp` or `/proc/net/tcp6`.
 */
export function listeningSockets(table: string, port: number): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = table.split("\n").map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, local, , state]) => state === LISTENING && local?.endsWith(`:${hexPort}`))
    .map((row) => `socket:[${row[9]}]`);
}

/** Reads the parent's id from a line of `/proc/<pid>/stat`. The program's name may have spaces and brackets. */
export function parentIn(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** Code of the listening state in `/proc/net/tcp`. */
const LISTENING = "0A";

function processIds(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function linksOf(folder: string): string[] {
  const names = attempt(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => attempt(() => readlinkSync(`${folder}/${name}`)) ?? []);
}

function readOrEmpty(path: string): string {
  return attempt(() => readFileSync(path, "latin1")) ?? "";
}

/** Returns undefined on an error, because the process may have ended or may belong to another user. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
