import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { getServers } from "node:dns";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestGateway, until } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";
import { createSafeFetch, SafeFetchError, type SafeFetchLimits } from "../../src/lib/safe-fetch.ts";

/*
 * The safe fetch with its resolver and connections. This file runs itself in a network namespace in which this machine
 * has public addresses.
 */
const IS_INSIDE = process.env.SAFE_FETCH_NETWORK === "own";
const PUBLIC = "93.184.216.34";
const PUBLIC_V6 = "2606:2800:21f:cb07::1";
const INNER = [
  "127.0.0.1",
  "10.0.0.5",
  "169.254.169.254",
  "168.63.129.16",
  "100.100.100.200",
  "::1",
  "fd00:ec2::254",
];

function run(command: readonly string[], env: Record<string, string> = {}) {
  const options = { env: { ...process.env, ...env }, stdout: "pipe", stderr: "pipe" } as const;
  try {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...command], options);
    return { exitCode, text: `${stdout}${stderr}` };
  } catch {
    return { exitCode: -1, text: "" };
  }
}

const canSeparate =
  run(["unshare", "-rn", "ip", "link", "set", "lo", "up"]).exitCode === 0 &&
  run(["openssl", "version"]).exitCode === 0;
if (!IS_INSIDE && !canSeparate)
  console.warn("SKIPPED: links against a real network need unshare, ip and openssl, which are missing here");

test.skipIf(!canSeparate || IS_INSIDE)(
  "the safe fetch works where public addresses are reachable",
  () => {
    const addresses = [...new Set([PUBLIC, PUBLIC_V6, ...INNER, ...nameServers()])].filter(
      (address) => !address.startsWith("127.") && address !== "::1",
    );
    const script = [
      "ip link set lo up",
      ...addresses.map((one) => `ip addr add ${one}/${one.includes(":") ? "128 nodad" : "32"} dev lo`),
      `exec ${process.execPath} test ${import.meta.path}`,
    ].join(" && ");
    const result = run(["unshare", "-rn", "sh", "-c", script], {
      SAFE_FETCH_NETWORK: "own",
      HTTPS_PROXY: "http://127.0.0.1:9",
      HTTP_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "127.0.0.1",
    });
    if (result.exitCode !== 0) throw new Error(result.text);
    expect(result.text).toContain("0 fail");
  },
  60_000,
);

function nameServers(): string[] {
  return getServers().map((server) => server.replace(/^\[(.*)\](:\d+)?$/, "$1"));
}

if (IS_INSIDE) describe("in its own network namespace", describeNetwork);

function describeNetwork(): void {
  const names: Record<string, string[][]> = {
    "pics.example.com": [[PUBLIC]],
    "six.example.com": [[PUBLIC_V6]],
    "both.example.com": [[PUBLIC, PUBLIC_V6]],
    "dead-first.example.com": [["93.184.216.35", PUBLIC]],
    "loop.example.com": [["127.0.0.1"]],
    "loop6.example.com": [["::1"]],
    "meta.example.com": [["169.254.169.254"]],
    "mapped.example.com": [["::ffff:7f00:1"]],
    "zero.example.com": [["0.0.0.0"]],
    "ula.example.com": [["fd00:ec2::254"]],
    "mixed.example.com": [[PUBLIC, "10.0.0.5"]],
    "rebind.example.com": [[PUBLIC], ["127.0.0.1"]],
    "other-name.example.net": [[PUBLIC]],
  };
  const lookups = new Map<string, number>();
  const canaries = new Map<string, number>();
  const closers: (() => unknown)[] = [];
  let directory = "";
  /** Number of requests that got no response. */
  let silent = 0;
  let certificateAuthority = "";
  const hangup = Promise.withResolvers<void>();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "safe-fetch-test-"));
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
    const subject = `subjectAltName=DNS:*.example.com,IP:${PUBLIC},IP:${PUBLIC_V6}`;
    const made = run(
      `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=test -keyout ${key} -out ${cert} -addext ${subject}`.split(
        " ",
      ),
    );
    expect(made.exitCode).toBe(0);
    certificateAuthority = await Bun.file(cert).text();
    for (const hostname of [PUBLIC, PUBLIC_V6]) {
      const server = Bun.serve({
        hostname,
        port: 443,
        idleTimeout: 60,
        tls: { key: Bun.file(key), cert: Bun.file(cert) },
        fetch: respond,
      });
      closers.push(() => server.stop(true));
    }
    for (const hostname of INNER) {
      const open = () => void canaries.set(hostname, (canaries.get(hostname) ?? 0) + 1);
      for (const port of [443, 80]) {
        const listener = Bun.listen({ hostname, port, socket: { open, data: () => undefined } });
        closers.push(() => listener.stop(true));
      }
    }
    for (const hostname of nameServers()) {
      const socket = await Bun.udpSocket({
        hostname,
        port: 53,
        socket: { data: (socket, query, port, address) => void socket.send(reply(query), port, address) },
      });
      closers.push(() => socket.close());
    }
  });

  afterAll(async () => {
    for (const close of closers) await close();
    await rm(directory, { recursive: true, force: true });
  });

  function respond(request: Request): Response | Promise<Response> {
    const path = new URL(request.url).pathname;
    const to = (location: string) => new Response(null, { status: 302, headers: { location } });
    const target = new URL(request.url).searchParams.get("to");
    if (target !== null) return to(target);
    const endless = (everyMs: number, size: number) => {
      let isOpen = true;
      return new ReadableStream({
        async pull(controller) {
          await Bun.sleep(everyMs);
          if (isOpen) controller.enqueue(new Uint8Array(size));
        },
        cancel() {
          isOpen = false;
          hangup.resolve();
        },
      });
    };
    const responses: Record<string, () => Response | Promise<Response>> = {
      "/picture": () => new Response(`picture for ${request.headers.get("host")}`),
      "/png": () => new Response(makePng(64, 64)),
      "/headers": () => Response.json(Object.fromEntries(request.headers)),
      "/hop3": () => to("/hop2"),
      "/hop2": () => to("https://six.example.com/hop1"),
      "/hop1": () => to("//pics.example.com/picture"),
      "/loop": () => to("/loop"),
      "/gzip": () =>
        new Response(Bun.gzipSync(Buffer.from("x")), { headers: { "content-encoding": "gzip" } }),
      "/endless": () => new Response(endless(0, 65_536)),
      "/drip": () => new Response(endless(50, 1)),
      "/silent": () => {
        silent += 1;
        return new Promise<Response>(() => undefined);
      },
    };
    return responses[path]?.() ?? new Response("no", { status: 404 });
  }

  function reply(query: Buffer): Buffer {
    let at = 12;
    const labels: string[] = [];
    while (query[at]) {
      labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
      at += 1 + query[at]!;
    }
    const question = query.subarray(12, at + 5);
    const name = labels.join(".").toLowerCase();
    const isV6 = query.readUInt16BE(at + 1) === 28;
    const turn = lookups.get(`${name} ${isV6}`) ?? 0;
    lookups.set(`${name} ${isV6}`, turn + 1);
    const sets = names[name];
    const found = (sets?.[Math.min(turn, sets.length - 1)] ?? []).filter((one) => one.includes(":") === isV6);
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(sets ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(found.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, question, ...found.map((address) => record(address, isV6))]);
  }

  function record(address: string, isV6: boolean): Buffer {
    const data = isV6 ? v6Bytes(address) : Buffer.from(address.split(".").map(Number));
    const head = Buffer.from([0xc0, 12, 0, isV6 ? 28 : 1, 0, 1, 0, 0, 0, 0, 0, data.byteLength]);
    return Buffer.concat([head, data]);
  }

  function v6Bytes(address: string): Buffer {
    const [front = "", back = ""] = address.split("::").map((half) =>
      half
        .split(":")
        .filter(Boolean)
        .map((group) => group.padStart(4, "0"))
        .join(""),
    );
    return Buffer.from(front + "0".repeat(32 - front.length - back.length) + back, "hex");
  }

  async function download(
    link: string,
    limits: Partial<SafeFetchLimits> = {},
    maxBytes?: number,
  ): Promise<string> {
    const guarded = createSafeFetch({ certificateAuthority, limits });
    const pieces: Uint8Array[] = [];
    try {
      const signal = new AbortController().signal;
      await guarded.download(link, (bytes) => void pieces.push(Uint8Array.from(bytes)), {
        signal,
        tenant: "a",
        maxBytes,
      });
      return Buffer.concat(pieces).toString();
    } catch (error) {
      if (error instanceof SafeFetchError) return error.reason;
      throw error;
    }
  }

  function innerConnections(): number {
    return [...canaries.values()].reduce((sum, count) => sum + count, 0);
  }

  test.each([
    ["https://pics.example.com/picture", "picture for pics.example.com"],
    ["https://six.example.com/picture", "picture for six.example.com"],
    ["https://both.example.com/picture", "picture for both.example.com"],
    ["https://dead-first.example.com/picture", "picture for dead-first.example.com"],
    [`https://${PUBLIC}/picture`, `picture for ${PUBLIC}`],
    [`https://[${PUBLIC_V6}]/picture`, `picture for [${PUBLIC_V6}]`],
    ["https://pics.example.com/hop3", "picture for pics.example.com"],
  ])("%s is fetched without any proxy of the environment", async (link, expected) => {
    expect(await download(link)).toBe(expected);
  });

  test("the request has nothing of the gateway or its client", async () => {
    expect(JSON.parse(await download("https://pics.example.com/headers"))).toEqual({
      accept: "image/*",
      "accept-encoding": "identity",
      host: "pics.example.com",
      "user-agent": "model-inference-gateway",
    });
  });

  test.each(["loop", "loop6", "meta", "mapped", "zero", "ula", "mixed"])(
    "the name %s, which resolves to a private address, is refused",
    async (name) => {
      expect(await download(`https://${name}.example.com/`)).toBe("not_allowed");
      expect(innerConnections()).toBe(0);
    },
  );

  test.each([
    ...INNER.map((address) => `https://${address.includes(":") ? `[${address}]` : address}/`),
    "http://127.0.0.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://2130706433/",
    "https://loop.example.com/",
    "//mixed.example.com/",
    "file:///etc/passwd",
    "http://pics.example.com/picture",
  ])("a redirect to %s is refused", async (location) => {
    const link = `https://pics.example.com/?to=${encodeURIComponent(location)}`;
    expect(await download(link)).toBe("not_allowed");
    expect(innerConnections()).toBe(0);
  });

  test("a name that changes to a private address is connected to at the checked one", async () => {
    expect(await download("https://rebind.example.com/picture")).toBe("picture for rebind.example.com");
    expect(await download("https://rebind.example.com/picture")).toBe("not_allowed");
    expect(innerConnections()).toBe(0);
  });

  test.each([
    ["an unknown name", "https://nowhere.example.com/", {}],
    ["a certificate for another name", "https://other-name.example.net/picture", {}],
    ["a host that is not there", "https://93.184.216.35/", {}],
    ["a redirect that never ends", "https://pics.example.com/loop", {}],
    ["status 404", "https://pics.example.com/none", {}],
    ["an encoded body", "https://pics.example.com/gzip", {}],
    ["headers that never come", "https://pics.example.com/silent", { totalTimeoutMs: 200 }],
    ["a body past its time", "https://pics.example.com/drip", { totalTimeoutMs: 200 }],
  ])("%s is a failure", async (_title, link, limits) => {
    expect(await download(link, limits)).toBe("failed");
  });

  test("an endless body is cut at its limit and its connection closed", async () => {
    expect(await download("https://pics.example.com/endless", {}, 1_000_000)).toBe("too_large");
    await hangup.promise;
  });

  test("a certificate of an unknown authority is a failure", async () => {
    const guarded = createSafeFetch();
    const signal = new AbortController().signal;
    const downloading = guarded.download("https://pics.example.com/picture", () => undefined, {
      signal,
      tenant: "a",
    });
    await expect(downloading).rejects.toMatchObject({ reason: "failed" });
  });

  test("an organization with slow links leaves slots to another one", async () => {
    await using gateway = await startTestGateway({
      env: { NODE_EXTRA_CA_CERTS: join(directory, "cert.pem") },
    });
    await gateway.cli("orgs", "create", "--id", "greedy", "--name", "Greedy");
    const made = await gateway.cli("keys", "create", "--org", "greedy", "--name", "greedy", "--json");
    const edit = (links: readonly string[], key = gateway.key) =>
      gateway.call("/v1/images/edits", {
        body: { model: "sandbox-a", prompt: "x", quality: "low", images: links },
        headers: { authorization: `Bearer ${key}` },
      });
    const quick = "https://pics.example.com/png";
    const { secret } = JSON.parse(made);
    // The key of a new organization is accepted shortly after its creation.
    await until("the key", async () => (await edit([quick], secret)).status === 200 || undefined);
    silent = 0;
    let ended = 0;
    const greedy = Array.from({ length: 20 }, async (_, index) => {
      const links = Array.from(
        { length: 4 },
        (_, link) => `https://pics.example.com/silent?${index}-${link}`,
      );
      await edit(links, secret).catch(() => {});
      ended += 1;
    });
    await until("the slow links", () => silent >= 16 || undefined);
    const response = await edit([quick]);
    expect([response.status, ended, silent]).toEqual([200, 0, 16]);
    await gateway.kill();
    await Promise.all(greedy);
  }, 30_000);

  test("without the guard private servers are reached", async () => {
    expect(innerConnections()).toBe(0);
    await fetch("https://127.0.0.1/", { proxy: false, signal: AbortSignal.timeout(200) }).catch(
      () => undefined,
    );
    await fetch(`https://${PUBLIC}/?to=http%3A%2F%2F169.254.169.254%2F`, {
      proxy: false,
      tls: { ca: certificateAuthority },
      signal: AbortSignal.timeout(200),
    }).catch(() => undefined);
    expect([canaries.get("127.0.0.1"), canaries.get("169.254.169.254")]).toEqual([1, 1]);
  });
}
