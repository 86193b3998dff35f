import { parentPort } from "node:worker_threads";
import { DependencyError } from "../../gateway/dependency-error.ts";
import { lowerThisThread } from "../../lib/thread-priority.ts";
import type { StorageReport } from "../report.ts";
import type { ThreadCall, ThreadWord } from "./called-thread.ts";

interface Work<Argument> {
  run(argument: Argument): Promise<unknown>;
  close(): Promise<void>;
  /** True to begin each call when it arrives. By default, each call waits for the end of the earlier calls. */
  areTogether?: boolean;
}

/** Runs in the thread of a `CalledThread`. Executes the calls of the thread that started it, at a lower priority. */
export function doCalls<Argument>({ run, close, areTogether = false }: Work<Argument>): void {
  lowerThisThread();
  let all: Promise<unknown> = Promise.resolve();
  const handle = async (call: ThreadCall): Promise<void> => {
    if (!call) {
      await close();
      process.exit(0);
    }
    const { number, argument } = call;
    try {
      send({ kind: "done", number, result: await run(argument as Argument) });
    } catch (error) {
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      send({ kind: "failed", number, message, isUnavailable: error instanceof DependencyError });
    }
  };
  parentPort?.on("message", (call: ThreadCall) => {
    const done = areTogether && call ? handle(call) : all.then(() => handle(call));
    all = Promise.all([all, done]);
  });
}

/** Sends a report of damage of the database to the thread that started this thread. */
export const reportDamageAbove = (reason: string): void => send({ kind: "damage", reason });

/** Sends a report of a problem to the thread that started this thread. */
export const reportAbove: StorageReport = (message, cause) =>
  send({ kind: "problem", message, cause: String(cause) });

function send(word: ThreadWord): void {
  parentPort?.postMessage(word);
}
