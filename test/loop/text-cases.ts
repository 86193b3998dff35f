import { TEXT_DIALECTS } from "../../src/dialects/text.ts";
import { CALLERS } from "../support/text-matrix.ts";
import type { LoopCase, LoopWorld } from "./case.ts";
import { STREAMED_REPLIES, WHOLE_REPLIES, WORDS } from "./growing-replies.ts";
import { GROWING_REQUESTS, mostOf } from "./growing-requests.ts";
import { compressedAnswer, modelOver, streamAnswer, tinyChunks, wholeAnswer } from "./world.ts";

type Dialect = (typeof TEXT_DIALECTS)[number];

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const PATHS: Readonly<Record<Dialect, string>> = {
  chat: "POST /v1/chat/completions",
  messages: "POST /v1/messages",
  responses: "POST /v1/responses",
  native: "POST /v1beta/models/{call}",
};

/** A case for each growing kind of request, for each pair of caller's and vendor's dialects. */
const requests: LoopCase[] = TEXT_DIALECTS.flatMap((caller) =>
  Object.entries(GROWING_REQUESTS[caller]).flatMap(([kind, make]) =>
    TEXT_DIALECTS.map((vendor): LoopCase => ({
      name: `${caller} → ${vendor}: ${kind}`,
      covers: [PATHS[caller], `${caller} → ${vendor}`],
      most: mostOf(make, MAX_BODY_BYTES),
      async prepare(world, count) {
        world.vendor.answer = () => wholeAnswer([JSON.stringify(WORDS[vendor].whole({}))]);
        const send = call(world, caller, modelOver(vendor), make(count), false);
        return async () => void (await send());
      },
    })),
  ),
);

/** A case for each growing kind of vendor response, for each pair of vendor's and caller's dialects. */
const answers: LoopCase[] = TEXT_DIALECTS.flatMap((vendor) =>
  TEXT_DIALECTS.flatMap((caller) => [
    ...Object.entries(WHOLE_REPLIES).map(([kind, { most, make }]) =>
      answerCase(caller, vendor, { kind: `whole ${kind}`, most, isStream: false }, (count) =>
        wholeAnswer(make(WORDS[vendor])(count)),
      ),
    ),
    ...Object.entries(STREAMED_REPLIES).map(([kind, { most, make }]) =>
      answerCase(caller, vendor, { kind: `streamed ${kind}`, most, isStream: true }, (count) =>
        streamAnswer(make(WORDS[vendor])(count)),
      ),
    ),
    answerCase(
      caller,
      vendor,
      { kind: "whole compressed zeros", most: 60_000_000, isStream: false },
      (count) => compressedAnswer(Buffer.alloc(count)),
    ),
    answerCase(caller, vendor, { kind: "streamed bytes", most: 10_000_000, isStream: true }, (count) =>
      tinyChunks([WORDS[vendor].begin, "data: ", "x".repeat(count)]),
    ),
    answerCase(
      caller,
      vendor,
      { kind: "interim responses", most: 1_000_000, isStream: true },
      function* (count) {
        for (let index = 0; index < count; index += 1) yield "HTTP/1.1 103 Early Hints\r\n\r\n";
      },
    ),
  ]),
);

function answerCase(
  caller: Dialect,
  vendor: Dialect,
  { kind, most, isStream }: { kind: string; most: number; isStream: boolean },
  answer: (count: number) => Iterable<string | Uint8Array>,
): LoopCase {
  return {
    name: `${caller} ← ${vendor}: ${kind}`,
    covers: [`${caller} ← ${vendor}`],
    most,
    async prepare(world, count) {
      // The response is made before the measurement. Each piece is one write.
      const pieces = await written(answer(count));
      let isAsked = false;
      world.vendor.answer = () => {
        isAsked = true;
        return pieces;
      };
      const body = CALLERS[caller].body("m", "text", isStream);
      const send = call(world, caller, modelOver(vendor), body, isStream);
      return async () => {
        const answered = await send();
        if (!isAsked) throw new Error(`The vendor was not called: ${answered}`);
      };
    },
  };
}

async function written(pieces: Iterable<string | Uint8Array>): Promise<Buffer[]> {
  const writes: Buffer[] = [];
  let some: Buffer[] = [];
  let length = 0;
  for (const piece of pieces) {
    some.push(Buffer.from(piece));
    length += piece.length;
    if (length < 64 * 1024) continue;
    writes.push(Buffer.concat(some));
    some = [];
    length = 0;
  }
  return [...writes, Buffer.concat(some)];
}

function call(
  { gateway }: LoopWorld,
  caller: Dialect,
  model: string,
  content: object,
  isStream: boolean,
): () => Promise<string> {
  const body = JSON.stringify(
    caller === "native"
      ? content
      : { ...content, model, ...(caller === "messages" && { max_tokens: 100 }), stream: isStream },
  );
  const path = CALLERS[caller].path(model, isStream);
  const headers = { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" };
  return async () => {
    const response = await fetch(`${gateway.url}${path}`, { method: "POST", headers, body });
    return response.text().catch(String);
  };
}

export const TEXT_CASES: readonly LoopCase[] = [...requests, ...answers];
