/**
 * The clock of the open loop writes one byte to a socket for every tick. Between ticks the clock blocks its thread,
 * because a timer of the runtime rounds to milliseconds. The blocking wait is exact to some hundredths of a
 * millisecond. Ends when the other side closes the socket. Usage: `bun bench/ticker.ts <port> <interval in ms>`.
 */
export const [, , port, interval] = process.argv;

const intervalMs = Number(interval);
const socket = await Bun.connect({ hostname: "127.0.0.1", port: Number(port), socket: { data: () => {} } });
socket.setNoDelay(true);

const tick = new Uint8Array([1]);
const never = new Int32Array(new SharedArrayBuffer(4));
for (let due = performance.now(); socket.write(tick) >= 0;) {
  due += intervalMs;
  const restMs = due - performance.now();
  if (restMs > 0) Atomics.wait(never, 0, 0, restMs);
}
