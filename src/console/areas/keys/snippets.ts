import type { Snippet } from "../../ui/text/code-snippet.tsx";

/** Returns the code of a first call with a key, in curl, Python and TypeScript. */
export function keySnippets(
  secret: string,
  kind: "image" | "text",
  model = "MODEL",
  origin = location.origin,
): Snippet[] {
  const base = `${origin}/v1`;
  return kind === "image" ? imageSnippets(base, secret, model) : textSnippets(base, secret, model);
}

function textSnippets(base: string, secret: string, model: string): Snippet[] {
  return [
    curl(
      `${base}/chat/completions`,
      secret,
      `{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}`,
    ),
    python(
      base,
      secret,
      `reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.choices[0].message.content)`,
    ),
    typescript(
      base,
      secret,
      `const reply = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(reply.choices[0].message.content);`,
    ),
  ];
}

function imageSnippets(base: string, secret: string, model: string): Snippet[] {
  return [
    curl(
      `${base}/images/generations`,
      secret,
      `{"model": "${model}", "prompt": "A lighthouse at dawn", "response_format": "url"}`,
    ),
    python(
      base,
      secret,
      `reply = client.images.generate(
    model="${model}",
    prompt="A lighthouse at dawn",
    response_format="url",
)
print(reply.data[0].url)`,
    ),
    typescript(
      base,
      secret,
      `const reply = await client.images.generate({
  model: "${model}",
  prompt: "A lighthouse at dawn",
  response_format: "url",
});
console.log(reply.data[0].url);`,
    ),
  ];
}

function curl(url: string, secret: string, body: string): Snippet {
  return {
    label: "curl",
    language: "bash",
    code: `curl ${url} \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`,
  };
}

function python(base: string, secret: string, call: string): Snippet {
  return {
    label: "Python",
    language: "python",
    code: `from openai import OpenAI

client = OpenAI(base_url="${base}", api_key="${secret}")
${call}`,
  };
}

function typescript(base: string, secret: string, call: string): Snippet {
  return {
    label: "TypeScript",
    language: "typescript",
    code: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}", apiKey: "${secret}" });
${call}`,
  };
}
