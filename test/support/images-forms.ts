import { REFERENCE_FIELDS } from "../../src/dialects/images/references.ts";
import type { Hit } from "../upstreams/simulator.ts";

/** A part of a form, written without changes. */
export interface RawPart {
  name: string;
  /** Text after `filename=` in the header. Absent for a text field. */
  fileName?: string;
  type?: string;
  content: string | Uint8Array;
}

/** Writes a form that no client library can write. */
export function rawForm(parts: readonly RawPart[]): {
  body: Buffer<ArrayBuffer>;
  headers: Record<string, string>;
} {
  const pieces = parts.flatMap(({ name, fileName, type, content }) => {
    const file = fileName === undefined ? "" : `; filename=${fileName}`;
    const typeLine = type === undefined ? "" : `Content-Type: ${type}\r\n`;
    const head = `--edge\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${typeLine}\r\n`;
    return [Buffer.from(head), Buffer.from(content), Buffer.from("\r\n")];
  });
  const body = Buffer.concat([...pieces, Buffer.from("--edge--\r\n")]);
  return { body, headers: { "content-type": "multipart/form-data; boundary=edge" } };
}

/** Returns a form of texts and files in the usual format of clients. */
export function formOf(entries: readonly (readonly [name: string, value: string | Uint8Array])[]): FormData {
  const form = new FormData();
  for (const [name, value] of entries)
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([Uint8Array.from(value)]), "picture.png");
  return form;
}

/** Returns the files of a form at a vendor, in order, each with its field. */
export async function filesOf({ body, headers }: Hit): Promise<[field: string, bytes: Buffer][]> {
  const files: [string, Buffer][] = [];
  for (const [name, value] of await new Response(body, { headers }).formData())
    if (typeof value !== "string") files.push([name, Buffer.from(await value.bytes())]);
  return files;
}

/** Returns the texts of a form at a vendor. */
export async function textsOf({ body, headers }: Hit): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, value] of await new Response(body, { headers }).formData())
    if (typeof value === "string") texts[name] = value;
  return texts;
}

export { REFERENCE_FIELDS };
