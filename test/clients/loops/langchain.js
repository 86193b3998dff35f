import { writeFileSync } from "node:fs";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const saveFile = tool(
  ({ path, content }) => {
    writeFileSync(path, content);
    return "saved";
  },
  {
    name: "save_file",
    description: "Saves a text file",
    schema: z.object({ path: z.string(), content: z.string() }),
  },
);
const agent = createAgent({ model, tools: [saveFile] });
const { messages } = await agent.invoke({ messages: [{ role: "user", content: process.env.PROMPT }] });
console.log(messages.at(-1).content);
