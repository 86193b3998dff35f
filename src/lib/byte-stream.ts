/** A stream of bytes that is read once, by one reader. A `ReadableStream` of bytes satisfies this interface. */
export interface ByteStream extends AsyncIterable<Uint8Array<ArrayBuffer>> {
  getReader(): ByteReader & { cancel(): Promise<void> };
  cancel(): Promise<void>;
}

/** `read` returns the next bytes and rejects when the stream breaks off. Only one call may run at a time. */
export interface ByteReader {
  read(): Promise<ReadResult>;
}

export interface ReadResult {
  done: boolean;
  value?: Uint8Array<ArrayBuffer> | undefined;
}
