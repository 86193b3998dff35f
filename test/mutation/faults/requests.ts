import type { Fault } from "../fault.ts";

const ADMITTED = "src/gateway/admission/admitted.ts";
const CHAT = "src/gateway/text.ts";
const STREAM = "src/gateway/text-stream.ts";
const RELAY = "src/gateway/relay.ts";
const IMAGES = "src/gateway/images.ts";
const ENDPOINT = "src/server/endpoint.ts";

const chat = ["src/gateway/text.test.ts"];
const images = ["src/gateway/images.test.ts"];
const relay = ["src/gateway/relay.test.ts"];
const endpoint = ["src/server/endpoint.test.ts"];
const policy = ["test/e2e/routing-policy.test.ts"];

/** What a request holds, counts and costs from its admission to its end. */
export const REQUEST_FAULTS: readonly Fault[] = [
  {
    name: "an idempotency key gets the outcome of another endpoint",
    file: "src/server/idempotency.ts",
    find: "fingerprintOf([this.#exchange.path, content])",
    replace: "fingerprintOf([content])",
    tests: ["test/e2e/idempotency.test.ts"],
  },
  {
    name: "a running idempotency claim is not renewed",
    file: "src/server/idempotency.ts",
    find: "() => outcomes.renew(this.#claim),",
    replace: "() => {},",
    tests: ["src/server/idempotency.test.ts"],
  },
  {
    name: "a renewal prolongs nothing",
    file: "src/storage/stores/outcomes.ts",
    find: "expires_at = ${storeTime(kind, sql)} + ${CLAIM_MS}\n          WHERE",
    replace: "expires_at = expires_at\n          WHERE",
    tests: ["test/contracts/storage-outcomes.test.ts"],
  },
  {
    name: "a stream ends before its outcome is stored",
    file: "src/server/idempotency.ts",
    find: "        await this.settle(isComplete ?",
    replace: "        void this.settle(isComplete ?",
    tests: ["src/server/idempotency.test.ts"],
  },
  {
    name: "a stream whose client left before its response is not read on",
    file: "src/server/idempotency.ts",
    find: "if (goesOn && request.signal.aborted) void readOn();",
    replace: "if (goesOn && request.signal.aborted) void readOn;",
    tests: ["src/server/idempotency.test.ts"],
  },
  {
    name: "a failed text request keeps its hold",
    file: ADMITTED,
    find: "      core.billing.release(hold);",
    replace: `      if (hold.amount < 0n || this.model.type === "image") core.billing.release(hold);`,
    tests: chat,
  },
  {
    name: "a failed image request keeps its hold",
    file: ADMITTED,
    find: "      core.billing.release(hold);",
    replace: `      if (hold.amount < 0n || this.model.type !== "image") core.billing.release(hold);`,
    tests: images,
  },
  {
    name: "a failed request counts its estimated tokens",
    file: ADMITTED,
    find: "      context.grant.correctTokens(0);\n    }",
    replace: "    }",
    tests: chat,
  },
  {
    name: "a request without money counts its estimated tokens",
    file: ADMITTED,
    find: "  grant.correctTokens(0);\n  throw error;",
    replace: "  throw error;",
    tests: chat,
  },
  {
    name: "abandoned calls have no limit",
    file: ADMITTED,
    find: "core.orphanCosts.require(context.principal.key.id);",
    replace: "",
    tests: images,
  },
  {
    name: "tokens are not corrected by what was used",
    file: ADMITTED,
    find: "context.grant.correctTokens(sumTokens(charge.usage.tokens));",
    replace: "void sumTokens;",
    tests: chat,
  },
  {
    name: "a settled request gives its hold back once more",
    file: ADMITTED,
    find: "    this.#isSettled = true;",
    replace: "",
    tests: chat,
  },
  {
    name: "a request gives everything back each time it is released",
    file: ADMITTED,
    find: "    if (this.#isReleased) return;",
    replace: "",
    tests: chat,
  },
  {
    name: "a request that ended keeps its slot",
    file: ENDPOINT,
    find: "  } finally {\n    await grant.release();\n  }",
    replace: "  } finally {\n  }",
    tests: endpoint,
  },
  {
    name: "a request is not counted in the limits",
    file: ENDPOINT,
    find: "const counting = route.pipeline && grant.open(route.pipeline);",
    replace: "const counting: Promise<void> | undefined = undefined;",
    tests: endpoint,
  },
  {
    name: "a price is taken at the end instead of at admission",
    file: ADMITTED,
    find: `    const { core, context, model, price, admittedAt, hold } = this.#parts;
    const at = core.clock.now();`,
    replace: `    const { core, context, model, admittedAt, hold } = this.#parts;
    const at = core.clock.now();
    const { organization } = context.principal;
    const { unit } = this.price;
    const price = core.snapshot.directory().price(organization, model.id, unit, at) ?? this.price;`,
    tests: chat,
  },
  {
    name: "a streamed request gives its hold back before it is settled",
    file: ADMITTED,
    find: "    this.#isReleased = true;\n    return new Admitted(this.#parts);",
    replace: "    return new Admitted(this.#parts);",
    tests: chat,
  },
  {
    name: "a model without a price is called",
    file: "src/gateway/metering/price.ts",
    find: "  if (price && isIn(price, unit)) return price;",
    replace: `  if (price && isIn(price, unit)) return price;
  const free = { amount: 0n, source: "default", effectiveFrom: 0 } as const;
  const rates = { perMillion: { input: free, output: free }, perImage: { "1K": { "*": free } } };
  if (!price) return { unit, currency: "USD", ...rates } as never;`,
    tests: chat,
  },
  {
    name: "a whole answer is not charged",
    file: CHAT,
    find: "  admitted.settle({ target, usage: reply.usage,",
    replace: "  void ({ target, usage: reply.usage,",
    tests: chat,
  },
  {
    name: "a whole answer is charged twice",
    file: CHAT,
    find: "  admitted.settle({ target, usage: reply.usage,",
    replace: `  admitted.settle({ target, usage: reply.usage, flags: [] });
  admitted.settle({ target, usage: reply.usage,`,
    tests: chat,
  },
  {
    name: "a hold for text has the output of one choice",
    file: CHAT,
    find: "(maxTokens ?? model.maxOutputTokens) * choices",
    replace: "(maxTokens ?? model.maxOutputTokens) * Math.min(choices, 1)",
    tests: chat,
  },
  {
    name: "the tokens of a request are counted for one choice",
    file: CHAT,
    find: "(maxTokens ?? model.defaultOutputTokens) * choices",
    replace: "(maxTokens ?? model.defaultOutputTokens)",
    tests: chat,
  },
  {
    name: "the vendor gets no maximum where the budget is short",
    file: "src/dialects/chat/for-vendor.ts",
    find: "coveredTokens === null",
    replace: "true",
    tests: chat,
  },
  {
    name: "a client that disconnects before the answer pays nothing",
    file: CHAT,
    find: "chargeAbandoned: () => (sent ? chargeAbandoned(admitted, sent) : undefined),",
    replace: "",
    tests: chat,
  },
  {
    name: "a client pays for a call that this process ended",
    file: "src/gateway/routing/detached-calls.ts",
    find: " && !this.#isClosed;",
    replace: ";",
    tests: chat,
  },
  {
    name: "a cut stream is charged as a complete one",
    file: STREAM,
    find: `how.kind === "complete" ? [] : ["partial"]`,
    replace: "[]",
    tests: chat,
  },
  {
    name: "a stream keeps its hold",
    file: STREAM,
    find: "  } finally {\n    admitted.release();\n  }",
    replace: "  } finally {\n  }",
    tests: chat,
  },
  {
    name: "a stream that cannot be charged ends as a success",
    file: STREAM,
    find: "  } catch (error) {\n    return asGatewayError(error);",
    replace: "  } catch {\n    return null;",
    tests: chat,
  },
  {
    name: "a running stream has no checkpoint",
    file: RELAY,
    find: "if (this.#hasNews) checkpoint();",
    replace: "",
    tests: relay,
  },
  {
    name: "a stream is settled after its last byte",
    file: RELAY,
    find: `const failure = this.#end({ kind: "complete" });`,
    replace: `const failure = null;
    setTimeout(() => this.#end({ kind: "complete" }), 5);`,
    tests: relay,
  },
  {
    name: "a stream is settled twice",
    file: RELAY,
    find: "    if (this.#hasEnded) return null;\n    this.#hasEnded = true;",
    replace: "    this.#hasEnded = true;",
    tests: relay,
  },
  {
    name: "a stream goes on after its client disconnected",
    file: RELAY,
    find: "    call.abort(new ClientDisconnected());\n    this.#end(",
    replace: "    if (isDetachable) this.#end(",
    tests: relay,
  },
  {
    name: "the hold of several pictures is that of one",
    file: "src/gateway/admission/admit-images.ts",
    find: "quote.rate.amount * BigInt(request.count)",
    replace: "quote.rate.amount",
    tests: images,
  },
  {
    name: "several pictures count as one in the limits",
    file: "src/gateway/admission/admit-images.ts",
    find: "await context.grant.countImages(request.count);",
    replace: "",
    tests: images,
  },
  {
    name: "pictures that did not come are billed",
    file: IMAGES,
    find: "    count: images.length,",
    replace: "    count: Math.max(images.length, count),",
    tests: images,
  },
  {
    name: "pictures beyond those requested are delivered and billed",
    file: "src/gateway/delivery/images.ts",
    find: "read.slice(0, request.count)",
    replace: "read",
    tests: images,
  },
  {
    name: "every picture is billed at tier 1K",
    file: IMAGES,
    find: "const tier = deliveredTier(quote.tier, fitted.size, { width, height });",
    replace: `const tier = deliveredTier("1K", fitted.size, { width, height });`,
    tests: images,
  },
  {
    name: "the quality that a vendor reports does not count",
    file: IMAGES,
    find: "billedCell(admitted.price, admitted.model.image, quote, { tier, quality })",
    replace: "{ ...(quality && {}), tier, quality: quote.billedQuality }; billedCell",
    tests: images,
  },
  {
    name: "an orphaned picture costs what was delivered",
    file: IMAGES,
    find: "admitted.settle({ target, usage, requested: requestedUsage(quote, count), flags });",
    replace: "admitted.settle({ target, usage, flags });",
    tests: images,
  },
  {
    name: "abandoned pictures are billed",
    file: IMAGES,
    find: "{ ...abandoned, count: 0,",
    replace: "{ ...abandoned, count: 1,",
    tests: images,
  },
  {
    name: "abandoned pictures have no orphan cost",
    file: IMAGES,
    find: "admitted.settle({ target, usage, abandoned, flags",
    replace: "admitted.settle({ target, usage, flags",
    tests: images,
  },
  {
    name: "orphan costs of earlier hours count in the running one",
    file: "src/gateway/metering/orphan-costs.ts",
    find: "if (now >= this.#hourEndsAt) {",
    replace: "if (now >= this.#hourEndsAt && this.#hourEndsAt === 0) {",
    tests: ["src/gateway/metering/orphan-costs.test.ts"],
  },
  {
    name: "a background is dropped without a word",
    file: "src/gateway/admission/fit-image-request.ts",
    find: `wanted !== undefined && wanted !== "auto" ?`,
    replace: `wanted === "auto" ?`,
    tests: ["test/spec/images-generations.test.ts"],
  },
  {
    name: "pictures are delivered without a charge",
    file: IMAGES,
    find: "  settle(admission, target, request, { ...delivery, vendorCost });",
    replace: "",
    tests: images,
  },
  {
    name: "a picture that may have been made is requested again unasked",
    file: IMAGES,
    find: `if (error.kind === "timeout" && error.isAmbiguous) return fallbackAfterMs !== null;`,
    replace: "",
    tests: policy,
  },
  {
    name: "a request is recorded twice",
    file: "src/server/request-report.ts",
    find: "for (const listener of listeners) listener(event);",
    replace: "for (const listener of [...listeners, ...listeners]) listener(event);",
    tests: endpoint,
  },
  {
    name: "a stream is recorded at its beginning",
    file: ENDPOINT,
    find: "void result.ended.then((failure) =>",
    replace: "void Promise.resolve(null).then((failure) =>",
    tests: endpoint,
  },
  {
    name: "a failed request is not recorded",
    file: ENDPOINT,
    find: "return report(exchange, { route, response, failure });",
    replace: "return response;",
    tests: endpoint,
  },
  {
    name: "a refused request is not recorded",
    file: ENDPOINT,
    find: "return report(exchange, { response, failure: error });",
    replace: "return response;",
    tests: endpoint,
  },
  {
    name: "a record has no charge",
    file: "src/server/request-report.ts",
    find: "amount: charge?.amount ?? 0n,",
    replace: "amount: 0n,",
    tests: endpoint,
  },
  {
    name: "a stopping server serves keyed requests",
    file: ENDPOINT,
    find: `if (settings.lifecycle.phase === "stopping") throw stopping();`,
    replace: "",
    tests: endpoint,
  },
  {
    name: "the last of two values of a form counts",
    file: "src/dialects/images/request.ts",
    find: "if (seen.has(name) && isReadField(name)) {",
    replace: "if (false) {",
    tests: ["test/spec/images-refusals.test.ts"],
  },
  {
    name: "a request with smaller references gets the outcome of one without",
    file: "src/server/endpoints/images.ts",
    find: `request.compressReferences ? ["compressed", fields] : fields`,
    replace: "fields",
    tests: ["test/e2e/idempotency.test.ts"],
  },
  {
    name: "the quality auto is sent as the dearest to vendors that report their choice",
    file: "src/providers/openai-compatible/images.ts",
    find: "const quality = wantedQuality(order);",
    replace: `const quality = order.quality === "auto" ? order.model.image.qualities.at(-1) : order.quality;`,
    tests: ["test/spec/images-references.test.ts"],
  },
  {
    name: "a repeated request has the id of the first",
    file: "src/server/idempotency.ts",
    find: "x-gateway-(?!request-id)",
    replace: "x-gateway-|x-request-id",
    tests: ["src/server/idempotency.test.ts"],
  },
  {
    name: "a stream that is cut and not read keeps its idempotency key",
    file: "src/server/idempotency.ts",
    find: "(isWhole(failure) ? undefined : this.settle(null))",
    replace: "(isWhole(failure) ? undefined : undefined)",
    tests: ["src/server/idempotency.test.ts"],
  },
  {
    name: "the beginning of a stream that is too large is stored as its outcome",
    file: "src/server/idempotency.ts",
    find: " && bytes <= MAX_BLOB_BYTES;\n        await",
    replace: ";\n        await",
    tests: ["src/server/idempotency.test.ts"],
  },
];
