import { z } from "zod";
import { chatReply, embeddingsReply, model, modelList } from "./chat.ts";
import { chatError, responsesError } from "./errors.ts";
import { imagesReply } from "./images.ts";
import { messageReply, messagesError, messagesModel, messagesModelList, tokenCount } from "./messages.ts";
import { nativeCount, nativeError, nativeModel, nativeModelList, nativeReply } from "./native.ts";
import { responseReply } from "./responses.ts";
import { chatStream, messagesStream, nativeStream, responsesStream, type StreamReader } from "./streams.ts";

/** Schemas of the responses that a path may send. */
export interface Answers {
  whole: z.ZodType;
  error: z.ZodType;
  stream?: () => StreamReader;
}

/** The gateway omits `type` when it refuses access itself. */
const refusedMessages = z.object({
  type: z.undefined().optional(),
  error: z.object({ type: z.enum(["missing_api_key", "ip_not_allowed"]), message: z.string().min(1) }),
});

const PATHS: readonly [path: RegExp, answers: Answers][] = [
  [/^\/(?:v1|openai\/.+)\/chat\/completions$/, { whole: chatReply, error: chatError, stream: chatStream }],
  [
    /^\/v1\/messages$/,
    { whole: messageReply, error: z.union([messagesError, refusedMessages]), stream: messagesStream },
  ],
  [/^\/v1\/messages\/count_tokens$/, { whole: tokenCount, error: z.union([messagesError, refusedMessages]) }],
  [
    /^\/(?:openai\/)?v1\/responses$/,
    { whole: responseReply, error: responsesError, stream: responsesStream },
  ],
  [/^\/(?:v1|openai\/.+)\/embeddings$/, { whole: embeddingsReply, error: chatError }],
  [/^\/(?:v1|openai\/.+)\/images\/(?:generations|edits)$/, { whole: imagesReply, error: responsesError }],
  [/^\/v1(?:beta)?\/models\/[^/]+:generateContent$/, { whole: nativeReply, error: nativeError }],
  [
    /^\/v1(?:beta)?\/models\/[^/]+:streamGenerateContent$/,
    {
      // Without `alt=sse` a stream is one array. An error that interrupts the stream is the last element.
      whole: z.array(z.union([nativeReply, nativeError])),
      error: nativeError,
      stream: nativeStream,
    },
  ],
  [/^\/v1(?:beta)?\/models\/[^/]+:countTokens$/, { whole: nativeCount, error: nativeError }],
  // Clients of three protocols use this address.
  [
    /^\/v1(?:beta)?\/models$/,
    {
      whole: z.union([modelList, messagesModelList, nativeModelList]),
      error: z.union([responsesError, nativeError]),
    },
  ],
  [
    /^\/v1(?:beta)?\/models\/[^/:]+$/,
    {
      whole: z.union([model, messagesModel, nativeModel]),
      error: z.union([responsesError, nativeError]),
    },
  ],
];

/** Returns the schemas of the published interface for a path; undefined for an unpublished path. */
export function answersOf(path: string): Answers | undefined {
  return PATHS.find(([pattern]) => pattern.test(path))?.[1];
}
