import type { Socket } from "node:net";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { openSocket } from "../../support/sockets.ts";
import {
  field,
  FORM_TYPE,
  openRequest,
  pause,
  post,
  rawForm,
  repeat,
  write,
  type AttackContext,
  type Attack,
} from "./attack.ts";
import { BODY_GRACE_SECONDS } from "./setting.ts";

const MIB = 1024 * 1024;
const CHAT = "/v1/chat/completions";
const EDITS = "/v1/images/edits";
const SIGN_IN = "/admin/v1/session";
/** Maximum delay after the time limit of a body until the gateway has ended an unfinished body. */
const LATE_SECONDS = 2;

/** Attacks on memory, disk space and slots of limits. */
export const MEMORY_ATTACKS: readonly Attack[] = [
  {
    name: "H4",
    what: "zstd frames with a window of 128 MiB and no end",
    run: (context) => {
      const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
      // Fields that the gateway does not read must not be written to disk.
      const parts = Array.from({ length: 4 }, () => [field("unread"), Buffer.alloc(34 * MIB)] as const);
      const frame = zstdCompressSync(rawForm(parts), { params });
      const headers = {
        "content-type": FORM_TYPE,
        "content-encoding": "zstd",
        "content-length": String(frame.length),
      };
      return repeat(context, 24, async () => {
        const socket = await openRequest(context, EDITS, headers);
        await write(socket, frame.subarray(0, -8));
        await untilClosed(context, socket);
      });
    },
  },
  {
    name: "H5-chunks",
    what: "bodies of 8 MiB in chunks of one byte, plain, compressed, in a form and to sign in",
    run: (context) => {
      const chunked = { "transfer-encoding": "chunked" };
      const form = rawForm([[`${field("image")}; filename="f"`, Buffer.alloc(8 * MIB)]]);
      const members = Buffer.alloc(8 * MIB, gzipSync(""));
      const bodies = [
        { path: CHAT, headers: chunked, body: Buffer.alloc(8 * MIB, " ") },
        { path: CHAT, headers: { ...chunked, "content-encoding": "gzip" }, body: members },
        { path: EDITS, headers: { ...chunked, "content-type": FORM_TYPE }, body: form },
        { path: SIGN_IN, headers: { ...chunked, authorization: "" }, body: Buffer.alloc(8 * MIB, " ") },
      ].map((one) => ({ ...one, body: chunksOfOneByte(one.body) }));
      return repeat(context, bodies.length, async (lane) => {
        const { path, headers, body } = bodies[lane]!;
        const socket = await openRequest(context, path, headers);
        for (let at = 0; at < body.length; at += MIB / 4) {
          if (context.signal.aborted || socket.destroyed) break;
          await write(socket, body.subarray(at, at + MIB / 4));
        }
        await pause(context, 500);
        socket.destroy();
      });
    },
  },
  {
    name: "H5-unfinished",
    what: "unfinished bodies of 31 MiB with a key of one request a minute, and with an unlimited one",
    run: (context) => {
      const text = Buffer.alloc(30 * MIB, " ");
      return repeat(context, 40, async (lane) => {
        const headers = { "content-length": String(31 * MIB) };
        const key = lane % 2 === 0 ? context.keys.slow : context.keys.unlimited;
        const socket = await openRequest(context, CHAT, headers, key);
        await write(socket, text);
        await untilClosed(context, socket);
      });
    },
  },
  {
    name: "H6-refused",
    what: "requests for an unknown model at a limit of one a minute",
    run: (context) => {
      let admitted = 0;
      return repeat(context, 1, async () => {
        const body = { model: "no-such-model", messages: [{ role: "user", content: "hi" }] };
        const { status } = await post(context, body, { key: context.keys.slow });
        if (status !== 429 && ++admitted > 2) context.achieve("refusals were not counted");
        await pause(context, 50);
      });
    },
  },
  {
    name: "H6-disk",
    what: "small compressed forms that unfold over the disk",
    run: (context) => {
      const packed = gzipSync(rawForm([[`${field("image")}; filename="f"`, Buffer.alloc(34 * MIB)]]), {
        level: 9,
      });
      return repeat(context, 22, async (lane) => {
        const key = lane % 2 === 0 ? context.keys.imageless : context.keys.unlimited;
        const headers = {
          "content-type": FORM_TYPE,
          "content-encoding": "gzip",
          "content-length": String(packed.length),
        };
        const socket = await openRequest(context, EDITS, headers, key);
        await write(socket, packed.subarray(0, -8));
        await untilClosed(context, socket);
      });
    },
  },
  {
    name: "H6-slow",
    what: "bodies that drip",
    run: (context) =>
      repeat(context, 200, async () => {
        const socket = await openRequest(context, CHAT, { "content-length": "20000" });
        const startedAt = performance.now();
        const mostMs = (BODY_GRACE_SECONDS + 20_000 / 16_384 + LATE_SECONDS) * 1000;
        while (!socket.destroyed && !context.signal.aborted) {
          socket.write(" ");
          await pause(context, 250);
          if (performance.now() - startedAt < mostMs) continue;
          if (!socket.destroyed) context.achieve("a dripping body stayed open");
          break;
        }
        socket.destroy();
      }),
  },
  {
    name: "H12",
    what: "unknown texts of 34 MiB in a compressed form",
    run: (context) => {
      const fields = Array.from({ length: 10 }, (_, index) => field(`unknown_${index}`));
      const text = Buffer.alloc(34 * MIB, "x");
      // The form is compressed, because the gateway would refuse the length of the plain form.
      const form = gzipSync(rawForm(fields.map((header) => [header, text] as const)));
      const headers = { "content-type": FORM_TYPE, "content-encoding": "gzip" };
      return repeat(context, 2, async () => {
        await post(context, form, { path: EDITS, headers });
        await pause(context, 500);
      });
    },
  },
  {
    name: "H15",
    what: "downloads of large pictures in S3 that stall",
    needsS3: true,
    async run(context) {
      const prompt = "[[base64=46000000]]";
      const made = await post(
        context,
        { model: "crowd-image", prompt, response_format: "url" },
        { path: "/v1/images/generations" },
      );
      const { pathname, search } = new URL(JSON.parse(made.text).data[0].url);
      // These connections stay open until the attack ends. The system buffers the bytes that their clients do not read.
      const stalled: Socket[] = [];
      await repeat(context, 1, async () => {
        context.count();
        const socket = await openSocket(context.url);
        socket.once("data", () => socket.pause());
        socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: a\r\nrange: bytes=1-\r\n\r\n`);
        stalled.push(socket);
        await pause(context, 200);
      });
      for (const socket of stalled) socket.destroy();
    },
  },
];

function chunksOfOneByte(bytes: Buffer): Buffer {
  const chunks = Buffer.alloc(bytes.length * 6, "1\r\n \r\n");
  for (const [index, byte] of bytes.entries()) chunks[index * 6 + 3] = byte;
  return Buffer.concat([chunks, Buffer.from("0\r\n\r\n")]);
}

/** Waits until the gateway sends data or closes the connection, or until the attack ends. */
async function untilClosed({ signal }: AttackContext, socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("close", () => resolve());
  // The response to an unfinished body is a refusal.
  socket.on("data", () => resolve());
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (!signal.aborted && !socket.destroyed) await promise;
  socket.destroy();
}
