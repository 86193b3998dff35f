/** Bytes as they come, read once and from one place. A `ReadableStream` of bytes is one. */
export interface ByteStream extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  getReader(): ByteReader & { cancel(): Promise<void> };
  cancel(): Promise<void>;
}

/** Rejects where the bytes break off. One call at a time. */
export interface ByteReader {
  read(): Promise<ReadResult>;
}

export interface ReadResult {
  done: boolean;
  value?: Uint8Array<ArrayBuffer> | undefined;
}
