import { z } from "zod";
import { formatMetrics, type MetricFamily, type Metrics } from "./metrics.ts";
import { after } from "../lib/waiting.ts";

/** Maximum milliseconds to wait for the other workers' replies. A process that restarts in this time is left out. */
const GATHER_MS = 500;

/** A message between workers. The supervisor forwards it to worker `to`; by default, to all workers but the sender. */
const messageSchema = z.object({
  from: z.int(),
  to: z.int().optional(),
  question: z.int(),
  families: z.custom<MetricFamily[]>(Array.isArray).optional(),
});
type Message = z.output<typeof messageSchema>;

/**
 * Returns a function that gathers the metrics of all processes that share the port. The processes exchange their
 * metrics through the supervisor. `worker` is the number of this process; null for a single process.
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
  // Concurrent scrapes share one gathering, so that they cost no more than a single scrape.
  return () => (running ??= gather().finally(() => (running = null)));
}
