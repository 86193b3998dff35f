import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer } from "node:tls";
import type { AddressInfo, Server } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { openMailer } from "../../src/alerts/mail.ts";
import { readS3Address } from "../../src/lib/s3-address.ts";
import { openS3Store } from "../../src/storage/blobs/s3.ts";
import { RedisLink } from "../../src/storage/counters/redis-link.ts";
import { makeSelfSigned, type SelfSigned } from "../support/certificate.ts";

/*
 * A connection to a server with an untrusted certificate must end before any data, such as a password, is sent.
 * PostgreSQL and vendors have tests of their own.
 */
let tls: SelfSigned;
let ports: Record<"silent" | "smtps" | "smtp", number>;
const stops: (() => void)[] = [];
/** Data that the servers received over TLS. */
const received: string[] = [];
beforeAll(async () => {
  tls = makeSelfSigned();
  const certificate = { key: tls.key, cert: tls.certificate };
  const silent = createServer(certificate, (socket) => {
    socket.on("error", () => {}).on("data", (bytes) => received.push(bytes.toString()));
  });
  ports = {
    silent: await listen(silent),
    smtps: await listenForMail(true),
    smtp: await listenForMail(false),
  };

  function listenForMail(secure: boolean): Promise<number> {
    const onAuth: SMTPServerOptions["onAuth"] = ({ username = "" }, _session, callback) => {
      received.push(username);
      callback(null, { user: username });
    };
    const mailServer = new SMTPServer({ ...certificate, secure, onAuth });
    mailServer.on("error", () => {});
    return listen(mailServer.server);
  }
});
afterAll(() => {
  for (const stop of stops) stop();
  tls[Symbol.dispose]();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const mail = { id: "mail_1", recipient: "a@localhost", subject: "s", body: "b" };
const callers: Record<string, () => Promise<unknown>> = {
  Redis: async () => {
    const lost = Promise.withResolvers<unknown>();
    const link = new RedisLink({
      url: `rediss://:password@localhost:${ports.silent}`,
      boundMs: 1_000,
      prepare: async (send) => void (await send("PING", [])),
      onState: (isUp, cause) => (isUp ? lost.resolve("connected") : lost.reject(cause)),
    });
    return await lost.promise.finally(() => link.close());
  },
  "object storage": () => {
    const address = readS3Address(`s3://id:secret@bucket/?endpoint=https://localhost:${ports.silent}`);
    return openS3Store(address).write("0123456789abcdef0123456789abcdef.png", new Blob(["x"]));
  },
  "mail over TLS": () =>
    openMailer({ url: `smtps://user:pass@localhost:${ports.smtps}`, from: "g@localhost" })(mail),
  "mail with STARTTLS": () =>
    openMailer({ url: `smtp://user:pass@localhost:${ports.smtp}`, from: "g@localhost" })(mail),
};

test.each(Object.keys(callers))(
  "%s: nothing is sent to a server with a self-signed certificate",
  async (name) => {
    await expect(callers[name]!()).rejects.toThrow();
    expect(received).toEqual([]);
  },
);
