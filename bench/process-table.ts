import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The processes that listen on a port of this machine, and their children. Empty where `/proc` does not show them. */
export function processesOn(port: number): number[] {
  const sockets = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => listeningSockets(readOrEmpty(path), port)),
  );
  const listening = processIds().filter((id) => linksOf(`/proc/${id}/fd`).some((link) => sockets.has(link)));
  return [...new Set(listening.flatMap((id) => [id, ...childrenOf(id)]))];
}

/** The processes that a process has started and that still run. */
export function childrenOf(processId: number): number[] {
  return processIds().filter((id) => parentIn(readOrEmpty(`/proc/${id}/stat`)) === processId);
}

/** The names of listening sockets on a port as links of `/proc/<pid>/fd` have them, from `/proc/net/tcp`. */
export function listeningSockets(table: string, port: number): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  const rows = table.split("\n").map((line) => line.trim().split(/\s+/));
  return rows
    .filter(([, local, , state]) => state === LISTENING && local?.endsWith(`:${hexPort}`))
    .map((row) => `socket:[${row[9]}]`);
}

/** The parent in a line of `/proc/<pid>/stat`, where the program's name may have spaces and brackets. */
export function parentIn(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** The state of a listening socket in `/proc/net/tcp`. */
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

/** A process may end, or belong to another user, while it is looked at. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
