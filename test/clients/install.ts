import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Program } from "./programs.table.ts";

/** The folder of a program's packages, and the environment in which the program finds them. */
export interface Installed {
  folder: string;
  env: Record<string, string>;
}

const MAX_MS = 300_000;

/** Installs a program's packages by npm or pip, once for each list of packages. If this fails, returns the reason. */
export async function install({ npm, pip }: Program, root: string): Promise<Installed | string> {
  const packages = npm ?? pip ?? [];
  const folder = join(root, Bun.hash(packages.join()).toString(36));
  const done = join(folder, "installed");
  const path = `${folder}/node_modules/.bin:${process.env["PATH"] ?? ""}`;
  const installed = { folder, env: { PATH: path, PYTHONPATH: `${folder}/python` } };
  if (await Bun.file(done).exists()) return installed;
  await mkdir(folder, { recursive: true });
  await Bun.write(join(folder, "package.json"), "{}");
  const byNpm = ["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps", ...packages];
  const byPip = ["python3", "-m", "pip", "install", "--quiet", "--target", `${folder}/python`, ...packages];
  const child = Bun.spawn({
    cmd: npm ? byNpm : byPip,
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
    timeout: MAX_MS,
  });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) return errors.trim().split("\n").at(-1) || "the installation took too long";
  await Bun.write(done, packages.join("\n"));
  return installed;
}
