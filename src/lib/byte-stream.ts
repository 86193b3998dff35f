/** Bytes that are read once, in one place, as they arrive. A `ReadableStream` of bytes is a `ByteStream`. */
export interface ByteStream extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  getReader(): ByteReader & { cancel(): Promise<void> };
  cancel(): Promise<void>;
}

/** Returns the next bytes. Rejects when the stream breaks off. Takes one call at a time. */
export interface ByteReader {
  read(): Promise<ReadResult>;
}

export interface ReadResult {
  done: boolean;
  value?: Uint8Array<ArrayBuffer> | undefined;
}
