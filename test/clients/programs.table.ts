/** A program that others wrote, with its blocks in docs/connect. */
export interface Program {
  name: string;
  /** What its registry calls it, with versions. Programs of equal packages are installed once. */
  npm?: readonly string[];
  pip?: readonly string[];
  /** Runs it on `$PROMPT` without questions; a library has a loop instead, which follows the page's block. */
  command?: string;
  loop?: string;
  /** Shows pictures to the model. */
  seesPictures?: true;
  /** How many requests it sends in a scenario that ends with a final error, where it repeats it whatever the response says. */
  repeats?: Readonly<Record<string, number>>;
}

const AI_SDK = ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "zod@4.6.7"];

/** It repeats every 429 and 5xx twice and reads no header. */
const TWICE_MORE = { "dead account": 3, "spent budget": 3 };

export const PROGRAMS: readonly Program[] = [
  {
    name: "Claude Code",
    npm: ["@anthropic-ai/claude-code@2.1.330"],
    command: 'claude -p "$PROMPT" --permission-mode acceptEdits --allowedTools Read Write',
    seesPictures: true,
  },
  {
    name: "Codex",
    npm: ["@openai/codex@0.169.0"],
    command: 'codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "$PROMPT"',
    // Of a 4xx it reads the code; every 5xx is worth a repetition to it.
    repeats: { "dead account": 30 },
  },
  {
    name: "Gemini CLI",
    npm: ["@google/gemini-cli@0.61.0"],
    command: 'gemini --approval-mode yolo --skip-trust -p "$PROMPT"',
    seesPictures: true,
  },
  { name: "opencode", npm: ["opencode-ai@1.18.33"], command: 'opencode run "$PROMPT"' },
  {
    name: "Qwen Code",
    npm: ["@qwen-code/qwen-code@0.15.10"],
    command: 'qwen --approval-mode yolo -p "$PROMPT"',
  },
  {
    name: "AI SDK",
    npm: AI_SDK,
    loop: "ai-sdk.js",
    repeats: TWICE_MORE,
  },
  {
    name: "AI SDK with responses",
    npm: AI_SDK,
    loop: "ai-sdk.js",
    repeats: TWICE_MORE,
  },
  {
    name: "Mastra",
    npm: ["@mastra/core@1.71.0", "@ai-sdk/openai@3.0.141", "zod@4.6.7"],
    loop: "mastra.js",
  },
  {
    name: "LangChain for JavaScript",
    npm: ["langchain@1.5.14", "@langchain/core@1.4.0", "@langchain/openai@1.5.8", "zod@4.6.7"],
    loop: "langchain.js",
  },
  {
    name: "LlamaIndex for JavaScript",
    npm: ["llamaindex@0.12.1", "@llamaindex/openai@0.4.22", "@llamaindex/workflow@1.1.24", "zod@4.6.7"],
    loop: "llamaindex.js",
  },
  { name: "Mistral for JavaScript", npm: ["@mistralai/mistralai@2.7.0"], loop: "mistral.js" },
  { name: "Google Gen AI for JavaScript", npm: ["@google/genai@2.32.0"], loop: "google-genai.js" },
  { name: "OpenAI for Python", pip: ["openai==3.54.0"], loop: "chat.py" },
  {
    name: "Anthropic for Python",
    pip: ["anthropic==2.12.0"],
    loop: "anthropic.py",
    // The client itself repeats nothing; its runner of tools tries each turn once more.
    repeats: { "dead account": 2, "spent budget": 2 },
  },
  { name: "Google Gen AI for Python", pip: ["google-genai==3.4.0"], loop: "google_genai.py" },
  { name: "LiteLLM", pip: ["litellm==1.100.0"], loop: "chat.py" },
  {
    name: "LangChain for Python",
    pip: ["langchain==1.4.7", "langchain-openai==1.7.3"],
    loop: "langchain.py",
  },
  { name: "Pydantic AI", pip: ["pydantic-ai-slim[openai]==2.68.0"], loop: "pydantic_ai.py" },
  { name: "Instructor", pip: ["instructor==1.17.0"], loop: "instructor.py" },
];
