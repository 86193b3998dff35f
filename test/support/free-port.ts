/** The range is below the ports that systems assign automatically: from 32768 on Linux, from 49152 elsewhere. */
const FIRST = 11_000;
const COUNT = 21_000;

/**
 * Returns a loopback port that is free now, for a process that needs the number beforehand. The system assigns no port
 * of this range by itself.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // The port is in use.
    }
  }
}
