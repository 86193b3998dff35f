import { expect, test } from "bun:test";
import { pictureLinks, withPictures } from "./picture-links.ts";

const LINK = "https://pictures.example/a.png";
const PICTURES = new Map([[LINK, { type: "image/png", base64: "QUJD" }]]);
const DATA = "data:image/png;base64,QUJD";

test.each([
  [
    "chat",
    `{"messages": [{"role":"user","content":[{"type":"text","text":"1.0 ${LINK}"},{ "type":"image_url","image_url":{"detail":"low", "url":"${LINK}"}}]}], "seed":12345678901234567890}`,
    `{"messages": [{"role":"user","content":[{"type":"text","text":"1.0 ${LINK}"},{ "type":"image_url","image_url":{"detail":"low", "url":"${DATA}"}}]}], "seed":12345678901234567890}`,
  ],
  [
    "responses",
    `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"${LINK}"}]},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"${LINK}"}]}]}`,
    `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"${DATA}"}]},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"${DATA}"}]}]}`,
  ],
  [
    "messages",
    `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"${LINK}"},"cache_control":{"type":"ephemeral"}}]}]}]}`,
    `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"},"cache_control":{"type":"ephemeral"}}]}]}]}`,
  ],
  [
    "the native protocol",
    `{"contents":[{"role":"user","parts":[{"text":"Where?"},{"fileData":{"mimeType":"image/png","fileUri":"${LINK}"}}]}]}`,
    `{"contents":[{"role":"user","parts":[{"text":"Where?"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}]}`,
  ],
])("a picture of %s takes the place of its link, and every other character stays", (_, raw, expected) => {
  expect(pictureLinks(JSON.parse(raw))).toEqual([LINK]);
  expect(withPictures(raw, PICTURES)).toBe(expected);
});

test.each([
  [
    "arguments of a call",
    { messages: [{ role: "assistant", content: [{ type: "tool_use", input: { image_url: LINK } }] }] },
  ],
  [
    "a document",
    { messages: [{ role: "user", content: [{ type: "document", source: { type: "url", url: LINK } }] }] },
  ],
  ["a film", { contents: [{ parts: [{ fileData: { mimeType: "video/mp4", fileUri: LINK } }] }] }],
  ["a schema", { tools: [{ input_schema: { image_url: LINK } }], messages: [] }],
])("%s is left alone", (_, body) => {
  const raw = JSON.stringify(body);
  expect(pictureLinks(JSON.parse(raw))).toEqual([]);
  expect(withPictures(raw, PICTURES)).toBe(raw);
});
