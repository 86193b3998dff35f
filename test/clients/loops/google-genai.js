import { writeFileSync } from "node:fs";

const parametersJsonSchema = {
  type: "object",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
};
const saveFile = { name: "save_file", description: "Saves a text file", parametersJsonSchema };
const chat = client.chats.create({ model, config: { tools: [{ functionDeclarations: [saveFile] }] } });
let message = process.env.PROMPT;
for (let step = 0; step < 9; step += 1) {
  const calls = [];
  let text = "";
  for await (const chunk of await chat.sendMessageStream({ message })) {
    calls.push(...(chunk.functionCalls ?? []));
    text += chunk.text ?? "";
  }
  if (calls.length === 0) {
    console.log(text);
    break;
  }
  message = calls.map(({ id, name, args }) => {
    writeFileSync(args.path, args.content);
    return { functionResponse: { id, name, response: { result: "saved" } } };
  });
}
