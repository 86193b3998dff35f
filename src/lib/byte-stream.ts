/** A stream of bytes that has one reader and is read once. A `ReadableStream` of bytes is a `ByteStream`. */
export interface ByteStream extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  getReader(): ByteReader & { cancel(): Promise<void> };
  cancel(): Promise<void>;
}

/** `read` returns the next bytes. It rejects when the stream breaks off, and takes one call at a time. */
export interface ByteReader {
  read(): Promise<ReadResult>;
}

export interface ReadResult {
  done: boolean;
  value?: Uint8Array<ArrayBuffer> | undefined;
}
