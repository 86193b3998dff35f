import {
  isKnownField,
  isPictureField,
  readEdit,
  readGeneration,
  type ImageField,
} from "../dialects/images/index.ts";
import { readRequest } from "../dialects/native/index.ts";
import { GatewayError } from "../domain/gateway-error.ts";
import type { ImageRequest } from "../domain/image.ts";
import { toLocalBlob, type BlobStore } from "../gateway/delivery/stored-blobs.ts";
import { isHandle, SpooledString, type StreamedJson, type StreamedObject } from "../lib/json-spool.ts";
import type { Spool } from "../lib/spool.ts";

/** The submitted request: the fields of an image request, or a body of the native protocol with its model. */
export type JobRequest = { isCompressing: boolean } & (
  { kind: "images"; fields: readonly ImageField[] } | { kind: "native"; model: string; body: StreamedObject }
);

/**
 * Reads a job's request, at its submission and when it runs. A request with a picture is an edit. Pictures are always
 * delivered as links. Throws a `GatewayError` as the synchronous endpoints do.
 */
export async function readJobRequest(request: JobRequest): Promise<ImageRequest> {
  if (request.kind === "native") {
    const read = await readRequest(request.body, request.model);
    return { ...read, compressReferences: request.isCompressing, delivery: "url" };
  }
  const { fields, isCompressing } = request;
  const isEdit = fields.some(([name, value]) => isPictureField(name) && (value ?? null) !== null);
  const read = isEdit ? await readEdit(fields, isCompressing) : await readGeneration(fields);
  return { ...read, delivery: "url" };
}

/** The stored form of a request: JSON with placeholders for its files. `files` lists the blobs of these files. */
interface StoredRequest {
  placeholder: string;
  files: StoredFile[];
  request: unknown;
}

interface StoredFile {
  name: string;
  /** `upload` is an uploaded file; `text` and `base64` are long strings. The blob of `base64` has the decoded bytes. */
  kind: "upload" | "text" | "base64";
  byteLength: number;
  mime?: string | undefined;
}

/** Stores a request's files as blobs. Returns the rest of the request as `text`, and the names of the blobs. */
export async function writeStoredRequest(
  request: JobRequest,
  blobs: BlobStore,
  organizationId: string,
): Promise<{ text: string; names: string[] }> {
  const handles: (Blob | SpooledString)[] = [];
  // The placeholder is random for each request, so that no text of the caller can equal it.
  const placeholder = `file:${crypto.randomUUID()}:`;
  const skeleton = JSON.stringify(withoutUnread(request), (_, value: StreamedJson) =>
    isHandle(value) ? placeholder + (handles.push(value) - 1) : value,
  );
  const files: StoredFile[] = [];
  try {
    for (const handle of handles) files.push(await storeFile(handle, blobs, organizationId));
  } catch (error) {
    await removeBlobs(blobs, files.map(nameOf));
    throw error;
  }
  const text = `{"placeholder":"${placeholder}","files":${JSON.stringify(files)},"request":${skeleton}}`;
  return { text, names: files.map(nameOf) };
}

export function filesOf(text: string): string[] {
  return (JSON.parse(text) as StoredRequest).files.map(nameOf);
}

/** Reads a request that `writeStoredRequest` has written. Copies remote files to the spool (temporary files). */
export async function readStoredRequest(text: string, blobs: BlobStore, spool: Spool): Promise<JobRequest> {
  const { placeholder, files, request } = JSON.parse(text) as StoredRequest;
  const handles: (Blob | SpooledString)[] = [];
  for (const file of files) handles.push(await readFile(file, blobs, spool));
  return JSON.parse(JSON.stringify(request), (_, value: unknown) =>
    typeof value === "string" && value.startsWith(placeholder)
      ? handles[Number(value.slice(placeholder.length))]
      : value,
  ) as JobRequest;
}

/** Tries to remove blobs. A periodic sweep removes any that remain. */
export async function removeBlobs(blobs: BlobStore, names: readonly string[]): Promise<void> {
  await Promise.allSettled(names.map((name) => blobs.remove(name)));
}

function nameOf({ name }: StoredFile): string {
  return name;
}

/** Removes the fields of an image request that the image pipeline does not read. */
function withoutUnread(request: JobRequest): JobRequest {
  if (request.kind === "native") return request;
  return { ...request, fields: request.fields.filter(([name]) => isKnownField(name)) };
}

async function storeFile(
  handle: Blob | SpooledString,
  blobs: BlobStore,
  organizationId: string,
): Promise<StoredFile> {
  const isUpload = handle instanceof Blob;
  const { name } = await blobs.put(isUpload ? handle : handle.blob, "bin", organizationId);
  if (isUpload) return { name, kind: "upload", byteLength: handle.size };
  return { name, kind: handle.decoded ? "base64" : "text", byteLength: handle.byteLength, mime: handle.mime };
}

async function readFile(
  { name, kind, byteLength, mime }: StoredFile,
  blobs: BlobStore,
  spool: Spool,
): Promise<Blob | SpooledString> {
  const stored = await blobs.get(name);
  if (!stored) {
    const message = "A picture of this job is no longer stored. Submit the job again.";
    throw new GatewayError("image_fetch_failed", message, { param: "image" });
  }
  const blob = await toLocalBlob(stored, spool);
  return kind === "upload" ? blob : new SpooledString(blob, byteLength, kind === "base64", mime);
}
