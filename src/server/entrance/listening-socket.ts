import { ptr } from "bun:ffi";
import { openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { sleep } from "../../lib/waiting.ts";
import { openLibc } from "./libc.ts";

/*
 * The runtime's graceful stop closes idle connections, and thus loses requests that proxies send at that moment. If
 * only the listening socket is closed, the kernel resets connections that the process has not accepted yet (measured on
 * loopback: 30 of 1,000 connections per second). Therefore the socket first drops new SYNs. Then the process accepts
 * the queued connections. Only then is the socket closed.
 */

/** Time in which the process accepts the queued connections. */
const QUEUE_MS = 100;

/**
 * Instructions (`struct sock_filter`) that drop a SYN without ACK and accept every other packet (`SO_ATTACH_FILTER` in
 * socket(7)).
 */
const DROP_SYN: readonly (readonly [code: number, jumpTrue: number, jumpFalse: number, value: number])[] = [
  [0x30, 0, 0, 13],
  [0x45, 0, 2, 0x02],
  [0x45, 1, 0, 0x10],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
];
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
/** State of a listening socket in `/proc/net/tcp`. */
const LISTENING = "0A";

/**
 * Stops listening on a port of this process without losing a connection. New connections are refused, and existing
 * connections stay open. Returns false, without a change, when the system does not support this.
 */
export async function stopListening(port: number): Promise<boolean> {
  const libc = openLibc();
  const socket = libc && findListeningSocket(port);
  if (!libc || socket === null) return false;
  const program = filterProgram();
  if (libc.setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, ptr(program.bytes), program.bytes.length) !== 0)
    return false;
  await sleep(QUEUE_MS);
  // The descriptor now refers to /dev/null instead of the socket, until the runtime closes the descriptor.
  return libc.dup2(openSync("/dev/null", "r"), socket) === socket;
}

/** Returns the descriptor of this process's listening socket on the port. Other processes may also listen there. */
function findListeningSocket(port: number): number | null {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = new Set<string>();
  for (const table of ["tcp", "tcp6"]) {
    for (const line of readFileSync(`/proc/self/net/${table}`, "utf8").split("\n")) {
      const [, local = "", , state, , , , , , inode] = line.trim().split(/ +/);
      if (inode !== undefined && local.endsWith(suffix) && state === LISTENING)
        inodes.add(`socket:[${inode}]`);
    }
  }
  const found = readdirSync("/proc/self/fd").find((descriptor) => {
    try {
      return inodes.has(readlinkSync(`/proc/self/fd/${descriptor}`));
    } catch {
      return false;
    }
  });
  return found === undefined ? null : Number(found);
}

/** Returns a `struct sock_fprog`. Its `filter` must stay in memory as long as the kernel may read it. */
function filterProgram(): { bytes: Uint8Array; filter: Uint8Array } {
  const filter = Buffer.alloc(DROP_SYN.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, value]] of DROP_SYN.entries()) {
    filter.writeUInt16LE(code, index * 8);
    filter.writeUInt8(jumpTrue, index * 8 + 2);
    filter.writeUInt8(jumpFalse, index * 8 + 3);
    filter.writeUInt32LE(value, index * 8 + 4);
  }
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(DROP_SYN.length, 0);
  bytes.writeBigUInt64LE(BigInt(ptr(filter)), 8);
  return { bytes, filter };
}
