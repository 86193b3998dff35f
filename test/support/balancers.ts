import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "./free-port.ts";

/** A running balancer on a free loopback port. */
export interface Balancer extends AsyncDisposable {
  url: string;
}

export type BalancerName = "nginx" | "haproxy";

/** Returns the program, or the reason why it is missing. */
export function findBalancer(name: BalancerName): { binary: string } | { missing: string } {
  const binary = Bun.which(name, { PATH: `${process.env["PATH"]}:/usr/sbin` });
  return binary ? { binary } : { missing: `${name} is not on PATH` };
}

/** Starts a balancer in front of machines on these loopback ports. */
export async function startBalancer(
  name: BalancerName,
  binary: string,
  ports: readonly number[],
): Promise<Balancer> {
  return start(name, binary, await documented(name, ports));
}

/** Starts a balancer as installed, without the settings of docs/run/balancers.md, in front of one machine. */
export function startPlainBalancer(
  name: BalancerName,
  binary: string,
  port: string,
  readSeconds?: number,
): Promise<Balancer> {
  return start(name, binary, PLAIN[name](port, readSeconds));
}

/** By default nginx waits for a minute. Debian's file for HAProxy sets 50 s. */
const PLAIN: Record<BalancerName, (port: string, readSeconds?: number) => string> = {
  nginx: (port, readSeconds) => `server { listen 80; location / { proxy_pass http://127.0.0.1:${port};
    ${readSeconds === undefined ? "" : `proxy_read_timeout ${readSeconds}s;`} } }`,
  haproxy: (port, readSeconds = 50) => `
    defaults
      mode http
      timeout connect 5s
      timeout client ${readSeconds}s
      timeout server ${readSeconds}s
    frontend all
      bind :80
      default_backend machine
    backend machine
      server one 127.0.0.1:${port}`,
};

async function start(name: BalancerName, binary: string, server: string): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), "balancer-"));
  const port = freePort();
  const path = join(folder, `${name}.conf`);
  await Bun.write(path, WRITERS[name](server, port, folder));
  const child = Bun.spawn([binary, name === "nginx" ? "-c" : "-f", path], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Additional configuration that lets a balancer run without root and beside other balancers. */
const WRITERS: Record<BalancerName, (server: string, port: number, folder: string) => string> = {
  nginx: (server, port, folder) => `
    daemon off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; events {}
    http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
    ${server.replace("listen 80;", `listen 127.0.0.1:${port};`)} }`,
  haproxy: (server, port) => `${server.replace("bind :80", `bind 127.0.0.1:${port}`)}\n`,
};

/** Returns the balancer's configuration on that page, with a line for each machine. */
async function documented(name: BalancerName, ports: readonly number[]): Promise<string> {
  const page = await Bun.file(resolve(import.meta.dir, "../../docs/run/balancers.md")).text();
  const text = new RegExp(`<!-- ${name} -->\\s*\`\`\`${name}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (text === undefined) throw new Error(`docs/run/balancers.md has no configuration of ${name}`);
  const first = /^.*10\.0\.0\.11:8080.*\n/m.exec(text)?.[0] ?? "";
  const machines = ports.map((port, index) =>
    first.replace("10.0.0.11:8080", `127.0.0.1:${port}`).replace("server one", `server machine${index}`),
  );
  return text.replace(/^.*10\.0\.0\.12:8080.*\n/m, "").replace(first, machines.join(""));
}
