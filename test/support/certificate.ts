import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A self-signed certificate for `localhost` with its key, as PEM. */
export interface SelfSigned extends Disposable {
  certificate: string;
  key: string;
  /** Path of the certificate's file, for NODE_EXTRA_CA_CERTS. */
  path: string;
}

export function makeSelfSigned(): SelfSigned {
  const folder = mkdtempSync(join(tmpdir(), "gateway-certificate-"));
  const command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1";
  const names = "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem";
  const { success, stderr } = Bun.spawnSync(`${command} ${names}`.split(" "), { cwd: folder });
  if (!success) throw new Error(`openssl failed: ${stderr}`);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  return {
    certificate: read("cert.pem"),
    key: read("key.pem"),
    path: join(folder, "cert.pem"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
