import { exchange, statusOf } from "../../support/sockets.ts";
import { chatBody, isUnexpected, post, repeat, type Attack } from "./attack.ts";
import { DENIED_HOST } from "./network.ts";

const PAID_FIELDS: readonly object[] = [
  { service_tier: "priority" },
  { web_search_options: {} },
  { search_parameters: { mode: "on" } },
  { models: ["other"] },
  { plugins: [{ id: "web" }] },
  { tools: [{ type: "web_search" }] },
];

/** Attacks that overload nothing but try to break a rule. */
export const RULE_ATTACKS: readonly Attack[] = [
  {
    name: "H7",
    what: "fields of features that cost more",
    run: (context) =>
      repeat(context, PAID_FIELDS.length, async (lane) => {
        const { status } = await post(context, chatBody("[[names]]", PAID_FIELDS[lane]));
        if (status === 200) context.achieve(`the vendor received ${Object.keys(PAID_FIELDS[lane]!).join()}`);
      }),
  },
  {
    name: "H8",
    what: "a second model under a name in capitals",
    run: (context) =>
      repeat(context, 2, async () => {
        const { text } = await post(context, chatBody("[[names]]", { MODEL: "dearer", Max_Tokens: 100_000 }));
        if (text.includes("model=dearer")) context.achieve("the vendor obeyed the second model");
      }),
  },
  {
    name: "H9",
    what: "links to internal addresses in chat",
    run: (context) =>
      repeat(context, 2, async (lane) => {
        const url = lane === 0 ? "http://169.254.169.254/latest" : "https://169.254.169.254/latest";
        const content = [
          { type: "text", text: "[[names]]" },
          { type: "image_url", image_url: { url } },
        ];
        const { text } = await post(context, chatBody(content));
        if (text.includes("parts=internal")) context.achieve("the vendor received the link");
      }),
  },
  {
    name: "H11",
    what: "hosts and paths that lead elsewhere",
    run: (context) => {
      const heads = [
        "GET /v1/chat/metrics HTTP/1.1\r\nhost: x?y\r\n\r\n",
        "GET /v1/../metrics HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET http://a/v1/../metrics HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nhost: a b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: [::1\r\n\r\n",
      ];
      return repeat(context, 2, async (lane) => {
        for (const head of heads) {
          context.count();
          const response = await exchange(context.url, head, 300 + lane);
          if (response.includes("gateway_")) context.achieve("metrics came by another path");
          if (isUnexpected(statusOf(response))) context.achieve(`a status of ${statusOf(response)}`);
        }
      });
    },
  },
  {
    name: "H16",
    what: "names of the vendor in replies and streams",
    run: (context) =>
      repeat(context, 2, async (lane) => {
        const { text } = await post(context, chatBody("[[relay]]", { stream: lane === 0 }));
        if (/openai|openrouter/i.test(text)) context.achieve("the reply named the vendor");
      }),
  },
  {
    name: "H18",
    what: "a revoked link, and links to a denied network",
    run: (context) =>
      repeat(context, 2, async (lane) => {
        if (lane === 0) {
          context.count();
          const { status } = await fetch(context.revokedLink);
          if (status === 200) context.achieve("the revoked link was served");
        } else {
          const image = `https://${DENIED_HOST}/a.png`;
          const body = { model: "crowd-image", prompt: "x", image };
          const { status } = await post(context, body, { path: "/v1/images/edits" });
          if (status === 200) context.achieve("the denied network was reached");
        }
      }),
  },
];
