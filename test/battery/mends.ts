/** Edits that remove the program's protection against one attack. */
export interface Mend {
  /** Name of the attack. */
  attack: string;
  /** Edits that are applied together. Each edit removes a part of the protection. */
  edits: readonly Edit[];
}

export interface Edit {
  /** Path from the root of the repository. */
  file: string;
  /** Text that occurs exactly once in the file. */
  find: string;
  replace: string;
}

/** Edits by attack, for all attacks of `crowd/attacks.ts` except the groups of malformed inputs. */
export const MENDS: readonly Mend[] = [
  {
    attack: "H1",
    edits: [
      {
        file: "src/sandbox/text/answer.ts",
        find: "(?<!\\d)(\\d{1,7})\\s{0,3}(?:[个個]\\s{0,3})?",
        replace: "(\\d{1,7})\\s*[个個]?\\s*",
      },
    ],
  },
  {
    attack: "H2",
    edits: [
      {
        file: "src/lib/multipart/header.ts",
        find: String.raw`[\t ]*((?:.*[^\t ])?)[\t ]*$/s`,
        replace: String.raw`[\t ]*(.*?)[\t ]*$/s`,
      },
    ],
  },
  {
    attack: "H3",
    edits: [
      {
        file: "src/sandbox/text/schema-sample.ts",
        find: "const MAX_STEPS = 20_000;",
        replace: "const MAX_STEPS = Infinity;",
      },
      {
        file: "src/sandbox/text/schema-sample.ts",
        find: 'if (typeof name === "string") flat.required.add(name);',
        replace: "flat.required = new Set([...flat.required, name as string]);",
      },
    ],
  },
  {
    attack: "H4",
    edits: [
      {
        file: "src/server/entrance/body.ts",
        find: "[constants.ZSTD_d_windowLogMax]: 23",
        replace: "[constants.ZSTD_d_windowLogMax]: 27",
      },
      {
        file: "src/server/entrance/body.ts",
        find: "windowBytes: 8 * MIB",
        replace: "windowBytes: 0",
      },
    ],
  },
  {
    attack: "H5-chunks",
    edits: [
      {
        file: "src/server/entrance/small-chunks.ts",
        find: "const MAX_SMALL_CHUNKS = 8_192;",
        replace: "const MAX_SMALL_CHUNKS = Infinity;",
      },
    ],
  },
  {
    attack: "H5-pipelined",
    edits: [
      {
        file: "src/server/index.ts",
        find: "const MAX_REQUESTS = 256;",
        replace: "const MAX_REQUESTS = 2 ** 40;",
      },
    ],
  },
  {
    attack: "H5-unfinished",
    edits: [
      {
        file: "src/server/entrance/body.ts",
        find: "limits.memory.open(exchange, length ?? FIRST_BYTES)",
        replace: "limits.memory.open(exchange, 0)",
      },
    ],
  },
  {
    attack: "H6-disk",
    edits: [
      {
        file: "src/server/entrance/resource-quota.ts",
        find: "    this.#useSpace(byteLength);\n",
        replace: "",
      },
      {
        file: "src/server/entrance/resource-quota.ts",
        find: "this.#share.add(byteLength);",
        replace: "this.#share.addAnyway(byteLength);",
      },
    ],
  },
  {
    attack: "H6-names",
    edits: [
      {
        file: "src/lib/parse-json.ts",
        find: "values: 500_000,\n  perString: 4,\n  names: 50_000,",
        replace: "values: Infinity,\n  perString: 4,\n  names: Infinity,",
      },
    ],
  },
  {
    attack: "H6-refused",
    edits: [
      {
        file: "src/gateway/admission/limit-grant.ts",
        find: `if (pipeline === "text") return this.#take(this.#requests("requests", 1, "model"));`,
        replace: `if (pipeline === "text") return undefined;`,
      },
    ],
  },
  {
    attack: "H6-slow",
    edits: [
      {
        file: "src/server/entrance/body.ts",
        find: "return this.#graceMs + (byteLength",
        replace: "return 1e9 + this.#graceMs + (byteLength",
      },
    ],
  },
  {
    attack: "H7",
    edits: [
      {
        file: "src/gateway/admission/model-access.ts",
        find: "if (feature !== null && allowedFeatures.includes(feature)) continue;",
        replace: "if (feature !== null || allowedFeatures) continue;",
      },
    ],
  },
  {
    attack: "H8",
    edits: [
      {
        file: "src/dialects/chat/request.ts",
        find: "  refuseCaseVariants(body, BODY_NAMES);",
        replace: "  void [body, BODY_NAMES];",
      },
    ],
  },
  {
    attack: "H9",
    edits: [
      {
        file: "src/dialects/links.ts",
        find: "if (readLink(value)) return true;",
        replace: "if (readLink(value) ?? value) return true;",
      },
    ],
  },
  {
    attack: "H10",
    edits: [
      {
        file: "src/lib/safe-fetch.ts",
        find: "new FairSemaphore(limits.concurrency, limits.concurrencyPerTenant)",
        replace: "new FairSemaphore(limits.concurrency)",
      },
    ],
  },
  {
    attack: "H11",
    edits: [
      {
        file: "src/server/respond.ts",
        find: "if (host !== null && !HOST.test(host))",
        replace: "if (host === HOST.source)",
      },
      {
        file: "src/server/endpoint.ts",
        find: "if (!routes.has(found.route)) return refuse(exchange, badTarget());",
        replace: "void [routes, badTarget];",
      },
    ],
  },
  {
    attack: "H12",
    edits: [
      {
        file: "src/server/entrance/image-body.ts",
        find: "reads: (name: string) => boolean = isKnownField,",
        replace: "reads: (name: string) => boolean = () => true,",
      },
      { file: "src/lib/multipart.ts", find: "maxTextBytes: 1024 * 1024,", replace: "maxTextBytes: 2 ** 30," },
      {
        file: "src/lib/multipart.ts",
        find: "maxTextTotalBytes: 4 * 1024 * 1024,",
        replace: "maxTextTotalBytes: 2 ** 30,",
      },
      {
        file: "src/lib/multipart.ts",
        find: "const TEXT_IN_MEMORY_BYTES = 64 * 1024;",
        replace: "const TEXT_IN_MEMORY_BYTES = 2 ** 30;",
      },
    ],
  },
  {
    attack: "H13",
    edits: [
      {
        file: "src/imaging/codec.ts",
        find: "return new FairSemaphore(SLOTS, perOrganization);",
        replace: "return new FairSemaphore(64 * perOrganization);",
      },
    ],
  },
  {
    attack: "H14",
    edits: [
      {
        file: "src/server/entrance/connection-limit.ts",
        find: "for (const { descriptor } of excess) libc.shutdown(descriptor, SHUT_BOTH);",
        replace: "void SHUT_BOTH;",
      },
    ],
  },
  {
    attack: "H15",
    edits: [
      {
        file: "src/storage/blobs/s3.ts",
        find: "const PIECE_BYTES = 512 * 1024;",
        replace: "const PIECE_BYTES = 64 * 1024 * 1024;",
      },
    ],
  },
  {
    attack: "H16",
    edits: [
      {
        file: "src/dialects/sse/vendor-frames.ts",
        find: "  if (provider === undefined) return isNamed ? FINGERPRINT : NONE;",
        replace: "  if (provider !== fingerprint) return NONE;",
      },
      {
        file: "src/dialects/sse/vendor-frames.ts",
        find: "VENDOR.test(comment) ? ",
        replace: "comment === VENDOR.source ? ",
      },
    ],
  },
  {
    attack: "H17",
    edits: [
      {
        file: "src/gateway/access/authenticate.ts",
        find: "if (count >= this.#limit) throw",
        replace: "if (count < 0) throw",
      },
    ],
  },
  {
    attack: "H18",
    edits: [
      {
        file: "src/lib/safe-fetch/connect.ts",
        find: "options.isAllowed(address) && !options.denied.has(address)",
        replace: "options.isAllowed(address)",
      },
    ],
  },
];
