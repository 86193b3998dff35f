import { describe, expect, test } from "bun:test";
import { parseAddressList } from "./cidr.ts";
import { createSafeFetch, SafeFetchError, type SafeFetchOptions } from "./safe-fetch.ts";

const PUBLIC = "93.184.216.34";
const DENIED_LINKS = [
  "https://127.0.0.1/",
  "https://127.1/",
  "https://0/",
  "https://0.0.0.0/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0177.0.0.1/",
  "https://127.0.0.1./",
  "https://１２７.０.０.１/",
  "https://①②⑦.⓪.⓪.①/",
  "https://[::1]/",
  "https://[::]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[::ffff:93.184.216.34]/",
  "https://[::127.0.0.1]/",
  "https://[::ffff:0:127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[64:ff9b:1::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
  "https://[2001:db8::1]/",
  "https://[3fff::1]/",
  "https://[4000::1]/",
  "https://[5f00::1]/",
  "https://[100::1]/",
  "https://[100:0:0:1::1]/",
  "https://[2620:4f:8000::1]/",
  "https://[fc00::1]/",
  "https://[fec0::1]/",
  "https://[fd00:ec2::254]/",
  "https://[fd20:ce::254]/",
  "https://[fe80::1]/",
  "https://[fe80::1%25lo]/",
  "https://[ff02::1]/",
  "https://[2600:1234::5efe:127.0.0.1]/",
  "https://[2600:1234::200:5efe:10.0.0.1]/",
  "https://169.254.169.254/latest/meta-data/",
  "https://169.254.170.2/",
  "https://168.63.129.16/",
  "https://100.100.100.200/",
  "https://192.0.0.192/",
  "https://10.0.0.1/",
  "https://172.16.0.1/",
  "https://172.31.255.255/",
  "https://192.168.1.1/",
  "https://198.18.0.1/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://foo.localhost/",
  "https://metadata/",
  "https://metadata.google.internal/",
  "https://pics.example.com./",
  "https://router.lan/",
  "https://1.0.0.127.in-addr.arpa/",
  "https://user:pw@pics.example.com/",
  "https://good@127.0.0.1/",
  "https://pics.example.com\\@127.0.0.1/",
  "https://pics.example.com:22/",
  "https://pics.example.com:6379/",
  "https://pics.example.com:5432/",
  "https://pics.example.com:10250/",
  "http://pics.example.com/",
  "file:///etc/passwd",
  "gopher://pics.example.com/",
  "ftp://pics.example.com/",
  "data:image/png;base64,AAAA",
  "//pics.example.com/",
  "https://pics.example.com/\r\nHost: 127.0.0.1",
  "https://pics.example.com/ x",
  " https://pics.example.com/",
  "https://pics.example.com/\u0000",
  "https://pics.example.com/\u007f",
  `https://pics.example.com/${"a".repeat(8192)}`,
  "https://",
  "",
  "https://a..b/",
  "https://a.b%00.c/",
];
const DENIED_ANSWERS = [
  ["127.0.0.1"],
  ["::1"],
  ["169.254.169.254"],
  ["::ffff:7f00:1"],
  ["::ffff:127.0.0.1"],
  ["0.0.0.0"],
  ["fd12:3456:789a::1"],
  ["fe80::1%lo"],
  [PUBLIC, "10.0.0.1"],
  [PUBLIC, "2606:2800:21f:cb07::1", "::1"],
  ["nonsense"],
];

function makeFetch(options: SafeFetchOptions & { answer?: (address: string, path: string) => Response }) {
  const dialled: string[] = [];
  const fetch = createSafeFetch({
    resolve: () => Promise.resolve([PUBLIC]),
    async dial(target) {
      target.onConnect();
      dialled.push(`${target.address} ${target.link.url.href}`);
      return options.answer?.(target.address, target.link.url.pathname) ?? new Response("picture");
    },
    ...options,
  });
  return { fetch, dialled };
}

const signal = new AbortController().signal;

async function download(fetch: ReturnType<typeof createSafeFetch>, link: string, maxBytes?: number) {
  const pieces: Uint8Array[] = [];
  try {
    await fetch.download(link, (bytes) => void pieces.push(bytes), { signal, tenant: "a", maxBytes });
    return Buffer.concat(pieces).toString();
  } catch (error) {
    if (error instanceof SafeFetchError) return error.reason;
    throw error;
  }
}

describe("links", () => {
  test.each(DENIED_LINKS)(
    "%j is refused without a name being asked for or an address dialled",
    async (link) => {
      let asked = 0;
      const resolve = () => Promise.resolve([PUBLIC].slice((asked += 1)));
      const { fetch, dialled } = makeFetch({ resolve });
      expect(await download(fetch, link)).toBe("not_allowed");
      expect([asked, dialled]).toEqual([0, []]);
    },
  );

  test.each(DENIED_ANSWERS)("a name that resolves to %j %s is never connected to", async (...answers) => {
    const { fetch, dialled } = makeFetch({
      resolve: () => Promise.resolve(answers.filter((one) => one !== undefined)),
    });
    expect(await download(fetch, "https://pics.example.com/")).toBe("not_allowed");
    expect(dialled).toEqual([]);
  });

  test.each([
    ["https://pics.example.com/a.png?b=c%20d#e", "93.184.216.34 https://pics.example.com/a.png?b=c%20d#e"],
    ["https://pics.example.com:443/", "93.184.216.34 https://pics.example.com/"],
    ["HTTPS://PICS.EXAMPLE.COM/é", "93.184.216.34 https://pics.example.com/%C3%A9"],
    ["https://bücher.example/", "93.184.216.34 https://xn--bcher-kva.example/"],
    ["https://8.8.8.8/x", "8.8.8.8 https://8.8.8.8/x"],
    ["https://[2606:2800:21f:cb07::1]/", "2606:2800:21f:cb07::1 https://[2606:2800:21f:cb07::1]/"],
    ["https://[2600:1234::5efe:8.8.8.8]/", "2600:1234::5efe:808:808 https://[2600:1234::5efe:808:808]/"],
  ])("%s is fetched from the address that was checked", async (link, expected) => {
    const { fetch, dialled } = makeFetch({});
    expect(await download(fetch, link)).toBe("picture");
    expect(dialled).toEqual([expected]);
  });

  test("an address of a denied network is refused", async () => {
    const { fetch, dialled } = makeFetch({ denied: parseAddressList(["93.184.216.0/24"]) });
    expect(await download(fetch, "https://pics.example.com/")).toBe("not_allowed");
    expect(dialled).toEqual([]);
  });

  test("a name is resolved once, and only a resolved address is connected to", async () => {
    let asked = 0;
    const resolve = () => Promise.resolve(asked++ === 0 ? [PUBLIC] : ["127.0.0.1"]);
    const { fetch, dialled } = makeFetch({ resolve });
    expect(await download(fetch, "https://pics.example.com/")).toBe("picture");
    expect(await download(fetch, "https://pics.example.com/")).toBe("not_allowed");
    expect(dialled).toHaveLength(1);
  });

  test("a name that cannot be resolved is a failure", async () => {
    expect(
      await download(makeFetch({ resolve: () => Promise.resolve([]) }).fetch, "https://a.example.com/"),
    ).toBe("failed");
    const broken = makeFetch({ resolve: () => Promise.reject(new Error("10.0.0.53 timed out")) });
    expect(await download(broken.fetch, "https://a.example.com/")).toBe("failed");
  });
});

describe("redirects", () => {
  const redirect = (location: string) => new Response(null, { status: 302, headers: { location } });

  test.each([
    "https://127.0.0.1/",
    "https://169.254.169.254/",
    "https://[::ffff:127.0.0.1]/",
    "http://pics.example.com/",
    "//localhost/",
    "file:///etc/passwd",
    "https://pics.example.com:6379/",
    "https://pics.example.com:5432/",
    "https://pics.example.com:10250/",
    "https://user@pics.example.com/",
    "\\\\127.0.0.1/",
  ])("to %s is refused", async (location) => {
    const { fetch, dialled } = makeFetch({ answer: () => redirect(location) });
    expect(await download(fetch, "https://pics.example.com/")).toBe("not_allowed");
    expect(dialled).toHaveLength(1);
  });

  test("to a public address is followed, also a relative one, at most three times", async () => {
    const steps = (last: number) => (_address: string, path: string) => {
      const step = Number(path.slice(1));
      return step === last
        ? new Response("picture")
        : redirect(step % 2 ? `/${step + 1}` : `https://b.example.com/${step + 1}`);
    };
    expect(await download(makeFetch({ answer: steps(3) }).fetch, "https://pics.example.com/0")).toBe(
      "picture",
    );
    const far = makeFetch({ answer: steps(4) });
    expect(await download(far.fetch, "https://pics.example.com/0")).toBe("failed");
    expect(far.dialled).toHaveLength(4);
  });

  test("to a name that resolves to a private address is refused", async () => {
    const { fetch, dialled } = makeFetch({
      resolve: (name) => Promise.resolve([name === "evil.example.com" ? "10.0.0.1" : PUBLIC]),
      answer: () => redirect("//evil.example.com/"),
    });
    expect(await download(fetch, "https://pics.example.com/")).toBe("not_allowed");
    expect(dialled).toHaveLength(1);
  });
});

describe("answers", () => {
  const link = "https://pics.example.com/";

  test.each([204, 206, 302, 304, 401, 404, 500])("status %d is a failure", async (status) => {
    expect(await download(makeFetch({ answer: () => new Response(null, { status }) }).fetch, link)).toBe(
      "failed",
    );
  });

  test("an encoded body is a failure", async () => {
    const answer = (encoding: string) => () =>
      new Response("x", { headers: { "content-encoding": encoding } });
    expect(await download(makeFetch({ answer: answer("gzip") }).fetch, link)).toBe("failed");
    expect(await download(makeFetch({ answer: answer("identity") }).fetch, link)).toBe("x");
  });

  test("the declared and the counted length are limited", async () => {
    const announced = () => new Response("x", { headers: { "content-length": "1001" } });
    expect(await download(makeFetch({ answer: announced }).fetch, link, 1000)).toBe("too_large");
    const endless = () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100)) }));
    expect(await download(makeFetch({ answer: endless }).fetch, link, 1000)).toBe("too_large");
    expect(
      await download(makeFetch({ answer: () => new Response("x".repeat(1000)) }).fetch, link, 1000),
    ).toHaveLength(1000);
  });

  test("an error of the sink is thrown unchanged", async () => {
    const { fetch } = makeFetch({});
    const sink = () => {
      throw new RangeError("not an image");
    };
    await expect(fetch.download(link, sink, { signal, tenant: "a" })).rejects.toThrow("not an image");
  });

  test("the next address is tried after a failed connection only", async () => {
    const tried: string[] = [];
    const dial =
      (connects: boolean): SafeFetchOptions["dial"] =>
      (target) => {
        tried.push(target.address);
        if (connects) target.onConnect();
        return Promise.reject(new Error("refused"));
      };
    const resolve = () => Promise.resolve(["8.8.8.8", "8.8.4.4"]);
    expect(await download(createSafeFetch({ resolve, dial: dial(false) }), link)).toBe("failed");
    expect(tried.splice(0)).toEqual(["8.8.8.8", "8.8.4.4"]);
    expect(await download(createSafeFetch({ resolve, dial: dial(true) }), link)).toBe("failed");
    expect(tried).toEqual(["8.8.8.8"]);
  });
});

describe("posts", () => {
  const post = (fetch: ReturnType<typeof createSafeFetch>, link: string) =>
    fetch
      .post(link, { body: "{}", headers: { "content-type": "application/json" }, tenant: "a" })
      .then(({ status }) => status)
      .catch((error: unknown) => (error instanceof SafeFetchError ? error.reason : String(error)));

  test("return the status, and follow no redirect", async () => {
    for (const [status, location] of [
      [204, ""],
      [500, ""],
      [302, "https://b.example.com/"],
    ] as const) {
      const answer = () => new Response(null, { status, headers: { location } });
      const { fetch, dialled } = makeFetch({ answer });
      expect(await post(fetch, "https://hooks.example.com/")).toBe(status);
      expect(dialled).toHaveLength(1);
    }
  });

  test("go to public addresses only", async () => {
    const { fetch, dialled } = makeFetch({ resolve: () => Promise.resolve(["10.0.0.1"]) });
    for (const link of ["https://hooks.example.com/", "https://127.0.0.1/", "http://hooks.example.com/"])
      expect(await post(fetch, link)).toBe("not_allowed");
    expect(dialled).toEqual([]);
  });
});

describe("time and slots", () => {
  const link = "https://pics.example.com/";
  const hang: SafeFetchOptions["dial"] = (_target, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const resolve = () => Promise.resolve([PUBLIC]);

  test("every wait has a timeout", async () => {
    const limits = [{ connectTimeoutMs: 20 }, { totalTimeoutMs: 20 }];
    for (const one of limits)
      expect(await download(createSafeFetch({ resolve, dial: hang, limits: one }), link)).toBe("failed");
    const connecting: SafeFetchOptions["dial"] = (target, signal) => {
      target.onConnect();
      return hang(target, signal);
    };
    const answer = createSafeFetch({
      resolve,
      dial: connecting,
      limits: { connectTimeoutMs: 1, totalTimeoutMs: 20 },
    });
    expect(await download(answer, link)).toBe("failed");
    const drip = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => Bun.sleep(5).then(() => controller.enqueue(new Uint8Array(1))),
        }),
      );
    const slow = makeFetch({ answer: drip, limits: { totalTimeoutMs: 50 } });
    expect(await download(slow.fetch, link)).toBe("failed");
  });

  test("an aborted download rejects with the signal's reason", async () => {
    const controller = new AbortController();
    const fetch = createSafeFetch({ resolve, dial: hang });
    const waiting = fetch.download(link, () => undefined, { signal: controller.signal, tenant: "a" });
    controller.abort(new RangeError("gone"));
    await expect(waiting).rejects.toThrow("gone");
  });

  test("no more downloads run at once than there are slots", async () => {
    let running = 0;
    let most = 0;
    const dial: SafeFetchOptions["dial"] = async (target) => {
      target.onConnect();
      most = Math.max(most, (running += 1));
      await Bun.sleep(1);
      running -= 1;
      return new Response("picture");
    };
    const fetch = createSafeFetch({ resolve, dial, limits: { concurrency: 3 } });
    await Promise.all(Array.from({ length: 20 }, () => download(fetch, link)));
    expect(most).toBe(3);
  });

  test("a tenant whose links hang leaves slots to others", async () => {
    const dialled: string[] = [];
    const dial: SafeFetchOptions["dial"] = async (target, signal) => {
      dialled.push(target.link.host);
      if (target.link.host.startsWith("slow")) return hang(target, signal);
      target.onConnect();
      return new Response("picture");
    };
    const fetch = createSafeFetch({ resolve, dial, limits: { concurrency: 4, concurrencyPerTenant: 2 } });
    const end = new AbortController();
    const slow = Array.from({ length: 20 }, (_, index) => {
      const options = { signal: end.signal, tenant: "a" };
      return fetch.download(`https://slow${index}.example.com/`, () => undefined, options).catch(() => {});
    });
    const others = ["b", "c", "d"].map((tenant) =>
      fetch.download("https://quick.example.com/", () => undefined, { signal, tenant }),
    );
    expect(await Promise.all(others)).toEqual([7, 7, 7]);
    expect(dialled.filter((host) => host.startsWith("slow"))).toHaveLength(2);
    end.abort();
    await Promise.all(slow);
  });

  test("a body below the lowest average speed ends long before the total time", async () => {
    const limits = { slowStartMs: 50, minBytesPerSecond: 10_000, totalTimeoutMs: 60_000 };
    const drip = (bytes: number) => () =>
      new Response(
        new ReadableStream({
          pull: (controller) => Bun.sleep(5).then(() => controller.enqueue(new Uint8Array(bytes))),
        }),
      );
    const slow = makeFetch({ answer: drip(1), limits });
    expect(await download(slow.fetch, link)).toBe("failed");
    const quick = makeFetch({ answer: drip(10_000), limits });
    expect(await download(quick.fetch, link, 300_000)).toBe("too_large");
  });

  test("a link of 8,192 characters and one with a port of its own are fetched", async () => {
    const { fetch } = makeFetch({});
    const long = `https://pics.example.com/${"a".repeat(8192 - 25)}`;
    expect(await download(fetch, long)).toBe("picture");
    expect(await download(fetch, "https://pics.example.com:8443/a.png")).toBe("picture");
  });
});
