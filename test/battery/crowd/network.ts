import { mkdirSync } from "node:fs";
import { join } from "node:path";

/*
 * The crowd runs in a network and a mount namespace of its own, where public addresses belong to this machine and the
 * gateway's disk is small. The gateway itself runs as it is shipped.
 */

/** The host behind honest links and most hostile ones. */
export const LINK_HOST = "93.184.216.34";
/** A public host that the operator denies to links. */
export const DENIED_HOST = "93.184.216.35";
/** The hostile client calls the gateway at this address, which is then the one it comes from. */
export const HOSTILE_ADDRESS = "10.66.0.6";
const DISK_MIB = 400;
const VARIABLE = "CROWD_NAMESPACE";

/** The folder of the namespace; undefined outside of one. */
export function namespaceFolder(): string | undefined {
  return process.env[VARIABLE];
}

/** The small disk of the namespace. */
export function smallDisk(folder: string): string {
  return join(folder, "disk");
}

/** Runs a program in a new namespace with a certificate for the public hosts, and returns its exit code. */
export async function runInNamespace(
  program: string,
  args: readonly string[],
  folder: string,
): Promise<number> {
  mkdirSync(smallDisk(folder));
  makeCertificate(folder);
  const script = [
    "ip link set lo up",
    ...[LINK_HOST, DENIED_HOST, HOSTILE_ADDRESS].map((address) => `ip addr add ${address}/32 dev lo`),
    `mount -t tmpfs -o size=${DISK_MIB}m tmpfs ${smallDisk(folder)}`,
    `exec "$@"`,
  ].join(" && ");
  const command = ["unshare", "-rnm", "sh", "-c", script, "sh", process.execPath, program, ...args];
  const child = Bun.spawn(command, {
    env: { ...process.env, [VARIABLE]: folder },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return await child.exited;
}

/** Paths of the key and the certificate of the public hosts. */
export function certificateOf(folder: string): { key: string; certificate: string } {
  return { key: join(folder, "key.pem"), certificate: join(folder, "certificate.pem") };
}

function makeCertificate(folder: string): void {
  const { key, certificate } = certificateOf(folder);
  const names = `subjectAltName=IP:${LINK_HOST},IP:${DENIED_HOST}`;
  const options = `-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=crowd`;
  const { exitCode, stderr } = Bun.spawnSync([
    "openssl",
    "req",
    ...`${options} -keyout ${key} -out ${certificate} -addext ${names}`.split(" "),
  ]);
  if (exitCode !== 0) throw new Error(`no certificate was made: ${stderr.toString()}`);
}
