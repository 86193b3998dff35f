import { newSecret } from "../../../src/lib/secret.ts";
import { makePng } from "../../support/pictures.ts";
import { openSocket } from "../../support/sockets.ts";
import { chatBody, field, FORM_TYPE, pause, post, rawForm, repeat, write, type Attack } from "./attack.ts";
import { LINK_HOST } from "./network.ts";

const EDITS = { path: "/v1/images/edits" };
const SPACES = 20_000;
const PART_SPACES = 16_200;
const NAMES = 499_000;
const LINKS_AT_ONCE = 64;
const CONNECTIONS = 1_500;
/**
 * Number of unknown keys that the gateway may look up during the attack. An honest client with a revoked key repeats a
 * single unknown key.
 */
const PATIENT_UNKNOWN_KEYS = 200;

/** Attacks on processor time and on resources for which all requests wait. */
export const TIME_ATTACKS: readonly Attack[] = [
  {
    name: "H1",
    what: "a prompt of spaces to the sandbox",
    run: (context) => repeat(context, 2, () => post(context, sandboxBody(`1${" ".repeat(SPACES)}x`))),
  },
  {
    name: "H2",
    what: "spaces in the headers of a form's parts",
    run: (context) => {
      const header = `${field("user")}\r\nx-a: y${" ".repeat(PART_SPACES - 100)}z`;
      const form = rawForm(Array.from({ length: 60 }, () => [header, Buffer.from("v")] as const));
      return repeat(context, 1, () =>
        post(context, form, { ...EDITS, headers: { "content-type": FORM_TYPE } }),
      );
    },
  },
  {
    name: "H3",
    what: "schemas of thousands of entries, or of themselves, to the sandbox",
    run: (context) => {
      const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
      const bomb = { anyOf: Array.from({ length: 10 }, () => ({ $ref: "#/$defs/a" })) };
      const schemas = [
        { type: "object", required: ["x"], properties: { x: bomb }, $defs: { a: bomb } },
        { type: "object", properties: { a: { type: "string", enum: names(8_000) } }, required: ["a"] },
        { allOf: names(6_000).map((name) => ({ required: [name] })) },
      ];
      const format = (schema: object) => ({ type: "json_schema", json_schema: { name: "x", schema } });
      const bodies = schemas.map((schema) => sandboxBody("go", { response_format: format(schema) }));
      return repeat(context, bodies.length, (lane) => post(context, bodies[lane]!));
    },
  },
  {
    name: "H5-pipelined",
    what: "thousands of requests at once on a connection, without a key",
    run: (context) => {
      const requests = Buffer.from("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n".repeat(16_000));
      return repeat(context, 2, async () => {
        const socket = await openSocket(context.url);
        context.count();
        socket.resume();
        for (let sent = 0; sent < 8 && !context.signal.aborted; sent++) await write(socket, requests);
        await pause(context, 250);
        socket.destroy();
      });
    },
  },
  {
    name: "H6-names",
    what: "a body of half a million names",
    run: (context) => {
      const names = Array.from({ length: NAMES }, (_, index) => [`${index * 65_536}`, 1]);
      const body = JSON.stringify(chatBody("hi", { metadata: Object.fromEntries(names) }));
      return repeat(context, 1, async () => {
        await post(context, body);
        await pause(context, 250);
      });
    },
  },
  {
    name: "H10",
    what: "slow links in every slot",
    run: (context) =>
      repeat(context, LINKS_AT_ONCE, (lane) => {
        const image = `https://${LINK_HOST}/${lane % 2 === 0 ? "slow" : "silent"}/${lane}`;
        return post(context, { model: "crowd-image", prompt: "x", image }, EDITS);
      }),
  },
  {
    name: "H13",
    what: "pictures of 49 megapixels in every codec slot",
    run: (context) => {
      const flat = makePng(7_000, 7_000, { pixel: () => [200, 180, 160, 255], hasAlpha: false });
      const image = `data:image/png;base64,${flat.toString("base64")}`;
      const body = { model: "sandbox-a", prompt: "x", image };
      const headers = { "x-input-image-compress": "true" };
      return repeat(context, 12, () => post(context, body, { ...EDITS, headers }));
    },
  },
  {
    name: "H14",
    what: "more half-open connections than there are files",
    run: (context) =>
      repeat(context, CONNECTIONS / 10, async (lane) => {
        await pause(context, 10 * lane);
        const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket(context.url)));
        context.count();
        for (const socket of sockets) socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-a: ");
        while (!context.signal.aborted && sockets.some(({ destroyed }) => !destroyed)) {
          await pause(context, 500 + lane);
          for (const socket of sockets) if (!socket.destroyed) socket.write("a");
        }
        for (const socket of sockets) socket.destroy();
      }),
  },
  {
    name: "H17",
    what: "forged keys, each another one",
    run: (context) => {
      let lookedUp = 0;
      return repeat(context, 8, async () => {
        const { status } = await post(context, chatBody("hi"), { key: newSecret() });
        if (status === 401 && ++lookedUp > PATIENT_UNKNOWN_KEYS)
          context.achieve("forged keys were looked up");
      });
    },
  },
];

function sandboxBody(prompt: string, fields: object = {}): object {
  return chatBody(prompt, { model: "sandbox-chat", ...fields });
}
