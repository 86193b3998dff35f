import { expect, test } from "bun:test";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { LightCancellation } from "../../lib/waiting.ts";
import { post } from "./http.ts";

test.each(["content-length: 1000\r\n", ""])(
  "of an error that breaks off, what has arrived is read (%j)",
  async (header) => {
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        async data(socket) {
          socket.write(`HTTP/1.1 400 Bad Request\r\n${header}content-type: text/plain\r\n\r\nthe model is`);
          await Bun.sleep(20);
          socket.end();
        },
      },
    });
    const texts: string[] = [];
    const called = post(
      { url: `http://127.0.0.1:${server.port}/`, headers: {}, body: "{}", signal: new LightCancellation() },
      (_, text) => {
        texts.push(text);
        return new UpstreamError("rejected", text);
      },
    );
    expect(await called.catch((error: unknown) => error)).toBeInstanceOf(UpstreamError);
    expect(texts).toEqual(["the model is"]);
  },
);
