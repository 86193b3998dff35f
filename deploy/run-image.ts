import { chown, mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageFile from "../package.json";
import { freePort } from "../test/support/free-port.ts";
import { until } from "../test/support/gateway.ts";
import { run } from "./run.ts";

const MAX_BYTES = 150_000_000;
/** Ids on this machine that the container's users get. No user of this machine has one of them. */
const FIRST_ID = 200_000;
const ID_COUNT = 65_536;
const USER = 65_532;

/**
 * Runs an image as a cluster would: in an OCI runtime, without privileges on this machine. Only `/data` and `/tmp` are
 * writable. The program must create a picture, report that it is healthy, drain on SIGTERM and start again on its data.
 * Needs `umoci` and `runc`.
 */
export async function runImage(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new Error(`the image has ${size} bytes, more than ${MAX_BYTES}`);
  const folder = await mkdtemp(join(tmpdir(), "gateway-image-"));
  try {
    await mkdir(join(folder, "oci"));
    await run(["tar", "-xf", path, "-C", join(folder, "oci")]);
    const ids = `0:${FIRST_ID}:${ID_COUNT}`;
    const image = ["--image", `oci:${packageFile.version}`, "bundle"];
    await run(["umoci", "unpack", "--uid-map", ids, "--gid-map", ids, ...image], folder);
    await mkdir(join(folder, "data"));
    await chown(join(folder, "data"), FIRST_ID + USER, FIRST_ID + USER);
    await run(["chmod", "755", folder, join(folder, "bundle")]);
    const port = freePort();
    await isolate(folder, port);
    const firstMs = await startAndStop(folder, port);
    const nextMs = await startAndStop(folder, port);
    return `${Math.round(size / 1e6)} MB; ${firstMs} ms to the first picture, ${nextMs} ms when started again`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Changes umoci's configuration: a read-only root, no capabilities and separate user ids. */
async function isolate(folder: string, port: number): Promise<void> {
  const path = join(folder, "bundle/config.json");
  const config = JSON.parse(await readFile(path, "utf8"));
  const { process, linux } = config;
  config.root.readonly = true;
  process.terminal = false;
  process.env.push(`PORT=${port}`, `GATEWAY_BOOTSTRAP_KEY=${KEY}`);
  for (const set of Object.keys(process.capabilities)) process.capabilities[set] = [];
  const kept = new Set(["/proc", "/dev", "/dev/shm"]);
  config.mounts = config.mounts.filter(({ destination }: { destination: string }) => kept.has(destination));
  const options = ["nosuid", "nodev"];
  config.mounts.push(
    { destination: "/data", type: "bind", source: join(folder, "data"), options: ["bind", ...options] },
    { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: [...options, "mode=1777", "size=256m"] },
  );
  // The container uses this machine's network, so that the check can connect.
  linux.namespaces = ["pid", "ipc", "uts", "mount", "user"].map((type) => ({ type }));
  const ids = [{ containerID: 0, hostID: FIRST_ID, size: ID_COUNT }];
  Object.assign(linux, { uidMappings: ids, gidMappings: ids });
  delete linux.resources;
  await Bun.write(path, JSON.stringify(config));
}

const KEY = "gk_for_the_check_of_the_image";

/** Starts the container, stops it, and returns the milliseconds until the first picture. */
async function startAndStop(folder: string, port: number): Promise<number> {
  const name = `gateway-${process.pid}-${port}`;
  const start = performance.now();
  const child = Bun.spawn(["runc", "--root", join(folder, "runc"), "run", "--bundle", "bundle", name], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(join(folder, "errors")),
  });
  const inContainer = (...args: string[]) => run(["runc", "--root", join(folder, "runc"), ...args]);
  try {
    const picture = await until("a picture", () => drawn(port, child, join(folder, "errors")), 30_000);
    const ms = Math.round(performance.now() - start);
    if (!picture.includes("b64_json")) throw new Error("the image serves no picture");
    for (const path of ["/console", "/docs/"])
      if (!(await fetch(`http://127.0.0.1:${port}${path}`)).ok)
        throw new Error(`the image does not serve ${path}`);
    const health = await inContainer("exec", name, "/usr/bin/gateway", "health");
    if (!health.includes("is ready")) throw new Error(`health answered ${health}`);
    await inContainer("kill", name, "TERM");
    const code = await child.exited;
    if (code !== 0) throw new Error(`a stop of the container ended with ${code}`);
    return ms;
  } finally {
    child.kill("SIGKILL");
    await inContainer("delete", "--force", name).catch(() => {});
  }
}

/** Requests a picture. Returns undefined while the gateway does not respond yet. */
async function drawn(port: number, child: Bun.Subprocess, errors: string): Promise<string | undefined> {
  if (child.exitCode !== null) throw new Error(`the container ended: ${await readFile(errors, "utf8")}`);
  const sent = fetch(`http://127.0.0.1:${port}/v1/images/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox-a", prompt: "A lighthouse at dawn", response_format: "b64_json" }),
  });
  return await sent.then(
    (response) => response.text(),
    () => undefined,
  );
}
