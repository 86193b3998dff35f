import { mkdtemp, readdir, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import sharp, { type OutputInfo, type Sharp } from "sharp";
import { openPicture } from "../../src/imaging/codec.ts";
import type { ImageHeader } from "../../src/imaging/header-reader.ts";
import { readReference } from "../../src/imaging/reference.ts";
import { sniffImage } from "../../src/imaging/sniff.ts";
import { createSemaphore } from "../../src/lib/semaphore.ts";
import { GatewayError } from "../../src/domain/gateway-error.ts";

/**
 * Pictures from source packages of image libraries; `pictures.sh` downloads the packages. Another decoder reads most
 * pictures, too. The two results must agree on readability, displayed size and colours.
 */
export interface PictureCorpus extends AsyncDisposable {
  /** Paths of the pictures, sorted. */
  files: string[];
  read(file: string): Promise<Uint8Array<ArrayBuffer>>;
}

const CORPUS_DIRECTORY =
  process.env["TEST_PICTURES_DIR"] ?? join(homedir(), ".cache", "model-inference-gateway", "pictures");
const PICTURES = ["png", "apng", "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff", "heic", "avif", "mpo"];

/** Unpacks the pictures of the downloaded packages. Returns null when no package was downloaded. */
export async function openCorpus(): Promise<PictureCorpus | null> {
  const found = await readdir(CORPUS_DIRECTORY).catch(() => []);
  const archives = found.filter((name) => /\.orig\.tar\.(?:gz|xz|bz2)$/.test(name));
  if (archives.length === 0) return null;
  const directory = await mkdtemp(join(tmpdir(), "pictures-"));
  for (const archive of archives) {
    const patterns = PICTURES.flatMap((type) => [`*.${type}`, `*.${type.toUpperCase()}`]);
    const options = ["--wildcards", "--no-anchored", ...patterns];
    // The exit code is ignored, because tar fails when a pattern has no match.
    await Bun.spawn(["tar", "-xf", join(CORPUS_DIRECTORY, archive), "-C", directory, ...options], {
      stderr: "ignore",
    }).exited;
  }
  const files = [...new Bun.Glob("**/*").scanSync({ cwd: directory, onlyFiles: true })].toSorted();
  return {
    files,
    read: (file) => Bun.file(join(directory, file)).bytes(),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Returns a description of the gateway's fault in reading a picture, or null for none. */
export async function judge(file: string, bytes: Uint8Array<ArrayBuffer>): Promise<string | null> {
  const blob = new Blob([bytes]);
  const ours = await readOurs(blob);
  if ("crash" in ours) return `${file}: ${ours.crash}`;
  // A job compares a mask's size with the picture's header, an edit with the decoded picture. So header and decoder
  // must agree.
  if (ours.refusal === null && (ours.header.width !== ours.width || ours.header.height !== ours.height))
    return `${file}: ${ours.header.width}x${ours.header.height} by its header, then ${ours.width}x${ours.height}`;
  if (OPEN_VERDICTS.some((pattern) => pattern.test(file))) return null;
  const theirs = await readTheirs(bytes, file);
  if (theirs === null) return ours.refusal === null ? null : `${file}: refused: ${ours.refusal}`;
  if (theirs.verdict === "refused")
    return ours.refusal === null ? `${file}: accepted, but ${theirs.why}` : null;
  if (ours.refusal !== null) return `${file}: refused: ${ours.refusal}`;
  const [read, wanted] = [ours, theirs].map(({ width, height }) => `${width}x${height}`);
  if (read !== wanted) return `${file}: ${read} instead of ${wanted}`;
  const decoded = distanceOf(await pixelsOf(blob, ours.header), theirs.pixels);
  if (decoded > MAX_DISTANCE) return `${file}: colours differ by ${decoded.toFixed(1)}`;
  if (ours.sent === blob) return null;
  const sending = sharp(await ours.sent.bytes());
  const { format } = await sending.metadata();
  const { data } = await unpack(sending);
  const sent = distanceOf(data, format === "jpeg" ? await asJpeg(theirs) : theirs.pixels);
  return sent > MAX_DISTANCE ? `${file}: colours of what is sent differ by ${sent.toFixed(1)}` : null;
}

const slots = createSemaphore(2);
/** Maximum of the mean difference of channel values, which range from 0 to 255. */
const MAX_DISTANCE = 4;

/** Pictures about which decoders disagree. Any result is right, but the gateway must not crash. */
const OPEN_VERDICTS = [
  // Pictures that the other decoder cannot read.
  /\.bmp$/,
  /lab.*\.tif|Lab\.tif|12bit|tiled_planar|old-style|ojpeg|float64/,
  // Pictures that only the other decoder can read.
  /lzma|webp\.tif|zstd|tiled_cmyk|bigtiff|loop/,
  // Pictures that are damaged on purpose.
  /crashers\/|crash-|overflow|_poc\b|clusterfuzz|corpus\/(?:github|hbo|uaf)|wrong_bits/,
  /multi_actl|unknown_pixel_mode|16bit\.s\.tif|1_trns\.png/,
  // The decoders differ about the orientation of a PNG, and about a GIF frame that is smaller than its screen.
  /pngtest\.png|first_frame_transparency\.gif/,
];

type Ours =
  | { crash: string }
  | { refusal: string; width: 0; height: 0 }
  | { refusal: null; width: number; height: number; header: ImageHeader; sent: Blob };

async function readOurs(blob: Blob): Promise<Ours> {
  try {
    const header = await sniffImage(blob);
    const reference = await readReference(blob, { param: "image", name: "image", slots });
    const { width, height, blob: sent } = reference;
    return { refusal: null, width, height, header, sent };
  } catch (error) {
    if (error instanceof GatewayError && error.code === "invalid_image")
      return { refusal: error.message, width: 0, height: 0 };
    return { crash: String(error) };
  }
}

type Theirs =
  | { verdict: "refused"; why: string; width: 0; height: 0 }
  | { verdict: "read"; width: number; height: number; pixels: Buffer };

/** Reads a picture by the other decoder. Null when that decoder does not support the format. */
async function readTheirs(bytes: Uint8Array, file: string): Promise<Theirs | null> {
  const refused = (why: string): Theirs => ({ verdict: "refused", why, width: 0, height: 0 });
  if (file.endsWith(".heic")) return null;
  if (isAnimatedPng(Buffer.from(bytes.buffer))) return refused("it is animated");
  const picture = () => sharp(bytes, { failOn: "truncated" });
  try {
    const { pages = 1 } = await picture().metadata();
    if (pages > 1) return refused("it has several pages");
    const { data, info } = await unpack(picture().autoOrient());
    return { verdict: "read", width: info.width, height: info.height, pixels: data };
  } catch (error) {
    return refused(String(error));
  }
}

/** True for an animated PNG. The other decoder reads only the first frame of such a picture. */
function isAnimatedPng(bytes: Buffer): boolean {
  const [at, data] = [bytes.indexOf("acTL"), bytes.indexOf("IDAT")];
  return at > 0 && at < data && bytes.readUInt32BE(at + 4) > 1;
}

function unpack(picture: Sharp): Promise<{ data: Buffer; info: OutputInfo }> {
  return picture
    .toColourspace("srgb")
    .ensureAlpha()
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
}

/** Returns the pixels after the other encoder has made a JPEG of them, because every JPEG changes colours. */
async function asJpeg({ width, height, pixels }: Extract<Theirs, { verdict: "read" }>): Promise<Buffer> {
  const picture = sharp(pixels, { raw: { width, height, channels: 4 } });
  return (await unpack(sharp(await picture.jpeg({ quality: JPEG_QUALITY }).toBuffer()))).data;
}

/** The quality of the gateway's own JPEGs. */
const JPEG_QUALITY = 95;

/** Returns the pixels in sRGB that the gateway's codec produces. */
async function pixelsOf(blob: Blob, header: ImageHeader): Promise<Buffer> {
  const picture = await openPicture(blob, header);
  return (await unpack(sharp(await picture.png({ compressionLevel: 0 }).bytes()))).data;
}

/** Returns the mean difference between the values of two pictures. Colours of fully transparent pixels are ignored. */
function distanceOf(first: Buffer, second: Buffer): number {
  if (first.length !== second.length) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let at = 0; at < first.length; at += 4) {
    const [alpha = 0, other = 0] = [first[at + 3], second[at + 3]];
    sum += Math.abs(alpha - other);
    for (let channel = at; channel < at + 3; channel += 1)
      sum += Math.abs((first[channel] ?? 0) * alpha - (second[channel] ?? 0) * other) / 255;
  }
  return sum / first.length;
}
