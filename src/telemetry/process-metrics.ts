import { z } from "zod";
import { formatMetrics, type MetricFamily, type Metrics } from "./metrics.ts";

/** The longest a process is waited for; one that is just being restarted is left out. */
const ANSWER_MS = 500;

/** What workers say to one another through their supervisor, by their numbers; without `to` it is for all. */
const messageSchema = z.object({
  from: z.int(),
  to: z.int().optional(),
  question: z.int(),
  families: z.custom<MetricFamily[]>(Array.isArray).optional(),
});
type Message = z.output<typeof messageSchema>;

/**
 * The metrics of every process on the port, whichever of them is asked: the others' come through the supervisor.
 * `worker` is this process's number among them, null where it is alone.
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
    const timer = setTimeout(resolve, ANSWER_MS);
    send({ from: worker, question });
    await promise;
    clearTimeout(timer);
    return formatMetrics(new Map([...processes].toSorted(([one], [other]) => one - other)));
  };
  let running: Promise<string> | null = null;
  // Whoever asks meanwhile gets the same answer, so a flood of questions costs the others nothing.
  return () => (running ??= gather().finally(() => (running = null)));
}
