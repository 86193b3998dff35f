/** Returns a complete response of the responses protocol with this output, but without model and usage. */
export function responseOf(output: readonly object[]): object {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_790_000_000,
    status: "completed",
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
  };
}

export function responseUsage(input: number, output: number): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
