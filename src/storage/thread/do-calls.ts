import { parentPort } from "node:worker_threads";
import { DependencyError } from "../../gateway/ports.ts";
import { lowerThisThread } from "../../lib/thread-priority.ts";
import type { Report } from "../report.ts";
import type { Call, ThreadWord } from "./called-thread.ts";

interface Work<Argument> {
  /** Does a call; calls that come meanwhile wait for it. */
  run(argument: Argument): Promise<unknown>;
  close(): Promise<void>;
}

/** The inside of a `CalledThread`: does the calls of the thread that has started this one, and runs behind it. */
export function doCalls<Argument>({ run, close }: Work<Argument>): void {
  lowerThisThread();
  let last: Promise<void> = Promise.resolve();
  const handle = async (call: Call): Promise<void> => {
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
  parentPort?.on("message", (call: Call) => {
    last = last.then(() => handle(call));
  });
}

/** Reports damage of the database by the thread that has started this one. */
export const reportDamageAbove = (reason: string): void => send({ kind: "damage", reason });

/** Reports a problem by the thread that has started this one. */
export const reportAbove: Report = (message, cause) =>
  send({ kind: "problem", message, cause: String(cause) });

function send(word: ThreadWord): void {
  parentPort?.postMessage(word);
}
