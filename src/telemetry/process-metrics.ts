import { z } from "zod";
import { formatMetrics, type MetricFamily, type Metrics } from "./metrics.ts";
import { after } from "../lib/waiting.ts";

/** Milliseconds to wait for other processes; one that is restarting is left out. */
const GATHER_MS = 500;

/** A message between workers through their supervisor, by worker numbers; without `to` it is for all. */
const messageSchema = z.object({
  from: z.int(),
  to: z.int().optional(),
  question: z.int(),
  families: z.custom<MetricFamily[]>(Array.isArray).optional(),
});
type Message = z.output<typeof messageSchema>;

/**
 * Gathers the metrics of every process on the port, whichever one is scraped: those of the others come through the
 * supervisor. `worker` is this process's number, null for a single process.
 */
export function gatherMetrics(
  metrics: Metrics,
  { worker, workers }: { worker: number | null; workers: number },
): () => Promise<string> {
  if (worker === null) return async () => formatMetrics(new Map([[null, metrics.families()]]));
  const send = (message: Message): void => {
    if (process.connected) process.send?.(message);
  };
  let question = 0;
  let processes = new Map<number, MetricFamily[]>();
  let complete = (): void => {};
  process.on("message", (message: unknown) => {
    const { data } = messageSchema.safeParse(message);
    if (!data) return;
    if (!data.families) {
      send({ from: worker, to: data.from, question: data.question, families: metrics.families() });
    } else if (data.question === question) {
      processes.set(data.from, data.families);
      if (processes.size === workers) complete();
    }
  });
  const gather = async (): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    question += 1;
    processes = new Map([[worker, metrics.families()]]);
    complete = resolve;
    const stopWaiting = after(GATHER_MS, resolve);
    send({ from: worker, question });
    await promise;
    stopWaiting();
    return formatMetrics(new Map([...processes].toSorted(([one], [other]) => one - other)));
  };
  let running: Promise<string> | null = null;
  // Concurrent scrapes share one gathering, so a flood of them costs the other processes nothing.
  return () => (running ??= gather().finally(() => (running = null)));
}
