import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import packageFile from "../package.json";
import { buildExecutable } from "./program.ts";
import { run } from "./run.ts";

/** Path of the executable in the image. */
const PROGRAM = "/usr/bin/gateway";
/** User id of the program: a number, as Kubernetes requires. Few systems have a user with this id. */
const USER = 65_532;
const PORT = 8080;
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Writes the image as a tar file in the OCI layout, without a container engine. The image contains the executable, the
 * libraries of this Debian system that the executable loads, certificate authorities, `/data` and `/tmp`. Equal
 * executables, systems and times produce equal bytes.
 */
export async function writeImage({ executable, outfile, created }: ImageOptions): Promise<void> {
  const layer = await writeArchive(await rootEntries(executable), created);
  const compressed = gzipSync(layer, { level: 9 });
  const config = json({
    architecture: process.arch === "arm64" ? "arm64" : "amd64",
    os: "linux",
    created: created.toISOString(),
    config: imageConfig(),
    rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
    history: [{ created: created.toISOString(), created_by: "deploy/image.ts" }],
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", ...descriptorOf(config) },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", ...descriptorOf(compressed) }],
  });
  const name = { "org.opencontainers.image.ref.name": packageFile.version };
  const index = json({
    schemaVersion: 2,
    manifests: [{ mediaType: MANIFEST_TYPE, ...descriptorOf(manifest), annotations: name }],
  });
  const blobs = [compressed, config, manifest].map((content) =>
    file(`blobs/sha256/${digestOf(content).slice("sha256:".length)}`, content),
  );
  const layout = json({ imageLayoutVersion: "1.0.0" });
  await Bun.write(
    outfile,
    await writeArchive([file("oci-layout", layout), file("index.json", index), ...blobs], created),
  );
}

export interface ImageOptions {
  /** The single-file executable for this machine's platform. */
  executable: string;
  outfile: string;
  /** Modification time of all files in the image. */
  created: Date;
}

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

export function imageConfig() {
  return {
    User: `${USER}:${USER}`,
    Env: ["PATH=/usr/bin", "HOME=/data", "HOST=0.0.0.0", `PORT=${PORT}`, "GATEWAY_DATA_DIR=/data"],
    Entrypoint: [PROGRAM],
    WorkingDir: "/data",
    Volumes: { "/data": {} },
    ExposedPorts: { [`${PORT}/tcp`]: {} },
    StopSignal: "SIGTERM",
    // Docker and Podman read this field, which the OCI specification lacks. Kubernetes uses probes instead.
    Healthcheck: {
      Test: ["CMD", PROGRAM, "health"],
      Interval: 30e9,
      Timeout: 10e9,
      StartPeriod: 20e9,
      Retries: 3,
    },
    Labels: {
      "org.opencontainers.image.title": packageFile.name,
      "org.opencontainers.image.version": packageFile.version,
      "org.opencontainers.image.licenses": packageFile.license,
      "org.opencontainers.image.description": packageFile.description,
    },
  };
}

interface Entry {
  name: string;
  mode: number;
  type?: "directory";
  /** Id of the owner. By default, root. */
  uid?: number;
  gid?: number;
  content?: Uint8Array;
}

/** Returns all files and folders of the image. */
async function rootEntries(executable: string): Promise<Entry[]> {
  const text = (name: string, content: string) => file(name, Buffer.from(content));
  const files = [
    text("etc/passwd", `root:x:0:0::/:/sbin/nologin\ngateway:x:${USER}:${USER}::/data:/sbin/nologin\n`),
    text("etc/group", `root:x:0:\ngateway:x:${USER}:\n`),
    text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    file(CERTIFICATES.slice(1), await readFile(CERTIFICATES)),
    ...(await librariesOf(executable)),
    { ...file(PROGRAM.slice(1), await readFile(executable)), mode: 0o755 },
  ];
  const folders = new Set(files.flatMap(({ name }) => foldersAbove(name)));
  return [
    ...[...folders].sort().map((name): Entry => ({ name, type: "directory", mode: 0o755 })),
    { name: "tmp", type: "directory", mode: 0o1777 },
    { name: "data", type: "directory", mode: 0o700, uid: USER, gid: USER },
    ...files,
  ];
}

/** Returns an executable's loader and libraries, the libraries that resolve host names, and the copyright notices. */
async function librariesOf(executable: string): Promise<Entry[]> {
  const listed = await run(["ldd", executable]);
  const loaded = [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = ""]) => path);
  const folder = dirname(loaded.find((path) => basename(path).startsWith("libc.so")) ?? "");
  const paths = [...new Set([...loaded, ...NAME_LIBRARIES.map((name) => `${folder}/${name}`)])];
  const entries = await Promise.all(
    paths.map(async (path) => ({
      ...file(path.slice(1), await readFile(await realpath(path))),
      mode: 0o755,
    })),
  );
  return [...entries, ...(await noticesOf(paths))];
}

/** Libraries that the C library loads at run time to resolve host names. */
const NAME_LIBRARIES = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];

async function noticesOf(paths: string[]): Promise<Entry[]> {
  const owners = await Promise.all(
    paths.map(async (path) => {
      // `/lib` is a link to `/usr/lib`. Debian 12 lists a library by its old path, Debian 13 by its new path.
      const owned = await Promise.all(
        [path, `/usr${path}`].map((each) => run(["dpkg", "-S", each]).catch(() => "")),
      );
      return owned.join("").split(":")[0] ?? "";
    }),
  );
  const packages = new Set([...owners.filter((name) => name !== ""), "ca-certificates"]);
  return await Promise.all(
    [...packages].map(async (name) => {
      const path = `/usr/share/doc/${name}/copyright`;
      return file(path.slice(1), await readFile(path));
    }),
  );
}

const file = (name: string, content: Uint8Array): Entry => ({ name, mode: 0o644, content });

function foldersAbove(name: string): string[] {
  const parts = name.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

async function writeArchive(entries: readonly Entry[], mtime: Date): Promise<Buffer> {
  const archive = pack();
  for (const { content, ...header } of entries) {
    const owned = { uid: 0, gid: 0, mtime, ...header };
    if (content === undefined) archive.entry(owned);
    else archive.entry(owned, Buffer.from(content));
  }
  archive.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of archive) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

const digestOf = (content: Uint8Array): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

const descriptorOf = (content: Uint8Array) => ({ digest: digestOf(content), size: content.length });

// The build stage of the Dockerfile runs this block, which writes the file system as a tar file.
if (import.meta.main) {
  const executable = "/tmp/gateway-executable";
  await buildExecutable({ outfile: executable });
  await Bun.write(process.argv[2] ?? "", await writeArchive(await rootEntries(executable), new Date(0)));
}
