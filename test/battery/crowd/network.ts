import { mkdirSync } from "node:fs";
import { join } from "node:path";

/*
 * The crowd runs in its own network and mount namespaces. In these namespaces this machine has public addresses, and
 * the gateway's disk is small. The gateway's program is unchanged.
 */

/** The host of honest links and of most hostile links. */
export const LINK_HOST = "93.184.216.34";
/** A public host whose links the operator's settings deny. */
export const DENIED_HOST = "93.184.216.35";
/** Address at which the hostile client calls the gateway. Its requests therefore come from this address too. */
export const HOSTILE_ADDRESS = "10.66.0.6";
const DISK_MIB = 400;
const VARIABLE = "CROWD_NAMESPACE";

/** Returns the namespace's folder; undefined outside of a namespace. */
export function namespaceFolder(): string | undefined {
  return process.env[VARIABLE];
}

/** Returns the path at which the namespace's small disk is mounted. */
export function smallDisk(folder: string): string {
  return join(folder, "disk");
}

/** Runs a program in a new namespace that has a certificate for the public hosts. Returns the exit code. */
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

/** Returns the paths of the key and certificate of the public hosts. */
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
