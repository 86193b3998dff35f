import { writeFileSync } from "node:fs";
import { tool } from "llamaindex";
import { agent } from "@llamaindex/workflow";
import { z } from "zod";

const saveFile = tool({
  name: "save_file",
  description: "Saves a text file",
  parameters: z.object({ path: z.string(), content: z.string() }),
  execute: ({ path, content }) => {
    writeFileSync(path, content);
    return "saved";
  },
});
const { data } = await agent({ llm, tools: [saveFile] }).run(process.env.PROMPT);
console.log(data.result);
