import { expect, test } from "bun:test";
import { streamFrames } from "./stream.ts";

test.each([undefined, 1_000])("an empty frame does not end a stream of %p frames a second", async (pace) => {
  const frames = ["one ", "", "", "two"].values();
  const stream = streamFrames(frames, { framesPerSecond: pace, signal: new AbortController().signal });
  expect(await new Response(stream).text()).toBe("one two");
});
