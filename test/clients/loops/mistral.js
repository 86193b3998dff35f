import { writeFileSync } from "node:fs";

const parameters = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
};
const tools = [
  { type: "function", function: { name: "save_file", description: "Saves a text file", parameters } },
];
const messages = [{ role: "user", content: process.env.PROMPT }];
for (let step = 0; step < 9; step += 1) {
  const calls = new Map();
  let text = "";
  for await (const { data } of await client.chat.stream({ model, messages, tools })) {
    const [choice] = data.choices;
    text += choice.delta.content ?? "";
    for (const { index, id, function: piece } of choice.delta.toolCalls ?? []) {
      const call = calls.get(index) ?? {
        id,
        type: "function",
        function: { name: piece.name, arguments: "" },
      };
      call.function.arguments += piece.arguments;
      calls.set(index, call);
    }
  }
  if (calls.size === 0) {
    console.log(text);
    break;
  }
  messages.push({ role: "assistant", content: text, toolCalls: [...calls.values()] });
  for (const call of calls.values()) {
    const { path, content } = JSON.parse(call.function.arguments);
    writeFileSync(path, content);
    messages.push({ role: "tool", toolCallId: call.id, name: call.function.name, content: "saved" });
  }
}
