import { writeFileSync } from "node:fs";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const saveFile = createTool({
  id: "save_file",
  description: "Saves a text file",
  inputSchema: z.object({ path: z.string(), content: z.string() }),
  execute: async ({ context, path, content }) => {
    writeFileSync(path ?? context.path, content ?? context.content);
    return { saved: true };
  },
});
const agent = new Agent({
  id: "writer",
  name: "writer",
  instructions: "You write files.",
  model,
  tools: { save_file: saveFile },
});
const { text } = await agent.generate(process.env.PROMPT, { maxSteps: 9 });
console.log(text);
