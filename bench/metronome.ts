import { LOAD_CORE, type Machine } from "./machine.ts";
import { commandLine, environmentOf, type ServerCommand } from "./processes.ts";

/**
 * Calls `onDue` at a fixed rate with the due time of each call (open loop). A late call still gets its own due time. No
 * call is skipped.
 */
export function startMetronome(
  machine: Machine,
  callsPerSecond: number,
  onDue: (due: number) => void,
): Metronome {
  const intervalMs = 1000 / callsPerSecond;
  let startedAt = 0;
  let count = 0;
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(_, ticks) {
        const now = performance.now();
        if (count === 0) startedAt = now;
        for (const end = count + ticks.length; count < end; count++) {
          onDue(Math.min(now, startedAt + count * intervalMs));
        }
      },
    },
  });
  const command: ServerCommand = {
    name: "ticker",
    core: LOAD_CORE,
    arguments: [`${import.meta.dir}/ticker.ts`, String(listener.port), String(intervalMs)],
  };
  const child = Bun.spawn(commandLine(machine, command), {
    env: environmentOf(command),
    stdio: ["ignore", "inherit", "inherit"],
  });
  return {
    processId: child.pid,
    stop() {
      child.kill();
      listener.stop(true);
    },
  };
}

export interface Metronome {
  processId: number;
  stop(): void;
}
