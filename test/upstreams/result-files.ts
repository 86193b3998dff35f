import type { Answer, ReceivedRequest } from "./connection.ts";
import { strikeFirst } from "./delivery.ts";
import type { Plan } from "./plan.ts";

/** Pictures a simulated vendor keeps for a while and gives links to. Whoever sends a credential is refused. */
export interface ResultFiles {
  /** Keeps a picture and answers the path of its link. `linked` says how requests of it are answered, in turn. */
  keep(picture: Buffer, format: string, linked?: readonly Plan[]): string;
  /** Answers a request of a link; false when it is no such request. */
  serve(request: ReceivedRequest, answer: Answer): Promise<boolean>;
}

interface ResultFile {
  picture: Buffer;
  format: string;
  plans: Plan[];
}

const CREDENTIALS = ["authorization", "x-api-key", "x-key", "cookie"];

export function createResultFiles(): ResultFiles {
  const files = new Map<string, ResultFile>();
  return {
    keep(picture, format, linked = []) {
      const path = `/results/${files.size + 1}.${format}`;
      files.set(path, { picture, format, plans: [...linked] });
      return path;
    },
    async serve({ method, path, headers }, answer) {
      if (!path.startsWith("/results/")) return false;
      const file = files.get(path);
      const plan = file?.plans.shift() ?? {};
      if (await strikeFirst(plan, answer)) return true;
      if (!file || method !== "GET") await send(answer, 404, "text/plain", Buffer.from("gone"));
      else if (CREDENTIALS.some((name) => headers[name] !== undefined))
        await send(answer, 400, "text/plain", Buffer.from("a credential was sent"));
      else if (plan.fault === "error-status")
        await send(answer, plan.status ?? 403, "text/plain", Buffer.from("expired"));
      else await send(answer, 200, `image/${file.format}`, file.picture, plan);
      return true;
    },
  };
}

async function send(
  answer: Answer,
  status: number,
  type: string,
  bytes: Buffer,
  plan: Plan = {},
): Promise<void> {
  await answer.start(status, { "content-type": type, "content-length": String(bytes.byteLength) });
  if (plan.fault === "reset-midway" || plan.fault === "stall-midway") {
    await answer.write(bytes.subarray(0, bytes.byteLength / 2));
    return plan.fault === "stall-midway" ? answer.gone() : answer.cut("rst");
  }
  await answer.write(bytes);
  await answer.end();
}
