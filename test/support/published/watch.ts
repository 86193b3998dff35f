import { z } from "zod";
import { answersOf } from "./answers.ts";
import type { StreamReader } from "./streams.ts";

const MAX_CHECKED_BYTES = 256 * 1024;

/**
 * Returns the response, checked against the published schemas. A small complete response is checked immediately, a
 * stream while it is read. `report` receives each problem.
 */
export async function watchResponse(
  path: string,
  response: Response,
  report: (problem: string) => void,
): Promise<Response> {
  const { status, headers } = response;
  const answers = answersOf(path);
  if (!answers || response.body === null) return response;
  const type = headers.get("content-type")?.split(";")[0];
  const told = (problem: string) => report(`${path} ${status}: ${problem}`);
  if (type === "text/event-stream" && answers.stream) return watchStream(response, answers.stream(), told);
  if (type !== "application/json") return response;
  const schema = response.ok ? answers.whole : answers.error;
  const check = (text: string) => attempt(() => schema.parse(JSON.parse(text)), text, told);
  const length = headers.get("content-length");
  if (length === null && answers.stream) return watchArray(response, check);
  if (Number(length ?? Infinity) <= MAX_CHECKED_BYTES) check(await response.clone().text());
  return response;
}

function watchStream(response: Response, reader: StreamReader, report: (problem: string) => void): Response {
  const frames = new Frames();
  let isLawful = true;
  function check(what: string, act: () => void): void {
    isLawful &&= attempt(act, what, report);
  }
  return observed(response, {
    take(bytes) {
      for (const frame of frames.add(bytes)) check(frame, () => readFrame(frame, reader));
    },
    end: () => {
      const { rest } = frames;
      if (reader.bare && rest !== "") check(rest, () => reader.bare?.(rest));
      check("the end", () => reader.end());
    },
  });
}

/** Checks a stream that is one JSON value. */
function watchArray(response: Response, check: (text: string) => void): Response {
  const pieces: Uint8Array[] = [];
  return observed(response, {
    take: (bytes) => void pieces.push(bytes.slice()),
    end: () => check(Buffer.concat(pieces).toString()),
  });
}

/** Returns a response like the given one. `take` gets the bytes when they are read. */
function observed(
  response: Response,
  { take, end }: { take(bytes: Uint8Array): void; end(): void },
): Response {
  const source = response.body!.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await source.read();
        if (value) take(value);
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers, url, redirected } = response;
  const made = new Response(body, { status, statusText, headers });
  return Object.defineProperties(made, { url: { value: url }, redirected: { value: redirected } });
}

function readFrame(frame: string, reader: StreamReader): void {
  const lines = frame.split(/\r\n|\n|\r/).filter((line) => !line.startsWith(":"));
  const valueOf = (name: string): string | undefined => {
    const values = lines.filter((line) => line.startsWith(`${name}:`));
    return values.length === 0
      ? undefined
      : values.map((line) => line.slice(name.length + 1).replace(/^ /, "")).join("\n");
  };
  const data = valueOf("data");
  if (data !== undefined) reader.read(valueOf("event"), data);
}

/** Cuts bytes into frames. */
class Frames {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The received part of the next frame. */
  get rest(): string {
    return this.#rest;
  }

  add(bytes: Uint8Array): string[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const frames = this.#rest.split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = frames.pop()!;
    return frames;
  }
}

/** Returns true when `act` did not throw. Otherwise reports the problem. */
function attempt(act: () => void, text: string, report: (problem: string) => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    report(`${problemOf(error)} in ${text.slice(0, 400)}`);
    return false;
  }
}

function problemOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return String(error);
  return error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
