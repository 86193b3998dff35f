import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import packageFile from "../package.json";
import { PROGRAM_ROOT } from "../src/lib/program-files.ts";
import { components } from "./components.ts";
import { DEPLOY_FILES } from "./deploy-files.ts";
import { writeImage } from "./image.ts";
import { packPackage } from "./package.ts";
import { buildExecutable, type Runtime } from "./program.ts";
import { run } from "./run.ts";

/** All executables of a release, each with the npm package that contains Bun for its platform. */
const TARGETS = {
  "linux-x64": { target: "bun-linux-x64", runtime: "bun-linux-x64" },
  "linux-arm64": { target: "bun-linux-arm64", runtime: "bun-linux-aarch64" },
  "darwin-x64": { target: "bun-darwin-x64", runtime: "bun-darwin-x64" },
  "darwin-arm64": { target: "bun-darwin-arm64", runtime: "bun-darwin-aarch64" },
} as const;

type Platform = keyof typeof TARGETS;

/**
 * Writes a release into `dist/release`: npm package, files of this folder, executables, image, list of components,
 * provenance and checksums. The runtimes of other platforms come from npm. If a runtime is not available, its
 * executable is omitted, a line reports this, and the exit code is 1.
 */
async function release(): Promise<void> {
  const folder = resolve(PROGRAM_ROOT, "dist/release");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // The release must contain fresh builds only.
  for (const built of ["dist/console", "dist/docs"])
    await rm(join(PROGRAM_ROOT, built), { recursive: true, force: true });
  await run(["npm", "run", "build"], PROGRAM_ROOT);
  await run(["npm", "ci", "--prefix", "site", "--no-audit", "--no-fund"], PROGRAM_ROOT);
  await run(["npm", "run", "site"], PROGRAM_ROOT);
  const created = new Date(await git("log", "-1", "--format=%cI"));
  await packPackage(folder);
  await packDeployFiles(join(folder, `gateway-${packageFile.version}-deploy.tar.gz`));
  for (const platform of Object.keys(TARGETS) as Platform[]) {
    const outfile = join(folder, `gateway-${packageFile.version}-${platform}`);
    if (!(await buildFor(platform, outfile))) continue;
    if (platform === `${process.platform}-${process.arch}` && process.platform === "linux") {
      const image = join(folder, `gateway-${packageFile.version}-image-${process.arch}.tar`);
      await writeImage({ executable: outfile, outfile: image, created });
    }
  }
  await Bun.write(join(folder, `gateway-${packageFile.version}.cdx.json`), await components());
  const artifacts = await digests(folder);
  await Bun.write(join(folder, `gateway-${packageFile.version}.intoto.json`), await provenance(artifacts));
  const sums = (await digests(folder)).map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  await Bun.write(join(folder, "SHA256SUMS"), sums.join(""));
  process.stdout.write(`${sums.join("")}`);
}

/** Packs the committed files of this folder that the documents mention, for operators without a checkout. */
async function packDeployFiles(outfile: string): Promise<void> {
  const paths = DEPLOY_FILES.map((name) => `deploy/${name}`);
  await run(["git", "archive", "--format=tar.gz", `--output=${outfile}`, "HEAD", ...paths], PROGRAM_ROOT);
}

/** Returns false, and reports the reason, when the executable for another platform cannot be built. */
async function buildFor(platform: Platform, outfile: string): Promise<boolean> {
  if (platform === `${process.platform}-${process.arch}`) {
    await buildExecutable({ outfile });
    return true;
  }
  const downloads = await mkdtemp(join(tmpdir(), "gateway-runtime-"));
  try {
    await buildExecutable({ outfile, runtime: await fetchRuntime(platform, downloads) });
    return true;
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${platform} is left out: ${error instanceof Error ? error.message : error}\n`);
    return false;
  } finally {
    await rm(downloads, { recursive: true });
  }
}

/** Downloads another platform's runtime by npm, which checks its integrity. */
async function fetchRuntime(platform: Platform, folder: string): Promise<Runtime> {
  const { target, runtime } = TARGETS[platform];
  const packed = await run(
    ["npm", "pack", "--json", `@oven/${runtime}@${packageFile.dependencies.bun}`],
    folder,
  );
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  await run(["tar", "-xzf", filename], folder);
  return { target, path: join(folder, "package/bin/bun") };
}

interface Artifact {
  name: string;
  sha256: string;
}

async function digests(folder: string): Promise<Artifact[]> {
  const names = (await readdir(folder)).sort();
  return await Promise.all(
    names.map(async (name) => ({ name, sha256: sha256(await readFile(join(folder, name))) })),
  );
}

/**
 * Returns an in-toto statement with SLSA's predicate (in-toto Attestation v1, SLSA Provenance v1). The statement names
 * the builder, the commit, the lock file and Bun. It is not signed.
 */
async function provenance(artifacts: readonly Artifact[]): Promise<string> {
  const lock = sha256(await readFile(join(PROGRAM_ROOT, "package-lock.json")));
  const isClean = (await git("status", "--porcelain", "--untracked-files=no")) === "";
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: artifacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: `${packageFile.name}/deploy/release.ts`,
        externalParameters: { version: packageFile.version },
        internalParameters: { isClean, platform: `${process.platform}-${process.arch}` },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: await git("rev-parse", "HEAD") } },
          { name: "package-lock.json", digest: { sha256: lock } },
          { name: `bun@${Bun.version}`, digest: { gitCommit: Bun.revision } },
        ],
      },
      runDetails: {
        builder: { id: `${packageFile.name}/deploy/release.ts@${packageFile.version}` },
        metadata: { finishedOn: new Date().toISOString() },
      },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}

const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

const git = async (...args: string[]): Promise<string> => (await run(["git", ...args], PROGRAM_ROOT)).trim();

await release();
