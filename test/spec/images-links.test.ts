import { describe, expect, test } from "bun:test";
import { dataUrl, listen, openEditFixture, ONE } from "../support/edit-gateway.ts";

/* Reference images by link: no forbidden address is called, and a refusal costs nothing. */
const { fixture, edit, editByForm, refused, proveNothingBilled } = await openEditFixture();

describe("a link", () => {
  const notAllowed = { param: "image", code: "image_url_not_allowed" };

  test("to a loopback or private address is never connected to", async () => {
    await using listener = await listen();
    const { port } = listener;
    const links = [
      ...[
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
      ].flatMap((host) => [
        `https://${host}:${port}/a.png`,
        `https://${host}/a.png`,
        `http://${host}:${port}/a.png`,
      ]),
      "https://169.254.169.254/latest/meta-data/",
      "https://metadata.google.internal/",
      "https://10.0.0.1/a.png",
      "https://192.168.1.1/a.png",
      "https://100.100.100.200/a.png",
      `https://user:pass@127.0.0.1:${port}/a.png`,
      `https://good.example@127.0.0.1:${port}/a.png`,
      "https://example.com:22/a.png",
      "http://example.com/a.png",
      "file:///etc/passwd",
      "ftp://example.com/a.png",
      "gopher://example.com/",
      "https://",
    ];
    for (const link of links) await refused(edit({ image: link }), notAllowed);
    await refused(edit({ images: [dataUrl(ONE), { image_url: links[0] }] }), notAllowed);
    await refused(
      editByForm([
        ["image", ONE],
        ["image_url", links[0]!],
      ]),
      notAllowed,
    );
    await refused(edit({ image: dataUrl(ONE), mask: links[0] }), { ...notAllowed, param: "mask" });
    expect(listener.connections()).toBe(0);
  });

  test("gives no information about its target", async () => {
    const messages = await Promise.all(
      ["https://127.0.0.1/", "https://10.1.2.3/", "https://localhost/"].map(
        async (image) => (await refused(edit({ image }), notAllowed)).message,
      ),
    );
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).not.toMatch(/127|10\.|localhost/);
  });

  test("of a signed object, longer than usual and with a port, is taken", async () => {
    const link = `https://127.0.0.1:9000/${"a".repeat(8192 - 23)}`;
    await refused(edit({ image: link }), notAllowed);
  });

  test("of more than 8,192 characters is refused", async () => {
    await refused(edit({ image: `https://example.com/${"a".repeat(8192)}` }), {
      param: "image",
      code: "invalid_image",
    });
  });

  test("to a result of the gateway is not read when its signature is wrong or expired", async () => {
    const made = await fixture.gateway.call("/v1/images/generations", {
      body: { model: "sandbox-a", prompt: "x", quality: "low" },
    });
    const { data } = (await made.json()) as { data: { url: string }[] };
    const { url } = data[0]!;
    await refused(edit({ image: `${url.slice(0, -1)}${url.endsWith("A") ? "B" : "A"}` }), notAllowed);
    await refused(edit({ image: url.replace(/exp=\d+/, "exp=1000000000") }), notAllowed);
  });
});

proveNothingBilled();
