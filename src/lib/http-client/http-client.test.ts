import { afterEach, describe, expect, spyOn, test } from "bun:test";
import type { SocketHandler } from "bun";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, deflateSync } from "node:zlib";
import { NetworkGuard } from "../network-guard.ts";
import { LightCancellation } from "../waiting.ts";
import { HttpClient } from "./http-client.ts";
import { HttpError } from "./http-error.ts";

interface Peer {
  url: string;
  connections: number;
  closed: number;
  /** All bytes that the server has received. */
  received: string;
}

const closers: (() => unknown)[] = [];
afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

type Send = (text: string) => void;

/** Starts a server of raw bytes. Calls `answer` with the number of each request whose text ends with `body`. */
function listen(
  answer: (send: Send, socket: { end(): void; terminate(): void }, request: number) => void,
): Peer {
  let requests = 0;
  const listener = Bun.listen<{ text: string }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { text: "" };
        peer.connections++;
      },
      data(socket, bytes) {
        peer.received += bytes.toString("latin1");
        socket.data.text += bytes.toString("latin1");
        if (!socket.data.text.endsWith("body")) return;
        socket.data.text = "";
        answer((text) => void socket.write(text), socket, ++requests);
      },
      close: () => void peer.closed++,
    },
  });
  const peer: Peer = {
    url: `http://127.0.0.1:${listener.port}/a?b`,
    connections: 0,
    closed: 0,
    received: "",
  };
  closers.push(() => listener.stop(true));
  return peer;
}

const HEADERS = { "x-a": "b" };
const never = () => new AbortController().signal;
const post = (client: HttpClient, url: string, signal = never(), body = "body") =>
  client.post({ url, headers: HEADERS, body, signal });
const reply = (text: string, more = "") =>
  `HTTP/1.1 200 OK\r\n${more}content-length: ${text.length}\r\n\r\n${text}`;

async function kindOf(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof HttpError ? error.kind : error;
}

async function until(isTrue: () => boolean): Promise<void> {
  // Waits at least one turn of the event loop, in which both sides receive sent bytes.
  for (let tries = 0; tries === 0 || (!isTrue() && tries < 500); tries++) await Bun.sleep(10);
  expect(isTrue()).toBe(true);
}

test("a request is written as it is, and its connection carries the next one", async () => {
  const peer = listen((send, _socket, request) => send(reply(`answer ${request}`)));
  const client = new HttpClient();
  for (const expected of ["answer 1", "answer 2"]) {
    const response = await post(client, peer.url);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(expected);
  }
  expect(peer.connections).toBe(1);
  const { host } = new URL(peer.url);
  const request = `POST /a?b HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\nx-a: b\r\ncontent-length: 4\r\n\r\nbody`;
  expect(peer.received).toBe(request.repeat(2));
});

test.each([0, 100_000])("a request of a trace has its header, with %d more bytes", async (more) => {
  const body = `${"x".repeat(more)}body`;
  const peer = listen((send) => send(reply("yes")));
  const signal = new LightCancellation();
  signal.traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  await new HttpClient().post({ url: peer.url, headers: HEADERS, body, signal });
  const { host } = new URL(peer.url);
  const head = `POST /a?b HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\nx-a: b\r\ncontent-length: ${body.length}`;
  expect(peer.received === `${head}\r\ntraceparent: ${signal.traceparent}\r\n\r\n${body}`).toBe(true);
});

test("requests at the same time have connections of their own", async () => {
  const peer = listen((send) => setTimeout(() => send(reply("x")), 20));
  const client = new HttpClient();
  const bodies = ["first body", "second body", "third body"];
  await Promise.all(bodies.map(async (body) => (await post(client, peer.url, never(), body)).text()));
  expect(peer.connections).toBe(3);
  for (const body of bodies) expect(peer.received).toContain(`\r\n\r\n${body}`);
});

test("requests that sockets take piece by piece at the same time arrive as they are", async () => {
  const received: string[] = [];
  const connect = spyOn(Bun, "connect").mockImplementation((async ({
    socket: handlers,
    data,
  }: FakeOptions) => {
    const index = received.push("") - 1;
    const socket = {
      data,
      write(bytes: Buffer): number {
        const taken = bytes.subarray(0, 50);
        received[index] += taken.toString();
        if (bytes.length > 50) setTimeout(() => handlers.drain?.(socket as never), 1);
        else setTimeout(() => handlers.data?.(socket as never, Buffer.from(reply("done")) as never), 1);
        return taken.length;
      },
      setNoDelay() {},
      timeout() {},
      ref() {},
      unref() {},
      resume() {},
    };
    handlers.open?.(socket as never);
    return socket;
  }) as never);
  try {
    const client = new HttpClient();
    for (const round of ["on new connections", "on kept ones"]) {
      received.fill("");
      const bodies = ["a", "b"].map((letter) => `${letter.repeat(500)} ${round}`);
      const calls = bodies.map((body) => post(client, "http://peer.test/", never(), body));
      for (const call of calls) expect(await (await call).text()).toBe("done");
      for (const body of bodies)
        expect(received.filter((text) => text.endsWith(`\r\n\r\n${body}`)).length).toBe(1);
    }
    expect(received.length).toBe(2);
  } finally {
    connect.mockRestore();
  }
});

type FakeOptions = { socket: SocketHandler<unknown>; data: unknown };

describe("a connection carries no further request after", () => {
  test.each<[string, (send: Send, socket: { end(): void }) => void]>([
    ["a response that says so", (send) => send(reply("x", "connection: close\r\n"))],
    ["bytes that nobody asked for", (send) => (send(reply("x")), send(reply("y")))],
    ["its end while it was unused", (send, socket) => (send(reply("x")), socket.end())],
  ])("%s", async (_name, answer) => {
    const peer = listen(answer);
    const client = new HttpClient();
    for (const connections of [1, 2]) {
      expect(await (await post(client, peer.url)).text()).toBe("x");
      expect(peer.connections).toBe(connections);
      await until(() => peer.closed === connections);
    }
  });

  test("a body that was cancelled", async () => {
    const peer = listen((send) => send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"));
    const client = new HttpClient();
    for (const connections of [1, 2]) {
      const { body } = await post(client, peer.url);
      expect((await body.getReader().read()).value).toEqual(Buffer.from("x"));
      await body.cancel();
      await until(() => peer.closed === connections);
    }
  });
});

test("a failure that a server sends unasked does not shift responses to other requests", async () => {
  const failure = "HTTP/1.1 500 Failed\r\ncontent-length: 0\r\n\r\n";
  const peer = listen((send, _socket, request) => {
    // The client sends the second request before it has read this failure.
    if (request === 2) send(failure);
    setTimeout(() => send(reply(`answer ${request}`)), 5);
  });
  const client = new HttpClient();
  expect(await (await post(client, peer.url)).text()).toBe("answer 1");
  const met = await post(client, peer.url);
  expect([met.status, await met.text()]).toEqual([500, ""]);
  expect(await (await post(client, peer.url)).text()).toBe("answer 3");
  expect(peer.connections).toBe(2);
});

test("a request that a kept connection loses is not sent again", async () => {
  const peer = listen((send, socket, request) => (request === 1 ? send(reply("x")) : socket.terminate()));
  const client = new HttpClient();
  await (await post(client, peer.url)).text();
  expect(await kindOf(post(client, peer.url))).toBe("closed");
  expect(peer.connections).toBe(1);
  expect(peer.received.split("body").length).toBe(3);
});

describe("the signal ends", () => {
  test("a call before it begins", async () => {
    expect(await kindOf(post(new HttpClient(), "http://127.0.0.1:9/", AbortSignal.abort("why")))).toBe("why");
  });

  test("the wait for a response, and the connection", async () => {
    const peer = listen(() => {});
    const controller = new AbortController();
    const call = post(new HttpClient(), peer.url, controller.signal);
    await until(() => peer.received !== "");
    controller.abort("why");
    expect(await kindOf(call)).toBe("why");
    await until(() => peer.closed === 1);
  });

  test("a body", async () => {
    const peer = listen((send) => send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n"));
    const controller = new AbortController();
    const { body } = await post(new HttpClient(), peer.url, controller.signal);
    const reader = body.getReader();
    await reader.read();
    const rest = reader.read();
    controller.abort("why");
    expect(await kindOf(rest)).toBe("why");
    await until(() => peer.closed === 1);
  });

  test("nothing after the response: the connection is kept", async () => {
    const peer = listen((send) => send(reply("x")));
    const client = new HttpClient();
    const controller = new AbortController();
    const response = await post(client, peer.url, controller.signal);
    expect(await response.text()).toBe("x");
    controller.abort("late");
    await (await post(client, peer.url)).text();
    expect(peer.connections).toBe(1);
  });
});

test("large and small requests go out whole, one after the other, as fast as the other side reads", async () => {
  await using server = Bun.serve({
    port: 0,
    maxRequestBodySize: 2 ** 30,
    fetch: async (request, self) =>
      new Response(`${Bun.hash(await request.bytes())} ${self.requestIP(request)?.port}`),
  });
  const client = new HttpClient();
  const ports = new Set<string>();
  for (const length of [4 * 1024 * 1024, 3, 22_000, 21_000, 2 * 1024 * 1024]) {
    // The runtime stores a joined string in parts, such as a body in which the model's name was replaced.
    const body = `${"ä".repeat(length)}${length}${"x".repeat(length)}`;
    const response = await post(client, server.url.href, never(), body);
    const [hash, port = ""] = (await response.text()).split(" ");
    expect(hash).toBe(String(Bun.hash(Buffer.from(body))));
    ports.add(port);
  }
  expect(ports.size).toBe(1);
});

test("a response is read from the network no faster than by its reader", async () => {
  const total = 64 * 1024 * 1024;
  let sent = 0;
  const piece = Buffer.alloc(64 * 1024);
  const fill = (socket: { write(bytes: Uint8Array): number }): void => {
    while (sent < total) {
      const taken = socket.write(piece.subarray(0, Math.min(piece.length, total - sent)));
      sent += Math.max(0, taken);
      if (taken < piece.length) return;
    }
  };
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`);
        fill(socket);
      },
      drain: fill,
    },
  });
  closers.push(() => listener.stop(true));
  const { body } = await post(new HttpClient(), `http://127.0.0.1:${listener.port}/`);
  await Bun.sleep(300);
  // The limit is higher than the bytes that wait here, because kernel buffers on both sides also take bytes.
  expect(sent).toBeLessThan(total / 2);
  let length = 0;
  for await (const each of body) length += each.length;
  expect(length).toBe(total);
}, 20_000);

test.each(["gzip", "deflate", "br", "zstd"])("a body that is encoded with %s is decoded", async (coding) => {
  const text = "hello ".repeat(1000);
  const encoded = {
    gzip: () => Bun.gzipSync(text),
    deflate: () => new Uint8Array(deflateSync(text)),
    br: () => new Uint8Array(brotliCompressSync(text)),
    zstd: () => Bun.zstdCompressSync(text),
  }[coding]!();
  await using server = Bun.serve({
    port: 0,
    fetch: () => new Response(encoded, { headers: { "content-encoding": coding } }),
  });
  expect(await (await post(new HttpClient(), server.url.href)).text()).toBe(text);
});

test("a header that would be another line is refused before anything is sent", async () => {
  const peer = listen((send) => send(reply("x")));
  const headers = { "x-a": "b\r\nx-c: d" };
  const call = new HttpClient().post({ url: peer.url, headers, body: "body", signal: never() });
  expect(await kindOf(call)).toBe("unsent");
  expect(peer.connections).toBe(0);
});

test("nobody listening, or no such host, is unsent", async () => {
  for (const url of ["http://127.0.0.1:9/", "http://does-not-exist.invalid/"])
    expect(await kindOf(post(new HttpClient(), url))).toBe("unsent");
});

test.skipIf(!Bun.which("openssl"))(
  "only a certificate of the right name and a known authority gets the request",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "http-client-"));
    const make = async (name: string, subject: string) => {
      const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
      const command = `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=x -keyout ${key} -out ${cert}`;
      expect(Bun.spawnSync([...command.split(" "), "-addext", `subjectAltName=${subject}`]).success).toBe(
        true,
      );
      return { key: await Bun.file(key).text(), cert: await Bun.file(cert).text() };
    };
    let requests = 0;
    const serve = (tls: { key: string; cert: string }) => {
      const server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        tls,
        fetch: () => new Response(String(++requests)),
      });
      closers.push(() => server.stop(true));
      return `https://localhost:${server.port}/`;
    };
    const right = await make("right", "DNS:localhost");
    const other = await make("other", "DNS:other.example");
    const url = serve(right);
    expect(await kindOf(post(new HttpClient(), url))).toBe("unsent");
    // The guard selects the address, but the certificate must be valid for the name.
    const guard = new NetworkGuard(["127.0.0.0/8"], async () => ["127.0.0.1"]);
    for (const [client, link, kind] of [
      [new HttpClient(right.cert), url, null],
      [new HttpClient(right.cert), url.replace("localhost", "other.example"), "unsent"],
      [new HttpClient(), url, "unsent"],
    ] as const)
      expect(
        await kindOf(client.post({ url: link, headers: HEADERS, body: "", signal: never(), guard })),
      ).toBe(kind);
    requests = 0;
    const wrong = serve(other);
    for (const each of [wrong, wrong.replace("localhost", "127.0.0.1")])
      expect(await kindOf(post(new HttpClient(other.cert), each))).toBe("unsent");
    expect(requests).toBe(0);
    const client = new HttpClient(right.cert);
    for (const expected of ["1", "2"]) expect(await (await post(client, url)).text()).toBe(expected);
  },
);
