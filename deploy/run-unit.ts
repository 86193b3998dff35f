import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../test/support/free-port.ts";
import { until } from "../test/support/gateway.ts";
import { run } from "./run.ts";

/**
 * Runs the unit with systemd as process 1 of a container. The container sees the files of this machine, does not change
 * them, and uses this machine's network. A running stream must become complete when the unit is stopped or restarted,
 * and when the unit's process group gets SIGTERM. After a crash the gateway must start again. Needs root and `systemd`.
 */
export async function runUnit(executable: string): Promise<string> {
  await using machine = await startMachine();
  const port = await install(machine, executable);
  const systemctl = (...command: string[]) => machine.run("systemctl", ...command);
  const startedAt = performance.now();
  await systemctl("enable", "--now", "gateway");
  const firstMs = await untilServing(port, startedAt);
  await requireConfined(machine);

  await requireWhole(port, () => systemctl("stop", "gateway"));
  await requireState(machine, { ActiveState: "inactive", Result: "success", ExecMainStatus: "0" });
  await systemctl("start", "gateway");
  await untilServing(port);

  await requireWhole(port, () => systemctl("restart", "gateway"));
  await untilServing(port);
  await systemctl("reload", "gateway");
  await untilLogged(machine, "configuration reloaded");

  await requireWhole(port, () => systemctl("kill", "--kill-who=all", "--signal=TERM", "gateway"));
  await untilState(machine, { ActiveState: "inactive", Result: "success", NRestarts: "0" });
  await systemctl("start", "gateway");
  await untilServing(port);

  const crashedAt = performance.now();
  await systemctl("kill", "--kill-who=main", "--signal=KILL", "gateway");
  await untilState(machine, { ActiveState: "active", NRestarts: "1" });
  const restartMs = await untilServing(port, crashedAt);
  const keys = await machine.run("sh", "-euc", await documentedCommand());
  if (!keys.includes("default")) throw new Error(`the command of the documents printed ${keys}`);
  return `${firstMs} ms to the first picture, ${restartMs} ms after a crash`;
}

const KEY = "gk_for_the_check_of_the_unit";

interface Machine extends AsyncDisposable {
  /** Runs a command in the container. */
  run(...command: string[]): Promise<string>;
  /** Returns the path on this machine of a file of the container. */
  pathOf(path: string): string;
}

/** Shell script that makes the container's mounts and control group, and finally removes the control group. */
const OUTSIDE = `
mount -t tmpfs tmpfs "$0"
cd "$0"
mkdir groups upper work root
mount -t cgroup2 cgroup2 groups
mkdir "groups/$1"
echo $$ > "groups/$1/cgroup.procs"
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay root
unshare --cgroup --pid --uts --ipc --mount --fork sh -euc "$2" || :
echo $$ > groups/cgroup.procs
find "groups/$1" -depth -type d -exec rmdir {} +
`;

/** Shell script that becomes process 1. The container has no unit of this machine and cannot set kernel options. */
const INSIDE = `
cd root
rm -rf etc/systemd/system/* etc/rc?.d/* etc/fstab
: > etc/machine-id
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for each in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs $each; done
chmod 1777 tmp
for each in null zero full random urandom tty; do
  touch dev/$each
  mount --bind /dev/$each dev/$each
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
pivot_root . .
umount -l .
cd /
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=basic.target
`;

async function startMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-unit-"));
  const errors = join(folder, "errors");
  const script = [OUTSIDE, folder, `gateway-unit-${process.pid}`, INSIDE];
  const child = Bun.spawn(["unshare", "--mount", "sh", "-euc", ...script], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(errors),
  });
  const started = async () => {
    if (child.exitCode !== null) throw new Error(`the container ended: ${await readFile(errors, "utf8")}`);
    return (await systemdBelow(child.pid)) ?? undefined;
  };
  let pid = 0;
  const machine: Machine = {
    pathOf: (path) => `/proc/${pid}/root${path}`,
    run: (...command) => run(["nsenter", "--target", `${pid}`, ...ENTERED, "--", ...command]),
    async [Symbol.asyncDispose]() {
      // When process 1 of a container ends, the kernel ends all processes of the container.
      if (pid !== 0) process.kill(pid, "SIGKILL");
      await child.exited;
      await rm(folder, { recursive: true });
    },
  };
  try {
    pid = await until("systemd to start", started, PATIENCE_MS);
    await until(
      "systemd to be ready",
      () => machine.run("timeout", "2", "systemctl", "is-active", "basic.target").catch(() => undefined),
      PATIENCE_MS,
    );
    return machine;
  } catch (error) {
    await machine[Symbol.asyncDispose]();
    throw error;
  }
}

const ENTERED = ["--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root"];
const PATIENCE_MS = 30_000;

/** Returns the id of systemd, a grandchild of the shell, or undefined before systemd runs. */
async function systemdBelow(parent: number): Promise<number | undefined> {
  const [child] = await childrenOf(parent);
  const [grandchild] = child === undefined ? [] : await childrenOf(child);
  if (grandchild === undefined) return undefined;
  return (await readFile(`/proc/${grandchild}/comm`, "utf8")).trim() === "systemd" ? grandchild : undefined;
}

async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return list.split(" ").filter(Boolean).map(Number);
}

/** Installs the unit as the documents say. Returns the port from the unit's settings. */
async function install({ pathOf }: Machine, executable: string): Promise<number> {
  const port = freePort();
  await copyFile(executable, pathOf("/usr/local/bin/gateway"));
  await chmod(pathOf("/usr/local/bin/gateway"), 0o755);
  await copyFile(join(import.meta.dir, "gateway.service"), pathOf("/etc/systemd/system/gateway.service"));
  await mkdir(pathOf("/etc/gateway"));
  await writeFile(pathOf("/etc/gateway/gateway.yaml"), "sandbox: { tokens_per_second: 50 }\n");
  const environment = `PORT=${port}\nGATEWAY_BOOTSTRAP_KEY=${KEY}\n`;
  await writeFile(pathOf("/etc/gateway/environment"), environment, { mode: 0o600 });
  return port;
}

function call(port: number, path: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Returns the milliseconds from `start` until the gateway creates a picture. */
async function untilServing(port: number, start = performance.now()): Promise<number> {
  const body = { model: "sandbox-a", prompt: "A lighthouse at dawn", response_format: "b64_json" };
  const picture = () =>
    call(port, "/v1/images/generations", body).then(
      (response) => response.text(),
      () => undefined,
    );
  const text = await until("a picture", picture, 30_000);
  if (!text.includes("b64_json")) throw new Error(`the unit serves no picture but ${text}`);
  return Math.round(performance.now() - start);
}

/** Throws if a stream breaks when `end` is called after the stream's first bytes. */
async function requireWhole(port: number, end: () => Promise<unknown>): Promise<void> {
  const messages = [{ role: "user", content: "Tell me about lighthouses in 100 words" }];
  const response = await call(port, "/v1/chat/completions", {
    model: "sandbox-chat",
    stream: true,
    messages,
  });
  let text = "";
  let ended: Promise<unknown> | null = null;
  for await (const piece of response.body ?? []) {
    text += new TextDecoder().decode(piece);
    ended ??= end();
  }
  await ended;
  const words = [...text.matchAll(/"content":"(.*?)"/g)]
    .map(([, word]) => word)
    .join("")
    .split(" ").length;
  if (words < 100 || !text.endsWith("data: [DONE]\n\n"))
    throw new Error(`a stream was cut after ${words} words`);
}

/** Requires that the unit's restrictions apply to the running process. Throws otherwise. */
async function requireConfined(machine: Machine): Promise<void> {
  const pid = (await stateOf(machine))["MainPID"] ?? "";
  const status = await machine.run("cat", `/proc/${pid}/status`);
  for (const line of ["CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"])
    if (!status.includes(line)) throw new Error(`the gateway runs without "${line}": ${status}`);
  if (/^Uid:\t0\t/m.test(status)) throw new Error("the gateway runs as root");
  const write = ["nsenter", "--target", pid, "--mount", "touch", "/etc/written"];
  if (
    await machine.run(...write).then(
      () => true,
      () => false,
    )
  )
    throw new Error("/etc can be written");
}

async function stateOf(machine: Machine): Promise<Record<string, string>> {
  const shown = await machine.run("systemctl", "show", "gateway");
  return Object.fromEntries(shown.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

async function requireState(machine: Machine, wanted: Record<string, string>): Promise<void> {
  const state = await stateOf(machine);
  for (const [name, value] of Object.entries(wanted))
    if (state[name] !== value) throw new Error(`${name} of the unit is ${state[name]}, not ${value}`);
}

async function untilState(machine: Machine, wanted: Record<string, string>): Promise<void> {
  const isIn = () =>
    requireState(machine, wanted).then(
      () => true,
      () => undefined,
    );
  await until(JSON.stringify(wanted), isIn, PATIENCE_MS).catch(() => requireState(machine, wanted));
}

async function untilLogged(machine: Machine, text: string): Promise<void> {
  const lines = () => machine.run("journalctl", "--unit=gateway", "--output=cat", "--no-pager");
  await until(`"${text}" in the journal`, async () => (await lines()).includes(text) || undefined);
}

/** Returns the command by which the documents list keys. */
async function documentedCommand(): Promise<string> {
  const page = await readFile(join(import.meta.dir, "../docs/run/systemd.md"), "utf8");
  return /^systemd-run (?:.*\\\n)*.*/m.exec(page)?.[0] ?? "";
}
