import type { Fault } from "../fault.ts";

const CLIENT = "src/lib/http-client/http-client.ts";
const CONNECTION = "src/lib/http-client/connection.ts";
const READER = "src/lib/http-client/response-reader.ts";
const RESPONSE = "src/lib/http-client/response.ts";

const client = ["src/lib/http-client/http-client.test.ts"];
const reader = ["src/lib/http-client/response-reader.test.ts"];

/** Faults in the HTTP client that calls text models. */
export const HTTP_CLIENT_FAULTS: readonly Fault[] = [
  {
    name: "a certificate of another name or an unknown authority gets the request",
    file: CONNECTION,
    find: "if (error || !isSuccess) this.failed(error);",
    replace: "if (this.#isClosed && error) this.failed(error);",
    tests: client,
  },
  {
    name: "a connection is used again although bytes follow its response",
    file: READER,
    find: `throw invalid("bytes after its end");`,
    replace: "return bytes.length;",
    tests: [...client, ...reader],
  },
  {
    name: "interim responses have no bound",
    file: READER,
    find: "const MAX_INTERIM = 16;",
    replace: "const MAX_INTERIM = Infinity;",
    tests: reader,
  },
  {
    name: "a head of bare line feeds is waited for",
    file: READER,
    find: `if (hasBareLineFeed(bytes, at)) throw invalid("a malformed head");`,
    replace: "void hasBareLineFeed;",
    tests: reader,
  },
  {
    name: "each small chunk of a response is a piece of its own",
    file: READER,
    find: "const SMALL_CHUNK_BYTES = 128;",
    replace: "const SMALL_CHUNK_BYTES = 0;",
    tests: reader,
  },
  {
    name: "a connection is used again although its other side ends it",
    file: CONNECTION,
    find: "if (!this.#isReusable || this.#isClosed) return this.close();",
    replace: "if (this.#isClosed) return this.close();",
    tests: client,
  },
  {
    name: "a call that the signal ends keeps its connection",
    file: CONNECTION,
    find: "const onAbort = (): void => this.#close(signal.reason);",
    replace: "const onAbort = (): void => void this.#finish()?.reject(signal.reason);",
    tests: client,
  },
  {
    name: "a signal ends a connection that another request has",
    file: CONNECTION,
    find: `inFlight?.signal.removeEventListener("abort", inFlight.onAbort);`,
    replace: "",
    tests: client,
  },
  {
    name: "what a request could not send at once is lost",
    file: CONNECTION,
    find: "this.#unsent = sent < bytes.length ? copyOf(bytes.subarray(sent)) : null;",
    replace: "this.#unsent = null;",
    tests: client,
  },
  {
    name: "what a request could not send at once is overwritten by the next one",
    file: CONNECTION,
    find: "copyOf(bytes.subarray(sent))",
    replace: "bytes.subarray(sent)",
    tests: client,
  },
  {
    name: "the body of a large request is not sent after its head",
    file: CONNECTION,
    find: "this.#unsent = this.#unsentBody;",
    replace: "this.#unsent = null;",
    tests: client,
  },
  {
    name: "a request that waits for its connection is overwritten by the next one",
    file: CONNECTION,
    find: "this.#unsent = copyOf(head);",
    replace: "this.#unsent = head;",
    tests: client,
  },
  {
    name: "a response is read faster than its reader",
    file: RESPONSE,
    find: "this.#source.suspend();",
    replace: "",
    tests: client,
  },
  {
    name: "a value of a header begins another header",
    file: CLIENT,
    find: "if (!/^[\\t\\x20-\\x7e\\x80-\\xff]*$/.test(value))",
    replace: "if (value === null)",
    tests: client,
  },
  {
    name: "a cut response counts as whole",
    file: READER,
    find: `if (this.#state !== "until close") throw new HttpError("closed", "the connection was closed");`,
    replace: "",
    tests: reader,
  },
  {
    name: "a failure that came unasked shifts the responses of its connection",
    file: READER,
    find: "return status === 408 || status >= 500;",
    replace: "return status === 0;",
    tests: [...client, ...reader],
  },
  {
    name: "a response with a length and chunks is read",
    file: READER,
    find: `if (length !== null) throw invalid("two lengths");`,
    replace: "",
    tests: reader,
  },
];
