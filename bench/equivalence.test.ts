import { expect, test } from "bun:test";
import { PUBLIC_MODEL, streamFrames, UPSTREAM_MODEL } from "./chat-samples.ts";
import type { Reply } from "./client-connection.ts";
import { assertSameReply, assertCompleteStream } from "./equivalence.ts";

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
const upstream: Reply = { status: 200, head, body: streamFrames(true).join("") };
const renamed = upstream.body.replaceAll(UPSTREAM_MODEL, PUBLIC_MODEL);

test("replies that differ only in the model's name are equal", () => {
  expect(() => assertSameReply(upstream, { ...upstream, body: renamed })).not.toThrow();
});

test("another status, type or byte is reported", () => {
  expect(() => assertSameReply(upstream, { ...upstream, body: renamed, status: 201 })).toThrow("status");
  expect(() =>
    assertSameReply(upstream, { ...upstream, body: renamed, head: "HTTP/1.1 200 OK\r\ncontent-type: a/b" }),
  ).toThrow("content type");
  expect(() => assertSameReply(upstream, { ...upstream, body: `${renamed} ` })).toThrow("bytes differ");
  expect(() => assertSameReply(upstream, upstream)).toThrow("bytes differ");
});

test("a stream needs all its frames and one usage chunk before [DONE]", () => {
  const frames = streamFrames(true);
  const usage = frames.at(-2)!;
  const streamOf = (parts: string[]): Reply => ({ status: 200, head, body: parts.join("") });
  expect(() => assertCompleteStream(streamOf(frames))).not.toThrow();
  expect(() => assertCompleteStream(streamOf(streamFrames(false)))).toThrow("frames");
  expect(() => assertCompleteStream(streamOf([...frames.slice(1, -1), usage, frames.at(-1)!]))).toThrow(
    "usage chunks",
  );
  expect(() => assertCompleteStream(streamOf([usage, ...frames.slice(0, -2), frames.at(-1)!]))).toThrow(
    "place",
  );
});
