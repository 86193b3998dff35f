import { chmod, copyFile, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageFile from "../package.json";
import { PROGRAM_ROOT } from "../src/lib/program-files.ts";
import { buildProgram } from "./program.ts";
import { run } from "./run.ts";

/** Documents that the package contains. */
const DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE", "gateway.example.yaml"];

/**
 * Writes the npm package into a folder and returns the file's name. The package contains the bundled program. Its only
 * dependency is the runtime. `npm publish FILE` publishes the package.
 */
export async function packPackage(outFolder: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-package-"));
  try {
    await buildProgram(join(folder, "program"));
    for (const name of DOCUMENTS) await copyFile(join(PROGRAM_ROOT, name), join(folder, name));
    await cp(join(PROGRAM_ROOT, "docs"), join(folder, "docs"), { recursive: true });
    await copyFile(join(PROGRAM_ROOT, "deploy/package/gateway"), join(folder, "gateway"));
    await chmod(join(folder, "gateway"), 0o755);
    await Bun.write(join(folder, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
    const packed = await run(["npm", "pack", "--json", "--pack-destination", outFolder], folder);
    return `${(JSON.parse(packed) as [{ filename: string }])[0].filename}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function manifest(): object {
  const { name, version, description, license, type, engines, dependencies } = packageFile;
  return {
    name,
    version,
    description,
    license,
    type,
    keywords: ["llm", "gateway", "openai", "anthropic", "gemini", "images", "proxy", "billing"],
    bin: { gateway: "gateway" },
    os: ["linux", "darwin"],
    engines,
    dependencies: { bun: dependencies.bun },
  };
}
