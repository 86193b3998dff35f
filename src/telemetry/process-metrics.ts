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
  const waiting = new Map<number, (from: number, families: MetricFamily[]) => void>();
  process.on("message", (message: unknown) => {
    const { data } = messageSchema.safeParse(message);
    if (!data) return;
    const { from, question, families } = data;
    if (families) waiting.get(question)?.(from, families);
    else send({ from: worker, to: from, question, families: metrics.families() });
  });
  let questions = 0;
  return async () => {
    const question = (questions += 1);
    const processes = new Map([[worker, metrics.families()]]);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(question, (from, families) => {
      processes.set(from, families);
      if (processes.size === workers) resolve();
    });
    const timer = setTimeout(resolve, ANSWER_MS);
    try {
      send({ from: worker, question });
      await promise;
    } finally {
      clearTimeout(timer);
      waiting.delete(question);
    }
    return formatMetrics(new Map([...processes].toSorted(([one], [other]) => one - other)));
  };
}
