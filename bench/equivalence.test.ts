import { expect, test } from "bun:test";
import { chatReplyBody, PUBLIC_MODEL, streamFrames, UPSTREAM_MODEL } from "./chat-samples.ts";
import type { Reply } from "./client-connection.ts";
import { assertCompleteStream, assertSameReply, assertWhole } from "./equivalence.ts";

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

test("another gateway may write JSON in its own way, but not leave anything out", () => {
  const streamOf = (parts: string[]): Reply => ({ ...upstream, body: parts.join("") });
  const frames = streamFrames(true);
  const chat: Reply = {
    ...upstream,
    head: "HTTP/1.1 200 OK\r\ncontent-type: application/json",
    body: chatReplyBody(),
  };
  const rewritten = { provider: "openai", ...JSON.parse(chat.body) };
  expect(assertWhole(upstream, { ...upstream, body: renamed })).toEqual({ isSameBytes: true });
  expect(assertWhole(upstream, streamOf([": ping\n\n", ...frames]))).toEqual({ isSameBytes: false });
  expect(assertWhole(chat, { ...chat, body: JSON.stringify(rewritten) })).toEqual({ isSameBytes: false });
  const isRefused = (other: Reply, what: string, first = upstream) =>
    expect(() => assertWhole(first, other)).toThrow(`Not equivalent: ${what} is`);
  isRefused(streamOf(frames.toSpliced(1, 1)), "text");
  isRefused(streamOf(frames.toSpliced(-1)), "last frame");
  isRefused(streamOf(frames.toSpliced(-2, 1)), "usage");
  isRefused(streamOf(frames.toSpliced(-3, 1)), "end");
  isRefused({ ...chat, body: JSON.stringify({ ...rewritten, usage: null }) }, "usage", chat);
  isRefused({ ...chat, status: 500 }, "status", chat);
  const [one = "", two = ""] = frames;
  const joined = one.replace('"content":"So"', '"content":"So word1"');
  expect(two).toContain('"content":" word1"');
  isRefused(streamOf([joined, ...frames.slice(2)]), "pieces of text");
});
