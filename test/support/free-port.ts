/** Below what systems give to whoever asks for any port: 32768 and up on Linux, 49152 and up elsewhere. */
const FIRST = 11_000;
const COUNT = 21_000;

/**
 * A loopback port, free when checked, for a process that needs its number beforehand. Until it listens, no server or
 * connection of another test is given that port by the system.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // It is taken.
    }
  }
}
