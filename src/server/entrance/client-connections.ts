import { plainAddress } from "../../lib/cidr.ts";
import type { Libc } from "./libc.ts";

/** A connection that a client opened to a port of this process. */
export interface ClientConnection {
  descriptor: number;
  address: string;
  port: number;
  /** True when the client has acknowledged no bytes from this process. */
  isUnserved: boolean;
  /** True when the client has not taken all sent bytes yet. */
  isSending: boolean;
  /** Milliseconds since the client last sent something. */
  silentMs: number;
}

/** The descriptors that a process has open. */
export interface OpenDescriptors {
  count: number;
  connections: ClientConnection[];
}

/** Constants of `sockaddr_in`, `sockaddr_in6`, `fcntl` and `getsockopt` (Linux). */
const AF_INET = 2;
const AF_INET6 = 10;
const SOCKADDR_BYTES = 28;
const F_GETFD = 1;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** Offsets in `struct tcp_info` (linux/tcp.h). */
const UNACKED = 24;
const LAST_DATA_RECEIVED = 52;
const BYTES_ACKED = 120;
const NOT_SENT = 144;
const TCP_INFO_BYTES = 148;

/** Inspects every descriptor below `limit`. It works even when no descriptor is left, because it opens none. */
export function listDescriptors(libc: Libc, limit: number, ports: ReadonlySet<number>): OpenDescriptors {
  const open: OpenDescriptors = { count: 0, connections: [] };
  for (let descriptor = 0; descriptor < limit; descriptor++) {
    if (libc.fcntl(descriptor, F_GETFD) < 0) continue;
    open.count++;
    const local = readAddress(libc.getsockname, descriptor);
    if (local === null || !ports.has(local.port)) continue;
    const peer = readAddress(libc.getpeername, descriptor);
    if (peer) open.connections.push({ descriptor, ...peer, ...readState(libc, descriptor) });
  }
  return open;
}

function readAddress(
  read: Libc["getsockname"],
  descriptor: number,
): Pick<ClientConnection, "address" | "port"> | null {
  const bytes = Buffer.alloc(SOCKADDR_BYTES);
  const length = new Uint32Array([SOCKADDR_BYTES]);
  if (read(descriptor, bytes, length) !== 0) return null;
  const family = bytes.readUInt16LE(0);
  const port = bytes.readUInt16BE(2);
  if (family === AF_INET) return { address: bytes.subarray(4, 8).join("."), port };
  if (family !== AF_INET6) return null;
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(8 + 2 * index).toString(16));
  const isMapped = groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff";
  const address = isMapped ? `::ffff:${bytes.subarray(20, 24).join(".")}` : groups.join(":");
  return { address: plainAddress(address), port };
}

function readState(
  libc: Libc,
  descriptor: number,
): Pick<ClientConnection, "isUnserved" | "isSending" | "silentMs"> {
  const bytes = Buffer.alloc(TCP_INFO_BYTES);
  libc.getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, bytes, new Uint32Array([TCP_INFO_BYTES]));
  return {
    isUnserved: bytes.readBigUInt64LE(BYTES_ACKED) === 0n,
    isSending: bytes.readUInt32LE(UNACKED) > 0 || bytes.readUInt32LE(NOT_SENT) > 0,
    silentMs: bytes.readUInt32LE(LAST_DATA_RECEIVED),
  };
}
