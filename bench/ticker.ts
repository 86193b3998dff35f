/**
 * The load's metronome: writes one byte to a socket for every tick. It sleeps in the kernel, which is exact to
 * some hundredths of a millisecond, where the runtime's own timers round to whole ones.
 * Started as `bun bench/ticker.ts <port> <interval in ms>`; ends when the other side closes.
 */
import { dlopen } from "bun:ffi";

const [, , port, interval] = process.argv;
const intervalMs = Number(interval);
const { usleep } = dlopen("libc.so.6", { usleep: { args: ["u32"], returns: "i32" } }).symbols;
const socket = await Bun.connect({ hostname: "127.0.0.1", port: Number(port), socket: { data: () => {} } });
socket.setNoDelay(true);

const tick = new Uint8Array([1]);
for (let due = performance.now(); socket.write(tick) >= 0;) {
  due += intervalMs;
  const restMs = due - performance.now();
  if (restMs > 0) usleep(Math.floor(restMs * 1000));
}
