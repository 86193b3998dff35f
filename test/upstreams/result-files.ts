import type { SimulatedResponse, ReceivedRequest } from "./http-server.ts";
import { applyEarlyFault } from "./transport.ts";
import type { Behaviour } from "./behaviour.ts";

/** Pictures that a simulated vendor stores. Their links refuse requests with a credential. */
export interface ResultFiles {
  /** Stores a picture and returns its link's path. Each request of the link uses the next behaviour. */
  keep(picture: Buffer, format: string, linkBehaviours?: readonly Behaviour[]): string;
  /** Handles a request of a link. Returns false for any other request. */
  serve(request: ReceivedRequest, response: SimulatedResponse): Promise<boolean>;
}

interface ResultFile {
  picture: Buffer;
  format: string;
  behaviours: Behaviour[];
}

const CREDENTIALS = ["authorization", "x-api-key", "x-key", "cookie"];

export function createResultFiles(): ResultFiles {
  const files = new Map<string, ResultFile>();
  return {
    keep(picture, format, linkBehaviours = []) {
      const path = `/results/${files.size + 1}.${format}`;
      files.set(path, { picture, format, behaviours: [...linkBehaviours] });
      return path;
    },
    async serve({ method, path, headers }, response) {
      if (!path.startsWith("/results/")) return false;
      const file = files.get(path);
      const behaviour = file?.behaviours.shift() ?? {};
      if (await applyEarlyFault(behaviour, response)) return true;
      if (!file || method !== "GET") await send(response, 404, "text/plain", Buffer.from("gone"));
      else if (CREDENTIALS.some((name) => headers[name] !== undefined))
        await send(response, 400, "text/plain", Buffer.from("a credential was sent"));
      else if (behaviour.fault === "error-status")
        await send(response, behaviour.status ?? 403, "text/plain", Buffer.from("expired"));
      else await send(response, 200, `image/${file.format}`, file.picture, behaviour);
      return true;
    },
  };
}

async function send(
  response: SimulatedResponse,
  status: number,
  type: string,
  bytes: Buffer,
  behaviour: Behaviour = {},
): Promise<void> {
  await response.start(status, { "content-type": type, "content-length": String(bytes.byteLength) });
  if (behaviour.fault === "reset-midway" || behaviour.fault === "stall-midway") {
    await response.write(bytes.subarray(0, bytes.byteLength / 2));
    return behaviour.fault === "stall-midway" ? response.closed() : response.cut("rst");
  }
  await response.write(bytes);
  await response.end();
}
